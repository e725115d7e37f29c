"""News for many viewers at little cost: what is shown is made once for all of them, and sent only when it has changed.

A channel is one thing that is looked at in one language. While somebody looks, a task makes its news anew every so
often and hands the same bytes to all: what has changed, or everything to those who have just come or fallen behind. How
often depends on how many look, so that however many there are, no more than so many sends a second go out of the
arena's event loop.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

log = logging.getLogger("wakeng.services")

MOST_VIEWERS: Final = 1_000
MOST_SENDS: Final = 100
"""A second, to all viewers together."""
LEAST_S: Final = 0.5
_AT_ONCE: Final = 8
"""Viewers told in one turn of the loop: decisions at the tables wait for no more."""
PING_S: Final = 15.0
"""Seconds after which a line without meaning is sent, so that nobody between takes the connection for dead."""


@dataclass(frozen=True, slots=True)
class News:
    """What a channel shows now: events by name, and whether nothing follows any more."""

    events: tuple[tuple[str, str], ...]
    over: bool = False

    def since(self, shown: Mapping[str, str]) -> dict[str, str]:
        """What of it was not shown so already."""
        told = [*self.events, *([("over", "")] if self.over else [])]
        return {name: text for name, text in told if shown.get(name) != text}


def encoded(events: Mapping[str, str]) -> bytes:
    """As server-sent events."""
    return b"".join(_event(name, text) for name, text in events.items())


def _event(name: str, text: str) -> bytes:
    lines = "".join(f"data: {line}\n" for line in text.replace("\r", "").split("\n"))
    return f"event: {name}\n{lines}\n".encode()


Make = Callable[[], Awaitable[News]]


class Full(Exception):
    """There are as many viewers as there may be."""


class Hub:
    """All channels of a site."""

    def __init__(self, *, most_viewers: int = MOST_VIEWERS, most_sends: int = MOST_SENDS, least_s: float = LEAST_S):
        self._channels: dict[tuple[str, ...], _Channel] = {}
        self._most_viewers = most_viewers
        self._most_sends = most_sends
        self._least_s = least_s
        self._closed = asyncio.Event()

    @property
    def viewers(self) -> int:
        """How many look."""
        return sum(channel.viewers for channel in self._channels.values())

    @property
    def interval(self) -> float:
        """Seconds between two makings."""
        return max(self._least_s, self.viewers / self._most_sends)

    def close(self) -> None:
        """End every viewer's stream."""
        self._closed.set()
        for channel in self._channels.values():
            channel.wake()

    def check_room(self) -> None:
        """Full if nobody more may look."""
        if self._closed.is_set() or self.viewers >= self._most_viewers:
            raise Full

    async def follow(self, key: tuple[str, ...], make: Make) -> AsyncGenerator[bytes, None]:
        """What a channel tells, from its present state on, until it is over or the hub is closed."""
        channel = self._channels.get(key)
        if channel is None:
            channel = self._channels[key] = _Channel(self, make)
        channel.viewers += 1
        try:
            async for news in channel.follow(self._closed):
                yield news
        finally:
            channel.viewers -= 1
            if not channel.viewers:
                channel.close()
                self._channels.pop(key, None)


class _Channel:
    def __init__(self, hub: Hub, make: Make) -> None:
        self.viewers = 0
        self._hub = hub
        self._make = make
        self._shown: dict[str, str] = {}
        self._whole = b""
        self._changed = b""
        self._number = 0
        self._over = False
        self._waiting: set[asyncio.Future[None]] = set()
        self._task = asyncio.create_task(self._go_on())

    def wake(self) -> None:
        """Have all who wait look again, a few in each turn of the loop."""
        waiting, self._waiting = list(self._waiting), set()
        self._release(waiting)

    def _release(self, waiting: "list[asyncio.Future[None]]") -> None:
        for waiter in waiting[:_AT_ONCE]:
            if not waiter.done():
                waiter.set_result(None)
        if rest := waiting[_AT_ONCE:]:
            asyncio.get_running_loop().call_soon(self._release, rest)

    def close(self) -> None:
        self._task.cancel()

    async def follow(self, closed: asyncio.Event) -> AsyncIterator[bytes]:
        seen = 0
        while not closed.is_set():
            if self._number > seen:
                told = self._changed if seen == self._number - 1 else self._whole
                seen = self._number
                yield told
                continue
            if self._task.done():
                return
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.add(waiter)
            try:
                async with asyncio.timeout(PING_S):
                    await waiter
            except TimeoutError:
                yield b": \n\n"
            finally:
                self._waiting.discard(waiter)

    async def _go_on(self) -> None:
        try:
            over = False
            while not over:
                news = await self._make()
                over = news.over
                self._tell(news)
                if not over:
                    await asyncio.sleep(self._hub.interval)
        except Exception:
            log.exception("the news of a page could not be made")  # Viewers ask again, and so begin it anew.
        finally:
            asyncio.get_running_loop().call_soon(self.wake)

    def _tell(self, news: News) -> None:
        if changed := news.since(self._shown):
            self._shown = news.since({})
            self._whole, self._changed = encoded(self._shown), encoded(changed)
            self._number += 1
            self.wake()
