"""What describes a bot without ranking it: strength by role, means by role, who did well against whom, bids, faults.

Role strengths come from the single hands of clean blocks. With m the digger's score divided by n - 1, which is the
stake with its sign, the model is (docs/statistics.md 5)

    m = mu + D_digger - mean of E over the defenders

by ridge regression with lambda = 5 hands on D and E and none on mu, which centres D and E. Errors are a sandwich with
blocks as clusters and the factor G/(G - 2N + 1). With an auction D and E contain the choice of hands: a timid bot digs
only good ones and defends against bots that had worse. They are no ranks.

Means by role, bids and the cross-table are plain means over the clean blocks in which there was something to count.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wakeng.services.tournament.statistics.means import Estimate, rounded
from wakeng.services.tournament.statistics.ratings import Floats
from wakeng.services.tournament.statistics.results import Block, HandResult

Estimator = Callable[[Sequence[float]], Estimate]


@dataclass(frozen=True, slots=True)
class RoleStrength:
    """One bot's, in points of stake; errors are None where there are too few blocks for any."""

    digger: float
    digger_se: float | None
    defender: float
    defender_se: float | None

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "digger": rounded(self.digger),
            "digger_se": rounded(self.digger_se),
            "defender": rounded(self.defender),
            "defender_se": rounded(self.defender_se),
        }


@dataclass(frozen=True, slots=True)
class RoleStrengths:
    """Those of the field."""

    mu: float
    """What the average digger wins of the average defenders."""
    bots: Mapping[str, RoleStrength]


def role_strengths(blocks: Iterable[Block], bots: Sequence[str], *, ridge: float = 5.0) -> RoleStrengths:
    """D and E of every bot, from the hands of clean blocks that had a digger; `ridge` in hands."""
    column = {bot: i for i, bot in enumerate(bots)}
    hands = [hand for block in blocks if block.clean for hand in block.hands if hand.digger is not None]
    if not hands:
        return RoleStrengths(0.0, dict.fromkeys(bots, RoleStrength(0.0, None, 0.0, None)))
    rows = np.array([_row(hand, column) for hand in hands])
    stakes = np.array([_digger_score(hand) / (len(hand.bots) - 1) for hand in hands])
    matrix = rows.T @ rows + np.diag([0.0, *[ridge] * (2 * len(bots))])
    inverse = _centred(len(bots)) @ (np.linalg.inv(matrix) if ridge else np.linalg.pinv(matrix, hermitian=True))
    solution = inverse @ (rows.T @ stakes)
    scores = rows * (stakes - rows @ solution)[:, None]
    errors = _errors(scores @ inverse.T, [hand.block for hand in hands], len(bots))
    return RoleStrengths(
        float(solution[0]), {bot: _strength(solution, errors, i, len(bots)) for bot, i in column.items()}
    )


def _digger_score(hand: HandResult) -> float:
    assert hand.digger is not None
    return hand.scores[hand.digger]


def _centred(bots: int) -> Floats:
    """Makes D and E sum to zero and keeps the predictions: lambda > 0 has done so already."""
    centre: Floats = np.eye(1 + 2 * bots)
    for first, sign in ((1, 1.0), (1 + bots, -1.0)):
        centre[0, first : first + bots] = sign / bots
        centre[first : first + bots, first : first + bots] -= 1 / bots
    return centre


def _row(hand: HandResult, column: Mapping[str, int]) -> list[float]:
    row = [1.0] + [0.0] * (2 * len(column))
    for seat, bot in enumerate(hand.bots):
        if seat == hand.digger:
            row[1 + column[bot]] = 1.0
        else:
            row[1 + len(column) + column[bot]] -= 1 / (len(hand.bots) - 1)
    return row


def _errors(scores: Floats, blocks: Sequence[int], bots: int) -> Floats | None:
    clusters = {block: i for i, block in enumerate(dict.fromkeys(blocks))}
    count = len(clusters)
    if count < 2 * bots:
        return None
    sums = np.zeros((count, scores.shape[1]))
    np.add.at(sums, np.array([clusters[block] for block in blocks]), scores)
    found: Floats = np.sqrt(count / (count - 2 * bots + 1) * (sums * sums).sum(axis=0))
    return found


def _strength(solution: Floats, errors: Floats | None, i: int, bots: int) -> RoleStrength:
    digger, defender = 1 + i, 1 + bots + i
    return RoleStrength(
        float(solution[digger]),
        None if errors is None else float(errors[digger]),
        float(solution[defender]),
        None if errors is None else float(errors[defender]),
    )


@dataclass(frozen=True, slots=True)
class Habits:
    """Means over blocks of one bot: points by role, and shares of its hands."""

    as_digger: Estimate
    as_defender: Estimate
    bids: Estimate
    """Share of hands in which it made a bid."""
    digs: Estimate
    """Share of hands in which it dug."""
    won: Estimate
    """Share won of those in which it dug."""


class Habit:
    """A fold over the hands of one bot in clean blocks, seat by seat."""

    def __init__(self) -> None:
        self._values: dict[str, list[float]] = {name: [] for name in Habits.__slots__}

    def add(self, block: Block, bot: str) -> None:
        """Count a clean block."""
        found: dict[str, list[float]] = {name: [] for name in self._values}
        for hand in block.hands:
            for seat in hand.seats_of(bot):
                _note(found, hand, seat)
        for name, values in found.items():
            if values:
                self._values[name].append(math.fsum(values) / len(values))

    def estimates(self, estimator: Estimator) -> Habits:
        """The means."""
        return Habits(**{name: estimator(values) for name, values in self._values.items()})


def _note(found: dict[str, list[float]], hand: HandResult, seat: int) -> None:
    if hand.bids:
        found["bids"].append(float(hand.bids[seat]))
    if hand.digger is None:
        return
    dug = seat == hand.digger
    found["as_digger" if dug else "as_defender"].append(hand.scores[seat])
    found["digs"].append(float(dug))
    if dug:
        found["won"].append(float(hand.digger_won))


def cross_table(blocks: Iterable[Block], estimator: Estimator) -> dict[str, dict[str, Estimate]]:
    """By bot and other bot, the mean of the first in clean blocks with both."""
    found: dict[str, dict[str, list[float]]] = {}
    for block in blocks:
        for bot, value in block.values.items() if block.clean else ():
            for other in block.line_up:
                if other != bot:
                    found.setdefault(bot, {}).setdefault(other, []).append(value)
    return {bot: {other: estimator(values) for other, values in row.items()} for bot, row in found.items()}


@dataclass(frozen=True, slots=True)
class Conduct:
    """One bot's hands, escapes and faults in all blocks, dirty ones included."""

    hands: int = 0
    escapes: int = 0
    points_lost: float = 0.0
    """By its escapes, a positive number."""
    faults: Mapping[str, int] = field(default_factory=dict)


def conduct(blocks: Iterable[Block], bots: Iterable[str]) -> dict[str, Conduct]:
    """By bot."""
    hands: Counter[str] = Counter()
    escapes: Counter[str] = Counter()
    lost: dict[str, list[float]] = {}
    faults: dict[str, Counter[str]] = {}
    for hand in (hand for block in blocks for hand in block.hands):
        hands.update(set(hand.bots))
        if hand.leaver is not None:
            escapes[hand.leaver] += 1
            lost.setdefault(hand.leaver, []).append(hand.penalty)
        for bot, counts in zip(hand.bots, hand.faults, strict=False):
            faults.setdefault(bot, Counter()).update(counts)
    return {
        bot: Conduct(hands[bot], escapes[bot], math.fsum(lost.get(bot, ())), dict(sorted(faults.get(bot, {}).items())))
        for bot in bots
    }
