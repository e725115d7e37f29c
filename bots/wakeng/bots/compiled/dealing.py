"""Deals of `xian` for kernels: three hands, a kitty, and the seat with the lowest heart, which calls and leads."""

from typing import Final

import numpy as np

from wakeng.bots.compiled.cards import Ints
from wakeng.bots.compiled.chance import State, shuffle
from wakeng.bots.compiled.jit import kernel
from wakeng.bots.compiled.state import DEALT
from wakeng.engine import Deal
from wakeng.engine.plays import pack_set

KITTY: Final = 3
FIRST: Final = 4
LENGTH: Final = 5
"""A deal as kernels have it: the packed hands of seats 0..2, the kitty, the first caller."""
_HEART: Final = 2


def packed(deal: Deal) -> Ints:
    """The engine's deal for a kernel."""
    cards = [pack_set(cards) for cards in (*deal.hand_sets, deal.kitty_set)]
    return np.array([*cards, deal.lowest_heart_seat], np.int64)


@kernel
def pack_cards(cards: Ints, start: int, stop: int) -> int:
    """The packed hand of some of the cards."""
    hand = 0
    for at in range(start, stop):
        bit = 1 << (cards[at] >> 2)
        while hand & bit:
            bit <<= 13
        hand |= bit
    return hand


@kernel
def deal(chance: State, deck: Ints, dealt: Ints) -> None:
    """Shuffle the deck, whatever its order, and deal it."""
    shuffle(chance, deck, 52)
    lowest = 52
    for seat in range(3):
        start = DEALT * seat
        dealt[seat] = pack_cards(deck, start, start + DEALT)
        for at in range(start, start + DEALT):
            if deck[at] & 3 == _HEART and deck[at] < lowest:
                lowest = deck[at]
                dealt[FIRST] = seat
    dealt[KITTY] = pack_cards(deck, 3 * DEALT, 52)
