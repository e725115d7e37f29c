"""Who sits down together where results play no part: all line-ups in cycles, balanced, gauntlet, pair.

Bots are numbers 0..N-1, their places in the field; a line-up holds those of one table in ascending order. Everything
follows from the tournament's seed by `derive`, as docs/statistics.md 9 says.

The balanced rule needs no design from a book and works for every field: it fills the places of a table one by one,
always with the bot that has played least, then with the one that has met those already seated least. Looking at the
greatest number of meetings before their sum is what keeps the worst pair close to the others.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, count, repeat
from math import comb

from wakeng.engine.deal import derive

LineUp = tuple[int, ...]


class History:
    """How often each bot was seated, each pair together, and each line-up: what was scheduled, whatever came of it."""

    def __init__(self, bots: int) -> None:
        self.games = [0] * bots
        self.uses: Counter[LineUp] = Counter()
        self._pairs = [[0] * bots for _ in range(bots)]

    def add(self, line_up: LineUp) -> None:
        """Count one block."""
        self.uses[line_up] += 1
        for bot in line_up:
            self.games[bot] += 1
            for other in line_up:
                self._pairs[bot][other] += bot != other

    def meetings(self, bot: int, others: Sequence[int]) -> list[int]:
        """How often the bot met each of the others."""
        row = self._pairs[bot]
        return [row[other] for other in others]


def all_line_ups(seed: bytes, *, bots: int, players: int) -> Iterator[LineUp]:
    """Every line-up once a cycle, without end, each cycle in an order of its own."""
    line_ups = list(combinations(range(bots), players))
    assert len(line_ups) == comb(bots, players)
    for cycle in count():
        first = cycle * len(line_ups)
        order = sorted(range(len(line_ups)), key=lambda rank, n=first: derive(seed, "line-up", n + rank))  # type: ignore[misc]
        yield from (line_ups[rank] for rank in order)


def balanced(seed: bytes, *, bots: int, players: int) -> Iterator[LineUp]:
    """Line-ups without end in which games and meetings stay level at every moment."""
    return _filled(seed, bots, players, repeat(()))


def gauntlet(seed: bytes, *, bots: int, players: int, challengers: Sequence[int]) -> Iterator[LineUp]:
    """Each challenger in turn takes the first place; the balanced rule fills the others from the field."""
    return _filled(seed, bots, players, ((challengers[b % len(challengers)],) for b in count()))


def pair() -> Iterator[LineUp]:
    """The two bots of a field of two, against each other without end."""
    return repeat((0, 1))


def _filled(seed: bytes, bots: int, players: int, given: Iterator[LineUp]) -> Iterator[LineUp]:
    history = History(bots)
    for block, seated in enumerate(given):
        table = list(seated)
        while len(table) < players:
            table.append(_next_bot(seed, history, block, table, last=len(table) == players - 1))
        line_up = tuple(sorted(table))
        history.add(line_up)
        yield line_up


def _next_bot(seed: bytes, history: History, block: int, table: list[int], *, last: bool) -> int:
    """The bot that has least: games, greatest number of meetings, their sum, uses of the line-up, then by lot."""
    bots = len(history.games)
    least = min(history.games[bot] for bot in range(bots) if bot not in table)
    keys: dict[int, tuple[int, int, int]] = {}
    for bot in range(bots):
        if history.games[bot] == least and bot not in table:
            meetings = history.meetings(bot, table)
            uses = history.uses[tuple(sorted((*table, bot)))] if last else 0
            keys[bot] = (max(meetings, default=0), sum(meetings), uses)
    best = min(keys.values())
    tied = [bot for bot, key in keys.items() if key == best]
    return min(tied, key=lambda bot: derive(seed, "pairing", block * bots + bot))
