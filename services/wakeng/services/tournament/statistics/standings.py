"""The standings of a tournament: one value, made from the blocks of the prefix alone, for commands, pages and tests.

Everything in it is a fold over blocks in schedule order, so it can be made again from the records at any time, and is
then the same. Bots are ranked by F (docs/statistics.md 5), those of few blocks by its shrunk form; all else describes
them. While a tournament runs, and where its length was not fixed beforehand, intervals are the watched ones
(docs/statistics.md 3).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from wakeng.services.tournament.options import Options
from wakeng.services.tournament.statistics.leak import Leak, leak_check
from wakeng.services.tournament.statistics.means import WATCHED_BLOCKS, Estimate, estimate, multiplier, rounded
from wakeng.services.tournament.statistics.ratings import Fit, fit, with_escapes
from wakeng.services.tournament.statistics.results import Block, swap_value
from wakeng.services.tournament.statistics.roles import (
    Conduct,
    Estimator,
    Habit,
    Habits,
    RoleStrengths,
    conduct,
    cross_table,
    role_strengths,
)
from wakeng.services.tournament.statistics.sprt import SprtOptions, SprtResult, sprt

ADAPTIVE: Final = "the pairing followed the results: intervals hold the truth less often than they say"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One bot's line. Points are per hand, in units of the rule set's base."""

    rank: int
    """From 1, within its group."""
    bot: str
    number: float | None
    """F: points per hand against the field; None without a block."""
    se: float | None
    low: float | None
    high: float | None
    """No interval for a provisional bot, with fewer than two blocks a bot in the field, and where all are alike."""
    shrunk: float
    """F with lambda = `lambda_pairing`; a provisional bot is ranked by it."""
    provisional: bool
    alike: bool
    """All its blocks have the same value: there is no difference so far."""
    tied_with_next: bool | None
    """Whether the interval of the difference to the next in rank holds 0; None for the last and while unknown."""
    blocks: int
    """Clean ones."""
    dirty_blocks: int
    """Those it escaped."""
    mean: Estimate
    """The plain mean of y in clean blocks."""
    habits: Habits
    conduct: Conduct

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "rank": self.rank,
            "bot": self.bot,
            "f": rounded(self.number),
            "se": rounded(self.se),
            "low": rounded(self.low),
            "high": rounded(self.high),
            "shrunk_f": rounded(self.shrunk),
            "provisional": self.provisional,
            "alike": self.alike,
            "tied_with_next": self.tied_with_next,
            "blocks": self.blocks,
            "dirty_blocks": self.dirty_blocks,
            "hands": self.conduct.hands,
            "mean": rounded(self.mean.mean),
            **{name: getattr(self.habits, name).to_dict() for name in Habits.__slots__},
            "escapes": self.conduct.escapes,
            "points_lost_by_escapes": rounded(self.conduct.points_lost),
            "faults": dict(self.conduct.faults),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Standings:
    """The field after a prefix."""

    prefix: int
    """k: blocks 0..k-1 of the schedule count, those struck off among them."""
    planned: int | None
    """Blocks fixed beforehand, where they were."""
    blocks: int
    dirty_blocks: int
    hands: int
    groups: tuple[tuple[Row, ...], ...]
    """Bots that no table links stand apart; mostly there is one group."""
    level: float
    watched: bool
    """The intervals hold at all times at once, not only at the end."""
    roles: RoleStrengths
    """Descriptive, never the rank."""
    cross_table: Mapping[str, Mapping[str, Estimate]]
    leaks: Mapping[str, Leak]
    sprt: SprtResult | None
    differing: Mapping[str, Any] = field(default_factory=dict)
    """Every option that differs from its default."""
    commitment: str = ""
    """SHA-256 of the tournament's seed."""
    remarks: tuple[str, ...] = ()

    @property
    def rows(self) -> tuple[Row, ...]:
        """Those of all groups."""
        return tuple(row for group in self.groups for row in group)

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "prefix": self.prefix,
            "planned_blocks": self.planned,
            "blocks": self.blocks,
            "dirty_blocks": self.dirty_blocks,
            "hands": self.hands,
            "interval": {"level": self.level, "watched": self.watched},
            "groups": [[row.to_dict() for row in group] for group in self.groups],
            "sprt": None if self.sprt is None else self.sprt.to_dict(),
            "roles": {
                "mu": rounded(self.roles.mu),
                "bots": {bot: strength.to_dict() for bot, strength in self.roles.bots.items()},
            },
            "cross_table": {
                bot: {other: found.to_dict() for other, found in row.items()} for bot, row in self.cross_table.items()
            },
            "leak_check": {bot: leak.to_dict() for bot, leak in self.leaks.items()},
            "options": dict(self.differing),
            "seed_commitment": self.commitment,
            "remarks": list(self.remarks),
        }


def standings(
    blocks: Sequence[Block],
    bots: Sequence[str],
    *,
    prefix: int | None = None,
    planned: int | None = None,
    watched: bool | None = None,
    test: SprtOptions | None = None,
    options: Options | None = None,
    differing: Mapping[str, Any] | None = None,
    commitment: str = "",
    adaptive: bool = False,
) -> Standings:
    """The standings after these blocks, which are those of the prefix in schedule order without the ones struck off.

    `bots` is the field, with those that have not played; `prefix` is k, without it the number of blocks. Intervals are
    watched ones unless all `planned` blocks are there, or as `watched` says. With `test` the blocks are swap pairs of
    two bots, and count up to its decision. `differing` are the options that differ from their defaults, where there are
    others than those of `options`. `adaptive` says that the pairing followed the results.
    """
    options = options or Options()
    k = len(blocks) if prefix is None else prefix
    live = watched if watched is not None else test is not None or planned is None or k < planned
    tested = None if test is None else sprt([swap_value(block, *bots) for block in blocks], test)
    used = blocks if tested is None else blocks[: tested.blocks]
    view = _View(used, bots, options, _planned_each(used, bots, planned) if live else None)
    groups = view.groups() if tested is None else (view.pair(tested),)
    return Standings(
        prefix=k,
        planned=planned,
        blocks=len(used),
        dirty_blocks=sum(not block.clean for block in used),
        hands=sum(len(block.hands) for block in used),
        groups=groups,
        level=options.interval,
        watched=live,
        roles=role_strengths(used, bots, ridge=options.lambda_roles),
        cross_table={} if test else cross_table(used, view.estimator),
        leaks=leak_check(used, bots, least_blocks=options.provisional_below),
        sprt=tested,
        differing=options.differing() if differing is None else differing,
        commitment=commitment,
        remarks=(ADAPTIVE,) if adaptive else (),
    )


def _planned_each(blocks: Sequence[Block], bots: Sequence[str], planned: int | None) -> float:
    """t*, a bot's share of the planned blocks. Only the width of intervals depends on it, not whether they hold."""
    if planned is None or not blocks:
        return WATCHED_BLOCKS
    return max(1.0, planned * len(blocks[0].line_up) / len(bots))


class _View:
    """What the rows of one table have in common."""

    def __init__(self, blocks: Sequence[Block], bots: Sequence[str], options: Options, watched: float | None) -> None:
        self._blocks = blocks
        self._bots = tuple(bots)
        self._options = options
        self._watched = watched
        self.estimator: Estimator = partial(
            estimate, level=options.interval, provisional_below=options.provisional_below, watched=watched
        )
        self._conduct = conduct(blocks, bots)
        self._habits = {bot: Habit() for bot in bots}
        self._values: dict[str, list[float]] = {bot: [] for bot in bots}
        for block in (block for block in blocks if block.clean):
            for bot, value in block.values.items():
                self._habits[bot].add(block, bot)
                self._values[bot].append(value)

    def groups(self) -> tuple[tuple[Row, ...], ...]:
        """The rows of a field, by F."""
        fitted = with_escapes(fit(self._blocks, self._bots, ridge=self._options.lambda_), self._blocks)
        shrunk = fit(self._blocks, self._bots, ridge=self._options.lambda_pairing).numbers.tolist()
        groups = [self._ranked(group, fitted, shrunk) for group in fitted.groups]
        return tuple(tuple(self._row(order, place, fitted, shrunk) for place in range(len(order))) for order in groups)

    def _ranked(self, group: Sequence[int], fitted: Fit, shrunk: Sequence[float]) -> list[int]:
        """The bots of a group; those level to nine places in the order of the field."""
        key = {i: shrunk[i] if self._provisional(fitted, i) else float(fitted.numbers[i]) for i in group}
        return sorted(group, key=lambda i: (-round(key[i], 9), i))

    def _provisional(self, fitted: Fit, i: int) -> bool:
        return fitted.games[i] < self._options.provisional_below

    def _row(self, order: Sequence[int], place: int, fitted: Fit, shrunk: Sequence[float]) -> Row:
        i = order[place]
        mean = self.estimator(self._values[self._bots[i]])
        se, number = fitted.errors[i], float(fitted.numbers[i])
        alike = mean.alike and not fitted.dirty[i]
        half = se * self._multiplier(fitted, i) if self._certain(fitted, order, i) and not alike else math.inf
        known = math.isfinite(half)
        return Row(
            rank=place + 1,
            bot=self._bots[i],
            number=number if fitted.games[i] + fitted.dirty[i] else None,
            se=se if math.isfinite(se) else None,
            low=number - half if known else None,
            high=number + half if known else None,
            shrunk=shrunk[i],
            provisional=self._provisional(fitted, i),
            alike=alike,
            tied_with_next=self._tied(fitted, order, place),
            blocks=fitted.games[i],
            dirty_blocks=fitted.dirty[i],
            mean=mean,
            habits=self._habits[self._bots[i]].estimates(self.estimator),
            conduct=self._conduct[self._bots[i]],
        )

    def _certain(self, fitted: Fit, group: Sequence[int], i: int) -> bool:
        """Whether there are blocks enough for an interval: of the bot, and two a bot in its group."""
        blocks = max(fitted.blocks[j] for j in group)
        return not self._provisional(fitted, i) and blocks >= 2 * len(group)

    def _multiplier(self, fitted: Fit, i: int) -> float:
        return multiplier(fitted.games[i], level=self._options.interval, watched=self._watched)

    def _tied(self, fitted: Fit, order: Sequence[int], place: int) -> bool | None:
        if place + 1 == len(order) or not all(self._certain(fitted, order, i) for i in order[place : place + 2]):
            return None
        i, j = order[place : place + 2]
        half = fitted.difference_error(i, j) * max(self._multiplier(fitted, i), self._multiplier(fitted, j))
        return bool(abs(fitted.numbers[i] - fitted.numbers[j]) <= half + 1e-12)

    def pair(self, tested: SprtResult) -> tuple[Row, ...]:
        """The rows of two bots that were tested against each other."""
        ordered = (1.0, -1.0) if tested.mean >= 0 else (-1.0, 1.0)
        return tuple(self._paired(tested, sign, rank) for rank, sign in enumerate(ordered, 1))

    def _paired(self, tested: SprtResult, sign: float, rank: int) -> Row:
        bot = self._bots[0 if sign > 0 else 1]
        values = [sign * swap_value(block, *self._bots) for block in self._blocks]
        low, high = tested.low, tested.high
        shown = tested.blocks >= self._options.provisional_below and not tested.alike and None not in (low, high)
        ends = sorted((sign * (low or 0.0), sign * (high or 0.0))) if shown else (None, None)
        return Row(
            rank=rank,
            bot=bot,
            number=sign * tested.mean + 0.0 if tested.blocks else None,
            se=tested.se,
            low=ends[0],
            high=ends[1],
            shrunk=sign * tested.mean * tested.blocks / (tested.blocks + self._options.lambda_pairing) + 0.0,
            provisional=tested.blocks < self._options.provisional_below,
            alike=tested.alike,
            tied_with_next=(low or 0.0) <= 0 <= (high or 0.0) if shown and rank == 1 else None,
            blocks=len(values),
            dirty_blocks=0,
            mean=self.estimator(values),
            habits=self._habits[bot].estimates(self.estimator),
            conduct=self._conduct[bot],
        )
