"""A position of the card play in one array of int64: what is public, and of the hands those that are known.

A seat that thinks about a question fills in its own hand alone, or in a world that it imagines all three. The rules of
the game are `step`; they are those of docs/rules.md 3.10 for three active seats.
"""

from typing import Final

import numpy as np

from wakeng.bots.compiled.cards import AFTER_QUADS, CARDS, FIRST_QUAD, Ints, add, others, remove
from wakeng.bots.compiled.jit import kernel

HAND: Final = 0
"""Three packed hands, by seat."""
PLAYED: Final = 3
"""What each seat has played, packed."""
COUNT: Final = 6
"""How many cards each seat holds."""
PASSED: Final = 9
"""The last play that each seat passed on, 0: none."""
KITTY: Final = 12
"""What the digger took and has not played since: certainly still his."""
GONE: Final = 13
"""All that was played."""
DIGGER: Final = 14
BID: Final = 15
BOMBS: Final = 16
TABLE: Final = 17
HOLDER: Final = 18
TURN: Final = 19
LENGTH: Final = 20

MOST_BOMBS: Final = 2
"""The stake counts no more (docs/rules.md 4, bomb_cap 4)."""
DEALT: Final = 16
KITTY_SIZE: Final = 4


def empty() -> Ints:
    """A position yet to be filled in."""
    return np.zeros(LENGTH, np.int64)


@kernel
def begin(s: Ints, digger: int, bid: int, kitty: int, leader: int) -> None:
    """The start of the card play. The hands as dealt stand in `s`; the digger takes the kitty."""
    for seat in range(3):
        s[PLAYED + seat] = 0
        s[PASSED + seat] = 0
        s[COUNT + seat] = DEALT
    s[HAND + digger] = together(s[HAND + digger], kitty)
    s[COUNT + digger] = DEALT + KITTY_SIZE
    s[KITTY] = kitty
    s[GONE] = 0
    s[DIGGER] = digger
    s[BID] = bid
    s[BOMBS] = 0
    s[TABLE] = 0
    s[HOLDER] = -1
    s[TURN] = leader


@kernel
def together(first: int, second: int) -> int:
    """Two packed hands in one."""
    return others(others(first, second), 0)


@kernel
def step(s: Ints, play: int) -> bool:
    """The seat to move plays, or passes with 0; whether it has no cards left."""
    seat = s[TURN]
    if play:
        s[HAND + seat] = remove(s[HAND + seat], play)
        s[PLAYED + seat] = add(s[PLAYED + seat], play)
        s[GONE] = add(s[GONE], play)
        s[COUNT + seat] -= CARDS[play]
        if FIRST_QUAD <= play < AFTER_QUADS:
            s[BOMBS] += 1
        if seat == s[DIGGER]:
            s[KITTY] = remove(s[KITTY], play)
        s[TABLE] = play
        s[HOLDER] = seat
    else:
        s[PASSED + seat] = s[TABLE]
    turn = (seat + 1) % 3
    s[TURN] = turn
    if turn == s[HOLDER]:
        s[TABLE] = 0
    return s[COUNT + seat] == 0


@kernel
def unseen(s: Ints, seat: int) -> int:
    """What a seat does not see: the others' cards, without saying whose."""
    return others(s[HAND + seat], s[GONE])


@kernel
def units(s: Ints, winner: int) -> int:
    """The digger's result per unit of his bid."""
    stake = 1 << min(s[BOMBS], MOST_BOMBS)
    return stake if winner == s[DIGGER] else -stake
