"""Every kind of bad bot, a process of its own among two good bots: the match ends, and says whose fault it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc
import pytest

from tests.arena.playing import faults, match, playing
from tests.arena.unary import start_unary
from wakeng.bots import FAULTY_BOTS, create
from wakeng.bots.faulty import FaultyBot
from wakeng.engine import Fault
from wakeng.sdk import start

SILENT = {"move_ms": 50, "bank_ms": 50}
TIMES: dict[str, dict[str, Any]] = {
    "faulty:hang": SILENT,
    "faulty:late": SILENT,
    "faulty:wrong_id": SILENT,
    "faulty:crash": {"reconnect_ms": 100},
    "faulty:slow_start": {"ready_ms": 500},
    "faulty:half_open": {"ready_ms": 500},
}
"""Budgets are short where they are to be used up, and long where a busy machine must not be taken for a bad bot."""
BY_CALLS = ("faulty:hang", "faulty:late", "faulty:illegal")
"""Those whose fault is in the choice alone, so that any server may bring it."""


def times(name: str) -> dict[str, Any]:
    """The time control for a match with the bot."""
    return {"move_ms": 20_000, "ready_ms": 20_000, "reconnect_ms": 20_000, **TIMES.get(name, {})}


def earned(name: str) -> set[str]:
    bot = create(name)
    assert isinstance(bot, FaultyBot)
    return {fault.value for fault in bot.earns}


@pytest.mark.parametrize("name", FAULTY_BOTS)
async def test_each_earns_its_fault_and_nobody_else_earns_any(name: str, tmp_path: Path) -> None:
    async with playing(tmp_path) as arena:
        records = await arena.match(match("greedy", name, "random", hands=20, **times(name)), in_process=True)
    assert len(records) == 20
    assert faults(records) == {1: earned(name)}
    assert {record["result"]["escaped_seat"] for record in records} == {1}
    described = "NOT_READY" not in earned(name)
    assert {"version" in record["seats"][1] for record in records} == {described}


@pytest.mark.parametrize("name", BY_CALLS)
async def test_a_bot_asked_by_single_calls_earns_the_same(name: str, tmp_path: Path) -> None:
    server, address = await start_unary(create(name))
    async with playing(tmp_path) as arena:
        records = await arena.match(match("greedy", address, "random", hands=5, **times(name)), in_process=True)
    await server.stop(0)
    assert faults(records) == {1: earned(name)}


@pytest.mark.parametrize("name", ["faulty:garbage", "faulty:oversize"])
async def test_what_cannot_be_read_is_malformed_in_single_calls_too(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = create(name)
    monkeypatch.setattr(type(bot), "play", _unimplemented, raising=True)
    async with await start(bot) as server, playing(tmp_path) as arena:
        records = await arena.match(match("greedy", server.address, "random", hands=5, **times(name)), in_process=True)
    assert faults(records) == {1: {Fault.MALFORMED.value}}
    offered = {said["offered"] for record in records for said in record["decisions"] if "fault" in said}
    assert all(shown.isascii() and shown.isprintable() and len(shown) <= 64 for shown in offered)


async def _unimplemented(self: object, requests: object, context: object) -> None:
    await context.abort(grpc.StatusCode.UNIMPLEMENTED, "")  # type: ignore[attr-defined]


async def test_faults_are_told_to_metrics_and_journal_under_the_seats_name(tmp_path: Path) -> None:
    async with playing(tmp_path) as arena:
        records = await arena.match(match("greedy", "faulty:illegal", "random", hands=5), in_process=True)
        registry = arena.arena.metrics.registry
        counted = registry.get_sample_value("wakeng_faults_total", {"bot": "faulty:illegal", "fault": "ILLEGAL_ACTION"})
        lines = [line for line in arena.journal() if "fault" in line]
    entries = [
        *(said for record in records for said in record["decisions"]),
        *(f for r in records for f in r["faults"]),
    ]
    assert counted == sum("fault" in entry for entry in entries)
    assert {line["bot"] for line in lines} == {"faulty:illegal"}
    assert len(lines) == counted


async def test_the_hands_after_a_quarantine_are_forfeited_without_a_question(tmp_path: Path) -> None:
    async with playing(tmp_path) as arena:
        records = await arena.match(match("greedy", "faulty:illegal", "random", hands=8, tables=1), in_process=True)
    asked = [bool(record.get("decisions")) for record in records]
    assert asked == [True] * 3 + [False] * 5
    assert all(record["faults"] == [{"seat": 1, "fault": "ILLEGAL_ACTION", "count": 1}] for record in records)
