"""`wakeng serve` as a process: it stops in order when it is told to, and goes on where it was when it could not."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc.aio
import orjson

from tests.arena.hosts import Host
from tests.arena.playing import SEED, WAKENG, Record, checked, faults, folder_in, match, playing, story
from tests.arena.serving import Client
from wakeng.sdk import start
from wakeng.v1 import match_pb2, rules_pb2

TIMES = rules_pb2.TimeControl(move_ms=60_000, reconnect_ms=60_000)


@dataclass(slots=True)
class Process:
    """A running arena."""

    process: asyncio.subprocess.Process
    client: Client
    metrics: str

    async def create(self, *seats: str, hands: int) -> match_pb2.Match:
        """A match of those addresses."""
        asked = match_pb2.CreateMatchRequest(
            request_id="r1",
            rules=rules_pb2.RuleSet(preset="three_feature"),
            seats=[match_pb2.SeatSpec(address=address) for address in seats],
            hands=hands,
            seed=SEED.hex(),
            time_control=TIMES,
            tables=8,
        )
        made: match_pb2.Match = (await self.client(self.client.matches.CreateMatch, asked)).match
        return made

    async def end_of(self, match_id: str) -> match_pb2.Match:
        """The match once it is over."""
        call = self.client.matches.WatchMatch(match_pb2.WatchMatchRequest(match_id=match_id))
        async for _ in call:
            pass
        return await self.get(match_id)

    async def get(self, match_id: str) -> match_pb2.Match:
        """The match."""
        asked = match_pb2.GetMatchRequest(match_id=match_id)
        found: match_pb2.Match = (await self.client(self.client.matches.GetMatch, asked)).match
        return found

    async def records(self, match_id: str) -> list[Record]:
        """Its records, each found true."""
        call = self.client.matches.ListHandRecords(match_pb2.ListHandRecordsRequest(match_id=match_id))
        return [checked(response.line.encode()) async for response in call]


@asynccontextmanager
async def serve(folder: Path, *options: str) -> AsyncIterator[Process]:
    """`wakeng serve` in a folder, killed at the end of the block if it has not ended by itself."""
    process = await asyncio.create_subprocess_exec(
        *WAKENG, "serve", "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--db", f"sqlite:///{folder}/wakeng.db",
        "--journal", str(folder / "journal.jsonl"), *options, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        told = (await process.stdout.readline() + await process.stdout.readline()).decode()
        found = re.fullmatch(r"metrics on (\S+)\nlistening on (\S+)\n", told)
        assert found, told
        async with Client(found[2]) as client:
            yield Process(process, client, found[1])
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def in_one_go(hands: int, folder: Path) -> list[Record]:
    """The same match, played elsewhere without a break."""
    async with await start(Host()) as server, playing(folder_in(folder, "elsewhere")) as arena:
        return await arena.match(match(*[server.address] * 3, rules="three_feature", hands=hands))


async def test_sigterm_lets_the_hands_in_play_end_and_exits_0(tmp_path: Path) -> None:
    host = Host(hands=10)
    async with await start(host) as server, serve(tmp_path, "--grace", "60") as arena:
        made = await arena.create(*[server.address] * 3, hands=100_000)
        await host.reached.wait()
        arena.process.send_signal(signal.SIGTERM)
        _, err = await arena.process.communicate()
        assert arena.process.returncode == 0
        assert b"stopping" in err and b"Traceback" not in err
        async with serve(tmp_path) as again:
            records = await again.records(made.match_id)
            assert (await again.get(made.match_id)).state == match_pb2.MATCH_STATE_RUNNING, "it goes on"
    assert len(records) >= 3 and not faults(records)
    assert list(map(story, records[:10])) == list(map(story, await in_one_go(10, tmp_path)))


async def test_a_signal_is_obeyed_from_the_moment_on_at_which_the_arena_says_where_it_is(tmp_path: Path) -> None:
    async with serve(tmp_path) as arena:
        arena.process.send_signal(signal.SIGTERM)
        await arena.process.communicate()
        assert arena.process.returncode == 0


async def test_hands_that_do_not_end_within_the_grace_are_dropped_and_what_was_played_is_kept(tmp_path: Path) -> None:
    host = Host(decisions=700)
    async with await start(host) as server, serve(tmp_path, "--grace", "0.1") as arena:
        made = await arena.create(*[server.address] * 3, hands=1_000)
        await host.reached.wait()
        arena.process.send_signal(signal.SIGTERM)
        await arena.process.communicate()
        assert arena.process.returncode == 0
        async with playing(tmp_path) as store:
            kept = await store.records(made.match_id)
    assert kept and not faults(kept)


async def test_a_second_signal_ends_at_once(tmp_path: Path) -> None:
    host = Host(decisions=10)
    async with await start(host) as server, serve(tmp_path, "--grace", "600") as arena:
        await arena.create(*[server.address] * 3, hands=10)
        await host.reached.wait()
        assert arena.process.stderr is not None
        arena.process.send_signal(signal.SIGTERM)
        while b"stopping" not in await arena.process.stderr.readline():
            assert not arena.process.stderr.at_eof()
        arena.process.send_signal(signal.SIGTERM)
        await arena.process.communicate()
        assert arena.process.returncode == 130


async def test_a_match_goes_on_after_a_kill_and_every_hand_is_recorded_once(tmp_path: Path) -> None:
    """What was on disk is not played again, and the whole is what it would have been without the kill."""
    host = Host(hands=20)
    async with await start(host) as server:
        async with serve(tmp_path) as arena:
            made = await arena.create(*[server.address] * 3, hands=60)
            await host.reached.wait()
            arena.process.kill()
            await arena.process.wait()
        async with playing(tmp_path) as store:
            before = await store.records(made.match_id)
        async with serve(tmp_path) as arena:
            over = await arena.end_of(made.match_id)
            records = await arena.records(made.match_id)
            asked_again = await arena.create(*[server.address] * 3, hands=60)
    assert over.state == match_pb2.MATCH_STATE_FINISHED
    assert asked_again.match_id == made.match_id
    assert [record["hand_index"] for record in records] == list(range(60))
    assert not faults(records)
    kept = {record["hand_index"]: record for record in before}
    assert {record["hand_index"]: record for record in records if record["hand_index"] in kept} == kept
    assert list(map(story, records)) == list(map(story, await in_one_go(60, tmp_path)))


async def test_metrics_count_what_the_records_hold_and_the_journal_tells_every_decision(tmp_path: Path) -> None:
    async with await start(Host()) as server, serve(tmp_path) as arena:
        made = await arena.create(*[server.address] * 3, hands=10)
        await arena.end_of(made.match_id)
        records = await arena.records(made.match_id)
        told = await asyncio.to_thread(scraped, arena.metrics)
        arena.process.send_signal(signal.SIGTERM)
        await arena.process.communicate()
    decisions = [said for record in records for said in record["decisions"]]
    assert summed(told, "wakeng_hands_total", 'rules="three_feature"') == 10
    assert summed(told, "wakeng_decisions_total", f'bot="{server.address}"') == len(decisions)
    assert summed(told, "wakeng_decision_latency_seconds_count", 'phase="PLAY"') == sum(
        said["phase"] == "PLAY" for said in decisions
    )
    assert summed(told, "wakeng_tables_running") == summed(told, "wakeng_matches_running") == 0
    lines = [orjson.loads(line) for line in (tmp_path / "journal.jsonl").read_bytes().splitlines()]
    assert sum(line["event"] == "decision" for line in lines) == len(decisions)


def scraped(url: str) -> dict[str, float]:
    """The samples of a /metrics page, by name and labels."""
    with urllib.request.urlopen(url) as page:
        lines = page.read().decode().splitlines()
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line[:1] != "#")}


def summed(told: dict[str, float], name: str, label: str = "") -> float:
    return sum(value for sample, value in told.items() if sample.partition("{")[0] == name and label in sample)


async def test_health_says_serving_and_then_not(tmp_path: Path) -> None:
    host = Host(decisions=10)
    async with await start(host) as server, serve(tmp_path, "--grace", "600") as arena:
        health: Any = arena.client.channel
        watch = health.unary_stream("/grpc.health.v1.Health/Watch")(b"")
        assert await watch.read() == b"\x08\x01"
        await arena.create(*[server.address] * 3, hands=3)
        await host.reached.wait()
        arena.process.send_signal(signal.SIGTERM)
        assert await watch.read() == b"\x08\x02"
        host.open.set()
        with suppress(grpc.aio.AioRpcError):
            await watch.read()
        await arena.process.communicate()
        assert arena.process.returncode == 0
