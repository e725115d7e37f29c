"""Whoever writes to a connection: one message at a time, each begun at once.

grpc wants one write at a time, and an obvious way to it is a queue with a task that writes. But such a task is woken a
turn of the loop later, and a lone table would pay that for each of its decisions. So a write, which is a coroutine, has
its first step taken in the turn of whoever wants it: that step hands the bytes to grpc. Further steps follow as what it
waits for is done, as a task's would.

Where an "event engine" of grpc's reads (`wakeng.sdk.polling` says when it does not) and shares a core with the loop,
the bytes are not gone by then. The engine's thread has the connection in its hands, since it read the message that is
being answered, and was put aside for the loop's thread when it woke that; it will write. So the loop's thread lets it
go first, and does what it has left to do while the message travels. Elsewhere that is a system call for nothing, once
a message.
"""

import os
from asyncio import CancelledError, Future
from collections.abc import Callable, Coroutine
from typing import Any, Final

from wakeng.sdk.client import CallError
from wakeng.sdk.polling import grpc

Writing = Coroutine[Any, Any, None]
"""A write, begun or still to be. What grpc raises in it is for whoever reads the connection to learn."""

_LET_OTHERS_GO_FIRST: Final[Callable[[], None]] = getattr(os, "sched_yield", lambda: None)


class Writer:
    """Takes the steps of one write after the other; a subclass says which."""

    def __init__(self) -> None:
        self._writing: Writing | None = None

    def _begin(self, writing: Writing) -> None:
        """Write this, when nothing else is being written."""
        self._writing = writing
        self._step()
        _LET_OTHERS_GO_FIRST()

    def _written(self) -> None:
        """A write is over that was not so at once."""
        raise NotImplementedError

    def _step(self) -> None:
        """Let the write go on as far as it goes without waiting."""
        assert self._writing is not None
        try:
            awaited: Future[Any] = self._writing.send(None)
        except (StopIteration, grpc.aio.BaseError, CallError, CancelledError):
            self._writing = None
        except BaseException:
            self._writing = None
            raise
        else:
            awaited._asyncio_future_blocking = False  # What a task says to a future that it waits for.
            awaited.add_done_callback(self._done)

    def _done(self, _: object) -> None:
        try:
            self._step()
        finally:  # Whatever failed, what waits behind it is said.
            if self._writing is None:
                self._written()
