"""`wakeng bench arena`: decisions a second of one arena process and one bot process, and how soon one table goes on.

Everything is on: journal, records in SQLite, metrics. The arena runs on one core and whoever answers on another, the
bot as well as the servers of the baselines (`wakeng.services.bench.pingpong`).

A lone table's decision lasts from its question to the next one of the same hand: the answer is then applied, logged
and counted.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from wakeng.engine import Fault
from wakeng.services.bench.child import Served, measured, served
from wakeng.services.bench.figures import Figure, Say, interleave, ratio
from wakeng.services.bench.machine import Sides, processor_s
from wakeng.services.bench.pingpong import stream_round_trip_us, unary_per_s
from wakeng.services.bench.playing import arena, match
from wakeng.services.table import Decided, Table

TABLES: Final = 512
_WARM_DECISIONS: Final = 5
"""Decisions of each table before the clock starts."""
PATIENCE_MS: Final = 5
"""Latency of the bot that many tables are measured against."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How long to measure, in seconds where nothing else is said."""

    rounds: int = 7
    throughput: float = 4.0
    baseline: float = 2.0
    lone_table: float = 2.0
    growth: tuple[int, ...] = (1, 8, 64, 512, 1_024)
    """Numbers of tables to see how throughput grows."""
    many_tables: int = 10_000
    many: float = 15.0


QUICK: Final = Effort(
    rounds=1, throughput=0.5, baseline=0.3, lone_table=0.3, growth=(1, 16), many_tables=200, many=0.5
)


@dataclass(frozen=True, slots=True)
class Throughput:
    """Decisions a second, and what each cost both sides in microseconds of processor time, where that is known."""

    decisions_per_s: float
    arena_us: float
    bot_us: float | None


async def throughput(bot: Served, *, tables: int, seconds: float) -> Throughput:
    """Play so many tables against the bot, for so long once all have begun."""
    async with arena() as made, match(made, bot.address, tables=tables) as playing:
        await playing.until(lambda: playing.tables == tables and playing.decisions() >= _WARM_DECISIONS * tables)
        before = _marks(playing.decisions(), bot)
        await asyncio.sleep(seconds)
        after = _marks(playing.decisions(), bot)
    decisions, elapsed, arena_s = (late - early for late, early in zip(after[:3], before[:3], strict=True))
    bot_us = None if after[3] is None or before[3] is None else 1e6 * (after[3] - before[3]) / decisions
    return Throughput(decisions / elapsed, 1e6 * arena_s / decisions, bot_us)


def _marks(decisions: int, bot: Served) -> tuple[int, float, float, float | None]:
    return decisions, time.perf_counter(), time.process_time(), processor_s(bot.pid)


async def lone_table_us(bot: Served, *, seconds: float) -> float:
    """The median time of a decision of one table alone, in microseconds."""
    stopwatch = Stopwatch()
    async with arena() as made, match(made, bot.address, tables=1, watchers=[stopwatch]) as playing:
        await playing.until(lambda: len(stopwatch.seconds) > _WARM_DECISIONS)
        stopwatch.seconds.clear()
        await asyncio.sleep(seconds)
        await playing.until(lambda: len(stopwatch.seconds) > 0)
    return 1e6 * median(stopwatch.seconds)


class Stopwatch:
    """A watcher of one table: the time from each decision of a hand to its next."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self._since: float | None = None

    def hand_started(self, table: Table) -> None:
        """The time before a hand's first decision is not only the bot's."""
        self._since = None

    def decided(self, table: Table, decided: Decided) -> None:
        """One decision ends, and the next one's time begins."""
        now = time.perf_counter()
        if self._since is not None:
            self.seconds.append(now - self._since)
        self._since = now

    def faulted(self, table: Table, seat: int, fault: Fault) -> None:
        """Nothing."""

    def hand_ended(self, table: Table) -> None:
        """Nothing."""

    def hand_voided(self, table: Table, reason: str) -> None:
        """Nothing."""


# All of it --------------------------------------------------------------------------------------------------------


async def bench_arena(effort: Effort, say: Say) -> dict[str, dict[str, Any]]:
    """The sections `arena` and `tables`."""
    with Sides() as sides:
        with sides.answering():
            echo_, bot_, patient_ = served("echo"), served("bot"), served("bot", latency_ms=PATIENCE_MS)
            echo, bot = await echo_.__aenter__(), await bot_.__aenter__()
        raise NotImplementedError
