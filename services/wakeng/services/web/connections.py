"""Connections that nobody can hold for ever: what waits for a request, and how many a host may have, is bounded.

uvicorn bounds how many connections there are, and closes one that is idle after an answer. One that never ends its
first request, or says a byte of the next now and then, it would keep.
"""

import asyncio
import socket
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST: Final = 2_000
"""Connections at once."""
MOST_OF_A_HOST: Final = 500
REQUEST_S: Final = 20.0
"""Seconds for all of a request's head; up to twice that, since it is looked at this often."""
UNREAD_S: Final = 30
"""Seconds after which a connection is dead whose peer reads nothing of what it was sent."""


class Connection(H11Protocol):
    """One connection."""

    _due: asyncio.TimerHandle | None = None
    _seen: object = None
    """The request that was in work, or the last that was, when it was looked at last."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """It is closed at once where its host has too many; a proxy speaks for many hosts, and may."""
        super().connection_made(transport)
        if not self.config.proxy_headers and self._of_its_host() > MOST_OF_A_HOST:
            transport.abort()
            return
        self._due = self.loop.call_later(REQUEST_S, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        if self._due is not None:
            self._due.cancel()
        super().connection_lost(exc)

    def _of_its_host(self) -> int:
        hosts = [one.client[0] for one in self.connections if isinstance(one, Connection) and one.client]
        return hosts.count(self.client[0]) if self.client else 0

    def _look(self) -> None:
        if self.conn.their_state is h11.IDLE and self.cycle is self._seen:
            self.transport.abort()
            return
        self._seen = self.cycle
        self._due = self.loop.call_later(REQUEST_S, self._look)


def drop_who_does_not_read(listening: socket.socket) -> None:
    """Have the system close accepted connections that take nothing in, where it can."""
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_S * 1_000)
