"""SIGKILL on whatever takes part in a tournament of three workers: it costs time, and nothing else.

A round kills a worker, the coordinator, the NATS server or PostgreSQL, and starts it again. It has recovered once all
hands that had been recorded beyond at the kill, and all before them, are in the store: nothing of what was in play then
is missing any more.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.arena.crews import Crew, crew, until
from tests.arena.queueing import NatsServer, nats_server
from tests.arena.tournaments import CALM, FIELD, Place, Standings, spec
from tests.postgres import Server, free_port, running
from wakeng.services.store import Store

WORKERS = ("one", "two", "three")


def text_of(blocks: int, tables: int) -> str:
    return spec(*FIELD, lines=(CALM,), blocks=blocks, tables=tables)


@dataclass(slots=True)
class Scene:
    """A tournament in play, and everything that can be killed."""

    crew: Crew
    nats: NatsServer
    postgres: Server
    text: str
    tables: int
    workers: dict[str, subprocess.Popen[str]] = field(default_factory=dict)
    coordinator: subprocess.Popen[str] | None = None

    def begin(self) -> None:
        """With all workers."""
        asyncio.run(made(self.crew.db))
        self.coordinator = self.crew.run(self.text)
        for name in WORKERS:
            self.start_worker(name)

    def start_worker(self, name: str) -> None:
        self.workers[name] = self.crew.worker(name, "--tables", str(self.tables))

    def hands(self, upto: int | None = None) -> int:
        """How many are recorded, of all or of those up to one."""
        where = "" if upto is None else f" WHERE hand_index <= {upto}"
        try:
            return int(self.postgres.sql(f"SELECT count(*) FROM hand_records{where}", database="arena") or 0)
        except RuntimeError:
            return 0  # It has no tables yet.

    def last(self) -> int:
        """The last hand of the schedule that is recorded; some before it may be missing."""
        return int(self.postgres.sql("SELECT coalesce(max(hand_index), -1) FROM hand_records", database="arena"))

    # What is killed, and how it comes back ------------------------------------------------------------------------

    def kill_worker(self, luck: random.Random) -> None:
        name = luck.choice(WORKERS)
        self.workers[name].kill()
        self.workers[name].wait(10)
        self.start_worker(name)

    def kill_coordinator(self, luck: random.Random) -> None:
        assert self.coordinator is not None
        self.coordinator.kill()
        self.coordinator.wait(10)
        self.coordinator = self.crew.tournament("resume", "t")

    def kill_nats(self, luck: random.Random) -> None:
        self.nats.kill()
        self.nats.start()

    def kill_postgres(self, luck: random.Random) -> None:
        killed(self.postgres)


async def made(db: str) -> None:
    """The store is there."""
    async with await Store.open(db):
        pass


def killed(server: Server) -> None:
    """The server is killed and started again; what it was at has ended by then."""
    process = server._process
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    process.wait(10)
    server._process = None
    end = time.monotonic() + 30
    while True:
        try:
            server.start()
        except RuntimeError:  # Its children still hold the memory that it left.
            server._process = None
            assert time.monotonic() < end
            time.sleep(0.1)
        else:
            return


KILLS: dict[str, Callable[[Scene, random.Random], None]] = {
    "worker": Scene.kill_worker,
    "coordinator": Scene.kill_coordinator,
    "nats": Scene.kill_nats,
    "postgres": Scene.kill_postgres,
}


@contextmanager
def scene(folder: Path, text: str, *, tables: int) -> Iterator[Scene]:
    with nats_server(folder / "nats") as nats, running(port=free_port()) as postgres:
        postgres.sql("CREATE DATABASE arena")
        with crew(folder, nats.url, db=postgres.url("arena")) as made:
            yield Scene(made, nats, postgres, text, tables)


def played_with_kills(
    folder: Path, *, blocks: int, tables: int, kills: list[str]
) -> tuple[Any, list[tuple[str, float]]]:
    """Play a tournament through so many kills, spread over it; what the coordinator says, and the recoveries."""
    luck, recoveries = random.Random(len(kills)), []
    with scene(folder, text_of(blocks, tables), tables=tables) as it:
        it.begin()
        for number, kill in enumerate(kills):
            goal = 3 * blocks * (number + 1) // (len(kills) + 2)
            until(lambda goal=goal: it.hands() >= goal, within=120, why=f"{goal} hands\n{it.crew.events()}")
            last, began = it.last(), time.monotonic()
            KILLS[kill](it, luck)
            until(
                lambda last=last: it.hands(upto=last) == last + 1,
                within=90,
                why=f"hands up to {last} after the end of {kill}\n{it.crew.events()}",
            )
            recoveries.append((kill, time.monotonic() - began))
        assert it.coordinator is not None
        return it.crew.result(it.coordinator, within=240), recoveries


def told(recoveries: list[tuple[str, float]]) -> str:
    """How long each kind of kill cost, for those who read the tests' output."""
    lines = []
    for kind in KILLS:
        if took := sorted(seconds for kill, seconds in recoveries if kill == kind):
            lines.append(f"{kind}: {len(took)} kills, recovered in {took[0]:.1f} to {took[-1]:.1f} s")
    return "\n".join(lines)


def undisturbed(folder: Path, *, blocks: int, tables: int) -> Standings:
    folder.mkdir()
    return Place(folder).play(text_of(blocks, tables))


def test_five_kills_change_nothing_in_the_standings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kills = ["worker", "postgres", "coordinator", "nats", "worker"]
    played, recoveries = played_with_kills(tmp_path, blocks=240, tables=6, kills=kills)
    with capsys.disabled():
        sys.stdout.write(f"\n{told(recoveries)}\n")
    assert played["failed_blocks"] == []
    assert played["standings"] == undisturbed(tmp_path / "alone", blocks=240, tables=6)
    assert played["hands_recorded"] == 3 * 240


@pytest.mark.slow
def test_twenty_kills_in_a_tournament_of_two_thousand_blocks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    luck = random.Random(20)
    kills = [luck.choice(list(KILLS)) for _ in range(20)]
    assert set(kills) == set(KILLS)
    played, recoveries = played_with_kills(tmp_path, blocks=2_000, tables=16, kills=kills)
    with capsys.disabled():
        sys.stdout.write(f"\n{told(recoveries)}\n")
    assert played["failed_blocks"] == []
    assert played["standings"] == undisturbed(tmp_path / "alone", blocks=2_000, tables=16)
    assert played["hands_recorded"] == 6_000


def test_an_outage_of_postgresql_costs_time_and_nothing_else(tmp_path: Path) -> None:
    outage(tmp_path, seconds=3, blocks=60)


@pytest.mark.slow
def test_an_outage_of_thirty_seconds_too(tmp_path: Path) -> None:
    outage(tmp_path, seconds=30, blocks=200)


def outage(folder: Path, *, seconds: float, blocks: int) -> None:
    with scene(folder, text_of(blocks, 4), tables=4) as it:
        it.begin()
        until(lambda: it.hands() > 0, within=120, why=it.crew.events())
        it.postgres.stop("immediate")
        time.sleep(seconds)  # What is under test is the time itself.
        it.postgres.start()
        assert it.coordinator is not None
        played = it.crew.result(it.coordinator, within=240)
        assert all(process.poll() is None for process in it.workers.values())
    assert played["failed_blocks"] == []
    assert played["standings"] == undisturbed(folder / "alone", blocks=blocks, tables=4)
