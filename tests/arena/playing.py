"""Matches for tests: an arena in the test's own loop, bots as processes, and what records have in common."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from tests.services.fields import expected, paths
from wakeng.engine import derive, rule_set, verify
from wakeng.services.arena import Arena, MatchRun
from wakeng.services.floor import Watcher
from wakeng.services.journal import Journal
from wakeng.services.metrics import Metrics
from wakeng.services.spec import MatchSpec, SeatSpec, TimeControl
from wakeng.services.store import Store
from wakeng.services.table import Decided, Table

WAKENG = [sys.executable, "-c", "from wakeng.cli.main import main; main()"]
SEED = bytes(31) + b"\x01"
UNARY = Path(__file__).with_name("unary.py")
Record = dict[str, Any]


# Bots as processes ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class BotProcess:
    """A bot in a process of its own."""

    process: subprocess.Popen[str]
    address: str


def start_bot(command: Sequence[str]) -> BotProcess:
    """Start a process whose first line says where it listens."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    greeting = process.stdout.readline()
    assert greeting.startswith("listening on "), greeting
    return BotProcess(process, greeting.split()[-1])


def end_bot(bot: BotProcess) -> None:
    """Kill it, if it is not dead yet, and take its last words."""
    bot.process.kill()
    bot.process.communicate()


def streaming(name: str, place: int, *, listen: str = "127.0.0.1:0") -> list[str]:
    """The command that serves a built-in bot as the arena would in that seat."""
    return [*WAKENG, "serve-bot", name, "--listen", listen, "--seed", derive(SEED, "bot", place).hex()]


def unary(name: str, place: int) -> list[str]:
    """The same for the plain way."""
    return [sys.executable, str(UNARY), name, derive(SEED, "bot", place).hex()]


@contextmanager
def bots(*commands: Sequence[str]) -> Iterator[list[BotProcess]]:
    """Processes, started side by side and ended with the block."""
    started: list[BotProcess] = []
    try:
        for command in commands:
            started.append(start_bot(command))
        yield started
    finally:
        for bot in started:
            end_bot(bot)


# An arena ------------------------------------------------------------------------------------------------------------


class Told:
    """A watcher: counts decisions by seat, and calls back at each."""

    def __init__(self, on_decision: Callable[[Decided], None] = lambda decided: None) -> None:
        self._on_decision = on_decision

    def hand_started(self, table: Table) -> None:
        pass

    def decided(self, told: Sequence[Decided]) -> None:
        for decided in told:
            self._on_decision(decided)

    def faulted(self, table: Table, seat: int, fault: Any) -> None:
        pass

    def hand_ended(self, table: Table) -> None:
        pass

    def hand_voided(self, table: Table, reason: str) -> None:
        raise AssertionError(f"a hand was voided: {reason}")


@dataclass(slots=True)
class Playing:
    """An arena with a store and a journal in a folder of the test's own."""

    arena: Arena
    folder: Path

    async def match(
        self, spec: MatchSpec, *, in_process: bool = False, watchers: Sequence[Watcher] = (Told(),)
    ) -> list[Record]:
        """Make a match and play it to its end; its records."""
        await self.create(spec)
        return await self.play(spec, in_process=in_process, watchers=watchers)

    async def play(
        self, spec: MatchSpec, *, in_process: bool = False, watchers: Sequence[Watcher] = (Told(),)
    ) -> list[Record]:
        """Play a match, or go on with it, to its end; its records."""
        await MatchRun(self.arena, spec, in_process=in_process, watchers=watchers).play()
        return await self.records(spec.match_id)

    async def create(self, spec: MatchSpec) -> None:
        """The match in the store, as whoever plays it would put it there."""
        await self.arena.store.create_match(
            match_id=spec.match_id,
            spec=spec.to_dict(),
            seed=spec.seed.hex(),
            commitment=spec.commitment,
            hands=spec.hands,
        )

    async def records(self, match_id: str) -> list[Record]:
        """The records in the store, each found true and with exactly the fields that it must have."""
        return [checked(line) async for line in self.arena.store.records(match_id)]

    def journal(self) -> list[dict[str, Any]]:
        """What the journal tells so far."""
        self.arena.journal.flush()
        return [orjson.loads(line) for line in (self.folder / "journal.jsonl").read_bytes().splitlines()]


@asynccontextmanager
async def playing(folder: Path) -> AsyncIterator[Playing]:
    """An arena."""
    async with await Store.open(f"sqlite:///{folder / 'wakeng.db'}") as store:
        with Journal.open(folder / "journal.jsonl") as journal:
            arena = Arena(store=store, journal=journal, metrics=Metrics())
            try:
                yield Playing(arena, folder)
            finally:
                arena.close()


def folder_in(folder: Path, name: str) -> Path:
    """A new folder in another."""
    made = folder / name
    made.mkdir()
    return made


def match(
    *seats: str,
    rules: str = "xian",
    hands: int = 10,
    match_id: str = "m1",
    tables: int = 64,
    overrides: Mapping[str, Any] | None = None,
    **times: Any,
) -> MatchSpec:
    """A match of those seats; `times` are fields of its time control."""
    return MatchSpec(
        match_id=match_id,
        rules=rule_set(rules, overrides or {}),
        seats=tuple(map(SeatSpec.parse, seats)),
        hands=hands,
        seed=SEED,
        time_control=TimeControl(**times),
        tables=tables,
    )


# Records -------------------------------------------------------------------------------------------------------------


def checked(line: bytes) -> Record:
    """The record of a line that is true, and has the fields of docs/protocol.md 6 and no others."""
    record = verify(line)
    assert paths(record) == expected(record), paths(record) ^ expected(record)
    return record


def read(file: Path) -> list[Record]:
    """The records of a file."""
    return [checked(line) for line in file.read_bytes().splitlines()]


def story(record: Record) -> Record:
    """A record without what two matches of the same seed and bots may differ in: ids, names, times, latencies."""
    plain = {
        name: value for name, value in record.items() if name not in ("match_id", "seats", "time_control", "checksum")
    }
    said = [{**decision, "latency_us": 0} for decision in record.get("decisions", ())]
    return {**plain, "decisions": said}


def faults(records: Sequence[Record]) -> dict[int, set[str]]:
    """By seat, the faults that stand in the records."""
    found: dict[int, set[str]] = {}
    for record in records:
        for entry in (*record.get("decisions", ()), *record.get("faults", ())):
            if "fault" in entry:
                found.setdefault(entry["seat"], set()).add(entry["fault"])
    return found
