"""How rounds are paired: line-ups that follow from the seed alone, and Swiss and ladder, which follow the results.

Who rates the bots is a parameter: this module knows of results only that they come in schedule order, round by round.
Ratings are rounded before bots are ranked by them, so that bots which are level stay in the field's order whatever
the last bits of a float say.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf, isfinite, sqrt
from typing import Final, Protocol, TypeVar

from wakeng.engine.deal import derive
from wakeng.services.tournament.line_ups import History, LineUp

R_contra = TypeVar("R_contra", contravariant=True)
R = TypeVar("R")

_DIGITS: Final = 9
_RANGE: Final = 4
"""Swiss looks for the next bot of a table among at least so many."""
_GAP: Final = 0.15
"""Points added to a gap in a ladder: below that, two bots are neighbours whatever the rest."""
_MEETING: Final = 0.1
"""Points of distance that an earlier meeting counts for in a ladder."""


@dataclass(frozen=True, slots=True)
class Ratings:
    """By bot: the shrunk theta and F of docs/statistics.md 5 (`lambda_pairing`), and F's standard error.

    An error that is not known yet is infinite or not a number.
    """

    theta: Sequence[float]
    f: Sequence[float]
    errors: Sequence[float]


Rate = Callable[[Sequence[R]], Ratings]
"""The ratings after some results (one at least) in schedule order; each time the same sequence, grown longer."""


def _ratings(rate: Rate[R], results: Sequence[R], bots: int) -> Ratings:
    """Before the first result, and where all blocks were struck off, everybody is level."""
    return rate(results) if results else Ratings([0.0] * bots, [0.0] * bots, [inf] * bots)


class Pairing(Protocol[R_contra]):
    """What a schedule asks for line-ups, round by round."""

    waits: bool
    """Whether a round follows from the results of those before it."""

    def next_round(self, results: Sequence[R_contra]) -> Sequence[LineUp]:
        """The line-up of each block of the next round; `results` are those of all rounds before where it waits."""


class Fixed:
    """Line-ups that follow from the seed alone, each a round of its own."""

    waits = False

    def __init__(self, line_ups: Iterator[LineUp]) -> None:
        self._line_ups = line_ups

    def next_round(self, results: Sequence[object]) -> Sequence[LineUp]:
        """The next one."""
        return (next(self._line_ups),)


class Swiss(Pairing[R]):
    """Bots of about equal rank meet; those that have played most sit out where tables do not come out even."""

    waits = True

    def __init__(self, seed: bytes, *, bots: int, players: int, blocks: int, rate: Rate[R]) -> None:
        self._seed = seed
        self._players = players
        self._blocks = blocks
        """At each table, in a row."""
        self._rate = rate
        self._round = 0
        self._history = History(bots)

    def next_round(self, results: Sequence[R]) -> Sequence[LineUp]:
        """Rounds 1 and 2 sit as they are drawn, later ones by rank."""
        self._round += 1
        drawn = self._round <= 2
        ranked = self._seated(self._drawn() if drawn else self._ranked(results))
        tables = self._in_order(ranked) if drawn else self._by_rank(ranked)
        line_ups = [tuple(sorted(table)) for table in tables for _ in range(self._blocks)]
        for line_up in line_ups:
            self._history.add(line_up)
        return line_ups

    def _drawn(self) -> list[int]:
        bots = len(self._history.games)
        return sorted(range(bots), key=lambda bot: derive(self._seed, "swiss", self._round * bots + bot))

    def _ranked(self, results: Sequence[R]) -> list[int]:
        theta = _ratings(self._rate, results, len(self._history.games)).theta
        return sorted(range(len(theta)), key=lambda bot: -round(theta[bot], _DIGITS))

    def _seated(self, ranked: list[int]) -> list[int]:
        """Without those that sit out: the ones with the most blocks, of equals the lowest in rank."""
        games = self._history.games
        rank = {bot: i for i, bot in enumerate(ranked)}
        most_first = sorted(ranked, key=lambda bot: (-games[bot], -rank[bot]))
        out = set(most_first[: len(ranked) % self._players])
        return [bot for bot in ranked if bot not in out]

    def _in_order(self, ranked: list[int]) -> list[list[int]]:
        return [ranked[first : first + self._players] for first in range(0, len(ranked), self._players)]

    def _by_rank(self, ranked: list[int]) -> list[list[int]]:
        tables = []
        unseated = list(ranked)
        while unseated:
            table = [unseated.pop(0)]
            while len(table) < self._players:
                near = unseated[: max(self._players, _RANGE)]
                # Of equals `min` takes the first, which ranks higher.
                table.append(min(near, key=lambda bot: sum(self._history.meetings(bot, table))))
                unseated.remove(table[-1])
            tables.append(table)
        return tables


class Ladder(Pairing[R]):
    """The bot whose place is least certain plays its neighbours, and nobody starves."""

    waits = True

    def __init__(self, seed: bytes, *, bots: int, players: int, blocks: int, rate: Rate[R]) -> None:
        self._seed = seed
        self._bots = bots
        self._players = players
        self._blocks = blocks
        """In a round."""
        self._rate = rate
        self._paired = 0
        self._rated = [0] * bots
        """Games before this round, those that the ratings rest on."""
        self._history = History(bots)

    def next_round(self, results: Sequence[R]) -> Sequence[LineUp]:
        """One table after another, on the ratings of the rounds before and the meetings so far."""
        self._rated = list(self._history.games)
        ratings = _ratings(self._rate, results, self._bots)
        f = [round(value, _DIGITS) for value in ratings.f]
        return [self._next_table(f, ratings.errors) for _ in range(self._blocks)]

    def _next_table(self, f: list[float], errors: Sequence[float]) -> LineUp:
        lots = [derive(self._seed, "ladder", self._paired * self._bots + bot) for bot in range(self._bots)]
        first = self._first(f, errors, lots)
        others = [bot for bot in range(self._bots) if bot != first]
        distance = {
            bot: abs(f[bot] - f[first]) + _MEETING * met
            for bot, met in zip(others, self._history.meetings(first, others), strict=True)
        }
        nearest = sorted(others, key=lambda bot: (round(distance[bot], _DIGITS), lots[bot]))
        line_up = tuple(sorted((first, *nearest[: self._players - 1])))
        self._history.add(line_up)
        self._paired += 1
        return line_up

    def _first(self, f: list[float], errors: Sequence[float], lots: list[bytes]) -> int:
        games = self._history.games
        starved = [bot for bot in range(self._bots) if 2 * games[bot] * self._bots < sum(games)]
        if starved:
            return min(starved, key=lambda bot: (games[bot], lots[bot]))
        return min(range(self._bots), key=lambda bot: (-self._urgency(bot, f, errors), games[bot], lots[bot]))

    def _urgency(self, bot: int, f: list[float], errors: Sequence[float]) -> float:
        """The error against the gap to the nearest neighbour; infinite while the error is not known."""
        rated, games = self._rated[bot], self._history.games[bot]
        if not isfinite(errors[bot]) or not rated:
            return inf
        # What this round has already given the bot will make its error smaller; else it would get the whole round.
        error = errors[bot] * sqrt(rated / games)
        gap = min(abs(f[bot] - f[other]) for other in range(self._bots) if other != bot)
        return round(error / (gap + _GAP), _DIGITS)
