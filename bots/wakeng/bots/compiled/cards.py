"""Packed hands and the vocabulary as compiled code sees them: `wakeng.engine.plays` in arrays of int64."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from wakeng.bots.compiled.jit import kernel
from wakeng.engine import PLAYS
from wakeng.engine.plays import FIRST_QUAD_RUN, RUN_MINIMUM, pack

Ints = NDArray[np.int64]

RANK_BITS: Final = (1 << 13) - 1
RUN_BITS: Final = (1 << 10) - 1
FOUR_PLANES: Final = 1 | 1 << 13 | 1 << 26 | 1 << 39
FULL: Final = pack(range(52))
"""The whole deck."""
FIRST_QUAD: Final = 40
AFTER_QUADS: Final = 53
VOCABULARY: Final = FIRST_QUAD_RUN
"""The pass and the 150 plays; quad runs are unknown to the rule set of these kernels."""

_PLAYS: Final = PLAYS[:VOCABULARY]
SIZE: Final[Ints] = np.array([play.size for play in _PLAYS], np.int64)
GROUPS: Final[Ints] = np.array([play.groups for play in _PLAYS], np.int64)
TOP: Final[Ints] = np.array([play.top for play in _PLAYS], np.int64)
BOTTOM: Final[Ints] = np.array([play.bottom for play in _PLAYS], np.int64)
CARDS: Final[Ints] = np.array([play.cards for play in _PLAYS], np.int64)
RANKS: Final[Ints] = np.array([(1 << play.groups) - 1 << max(play.bottom, 0) for play in _PLAYS], np.int64)
"""The ranks of each play as bits of one plane."""


def _first_runs() -> Ints:
    first = np.zeros((5, 11), np.int64)
    for play in reversed(_PLAYS[AFTER_QUADS:]):
        first[play.size, play.groups] = play.id
    return first


FIRST_RUN: Final = _first_runs()
"""By group size and length: the run that starts at the 4; 0 where there is none."""
SHORTEST_RUN: Final = RUN_MINIMUM


@kernel
def remove(hand: int, play: int) -> int:
    """The hand after a play it holds; of what it does not hold as much as there is."""
    mask = RANKS[play] * FOUR_PLANES
    return hand & ~mask | hand >> 13 * SIZE[play] & mask


@kernel
def add(hand: int, play: int) -> int:
    """The hand with the cards of a play."""
    ranks = RANKS[play]
    mask = ranks * FOUR_PLANES
    filled = 0
    for plane in range(SIZE[play]):
        filled |= ranks << 13 * plane
    return hand & ~mask | ((hand & mask) << 13 * SIZE[play] | filled) & FULL & mask


@kernel
def others(first: int, second: int) -> int:
    """The deck without two packed hands that it holds together: what is in neither.

    More than j cards of a rank are left when fewer than 4 - j are gone, so the planes of what is gone count down.
    """
    a1, a2, a3, a4 = first & RANK_BITS, first >> 13 & RANK_BITS, first >> 26 & RANK_BITS, first >> 39
    b1, b2, b3, b4 = second & RANK_BITS, second >> 13 & RANK_BITS, second >> 26 & RANK_BITS, second >> 39
    one = a1 | b1
    two = a2 | b2 | a1 & b1
    three = a3 | b3 | a2 & b1 | a1 & b2
    four = a4 | b4 | a3 & b1 | a2 & b2 | a1 & b3
    return ~(four | three << 13 | two << 26 | one << 39) & FULL
