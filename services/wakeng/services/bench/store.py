"""`wakeng bench store`: hands a second into SQLite through the one writer, and what the event loop feels of it.

The records are hands really played at random, of about four kilobytes a line; between the batches that are handed over
the loop turns, as it does for an arena. The baseline is what one would write first: the same data by the same driver
and under the same settings of SQLite, but a transaction for each hand.
"""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

import aiosqlite

from wakeng.engine import PRESETS, TOKENS, Phase, encode, hand_seed
from wakeng.services.bench.figures import Figure, Say, interleave, ratio
from wakeng.services.floor import Record
from wakeng.services.spec import TimeControl
from wakeng.services.store import RecordWriter, Store
from wakeng.services.table import HandSpec, Name, Table

LINE_BYTES: Final = 4_096
_POOL: Final = 64
"""Different hands, of several times as many those nearest to the line's length."""
_TAKE: Final = 8
"""Hands that end in one turn of the loop."""
_TICK: Final = 0.001
_SETTINGS: Final = ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL", "PRAGMA wal_autocheckpoint = 4000")
_TABLES: Final = (
    "CREATE TABLE hands (hand_index INTEGER PRIMARY KEY, line TEXT)",
    "CREATE TABLE seats (hand_index INTEGER, seat INTEGER, score INTEGER, PRIMARY KEY (hand_index, seat))",
)
_MATCH: Final = "bench"


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much to write."""

    rounds: int = 7
    hands: int = 20_000
    baseline_hands: int = 5_000


QUICK: Final = Effort(rounds=1, hands=500, baseline_hands=100)


@dataclass(frozen=True, slots=True)
class Sample:
    """Hands written a second, and how late the loop was meanwhile, in seconds, as often as a tick of it was due."""

    hands_per_s: float
    lags: tuple[float, ...] = (0.0,)


async def bench_store(effort: Effort, say: Say) -> dict[str, Any]:
    """The figures of the section `store`."""
    records = played()
    bytes_ = sum(len(encode(record)) for record in records)

    async def ours() -> Sample:
        return await _through_writer(records, effort.hands)

    async def naive() -> Sample:
        return Sample(await _one_by_one(records, effort.baseline_hands))

    samples = await interleave({"writer": ours, "one by one": naive}, rounds=effort.rounds, say=say)
    section = _figures(samples["writer"], samples["one by one"])
    return {"line_bytes": round(bytes_ / len(records)), **section}


def played() -> list[Record]:
    """Records of random hands, of those nearest to the wanted length."""
    random = Random(2024)
    found = [_record(index, random) for index in range(4 * _POOL)]
    return sorted(found, key=lambda record: abs(len(encode(record)) - LINE_BYTES))[:_POOL]


def _record(index: int, random: Random) -> Record:
    spec = HandSpec(
        match_id=_MATCH,
        hand_index=index,
        rules=PRESETS["xian"],
        seed=hand_seed(bytes(32), index),
        time_control=TimeControl(),
        names=(Name("bench"),) * 3,
    )
    table = Table(spec)
    while table.hand.phase is not Phase.END:
        hand = table.hand
        table.answer(TOKENS[hand.phase][random.choice(hand.legal)], latency_us=random.randrange(1_000))
    return table.record()


async def _through_writer(records: Sequence[Record], hands: int) -> Sample:
    with TemporaryDirectory(prefix="wakeng-bench-") as folder:
        async with await Store.open(f"sqlite:///{Path(folder) / 'wakeng.db'}") as store:
            await store.create_match(match_id=_MATCH, spec={}, seed="", commitment="", hands=hands)
            lags: list[float] = []
            ticking = asyncio.create_task(_tick(lags))
            began = time.perf_counter()
            await _write(RecordWriter(store), records, hands)
            elapsed = time.perf_counter() - began
            ticking.cancel()
            with suppress(asyncio.CancelledError):
                await ticking
    return Sample(hands / elapsed, tuple(lags) or (0.0,))


async def _write(writer: RecordWriter, records: Sequence[Record], hands: int) -> None:
    for index in range(hands):
        await writer.room()
        writer.put({**records[index % len(records)], "hand_index": index})
        if index % _TAKE == 0:
            await asyncio.sleep(0)
    await writer.close()


async def _tick(lags: list[float]) -> None:
    while True:
        due = time.perf_counter() + _TICK
        await asyncio.sleep(_TICK)
        lags.append(max(0.0, time.perf_counter() - due))


async def _one_by_one(records: Sequence[Record], hands: int) -> float:
    with TemporaryDirectory(prefix="wakeng-bench-") as folder:
        async with aiosqlite.connect(Path(folder) / "naive.db", isolation_level=None) as connection:
            for setting in (*_SETTINGS, *_TABLES):
                await connection.execute(setting)
            began = time.perf_counter()
            for index in range(hands):
                await _write_one(connection, {**records[index % len(records)], "hand_index": index})
            return hands / (time.perf_counter() - began)


async def _write_one(connection: aiosqlite.Connection, record: Record) -> None:
    index = record["hand_index"]
    seats = [(index, seat, score) for seat, score in enumerate(record["result"]["scores"])]
    await connection.execute("BEGIN")
    await connection.execute("INSERT INTO hands VALUES (?, ?)", (index, encode(record).decode()))
    await connection.executemany("INSERT INTO seats VALUES (?, ?, ?)", seats)
    await connection.execute("COMMIT")


def _figures(writer: Sequence[Sample], naive: Sequence[Sample]) -> dict[str, Any]:
    speed, base = (Figure.of(one.hands_per_s for one in found) for found in (writer, naive))
    against = ratio(speed, base)
    lags = sorted(1e3 * lag for one in writer for lag in one.lags)
    return {
        "rounds": len(writer),
        "hands_per_s": round(speed.median),
        "hands_per_s_range": [round(value) for value in speed.range],
        "one_by_one_hands_per_s": round(base.median),
        "one_by_one_hands_per_s_range": [round(value) for value in base.range],
        "vs_one_by_one": round(against.median, 3),
        "vs_one_by_one_range": [round(value, 3) for value in against.range],
        "loop_lag_p50_ms": round(_percentile(lags, 50), 2),
        "loop_lag_p99_ms": round(_percentile(lags, 99), 2),
        "loop_lag_most_ms": round(lags[-1], 2),
    }


def _percentile(ascending: Sequence[float], percent: float) -> float:
    return ascending[min(len(ascending) - 1, int(len(ascending) * percent / 100))]
