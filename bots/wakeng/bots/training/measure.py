"""How strong a network is against `expert`, on duplicate deals: the same deal with each of the two alone in each seat.

Six hands a deal, bids included: in three the network sits alone against two of `expert`, in three the other way round.
The difference of the two sides' points on a deal has little of the deal's luck in it.
"""

from typing import Final, NamedTuple

import numpy as np

from wakeng.bots.compiled import chance, judge
from wakeng.bots.compiled.cards import Ints
from wakeng.bots.compiled.dealing import LENGTH, packed
from wakeng.bots.training.learner import Net
from wakeng.bots.training.selfplay import EXPERT, NET, duel, work
from wakeng.engine import PRESETS, deal_cards, derive

DEALS_SEED: Final = bytes(32)
_ALONE: Final = [[NET if seat == alone else EXPERT for seat in range(3)] for alone in range(3)]
LINE_UPS: Final[Ints] = np.array(_ALONE + [[1 - policy for policy in row] for row in _ALONE], np.int64)


class Measured(NamedTuple):
    """A mean of points a hand and its standard error."""

    points: float
    error: float


def deals(count: int) -> Ints:
    """Some deals of `xian`, the same each time."""
    rules = PRESETS["xian"]
    made = np.zeros((count, LENGTH), np.int64)
    for number in range(count):
        made[number] = packed(deal_cards(rules, derive(DEALS_SEED, "measure", number)))
    return made


def over_expert(net: Net, count: int = 2_000) -> Measured:
    """What the network gains a hand for sitting in a seat where `expert` sat."""
    dealt = deals(count)
    points = np.zeros((count, len(LINE_UPS), 3), np.int64)
    duel(net, judge.table(), work(1), chance.source(0), dealt, LINE_UPS, points)
    # Points are zero-sum: the lone seat's are the gain of its bot over the other at that seat.
    alone = np.where(LINE_UPS[:3] == NET, 1, 0)
    gained = (points[:, :3] * alone).sum((1, 2)) - (points[:, 3:] * alone).sum((1, 2))
    each = gained / 6
    return Measured(float(each.mean()), float(each.std(ddof=1) / count**0.5))
