"""Calls to the arena are counted by how they end, and what fails is found by the id that the caller was told."""

from __future__ import annotations

import asyncio
import io
import re
from pathlib import Path
from typing import Any

import orjson
import pytest
from grpc_health.v1 import health_pb2

from tests.arena.playing import Told, match, playing
from tests.arena.serving import Client, refused, serving
from wakeng.engine import Fault
from wakeng.services.errors import NoStore
from wakeng.services.floor import Watcher
from wakeng.services.logging import bind_ids, log_to, open_log
from wakeng.services.metrics import Metrics
from wakeng.services.store import Store
from wakeng.services.table import Decided, Table
from wakeng.v1 import match_pb2

GET = "/wakeng.v1.MatchService/GetMatch"
LIST = "/wakeng.v1.MatchService/ListMatches"
RECORDS = "/wakeng.v1.MatchService/ListHandRecords"


def calls(metrics: Metrics, method: str, code: str) -> float | None:
    return metrics.registry.get_sample_value("wakeng_call_seconds_count", {"method": method, "code": code})


async def test_calls_are_counted_by_method_and_status(tmp_path: Path) -> None:
    async with serving(tmp_path) as arena, Client(arena.address) as client:
        await client(client.matches.ListMatches, match_pb2.ListMatchesRequest())
        for _ in range(2):
            await refused(client(client.matches.GetMatch, match_pb2.GetMatchRequest(match_id="nobody")))
        records = client.matches.ListHandRecords(match_pb2.ListHandRecordsRequest(match_id="nobody"))
        await refused(records.read())
        unknown = client.channel.unary_unary("/wakeng.v1.MatchService/Nothing")
        assert (await refused(unknown(b""))).code == "UNIMPLEMENTED"
    assert calls(arena.metrics, LIST, "OK") == 1
    assert calls(arena.metrics, GET, "NOT_FOUND") == 2
    assert calls(arena.metrics, RECORDS, "NOT_FOUND") == 1
    assert arena.metrics.registry.get_sample_value("wakeng_unknown_calls_total") == 1


async def test_what_the_guard_refuses_is_counted_too(tmp_path: Path) -> None:
    async with serving(tmp_path, demand_tokens=True) as arena, Client(arena.address) as client:
        found = await refused(client(client.matches.CancelMatch, match_pb2.CancelMatchRequest(match_id="m")))
    assert calls(arena.metrics, "/wakeng.v1.MatchService/CancelMatch", found.code) == 1


async def test_a_stream_that_its_caller_gives_up_is_counted_once(tmp_path: Path) -> None:
    watch = "/grpc.health.v1.Health/Watch"
    async with serving(tmp_path) as arena, Client(arena.address) as client:
        call = client.channel.unary_stream(watch)(health_pb2.HealthCheckRequest().SerializeToString())
        await call.read()
        call.cancel()
        await client(client.matches.ListMatches, match_pb2.ListMatchesRequest())
    assert calls(arena.metrics, watch, "CANCELLED") == 1


@pytest.mark.parametrize(
    ("error", "code", "reason"),
    [(ValueError("x\n\x1b[2J"), "INTERNAL", "ARENA_ERROR"), (NoStore("gone"), "UNAVAILABLE", "STORE_FAILED")],
)
async def test_a_failure_is_logged_under_the_id_that_the_caller_gets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, code: str, reason: str
) -> None:
    async def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(Store, "list_matches", fail)
    stream = io.StringIO()
    with log_to(open_log(stream)):
        async with serving(tmp_path) as arena, Client(arena.address) as client:
            found = await refused(client(client.matches.ListMatches, match_pb2.ListMatchesRequest()))
    assert (found.code, found.reason) == (code, reason)
    (error_id,) = re.findall(r"error id ([0-9a-f]{12})", found.message)
    (line,) = [line for line in map(orjson.loads, stream.getvalue().splitlines()) if "error_id" in line]
    assert (line["error_id"], line["method"], line["level"]) == (error_id, LIST, "error")
    assert line["peer"].startswith("ipv4:127.0.0.1:")
    assert "test_calls.py" in line["event"], "it says where the error came from"
    assert calls(arena.metrics, LIST, code) == 1


async def test_a_hand_that_the_arena_fails_at_is_logged_with_its_ids_and_the_errors_origin(tmp_path: Path) -> None:
    def fail(decided: Decided) -> None:
        if decided.table.spec.attempt == 0:
            raise ValueError("boom")

    class Failing(Told):
        def hand_voided(self, table: Table, reason: str) -> None:
            pass

    watcher: Watcher = Failing(fail)
    stream = io.StringIO()
    with log_to(open_log(stream)):
        async with playing(tmp_path) as arena:
            await arena.match(match("greedy", "lowest", "random", hands=1), in_process=True, watchers=[watcher])
    (line,) = map(orjson.loads, stream.getvalue().splitlines())
    assert (line["match_id"], line["hand_index"], line["attempt"]) == ("m1", 0, 0)
    assert line["reason"] == "ValueError: boom"
    assert "test_calls.py" in line["exception"]


async def test_ids_that_are_bound_stand_in_whatever_a_task_logs() -> None:
    stream = io.StringIO()

    async def work(match_id: str) -> None:
        import logging

        bind_ids(match_id=match_id)
        await asyncio.sleep(0)
        logging.getLogger("wakeng.services.x").warning("%s happened", "it", extra={"fault": Fault.STALE.value})

    with log_to(open_log(stream)):
        await asyncio.gather(work("a"), work("b"))
    found = [orjson.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line["match_id"], line["event"], line["fault"]) for line in found] == [
        ("a", "it happened", "STALE"),
        ("b", "it happened", "STALE"),
    ]
