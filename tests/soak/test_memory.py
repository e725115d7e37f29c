"""Matches with lost connections and late answers, for as long as one likes: the arena's memory stays flat.

So many seconds as $WAKENG_SOAK_SECONDS says, by default three minutes; before a release, an hour.
"""

import asyncio
import logging
import os
import random
import re
import sys
import urllib.request
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from tests.arena.network import Holding, Pulse, Unary, faults
from tests.arena.process import ServedProcess, serve
from tests.arena.proxy import Proxy, Way
from tests.arena.serving import Client
from wakeng.engine import verify
from wakeng.sdk import Backoff, Bot, Decision, JoinedBot, start
from wakeng.v1 import match_pb2, registry_pb2, rules_pb2

pytestmark = pytest.mark.slow

SECONDS = float(os.environ.get("WAKENG_SOAK_SECONDS", "180"))
AT_ONCE = 2
"""Matches."""
HANDS = 100
MOVE_MS = 200
LATE_S = 0.5
MOST_GROWTH = 6 << 20
"""Bytes between the second quarter of the time and the last."""
MOST_FILES = 20
THEIRS = {"DEADLINE", "DISCONNECTED", "UNREACHABLE", "NOT_READY"}
"""What the network and the late answers earn."""


class Tardy(Bot):
    """The first legal token, once in a thousand times too late."""

    def __init__(self) -> None:
        self._draw = random.Random(1)

    async def choose(self, decision: Decision) -> str:
        if self._draw.random() < 0.001:
            await asyncio.sleep(LATE_S)
        return decision.legal[0]


class Sample:
    """What the arena's process held, second by second."""

    def __init__(self) -> None:
        self.memory: list[float] = []
        self.files: list[float] = []

    def take(self, arena: ServedProcess) -> None:
        """Look now."""
        with urllib.request.urlopen(arena.metrics) as page:
            told = dict(re.findall(r"^(process_\w+) (\S+)$", page.read().decode(), re.MULTILINE))
        self.memory.append(float(told["process_resident_memory_bytes"]))
        self.files.append(float(told["process_open_fds"]))

    async def keep_taking(self, arena: ServedProcess) -> None:
        """Look every second."""
        while True:
            self.take(arena)
            await asyncio.sleep(1.0)


def quarter(values: Sequence[float], which: int) -> float:
    """The median of a quarter of them, from 0."""
    length = len(values) // 4
    return median(values[which * length : (which + 1) * length])


def test_memory_and_open_files_stay_flat(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, "wakeng.sdk")  # It tells of each of thousands of lost connections.
    with serve(tmp_path) as arena:
        sample, blamed, matches = asyncio.run(soak(arena))
    grown = quarter(sample.memory, 3) - quarter(sample.memory, 1)
    with capsys.disabled():
        sys.stdout.write(
            f"\n{matches} matches of {HANDS} hands in {SECONDS:.0f} s, with {dict(blamed)}; memory by quarters "
            f"{[round(quarter(sample.memory, i) / 2**20, 1) for i in range(4)]} MiB, at most "
            f"{max(sample.files):.0f} open files, {sample.files[-1]:.0f} in the end\n"
        )
    assert grown < MOST_GROWTH
    assert quarter(sample.files, 3) - quarter(sample.files, 1) < MOST_FILES
    assert "Traceback" not in (tmp_path / "stderr").read_text()


async def soak(arena: ServedProcess) -> tuple[Sample, Counter[str], int]:
    """Play until the time is over."""
    async with AsyncExitStack() as parts:
        client = await parts.enter_async_context(Client(arena.address))
        proxies: list[Proxy] = []
        seats = [await listening(bot, proxies, parts) for bot in (Tardy(), Unary(Holding(Pulse())))]
        seats.append(await joined(client, arena, proxies, parts))
        loop, sample = asyncio.get_running_loop(), Sample()
        beside = [asyncio.ensure_future(spoil(proxies)), asyncio.ensure_future(sample.keep_taking(arena))]
        until, blamed, matches = loop.time() + SECONDS, Counter[str](), 0
        while loop.time() < until:
            for found in await asyncio.gather(*(play(client, seats, matches + i) for i in range(AT_ONCE))):
                blamed += found
            matches += AT_ONCE
        for task in beside:
            task.cancel()
        await asyncio.wait(beside)
    return sample, blamed, matches


async def listening(bot: Bot, proxies: list[Proxy], parts: AsyncExitStack) -> match_pb2.SeatSpec:
    """The seat of a bot behind a proxy."""
    server = await parts.enter_async_context(await start(bot))
    proxies.append(await parts.enter_async_context(Proxy(server.address)))
    return match_pb2.SeatSpec(address=proxies[-1].address)


async def joined(
    client: Client, arena: ServedProcess, proxies: list[Proxy], parts: AsyncExitStack
) -> match_pb2.SeatSpec:
    """The seat of one that dials in through a proxy."""
    request = registry_pb2.RegisterBotRequest(name="joined", dial_in=True)
    token = (await client(client.bots.RegisterBot, request)).token
    proxies.append(await parts.enter_async_context(Proxy(arena.address)))
    bot = JoinedBot(Tardy(), proxies[-1].address, token, backoff=Backoff(first=0.02, longest=0.1))
    playing = asyncio.ensure_future(bot.run())

    async def left() -> None:
        await bot.leave(grace=0)
        await playing

    parts.push_async_callback(left)
    return match_pb2.SeatSpec(registered="joined")


async def spoil(proxies: Sequence[Proxy]) -> None:
    """Do to the network what happens to networks, by a seed."""
    draw = random.Random(2)
    harms: Sequence[Callable[[Proxy], Any]] = (
        Proxy.drop,
        Proxy.drop,
        lambda proxy: proxy.half_close(draw.choice(list(Way))),
        Proxy.stall,
        lambda proxy: setattr(proxy, "delay", draw.uniform(0.0, 0.05)),
        refuse_and_drop,
    )
    while True:
        proxy = draw.choice(proxies)
        harm = draw.choice(harms)(proxy)
        if asyncio.iscoroutine(harm):
            await harm
        await asyncio.sleep(draw.uniform(0.1, 1.0))
        proxy.flow()
        proxy.delay = 0.0
        await proxy.accept()


async def refuse_and_drop(proxy: Proxy) -> None:
    await proxy.refuse()
    proxy.drop()


async def play(client: Client, seats: Sequence[match_pb2.SeatSpec], number: int) -> Counter[str]:
    """One match, found in order; its faults."""
    request = match_pb2.CreateMatchRequest(
        request_id=f"soak{number}",
        rules=rules_pb2.RuleSet(preset="xian"),
        seats=seats,
        hands=HANDS,
        tables=50,
        time_control=rules_pb2.TimeControl(move_ms=MOVE_MS, bank_ms=100, ready_ms=5_000, reconnect_ms=500),
        fault_policy=match_pb2.FaultPolicy(max_escapes=HANDS),
    )
    match_id = (await client(client.matches.CreateMatch, request)).match.match_id
    async for _ in client.matches.WatchMatch(match_pb2.WatchMatchRequest(match_id=match_id)):
        pass
    listed = client.matches.ListHandRecords(match_pb2.ListHandRecordsRequest(match_id=match_id))
    records = [verify(answer.line.encode()) async for answer in listed]
    assert [(record["hand_index"], record["attempt"]) for record in records] == [(i, 0) for i in range(HANDS)]
    found: Counter[str] = Counter()
    for (_, fault), times in faults(records).items():
        found[fault] += times
    assert set(found) <= THEIRS
    return found
