"""Built-in bots as processes of their own, each a gRPC server that ends when the arena does, however that ends.

The child holds the reading end of a pipe as its standard input and serves until that pipe is at end of file: the
kernel closes the arena's end even when the arena is killed outright.

The child is started by `subprocess`, which forks and executes in C. An event loop's own way runs Python between the
two, in a copy of a process whose gRPC threads are gone, and now and then the copy crashes there.
"""

import asyncio
import contextlib
import subprocess
import sys
from typing import IO, Final, Self

from wakeng.engine import Fault
from wakeng.services.seat import NotReady

_GREETING: Final = "listening on "
_STOP_WITHIN: Final = 3.0
_MOST_ERROR_BYTES: Final = 4096

Child = subprocess.Popen[bytes]


class BotProcess:
    """A built-in bot served by a child process."""

    def __init__(self, name: str, child: Child, address: str, pipes: "list[_Pipe]") -> None:
        self.name = name
        self.address = address
        self._child = child
        self._pipes = pipes
        self._drains = [asyncio.get_running_loop().create_task(pipe.drain()) for pipe in pipes]

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._child.pid

    @classmethod
    async def start(cls, name: str, *, seed: bytes, within: float) -> Self:
        """Start the bot and wait until it listens; NotReady with what it said if it does not within so many seconds."""
        told = ["--listen", "127.0.0.1:0", "--seed", seed.hex(), "--until-stdin-closes"]
        child = subprocess.Popen(  # noqa: ASYNC220 - it takes a millisecond, and does not wait for the child
            [sys.executable, "-m", "wakeng.cli", "serve-bot", name, *told],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the arena, which then lets its bots go in order.
        )
        pipes: list[_Pipe] = []
        try:
            pipes += [await _Pipe.open(child.stdout), await _Pipe.open(child.stderr)]
            line = await _first_line(pipes[0], within)
        except BaseException:  # Whoever wanted it is cancelled, and will not end it.
            await _end(child, pipes)
            for stream in (child.stdout, child.stderr):
                if stream is not None:
                    stream.close()
            raise
        if line.startswith(_GREETING):
            return cls(name, child, line.removeprefix(_GREETING), pipes)
        await _end(child, [])
        said = (await pipes[1].reader.read(_MOST_ERROR_BYTES)).decode("utf-8", "replace").strip() or line
        for pipe in pipes:
            pipe.close()
        reason = f"the bot {name!r} did not start within {within:g} s: {said or 'it said nothing'}"
        raise NotReady(Fault.NOT_READY, reason)

    async def stop(self) -> None:
        """Let it go and wait until it is gone."""
        await _end(self._child, self._pipes)
        await asyncio.gather(*self._drains, return_exceptions=True)


class _Pipe:
    """What a child writes, read in the event loop."""

    def __init__(self, reader: asyncio.StreamReader, transport: asyncio.ReadTransport) -> None:
        self.reader = reader
        self._transport = transport

    @classmethod
    async def open(cls, stream: IO[bytes] | None) -> Self:
        assert stream is not None
        reader = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), stream)
        return cls(reader, transport)

    async def drain(self) -> None:
        """Take what the child says, so that it never blocks on a full pipe."""
        while await self.reader.read(1 << 16):
            pass

    def close(self) -> None:
        """No more is wanted."""
        self._transport.close()


async def _first_line(out: "_Pipe", within: float) -> str:
    """What the child says first, empty if it says nothing within so many seconds."""
    try:
        async with asyncio.timeout(within):
            return (await out.reader.readline()).decode("utf-8", "replace").strip()
    except TimeoutError:
        return ""


async def _end(child: Child, pipes: "list[_Pipe]") -> None:
    """Close the child's standard input and wait; kill it if it does not go."""
    assert child.stdin is not None
    with contextlib.suppress(OSError):
        child.stdin.close()
    try:
        await asyncio.to_thread(child.wait, _STOP_WITHIN)
    except subprocess.TimeoutExpired:
        child.kill()
        await asyncio.to_thread(child.wait)
    for pipe in pipes:
        pipe.close()
