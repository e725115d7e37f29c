"""Workers and coordinators as processes, on one store and one NATS server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.arena.process import WAKENG
from tests.arena.tournaments import Place

SWIFT = ("--redeliver-after", "2")
"""Tests do not wait ten seconds for the blocks of the dead."""


@dataclass(slots=True)
class Crew:
    """Processes that a test has started; all are gone at its end."""

    folder: Path
    db: str
    nats: str
    options: Sequence[str] = ()
    """Of every command."""
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def place(self) -> Place:
        """The store, where it is a file of the folder."""
        return Place(self.folder)

    @property
    def env(self) -> Mapping[str, str]:
        """Keeps journals in the folder."""
        return {**os.environ, "WAKENG_DATA": str(self.folder), "WAKENG_NATS_URL": self.nats}

    def worker(self, name: str, *options: str, in_process: bool = True) -> subprocess.Popen[str]:
        """A worker that is ready."""
        seated = ("--in-process",) if in_process else ()
        process = self._start(
            "worker", "--db", self.db, "--name", name, *SWIFT, *seated, *self.options, *options, told=subprocess.PIPE
        )
        assert process.stdout is not None
        while not (line := process.stdout.readline()).startswith(f"worker {name}"):
            assert line, f"the worker ended: {self.said(process)}"
        return process

    def tournament(self, *arguments: str) -> subprocess.Popen[str]:
        """A coordinator, started."""
        return self._start("tournament", *arguments, "--db", self.db, *self.options, "--json", told=subprocess.PIPE)

    def run(self, text: str, tournament_id: str = "t") -> subprocess.Popen[str]:
        """The coordinator of a new tournament, or one that goes on."""
        return self.tournament("run", str(self.place.write(text)), "--id", tournament_id)

    def result(self, process: subprocess.Popen[str], *, within: float = 120) -> Any:
        """What a coordinator says in the end, having succeeded."""
        try:
            out, _ = process.communicate(timeout=within)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"not over within {within} s\n{self.events()}") from None
        assert process.returncode == 0, self.said(process)
        return json.loads(out)

    def events(self) -> str:
        """What the journals tell beside decisions."""
        lines = [
            f"{path.name}: {line}"
            for path in sorted((self.folder / "journal").glob("*.jsonl"))
            for line in path.read_text("utf-8").splitlines()
            if '"event":"decision"' not in line
        ]
        return "\n".join(lines[-200:])

    def said(self, process: subprocess.Popen[str]) -> str:
        """What it wrote to standard error."""
        return (self.folder / f"stderr-{self.processes.index(process)}").read_text("utf-8")

    def _start(self, *arguments: str, told: int) -> subprocess.Popen[str]:
        with (self.folder / f"stderr-{len(self.processes)}").open("w") as stderr:
            process = subprocess.Popen(
                [*WAKENG, *arguments], stdout=told, stderr=stderr, text=True, env=self.env, start_new_session=True
            )
        self.processes.append(process)
        return process

    def end(self) -> None:
        """End them all, whatever they do."""
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait(10)
            if process.stdout is not None:
                process.stdout.close()


@contextmanager
def crew(folder: Path, nats: str, *, db: str | None = None, options: Sequence[str] = ()) -> Iterator[Crew]:
    """Processes on a store, by default a file of the folder."""
    made = Crew(folder, db or f"sqlite:///{folder / 'wakeng.db'}", nats, options)
    try:
        yield made
    finally:
        made.end()


def terminated(process: subprocess.Popen[str], *, within: float = 40) -> int:
    """The exit status of a process that is asked to end."""
    process.send_signal(signal.SIGTERM)
    return process.wait(within)


def until(there: Any, *, within: float = 60, why: str = "") -> None:
    """Look until it is so."""
    end = time.monotonic() + within
    while not there():
        assert time.monotonic() < end, f"not within {within} s: {why}"
        time.sleep(0.05)
