"""The network in whole numbers, so that its value is the same in any order of sums, in any company, on any machine.

Floating-point sums depend on their order, and a matrix product takes another order for 64 rows than for one; of two
choices that are nearly equal a bot might then play one when asked alone and the other in a batch. So:

- first layer: bytes. At most 80 inputs of at most 127 are on, so a sum has 15 bits. Its scale goes into the next layer.
- second layer: the weights, times the scale of the unit they weigh, as whole multiples of a power of two, of at most
  2^23. A sum of 128 products has 45 bits, which a double holds exactly.
- last layer: the second one's sums, rectified, cut to whole multiples of 2^16, 29 bits; weights of at most 2^18.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from wakeng.bots.network import layout
from wakeng.bots.network.weights import Weights

Doubles = NDArray[np.float64]

_SECOND_BITS: Final = 23
_LAST_BITS: Final = 18
CUT: Final = 2.0**-16
_PRODUCT: Final = (1 << 18) - 1
"""Multiplications; OpenBLAS takes one thread up to so many, and for one row up to 9,216."""
_ROWS: Final = _PRODUCT // (layout.HIDDEN * layout.SECOND)


@dataclass(frozen=True, slots=True, eq=False)
class Exact:
    """Whole numbers in floating point, by role. `unit` turns an output into units; a bidder's are half points."""

    first: NDArray[np.float32]
    """(role, input, unit)."""
    first_bias: NDArray[np.float32]
    second: Doubles
    """(role, first unit, second unit)."""
    second_bias: Doubles
    last: Doubles
    last_bias: Doubles
    unit: Doubles


def exact(weights: Weights) -> Exact:
    """The network of a file in whole numbers."""
    scale = weights.scale.astype(np.float64)
    scaled = weights.second.transpose(0, 2, 1) * scale[:, :, None]
    second_step = _step(scaled, _SECOND_BITS)
    last_step = _step(weights.last.astype(np.float64), _LAST_BITS)
    unit = second_step / CUT * last_step
    return Exact(
        weights.first.astype(np.float32),
        np.rint(weights.first_bias / scale).astype(np.float32),
        np.rint(scaled / second_step[:, None, None]),
        np.rint(weights.second_bias / second_step[:, None]),
        np.rint(weights.last / last_step[:, None]),
        np.rint(weights.last_bias / unit),
        unit,
    )


def _step(values: Doubles, bits: int) -> Doubles:
    """By role the power of two of which all values are at most 2^bits."""
    most = np.abs(values).reshape(layout.ROLES, -1).max(axis=1)
    return np.asarray(2.0 ** (np.ceil(np.log2(np.maximum(most, 1e-30))) - bits))


def product(left: Any, right: Any) -> Any:
    """A matrix product in pieces so small that the library behind numpy does not share them out among threads.

    Its threads wait for each other for longer than such a product takes, and hold up what else the machine does.
    """
    rows = max(_PRODUCT // right.size, 1)
    if len(left) <= rows:
        return left @ right
    return np.concatenate([left[at : at + rows] @ right for at in range(0, len(left), rows)])


def outputs(net: Exact, role: int, sums: NDArray[np.float32]) -> Doubles:
    """The outputs for rows of the first layer's sums, in steps of `unit`."""
    found = [_outputs(net, role, sums[at : at + _ROWS]) for at in range(0, len(sums), _ROWS)]
    return found[0] if len(found) == 1 else np.concatenate(found)


def _outputs(net: Exact, role: int, sums: NDArray[np.float32]) -> Doubles:
    second = np.maximum(sums, 0).astype(np.float64) @ net.second[role]
    second += net.second_bias[role]
    np.maximum(second, 0, out=second)
    second *= CUT
    np.floor(second, out=second)
    return np.asarray(second @ net.last[role] + net.last_bias[role])
