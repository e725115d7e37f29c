"""A stretch of network that a test can make bad: a TCP proxy that delays, stalls, half-closes, drops and refuses.

Bytes that go from who dialled to who was dialled go up, the answers come down. What is switched (`delay`, `stall`,
`refuse`) holds for every connection until it is switched back; `drop` and `half_close` befall those that stand.
"""

import asyncio
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from typing import Any, Final, Self

_RESET_ON_CLOSE: Final = struct.pack("ii", 1, 0)
_CHUNK: Final = 1 << 16
_MOST_CHUNKS: Final = 16
"""Under way in one direction; a sender whose bytes get nowhere notices in the end."""


class Way(Enum):
    """A direction."""

    UP = "from who dialled"
    DOWN = "from who was dialled"


class Proxy:
    """What is dialled at `address` is passed on to the target."""

    def __init__(self, target: str, *, heard: Callable[[], None] = lambda: None) -> None:
        """`heard` is called back whenever a connection comes or goes."""
        host, _, port = target.rpartition(":")
        self.accepted = 0
        """Connections so far."""
        self.delay = 0.0
        """Seconds that bytes are under way, in each direction."""
        self._target = host, int(port)
        self._heard = heard
        self._flowing = {way: asyncio.Event() for way in Way}
        self._links: set[_Link] = set()
        self._server: asyncio.Server | None = None
        # Bound, and never listened at: keeps the port while connections are refused.
        self._place = _bound(0)
        for flowing in self._flowing.values():
            flowing.set()

    @property
    def address(self) -> str:
        """Where to dial."""
        host, port = self._place.getsockname()
        return f"{host}:{port}"

    @property
    def standing(self) -> int:
        """Connections that stand."""
        return len(self._links)

    async def __aenter__(self) -> Self:
        await self.accept()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.refuse()
        self.flow()
        self.drop()
        await asyncio.gather(*(link.over() for link in list(self._links)))
        self._place.close()

    # What can be done to it -------------------------------------------------------------------------------------------

    def drop(self) -> None:
        """Reset every connection, both ends of it, as it is; what was under way is lost."""
        for link in list(self._links):
            link.reset()

    def half_close(self, way: Way) -> None:
        """Say in this direction that nothing more comes; the other goes on."""
        for link in list(self._links):
            link.half_close(way)

    def stall(self, *ways: Way) -> None:
        """Pass nothing on in these directions, none named means both; nobody is told."""
        for way in ways or Way:
            self._flowing[way].clear()

    def flow(self) -> None:
        """Pass everything on again, what has gathered first."""
        for flowing in self._flowing.values():
            flowing.set()

    async def refuse(self) -> None:
        """Refuse new connections."""
        if self._server is not None:
            self._server.close()
            self._server = None

    async def accept(self) -> None:
        """Take new connections."""
        if self._server is None:
            listener = _bound(int(self.address.rpartition(":")[2]))
            self._server = await asyncio.start_server(self._connected, sock=listener)

    # How it works -----------------------------------------------------------------------------------------------------

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        try:
            far_reader, far_writer = await asyncio.open_connection(*self._target)
        except OSError:
            _reset(writer)
            return
        link = _Link(self, (reader, writer), (far_reader, far_writer))
        self._links.add(link)
        self._heard()
        try:
            await link.carry()
        finally:
            self._links.discard(link)
            self._heard()

    async def passed(self, way: Way) -> None:
        """Return once bytes may go on in this direction."""
        await self._flowing[way].wait()


class _Link:
    """One connection through the proxy."""

    def __init__(self, proxy: Proxy, near: Any, far: Any) -> None:
        self._proxy = proxy
        self._writers = {Way.UP: far[1], Way.DOWN: near[1]}
        self._closed: set[Way] = set()
        """The directions in which the end was said by the proxy itself."""
        self._over = asyncio.Event()
        self._tasks = [
            asyncio.ensure_future(work)
            for way, reader in ((Way.UP, near[0]), (Way.DOWN, far[0]))
            for work in self._lane(way, reader)
        ]

    def _lane(self, way: Way, reader: asyncio.StreamReader) -> Any:
        under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(_MOST_CHUNKS)
        return self._take(reader, under_way), self._give(way, under_way)

    async def carry(self) -> None:
        """Pass bytes on until both directions are at their end, or one breaks."""
        done, _ = await asyncio.wait(self._tasks, return_when=asyncio.FIRST_EXCEPTION)
        self.reset()
        await asyncio.wait(self._tasks)
        for task in done:
            if not task.cancelled() and (problem := task.exception()) and not isinstance(problem, OSError):
                raise problem
        for writer in self._writers.values():
            with suppress(OSError):
                await writer.wait_closed()
        self._over.set()

    async def _take(self, reader: asyncio.StreamReader, under_way: "asyncio.Queue[tuple[float, bytes]]") -> None:
        loop = asyncio.get_running_loop()
        chunk = b"?"
        while chunk:
            chunk = await reader.read(_CHUNK)
            await under_way.put((loop.time() + self._proxy.delay, chunk))

    async def _give(self, way: Way, under_way: "asyncio.Queue[tuple[float, bytes]]") -> None:
        loop, writer = asyncio.get_running_loop(), self._writers[way]
        while True:
            due, chunk = await under_way.get()
            await asyncio.sleep(max(0.0, due - loop.time()))
            await self._proxy.passed(way)
            if not chunk:
                self.half_close(way)
                return
            if way not in self._closed:
                writer.write(chunk)
                await writer.drain()

    def half_close(self, way: Way) -> None:
        """Say the end in one direction."""
        if way not in self._closed:
            self._closed.add(way)
            with suppress(OSError):
                self._writers[way].write_eof()

    def reset(self) -> None:
        """Break both halves."""
        for task in self._tasks:
            task.cancel()
        for writer in self._writers.values():
            _reset(writer)

    async def over(self) -> None:
        """Return once nothing of it is left."""
        await self._over.wait()


def _reset(writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
    writer.transport.abort()


def _bound(port: int) -> socket.socket:
    place = socket.socket()
    place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    place.bind(("127.0.0.1", port))
    return place
