"""How many plays a hand needs when nobody interferes: the turn table, on which every stronger bot here rests.

**What is counted.** Suits do not matter and there are no kickers, so A, 2 and 3 cost one turn for each rank held. What
is left are the ranks 4..K as ten counts of 0..4, that is 5^10 = 9,765,625 vectors, each with a byte. Its index is the
sum of count x 5^rank. A packed hand (wakeng.engine.plays) has a rank's count as the number of planes with the rank's
bit, so the index is the sum of one look-up per plane in a table of 1,024.

**The recursion.** Let r be the highest of the ten ranks that is held, with n cards. In any plan the cards of r lie in
runs that end at r and in equal-rank plays; where there is no run, one play takes all n. So, with c the vector,

    T[c] = 1 + min(T[c without r], min of T[c minus run] over the runs that fit in c and end at r)

and the order of a plan is free, so nothing is lost by taking the run first. The runs are those of the vocabulary: none
is longer than the 20 cards that a seat can hold.

**Two builds.** In plain Python a byte is found when it is first asked for, and kept; 0 means not yet, since only the
empty vector needs no turn. With numpy all bytes are found at once: the vectors whose highest rank is r with n cards
are the slab n x 5^r .. (n + 1) x 5^r of the table, and every operand of the recursion is a block of earlier ones. That
takes 20 ms, as much as 1,500 hands take one by one.
"""

from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from typing import Final

from wakeng.engine import PLAYS, RuleSet
from wakeng.engine.plays import RUN_RANKS

SIZE: Final = 5**RUN_RANKS
Shortest = tuple[int | None, int | None, int | None, int | None]
"""By group size: the fewest ranks of a run, None where there is no such run. All that the table hangs on."""

_RUN_BITS: Final = (1 << RUN_RANKS) - 1
_MOST_TABLES: Final = 8
"""Kept at a time; 10 MB each, and rule sets come from outside."""


def _weights() -> tuple[int, ...]:
    weights = [0]
    for rank in range(RUN_RANKS):
        weights += [weight + 5**rank for weight in weights]
    return tuple(weights)


WEIGHTS: Final = _weights()
"""For every value of a plane's run bits, what it adds to the index."""


def turn_index(hand: int) -> int:
    """Where the table has the ranks 4..K of a packed hand."""
    return (
        WEIGHTS[hand & _RUN_BITS]
        + WEIGHTS[hand >> 13 & _RUN_BITS]
        + WEIGHTS[hand >> 26 & _RUN_BITS]
        + WEIGHTS[hand >> 39 & _RUN_BITS]
    )


class TurnTable:
    """The turns of every hand under one choice of runs. `values` has 0 where a byte is not found yet."""

    __slots__ = ("_endings", "complete", "values")

    def __init__(self, shortest: Shortest, *, use_numpy: bool | None = None) -> None:
        """`use_numpy` None: where it is installed. ImportError where it is wanted and is not."""
        self._endings = _endings(shortest)
        self.complete = find_spec("numpy") is not None if use_numpy is None else use_numpy
        self.values = _whole(self._endings) if self.complete else bytearray(SIZE)

    def turns(self, hand: int) -> int:
        """The fewest plays that empty a packed hand."""
        index = turn_index(hand)
        return (self.values[index] or self.fill(index)) + (hand >> RUN_RANKS & 7).bit_count()

    def fill(self, index: int) -> int:
        """The byte of an index, found and kept if it is not there."""
        known = self.values[index]
        if known or not index:
            return known
        counts = _counts(index)
        top = len(counts) - 1
        best = self.fill(index - counts[top] * 5**top)
        for size in range(1, counts[top] + 1):
            reach = _reach(counts, size)
            for length, weight in self._endings[top][size - 1]:
                if length > reach:
                    break
                best = min(best, self.fill(index - weight))
        self.values[index] = best + 1
        return best + 1


def turn_table(rules: RuleSet) -> TurnTable:
    """The table of a rule set, made when it is first asked for."""
    return _table((rules.shortest_run(1), rules.shortest_run(2), rules.shortest_run(3), rules.shortest_run(4)))


@lru_cache(maxsize=_MOST_TABLES)
def _table(shortest: Shortest) -> TurnTable:
    return TurnTable(shortest)


# The recursion -------------------------------------------------------------------------------------------------------

Endings = tuple[tuple[tuple[tuple[int, int], ...], ...], ...]
"""By top rank and by group size: the runs that end there, as (ranks, what they take off the index), shortest first."""


def _endings(shortest: Shortest) -> Endings:
    def runs(top: int, size: int) -> Iterator[tuple[int, int]]:
        least = shortest[size - 1]
        for play in PLAYS:
            if play.groups > 1 and (play.top, play.size) == (top, size) and least is not None and play.groups >= least:
                yield play.groups, size * sum(5**rank for rank in range(play.bottom, top + 1))

    return tuple(tuple(tuple(sorted(runs(top, size))) for size in (1, 2, 3, 4)) for top in range(RUN_RANKS))


def _counts(index: int) -> list[int]:
    """The counts from 4 up to the highest rank held."""
    counts = []
    while index:
        index, count = divmod(index, 5)
        counts.append(count)
    return counts


def _reach(counts: list[int], size: int) -> int:
    """How many neighbouring ranks from the highest down have at least `size` cards."""
    reach = 0
    for count in reversed(counts):
        if count < size:
            break
        reach += 1
    return reach


def _whole(endings: Endings) -> bytearray:
    """All bytes at once, slab by slab."""
    import numpy as np

    values = bytearray(SIZE)
    table = np.frombuffer(values, np.uint8)
    for top in range(RUN_RANKS):
        below = 5**top
        for count in (1, 2, 3, 4):
            slab = table[count * below : (count + 1) * below]
            slab[:] = table[:below]
            for size in range(1, count + 1):
                rest = table[(count - size) * below : (count - size + 1) * below]
                for length, _ in endings[top][size - 1]:
                    # The ranks of the run below `top` are axes of their own; there it takes `size` cards of each.
                    axes = (*(5,) * (length - 1), -1)
                    held, left = (slice(size, None),) * (length - 1), (slice(None, 5 - size),) * (length - 1)
                    target = slab.reshape(axes)[held]
                    np.minimum(target, rest.reshape(axes)[left], out=target)
            slab += 1
    return values
