"""The ladder holds: each reference bot beats the one below it, on duplicate deals, by more than luck could make.

A deal is played six times: each of the two bots alone in each seat, the other in both of the others. Its value is the
mean of the stronger one's points and those that it has as the lone bot's opponent; chance of the deal cancels.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean, stdev

import pytest

from wakeng.bots import create
from wakeng.engine import PRESETS, derive
from wakeng.sdk import Bot
from wakeng.sdk.testing import play_hand

SEED = bytes(range(32))
LADDER = ("random", "lowest", "greedy", "expert", "net")
STEPS = tuple(pairwise(LADDER))
"""Measured on 2,000 deals of xian, in points a hand: see docs/opponents.md."""


def difference(weaker: str, stronger: str, deal: int) -> float:
    """Points a hand that the stronger bot is ahead by on one deal."""
    rules, seed = PRESETS["xian"], derive(SEED, "deal", deal)
    one, other = (create(name, derive(SEED, name, deal)) for name in (stronger, weaker))
    total = 0
    for alone in range(3):
        total += _lone(one, other, alone, seed) - _lone(other, one, alone, seed)
    return total / (2 * rules.players)


def _lone(lone: Bot, others: Bot, seat: int, seed: bytes) -> int:
    result = play_hand("xian", seed, [lone if at == seat else others for at in range(3)]).result
    assert result is not None
    return result.scores[seat]


def check(weaker: str, stronger: str, deals: int) -> None:
    found = [difference(weaker, stronger, deal) for deal in range(deals)]
    mean, error = fmean(found), stdev(found) / deals**0.5
    assert mean > 3 * error, f"{stronger} over {weaker}: {mean:+.3f} +-{error:.3f} on {deals} deals"


@pytest.mark.parametrize(("weaker", "stronger"), STEPS)
def test_each_step_of_the_ladder_holds_by_three_standard_errors_on_250_deals(weaker: str, stronger: str) -> None:
    check(weaker, stronger, 250)


@pytest.mark.slow
@pytest.mark.parametrize(("weaker", "stronger"), STEPS)
def test_each_step_of_the_ladder_holds_by_three_standard_errors_on_2000_deals(weaker: str, stronger: str) -> None:
    check(weaker, stronger, 2_000)
