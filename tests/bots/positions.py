"""Positions of the card play of xian, out of hands played half by `expert` and half by chance."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from wakeng.bots import create
from wakeng.engine import PRESETS, Hand, Phase, Stream, derive
from wakeng.sdk import Decision
from wakeng.sdk.testing import decision_for

SEED = bytes(range(32))
XIAN = PRESETS["xian"]


def played(number: int) -> Iterator[Hand]:
    """A hand at each of its questions but BLIND, where everybody says no."""
    hand, expert = Hand.from_seed(XIAN, derive(SEED, "hand", number)), create("expert")
    chance = Stream(derive(SEED, "chance", number))
    while hand.phase is not Phase.END:
        if hand.phase is Phase.BLIND:
            hand.apply(0)
            continue
        yield hand
        if chance.below(2):
            hand.apply(hand.legal[chance.below(len(hand.legal))])
        else:
            choice = expert.choose(decision_for(hand))
            assert isinstance(choice, str)
            hand.apply_token(choice)


@cache
def decisions(count: int) -> tuple[Decision, ...]:
    """So many questions in BID and PLAY."""
    found: list[Decision] = []
    number = 0
    while len(found) < count:
        found += [decision_for(hand) for hand in played(number)]
        number += 1
    return tuple(found[:count])
