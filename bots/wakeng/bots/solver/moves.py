"""Hands and moves for the open-card search, compiled: wakeng.engine.plays in int64, under the rules in `facts`."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

from wakeng.bots.turns import WEIGHTS
from wakeng.engine import PLAYS
from wakeng.engine.plays import FIRST_QUAD, FIRST_RUN, REMOVALS

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]

# Places in the array `facts`: what is the same in a whole search, and its counters.
DIGGER: Final = 0
PLAYERS: Final = 1
BOMBS: Final = 2
SHORTEST: Final = 3
"""By group size, from 1: the fewest ranks of a run, more than there are where the rules have none. Four places."""
LIMIT: Final = 7
NODES: Final = 8
LYING: Final = 9
FACTS: Final = 10


F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile a function when it is first called."""
    made: F = numba.njit(function)
    return made


_RANKS: Final = (1 << 13) - 1
_RUNS: Final = (1 << 10) - 1
_AFTER_QUADS: Final = FIRST_RUN
_LONGEST: Final[Ints] = np.array([0, 10, 10, 6, 5], np.int64)
_WEIGHTS: Final[Ints] = np.array(WEIGHTS, np.int64)
_SIZE: Final[Ints] = np.array([play.size for play in PLAYS], np.int64)
_GROUPS: Final[Ints] = np.array([play.groups for play in PLAYS], np.int64)
_BOTTOM: Final[Ints] = np.array([play.bottom for play in PLAYS], np.int64)
_CARDS: Final[Ints] = np.array([play.cards for play in PLAYS], np.int64)
_MASK: Final[Ints] = np.array([mask for _, _, mask in REMOVALS], np.int64)


def _first_runs() -> Ints:
    """By group size and ranks: the run that begins at the 4."""
    first = np.zeros((5, 11), np.int64)
    for play in reversed(PLAYS[FIRST_RUN:]):
        first[play.size, play.groups] = play.id
    return first


_FIRST_RUN: Final = _first_runs()


@compiled
def remove(hand: int, play: int) -> int:
    mask = _MASK[play]
    return int(hand & ~mask | hand >> 13 * _SIZE[play] & mask)


@compiled
def _count(bits: int) -> int:
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count


@compiled
def turns_of(table: Bytes, hand: int) -> int:
    index = (
        _WEIGHTS[hand & _RUNS]
        + _WEIGHTS[hand >> 13 & _RUNS]
        + _WEIGHTS[hand >> 26 & _RUNS]
        + _WEIGHTS[hand >> 39 & _RUNS]
    )
    return int(table[index]) + _count(hand >> 10 & 7)


@compiled
def _starts(plane: int, ranks: int) -> int:
    """Where runs of so many ranks begin in a plane."""
    plane &= _RUNS
    starts = plane
    for shift in range(1, ranks):
        starts &= plane >> shift
    return starts


@compiled
def _beating(hand: int, play: int) -> int:
    """A bit for the lowest rank of each play of the hand that beats one in kind."""
    plane = hand >> 13 * (_SIZE[play] - 1) & _RANKS
    if _GROUPS[play] > 1:
        plane = _starts(plane, _GROUPS[play])
    return int(plane & -(2 << _BOTTOM[play]))


@compiled
def _put(moves: Ints, count: int, first: int, starts: int) -> int:
    """Append the play `first + r` for each bit r; the new number of moves."""
    rank = 0
    while starts:
        if starts & 1:
            moves[count] = first + rank
            count += 1
        starts >>= 1
        rank += 1
    return count


@compiled
def leads(hand: int, facts: Ints, moves: Ints) -> int:
    count = 0
    for size in range(1, 5):
        plane = hand >> 13 * (size - 1) & _RANKS
        count = _put(moves, count, 13 * size - 12, plane)
        for ranks in range(facts[SHORTEST + size - 1], _LONGEST[size] + 1):
            starts = _starts(plane, ranks)
            if not starts:
                break
            count = _put(moves, count, _FIRST_RUN[size, ranks], starts)
    return count


@compiled
def follows(hand: int, play: int, facts: Ints, moves: Ints) -> int:
    """What beats a play, lowest first, bombs last; without the pass."""
    first = 13 * _SIZE[play] - 12 if _GROUPS[play] == 1 else _FIRST_RUN[_SIZE[play], _GROUPS[play]]
    count = _put(moves, 0, first, _beating(hand, play))
    if facts[BOMBS] and not FIRST_QUAD <= play < _AFTER_QUADS:
        count = _put(moves, count, FIRST_QUAD, hand >> 39)
    return count


@compiled
def allied(seat: int, other: int, facts: Ints) -> bool:
    return bool((seat == facts[DIGGER]) == (other == facts[DIGGER]))


@compiled
def _stands(play: int, seat: int, hands: Ints, facts: Ints) -> bool:
    """Whether no enemy of a seat can beat the play from the hand he truly holds."""
    is_quad = FIRST_QUAD <= play < _AFTER_QUADS
    for other in range(facts[PLAYERS]):
        if other == facts[LYING] or allied(seat, other, facts):
            continue
        if _beating(hands[other], play) or (facts[BOMBS] and not is_quad and hands[other] >> 39):
            return False
    return True


@compiled
def runs_out(seat: int, hands: Ints, facts: Ints, table: Bytes, moves: Ints) -> bool:
    hand = hands[seat]
    left = turns_of(table, hand)
    while left > 1:
        found = -1
        for at in range(leads(hand, facts, moves)):
            if _stands(moves[at], seat, hands, facts) and turns_of(table, remove(hand, moves[at])) < left:
                found = moves[at]
                break
        if found < 0:
            return False
        hand = remove(hand, found)
        left -= 1
    return True


@compiled
def order_leads(hand: int, count: int, table: Bytes, moves: Ints, keys: Ints) -> None:
    """Sort leads by 20 for each turn left, less the cards that go."""
    for at in range(count):
        play = moves[at]
        key = 20 * turns_of(table, remove(hand, play)) - _CARDS[play]
        place = at
        while place and keys[place - 1] > key:
            keys[place], moves[place] = keys[place - 1], moves[place - 1]
            place -= 1
        keys[place], moves[place] = key, play
