"""The other processes of a benchmark: servers that end when the benchmark does, and measurements that need a fresh one.

    python -m wakeng.services.bench.child KIND '{"a": "parameter"}'

A server says `listening on ADDR` and ends with its standard input; a measurement prints one line of JSON. `plain` ones
have gRPC as it comes, without what ours changes about it (`wakeng.sdk.polling`).
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

import orjson

from wakeng.services.errors import ServiceError

_GREETING: Final = "listening on "
_KINDS: Final = {
    "echo": "wakeng.services.bench.pingpong:serve_echo",
    "unary": "wakeng.services.bench.pingpong:unary",
    "stream": "wakeng.services.bench.pingpong:stream_round_trip_us",
    "bot": "wakeng.services.bench.bots:serve_bot",
    "tables": "wakeng.services.bench.tables:measure",
    "viewers": "wakeng.services.bench.web:serve_viewers",
    "idle": "wakeng.services.bench.tables:measure_idle",
}


class ChildFailed(ServiceError):
    """A process of a benchmark did not do what it was started for."""


@dataclass(frozen=True, slots=True)
class Served:
    """A server in a process of its own."""

    address: str
    pid: int


@asynccontextmanager
async def served(kind: str, *, plain: bool = False, **parameters: Any) -> AsyncIterator[Served]:
    """A server of that kind, for as long as the context lasts."""
    process = await _start(kind, parameters, plain=plain)
    assert process.stdin is not None and process.stdout is not None
    try:
        line = (await process.stdout.readline()).decode().strip()
        if not line.startswith(_GREETING):
            raise ChildFailed(f"the benchmark's {kind} did not start")
        yield Served(line.removeprefix(_GREETING), process.pid)
    finally:
        process.stdin.close()
        await process.wait()


async def measured(kind: str, *, plain: bool = False, **parameters: Any) -> Any:
    """What a measurement in a process of its own found."""
    process = await _start(kind, parameters, plain=plain)
    try:
        said, _ = await process.communicate()
    except BaseException:  # Cancelled, too: it would go on measuring for nobody.
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        raise ChildFailed(f"the benchmark's {kind} failed")
    return orjson.loads(said)


async def _start(kind: str, parameters: dict[str, Any], *, plain: bool) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        __spec__.name,
        kind,
        orjson.dumps(parameters).decode(),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "GRPC_EXPERIMENTS": ""} if plain else None,
    )


def announce(address: str) -> None:
    """A server tells where it listens."""
    sys.stdout.write(f"{_GREETING}{address}\n")
    sys.stdout.flush()


def main() -> None:
    """Be the process that the command line asks for."""
    module, _, name = _KINDS[sys.argv[1]].partition(":")
    work: Callable[..., Any] = getattr(import_module(module), name)
    found = work(**orjson.loads(sys.argv[2]))
    if found is not None:
        sys.stdout.write(orjson.dumps(found).decode() + "\n")


if __name__ == "__main__":
    main()
