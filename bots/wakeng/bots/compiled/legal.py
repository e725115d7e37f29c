"""Every legal play, in the vocabulary's order, by shifting planes against themselves.

Bit r of `plane & plane >> 1 & plane >> 2` says that a run of three starts at rank r; one more shift makes it four.
"""

from wakeng.bots.compiled.cards import (
    AFTER_QUADS,
    FIRST_QUAD,
    FIRST_RUN,
    GROUPS,
    RANK_BITS,
    RUN_BITS,
    SHORTEST_RUN,
    SIZE,
    TOP,
    Ints,
)
from wakeng.bots.compiled.jit import kernel, lowest_bit


@kernel
def put(found: Ints, count: int, first: int, starts: int) -> int:
    """Append the play `first + r` for every bit r of `starts`; the new length."""
    while starts:
        found[count] = first + lowest_bit(starts)
        count += 1
        starts &= starts - 1
    return count


@kernel
def leads(hand: int, found: Ints) -> int:
    """Write the plays that a hand can lead; how many."""
    count = 0
    for size in range(1, 5):
        count = put(found, count, 13 * size - 12, hand >> 13 * (size - 1) & RANK_BITS)
    for size in range(1, 4):
        plane = hand >> 13 * (size - 1) & RUN_BITS
        starts = plane & plane >> 1
        for length in range(SHORTEST_RUN, 11):
            starts &= plane >> length - 1
            if not starts or not FIRST_RUN[size, length]:
                break
            count = put(found, count, FIRST_RUN[size, length], starts)
    return count


@kernel
def run_starts(plane: int, length: int) -> int:
    """Where a run of that length starts in the ten run bits of a plane."""
    starts = plane & RUN_BITS
    for shift in range(1, length):
        starts &= plane >> shift
    return starts


@kernel
def beating(hand: int, table: int) -> int:
    """The plays of the table's own kind in a hand that beat it: a bit for the start of each."""
    plane = hand >> 13 * (SIZE[table] - 1) & RANK_BITS
    if GROUPS[table] > 1:
        plane = run_starts(plane & RUN_BITS, GROUPS[table])
    return plane & -(2 << TOP[table] - GROUPS[table] + 1)


@kernel
def follows(hand: int, table: int, found: Ints) -> int:
    """Write the pass and what beats the table; how many."""
    found[0] = 0
    bombs = hand >> 39
    starts = beating(hand, table)
    if table >= AFTER_QUADS:
        count = put(found, 1, FIRST_QUAD, bombs)
        return put(found, count, FIRST_RUN[SIZE[table], GROUPS[table]], starts)
    count = put(found, 1, 13 * SIZE[table] - 12, starts)
    return count if table >= FIRST_QUAD else put(found, count, FIRST_QUAD, bombs)


@kernel
def legal(hand: int, table: int, found: Ints) -> int:
    """Write every legal play; how many. `found` has room for the whole vocabulary."""
    return follows(hand, table, found) if table else leads(hand, found)
