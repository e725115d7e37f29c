"""Checks of the machine: versions, places for data, open files, the clock."""

import ctypes
import os
import shutil
import sys
import time
from collections.abc import AsyncGenerator
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from wakeng.services.data import DataFolder
from wakeng.services.doctor.finding import Finding, good, warning, wrong
from wakeng.services.settings import Settings
from wakeng.services.version import ARENA_VERSION

_TOLD: Final = ("grpcio", "protobuf", "SQLAlchemy", "msgspec", "structlog")
_LEAST_FREE: Final = 1 << 30
_LEAST_FILES: Final = 4096
_TIME_ERROR: Final = 5
"""What adjtimex(2) returns where nothing keeps the clock in step."""
_TIMEX_BYTES: Final = 512
"""More than struct timex takes anywhere."""
_BUILT_AFTER: Final = 1_735_689_600
"""The year 2025: a clock before that was never set."""


async def versions(settings: Settings) -> AsyncGenerator[Finding, None]:
    """What runs here."""
    python = ".".join(map(str, sys.version_info[:3]))
    packages = ", ".join(f"{name} {version(name)}" for name in _TOLD)
    yield good("versions", f"wakeng {ARENA_VERSION}, Python {python}, {packages}")
    try:
        version("uvloop")
    except PackageNotFoundError:
        yield warning(
            "versions", "uvloop is not installed", "pip install uvloop: the event loop is a tenth faster by it"
        )


async def data_folder(settings: Settings) -> AsyncGenerator[Finding, None]:
    """Whether data can be kept."""
    folder = settings.data.folder or DataFolder.default().path
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        yield wrong("data", f"nobody may write to {there}", "set data.folder ($WAKENG_DATA), or the folder's owner")
        return
    free = shutil.disk_usage(there).free
    said = f"{folder}, {free / 2**30:.1f} GiB free"
    if free < _LEAST_FREE:
        yield warning("data", said, "make room: a million hands take 6 to 7 GB in the store (docs/operations.md)")
    else:
        yield good("data", said)


async def files(settings: Settings) -> AsyncGenerator[Finding, None]:
    """How many files may be open: each bot and each caller has a socket."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    said = f"{soft} files may be open"
    if soft < _LEAST_FILES:
        yield warning(
            "files", said, f"ulimit -n {min(hard, 65536)}, or LimitNOFILE= of the service: a bot takes one each"
        )
    else:
        yield good("files", said)


async def clock(settings: Settings) -> AsyncGenerator[Finding, None]:
    """Whether the wall clock can be believed. Deadlines do not depend on it; dates in the store and in logs do."""
    if time.time() < _BUILT_AFTER:
        yield wrong("clock", f"it says {time.strftime('%Y-%m-%d')}", "set the clock, and have it kept by NTP")
    elif kept_in_step() is False:
        yield warning("clock", "nothing keeps it in step", "have NTP set it (systemd-timesyncd, chrony)")
    else:
        yield good("clock", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))


def kept_in_step() -> bool | None:
    """Whether the kernel takes its clock for synchronised; None where it cannot be asked."""
    if not sys.platform.startswith("linux"):
        return None
    timex = ctypes.create_string_buffer(_TIMEX_BYTES)  # All zeros: modes = 0, which only looks.
    state: int = ctypes.CDLL(None, use_errno=True).adjtimex(timex)
    return None if state < 0 else state != _TIME_ERROR
