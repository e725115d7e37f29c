"""What a seat can tell of a play without guessing: how many turns remain, what can be beaten, what runs out.

All of it works on packed hands. `unseen` are the cards that others hold or may hold; bombs among them are left out on
purpose: counting every quad that is still possible makes nothing unbeaten until late.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from wakeng.bots.compiled.cards import CARDS, RUN_BITS, Ints, remove
from wakeng.bots.compiled.jit import bit_count, kernel
from wakeng.bots.compiled.legal import beating, leads
from wakeng.bots.turns import WEIGHTS, turn_table
from wakeng.engine import PRESETS

Bytes = NDArray[np.uint8]

_WEIGHTS: Final[Ints] = np.array(WEIGHTS, np.int64)
_HIGH: Final = 7 << 10
"""A, 2 and 3 among the bits of the lowest plane."""


def table() -> Bytes:
    """The turn table of `xian`, which every kernel takes as an argument."""
    return np.frombuffer(turn_table(PRESETS["xian"]).values, np.uint8)


@kernel
def turns(table: Bytes, hand: int) -> int:
    """The fewest plays that empty a hand."""
    index = (
        _WEIGHTS[hand & RUN_BITS]
        + _WEIGHTS[hand >> 13 & RUN_BITS]
        + _WEIGHTS[hand >> 26 & RUN_BITS]
        + _WEIGHTS[hand >> 39 & RUN_BITS]
    )
    return table[index] + bit_count(hand & _HIGH)


@kernel
def unbeaten(play: int, unseen: int, most: int) -> bool:
    """Whether nothing of its kind can beat a play; `most` cards are the most that an enemy holds."""
    return CARDS[play] > most or not beating(unseen, play)


@kernel
def runs_out(table: Bytes, hand: int, unseen: int, most: int, found: Ints) -> bool:
    """Whether a hand that leads can go out by unbeaten plays, each of which lowers its turns.

    Greedy: of such plays the first is taken, and no choice is taken back.
    """
    left = turns(table, hand)
    while left > 1:
        count = leads(hand, found)
        for at in range(count):
            if unbeaten(found[at], unseen, most):
                rest = remove(hand, found[at])
                if turns(table, rest) < left:
                    hand = rest
                    break
        else:
            return False
        left -= 1
    return True
