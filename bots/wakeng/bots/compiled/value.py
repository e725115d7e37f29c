"""The network of a weights file, compiled: the whole numbers of `wakeng.bots.network.exact`, hence the same values.

Sums of whole numbers are the same in any order, so the compiler may take the fastest.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wakeng.bots.compiled.cards import CARDS, VOCABULARY, Ints, remove
from wakeng.bots.compiled.features import of_choice, put_bits, role, shared
from wakeng.bots.compiled.jit import fast_kernel, lowest_bit
from wakeng.bots.compiled.judge import Bytes
from wakeng.bots.compiled.legal import legal
from wakeng.bots.compiled.state import COUNT, HAND, LENGTH, TABLE, TURN, unseen
from wakeng.bots.network.exact import CUT, Exact
from wakeng.bots.network.layout import HIDDEN, MOST_ACTIVE, REST, SECOND

Shorts = NDArray[np.int16]
Sums = NDArray[np.int32]
Doubles = NDArray[np.float64]


class Value(NamedTuple):
    """The arrays of a network, by role. With no roles at all it is the lack of one."""

    first: Shorts
    first_bias: Sums
    second: Doubles
    second_bias: Doubles
    last: Doubles
    last_bias: Doubles
    unit: Doubles


class Room(NamedTuple):
    """What the kernels here and in `playout` write into."""

    plays: Ints
    scratch: Ints
    inputs: Ints
    chosen: Ints
    base: Sums
    total: Sums
    active: Doubles
    values: Doubles
    position: Ints


def room() -> Room:
    """The room, of which every thread needs its own."""
    return Room(
        plays=np.zeros(VOCABULARY, np.int64),
        scratch=np.zeros(VOCABULARY, np.int64),
        inputs=np.zeros(MOST_ACTIVE, np.int64),
        chosen=np.zeros(MOST_ACTIVE, np.int64),
        base=np.zeros(HIDDEN, np.int32),
        total=np.zeros(HIDDEN, np.int32),
        active=np.zeros(HIDDEN),
        values=np.zeros(VOCABULARY),
        position=np.zeros(LENGTH, np.int64),
    )


def value_of(net: Exact) -> Value:
    """The network for kernels."""
    second = np.ascontiguousarray(net.second.transpose(0, 2, 1))
    bias = net.first_bias.astype(np.int32)
    return Value(net.first.astype(np.int16), bias, second, net.second_bias, net.last, net.last_bias, net.unit)


@fast_kernel
def add_rows(rows: Shorts, inputs: Ints, start: int, stop: int, total: Sums) -> None:
    """Add the rows of some inputs, four at a time, so that the total is read and written a quarter as often."""
    while start + 4 <= stop:
        a, b, c, d = rows[inputs[start]], rows[inputs[start + 1]], rows[inputs[start + 2]], rows[inputs[start + 3]]
        for i in range(HIDDEN):
            total[i] += np.int32(a[i]) + np.int32(b[i]) + np.int32(c[i]) + np.int32(d[i])
        start += 4
    for at in range(start, stop):
        row = rows[inputs[at]]
        for i in range(HIDDEN):
            total[i] += np.int32(row[i])


@fast_kernel
def output(net: Value, which: int, total: Sums, active: Doubles) -> float:
    """The output for the first layer's sums, in steps of `unit`."""
    for i in range(HIDDEN):
        active[i] = max(total[i], np.int32(0))
    rows = net.second[which]
    result = net.last_bias[which]
    for j in range(0, SECOND, 4):
        a, b = net.second_bias[which, j], net.second_bias[which, j + 1]
        c, d = net.second_bias[which, j + 2], net.second_bias[which, j + 3]
        for i in range(HIDDEN):
            x = active[i]
            a += rows[j, i] * x
            b += rows[j + 1, i] * x
            c += rows[j + 2, i] * x
            d += rows[j + 3, i] * x
        result += np.floor(max(a, 0.0) * CUT) * net.last[which, j]
        result += np.floor(max(b, 0.0) * CUT) * net.last[which, j + 1]
        result += np.floor(max(c, 0.0) * CUT) * net.last[which, j + 2]
        result += np.floor(max(d, 0.0) * CUT) * net.last[which, j + 3]
    return result


@fast_kernel
def judge(net: Value, table: Bytes, s: Ints, count: int, room: Room) -> int:
    """The outputs of the first `count` plays in `room.plays` into `room.values`; the place of the highest."""
    seat = s[TURN]
    hand, which, hidden = s[HAND + seat], role(s, seat), unseen(s, seat)
    rows = net.first[which]
    inputs = put_bits(room.inputs, shared(s, seat, room.inputs), REST, hand)
    for i in range(HIDDEN):
        room.base[i] = net.first_bias[which, i]
    add_rows(rows, room.inputs, 0, inputs, room.base)
    best = 0
    for at in range(count):
        play = room.plays[at]
        stop = of_choice(table, s, seat, play, hidden, room.chosen, 0, room.scratch)
        for i in range(HIDDEN):
            room.total[i] = room.base[i]
        removed = hand & ~remove(hand, play) if play else 0
        while removed:
            row = rows[REST + lowest_bit(removed)]
            for i in range(HIDDEN):
                room.total[i] -= np.int32(row[i])
            removed &= removed - 1
        add_rows(rows, room.chosen, 0, stop, room.total)
        room.values[at] = output(net, which, room.total, room.active)
        if room.values[at] > room.values[best]:
            best = at
    return best


@fast_kernel
def choose(net: Value, table: Bytes, s: Ints, room: Room) -> int:
    """The play of the seat to move; its own hand must stand in `s`."""
    seat = s[TURN]
    count = legal(s[HAND + seat], s[TABLE], room.plays)
    if count == 1:
        return room.plays[0]
    for at in range(count):
        if room.plays[at] and CARDS[room.plays[at]] == s[COUNT + seat]:
            return room.plays[at]
    return room.plays[judge(net, table, s, count, room)]
