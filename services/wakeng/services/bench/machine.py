"""The machine that measures: its cores and who runs on which, memory and processor time, and what to tell of it."""

import os
import platform
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

_PACKAGES: Final = ("wakeng", "grpcio", "uvloop", "orjson", "open_spiel", "rlcard")


def cores() -> tuple[int, ...]:
    """The cores that this process may use; none where the platform does not pin."""
    return tuple(sorted(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else ()


class Sides:
    """Two cores: one for whoever asks, this process, and one for whoever answers.

    What is started `on` the other side stays there: threads and processes inherit the core of the thread that starts
    them. With fewer than two cores nothing is pinned.
    """

    def __init__(self) -> None:
        found = cores()
        self.pinned = len(found) > 1
        self._all = frozenset(found)
        self._asking, self._answering = ({found[0]}, {found[1]}) if self.pinned else (set(found), set(found))

    def __enter__(self) -> "Sides":
        self._go(self._asking)
        return self

    def __exit__(self, *_: object) -> None:
        self._go(self._all)

    @contextmanager
    def answering(self) -> Iterator[None]:
        """What is started meanwhile runs on the answering side."""
        self._go(self._answering)
        try:
            yield
        finally:
            self._go(self._asking)

    def _go(self, where: "set[int] | frozenset[int]") -> None:
        if self.pinned:
            os.sched_setaffinity(0, where)


def memory_kib() -> float:
    """What of this process lies in memory; where the platform does not say, the most that ever did."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1024 if sys.platform == "darwin" else most


def processor_s(pid: int | None = None) -> float | None:
    """Seconds of processor time of this process, or of another, where the platform tells that."""
    if pid is None:
        return time.process_time()
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return None
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def conditions() -> dict[str, Any]:
    """What figures depend on beside the code, for whoever reads them later."""
    return {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "load_before": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "versions": {name: found for name in _PACKAGES if (found := _version(name))},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
