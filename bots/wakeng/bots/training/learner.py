"""The network while it learns, in single precision: its values, and one step of gradient descent.

A sample is the list of the inputs that are on, the role, and what the hand brought. The step is plain: the weights move
against the gradient of the squared error, with no momentum and no batch, which for sparse inputs touches few rows.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wakeng.bots.compiled.cards import Ints
from wakeng.bots.compiled.jit import fast_kernel, lowest_bit
from wakeng.bots.network.layout import HIDDEN, INPUTS, REST, ROLES, SECOND

Floats = NDArray[np.float32]
MOST_ERROR: Final = np.float32(3.0)
_ZERO: Final = np.float32(0.0)


class Net(NamedTuple):
    """The weights, by role."""

    first: Floats
    first_bias: Floats
    second: Floats
    second_bias: Floats
    last: Floats
    last_bias: Floats


def fresh(seed: int) -> Net:
    """A network that knows nothing: normal weights, scaled to the inputs that are on together."""
    chance = np.random.default_rng(seed)

    def normal(spread: float, *shape: int) -> Floats:
        return (spread * chance.standard_normal(shape)).astype(np.float32)

    return Net(
        normal(1 / 75**0.5, ROLES, INPUTS, HIDDEN),
        np.zeros((ROLES, HIDDEN), np.float32),
        normal((2 / HIDDEN) ** 0.5, ROLES, SECOND, HIDDEN),
        np.zeros((ROLES, SECOND), np.float32),
        normal((1 / SECOND) ** 0.5, ROLES, SECOND),
        np.zeros(ROLES, np.float32),
    )


@fast_kernel
def add_rows(rows: Floats, inputs: Any, start: int, stop: int, total: Floats) -> None:
    """Add the rows of some inputs, four at a time, so that the total is read and written a quarter as often."""
    while start + 4 <= stop:
        a, b, c, d = rows[inputs[start]], rows[inputs[start + 1]], rows[inputs[start + 2]], rows[inputs[start + 3]]
        for i in range(HIDDEN):
            total[i] += (a[i] + b[i]) + (c[i] + d[i])
        start += 4
    for at in range(start, stop):
        row = rows[inputs[at]]
        for i in range(HIDDEN):
            total[i] += row[i]


@fast_kernel
def sum_rows(net: Net, role: int, inputs: Ints, count: int, total: Floats) -> None:
    """The first layer's sums over some inputs."""
    for i in range(HIDDEN):
        total[i] = net.first_bias[role, i]
    add_rows(net.first[role], inputs, 0, count, total)


@fast_kernel
def value(net: Net, role: int, total: Floats, second: Floats) -> float:
    """The output for the first layer's sums, which are rectified in place."""
    for i in range(HIDDEN):
        total[i] = max(total[i], _ZERO)
    rows = net.second[role]
    # Eight units at a time: their sums stay in registers, and each input is read once for all of them.
    for j in range(0, SECOND, 8):
        a = b = c = d = e = f = g = h = _ZERO
        for i in range(HIDDEN):
            x = total[i]
            a += rows[j, i] * x
            b += rows[j + 1, i] * x
            c += rows[j + 2, i] * x
            d += rows[j + 3, i] * x
            e += rows[j + 4, i] * x
            f += rows[j + 5, i] * x
            g += rows[j + 6, i] * x
            h += rows[j + 7, i] * x
        second[j], second[j + 1], second[j + 2], second[j + 3] = a, b, c, d
        second[j + 4], second[j + 5], second[j + 6], second[j + 7] = e, f, g, h
    output = net.last_bias[role]
    for j in range(SECOND):
        second[j] = max(second[j] + net.second_bias[role, j], _ZERO)
        output += second[j] * net.last[role, j]
    return output


@fast_kernel
def value_of_choice(
    net: Net, role: int, base: Floats, removed: int, inputs: Ints, start: int, stop: int, total: Floats, second: Floats
) -> float:
    """The output for sums that hold the whole hand: the cards that leave it go out, the choice's inputs come in."""
    rows = net.first[role]
    for i in range(HIDDEN):
        total[i] = base[i]
    while removed:
        row = rows[REST + lowest_bit(removed)]
        for i in range(HIDDEN):
            total[i] -= row[i]
        removed &= removed - 1
    add_rows(rows, inputs, start, stop, total)
    return value(net, role, total, second)


@fast_kernel
def learn(
    net: Net, role: int, inputs: NDArray[np.int16], count: int, target: float, rate: float, work: Floats
) -> float:
    """One step on one sample; the error before it. `work` has room for 2 x HIDDEN + 2 x SECOND."""
    total = work[:HIDDEN]
    back = work[HIDDEN : 2 * HIDDEN]
    second = work[2 * HIDDEN : 2 * HIDDEN + SECOND]
    slope = work[2 * HIDDEN + SECOND :]
    rows = net.first[role]
    for i in range(HIDDEN):
        total[i] = net.first_bias[role, i]
    add_rows(rows, inputs, 0, count, total)
    error = value(net, role, total, second) - np.float32(target)
    step = -np.float32(rate) * min(max(error, -MOST_ERROR), MOST_ERROR)
    for j in range(SECOND):
        slope[j] = step * net.last[role, j] if second[j] > 0 else _ZERO
        net.last[role, j] += step * second[j]
        net.second_bias[role, j] += slope[j]
    net.last_bias[role] += step
    send_back(net.second[role], total, slope, back)
    for i in range(HIDDEN):
        net.first_bias[role, i] += back[i]
    for at in range(count):
        row = rows[inputs[at]]
        for i in range(HIDDEN):
            row[i] += back[i]
    return float(error)


@fast_kernel
def send_back(rows: Floats, total: Floats, slope: Floats, back: Floats) -> None:
    """The first layer's slopes from those of the second, whose weights then move."""
    for i in range(HIDDEN):
        back[i] = _ZERO
    for j in range(0, SECOND, 4):
        a, b, c, d = slope[j], slope[j + 1], slope[j + 2], slope[j + 3]
        for i in range(HIDDEN):
            back[i] += (a * rows[j, i] + b * rows[j + 1, i]) + (c * rows[j + 2, i] + d * rows[j + 3, i])
    for i in range(HIDDEN):
        back[i] = back[i] if total[i] > 0 else _ZERO
    for j in range(SECOND):
        row, step = rows[j], slope[j]
        for i in range(HIDDEN):
            row[i] += step * total[i]
