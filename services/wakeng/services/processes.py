"""Built-in bots as processes of their own, each a gRPC server that ends when the arena does, however that ends.

The child holds the reading end of a pipe as its standard input and serves until that pipe is at end of file: the
kernel closes the arena's end even when the arena is killed outright.
"""

import asyncio
import contextlib
import sys
from typing import Final, Self

from wakeng.engine import Fault
from wakeng.services.seat import NotReady

_GREETING: Final = "listening on "
_STOP_WITHIN: Final = 3.0
_MOST_ERROR_BYTES: Final = 4096


class BotProcess:
    """A built-in bot served by a child process."""

    def __init__(self, name: str, process: asyncio.subprocess.Process, address: str) -> None:
        self.name = name
        self.address = address
        self._process = process
        self._drains = [
            asyncio.get_running_loop().create_task(_drain(stream)) for stream in (process.stdout, process.stderr)
        ]

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._process.pid

    @classmethod
    async def start(cls, name: str, *, seed: bytes, within: float) -> Self:
        """Start the bot and wait until it listens; NotReady with what it said if it does not within so many seconds."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "wakeng.cli",
            "serve-bot",
            name,
            "--listen",
            "127.0.0.1:0",
            "--seed",
            seed.hex(),
            "--until-stdin-closes",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the arena, which then lets its bots go in order.
        )
        assert process.stdout is not None and process.stderr is not None
        try:
            async with asyncio.timeout(within):
                line = (await process.stdout.readline()).decode("utf-8", "replace").strip()
        except TimeoutError:
            line = ""
        except BaseException:  # Whoever wanted it is cancelled, and will not end it.
            await _end(process)
            raise
        if line.startswith(_GREETING):
            return cls(name, process, line.removeprefix(_GREETING))
        await _end(process)
        said = (await process.stderr.read(_MOST_ERROR_BYTES)).decode("utf-8", "replace").strip()
        raise NotReady(
            Fault.NOT_READY, f"the bot {name!r} did not start within {within:g} s: {said or line or 'it said nothing'}"
        )

    async def stop(self) -> None:
        """Let it go and wait until it is gone."""
        await _end(self._process)
        await asyncio.gather(*self._drains)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Close the child's standard input and wait; kill it only if it does not go, as that may race with its end."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(_STOP_WITHIN):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _drain(stream: asyncio.StreamReader | None) -> None:
    """Take what the child says, so that it never blocks on a full pipe."""
    while stream is not None and await stream.read(1 << 16):
        pass
