"""`wakeng bench arena`: decisions a second of one arena process and one bot process, and how soon one table goes on.

Everything is on: journal, records in SQLite, metrics. The arena runs on one core and whoever answers on another, the
bot as well as the servers of the baselines (`wakeng.services.bench.pingpong`).

The baselines have gRPC as it comes (`vs_unary`, `single_table_vs_stream`), and then once more as ours is loaded
(`wakeng.sdk.polling`), which anybody can have who knows of it (`..._alike`).

A lone table's decision lasts from its question to the next one of the same hand: the answer is then applied, logged
and counted.
"""

import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from wakeng.engine import Fault
from wakeng.services.bench.child import Served, measured, served
from wakeng.services.bench.figures import Figure, Say, interleave, ratio
from wakeng.services.bench.machine import Sides, processor_s
from wakeng.services.bench.playing import arena, match
from wakeng.services.table import Decided, Table

_WARM_DECISIONS: Final = 5
"""Decisions of each table before the clock starts."""
PATIENCE_MS: Final = 5
"""Latency of the bot that many tables are measured against."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How long to measure, in seconds where nothing else is said."""

    rounds: int = 7
    tables: int = 512
    throughput: float = 4.0
    baseline: float = 2.0
    lone_table: float = 2.0
    growth: tuple[int, ...] = (1, 8, 64, 512, 1_024)
    """Numbers of tables to see how throughput grows."""
    many_tables: int = 10_000
    many: float = 15.0


QUICK: Final = Effort(rounds=1, throughput=0.5, baseline=0.3, lone_table=0.3, growth=(1, 16), many_tables=200, many=0.5)


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

    def decided(self, told: Sequence[Decided]) -> None:
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
    async with AsyncExitStack() as parts:
        sides = parts.enter_context(Sides())
        with sides.answering():
            echo = await parts.enter_async_context(served("echo", plain=True))
            alike = await parts.enter_async_context(served("echo"))
            bot = await parts.enter_async_context(served("bot"))
            patient = await parts.enter_async_context(served("bot", latency_ms=PATIENCE_MS))
        fast = await interleave(
            {
                "arena": lambda: throughput(bot, tables=effort.tables, seconds=effort.throughput),
                "unary": lambda: _unary(echo, plain=True, seconds=effort.baseline),
                "unary, gRPC alike": lambda: _unary(alike, plain=False, seconds=effort.baseline),
            },
            rounds=effort.rounds,
            say=say,
        )
        soon = await interleave(
            {
                "lone table": lambda: lone_table_us(bot, seconds=effort.lone_table),
                "stream": lambda: measured("stream", plain=True, address=echo.address, seconds=effort.lone_table),
                "stream, gRPC alike": lambda: measured("stream", address=alike.address, seconds=effort.lone_table),
            },
            rounds=effort.rounds,
            say=say,
        )
        growth = {str(tables): await _grown(bot, tables, effort, say) for tables in effort.growth}
        say(f"{effort.many_tables:,} tables")
        many = await measured("tables", address=patient.address, tables=effort.many_tables, seconds=effort.many)
        idle = await measured("idle", tables=effort.many_tables)
    section = {"pinned": sides.pinned, "tables": effort.tables, **_fast(fast), **_soon(soon), "by_tables": growth}
    return {"arena": section, "tables": {**many, "idle_kib_each": idle}}


async def _unary(echo: Served, *, plain: bool, seconds: float) -> Throughput:
    found = await measured("unary", plain=plain, address=echo.address, seconds=seconds)
    return Throughput(found["per_s"], found["cpu_us"], None)


async def _grown(bot: Served, tables: int, effort: Effort, say: Say) -> dict[str, Any]:
    say(f"{tables} tables")
    found = await throughput(bot, tables=tables, seconds=effort.baseline)
    return _to_dict(found)


def _to_dict(found: Throughput) -> dict[str, Any]:
    return {
        "decisions_per_s": round(found.decisions_per_s),
        "arena_cpu_us": round(found.arena_us, 2),
        "bot_cpu_us": found.bot_us and round(found.bot_us, 2),
    }


def _fast(samples: dict[str, list[Throughput]]) -> dict[str, Any]:
    speed, unary, alike = (Figure.of(one.decisions_per_s for one in found) for found in samples.values())
    cost, unary_cost = (Figure.of(one.arena_us for one in samples[name]) for name in ("arena", "unary"))
    bot_us = [one.bot_us for one in samples["arena"] if one.bot_us is not None]
    return {
        "rounds": len(speed.values),
        **_said("decisions_per_s", speed, 0),
        **_said("unary_per_s", unary, 0),
        **_said("vs_unary", ratio(speed, unary), 3),
        **_said("unary_alike_per_s", alike, 0),
        **_said("vs_unary_alike", ratio(speed, alike), 3),
        **_said("arena_cpu_us", cost, 2),
        **_said("unary_cpu_us", unary_cost, 2),
        **_said("vs_unary_cpu", ratio(unary_cost, cost), 3),
        "bot_cpu_us": round(median(bot_us), 2) if bot_us else None,
    }


def _soon(samples: dict[str, list[float]]) -> dict[str, Any]:
    table, stream, alike = map(Figure.of, samples.values())
    return {
        **_said("single_table_p50_us", table, 1),
        **_said("stream_p50_us", stream, 1),
        **_said("single_table_vs_stream", ratio(table, stream), 3),
        **_said("stream_alike_p50_us", alike, 1),
        **_said("single_table_vs_stream_alike", ratio(table, alike), 3),
    }


def _said(name: str, figure: Figure, digits: int) -> dict[str, Any]:
    return {
        name: round(figure.median, digits),
        f"{name}_range": [round(value, digits) for value in figure.range],
    }
