"""What is to be said over one connection: one message after the other, the next once the one before is written.

grpc wants one write at a time, and an obvious way to it is a queue with a task that writes. But such a task is woken a
turn of the loop later, and a lone table would pay that for each of its decisions. So whoever puts a message here has
it written at once, where nothing else is being written: the write is a coroutine, and its first step, which hands the
bytes to grpc, is taken in the caller's own turn. Further steps follow as what it waits for is done, as a task's would.

Where arena and grpc share a core, the bytes are not gone by then. A thread of grpc's has the connection in its hands,
since it read the message that is being answered, and was put aside for the loop's thread when it woke that; it will
write. So the loop's thread lets it go first, and does what it has left to do while the message travels. With a core to
spare that is a system call for nothing, once a message.
"""

import os
from asyncio import CancelledError, Future
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Final

from wakeng.sdk.client import CallError
from wakeng.sdk.polling import grpc

Write = Callable[[bytes | None], Coroutine[Any, Any, None]]
"""Writes a message, or with None the end. What grpc raises there is for whoever reads the connection to learn."""


_LET_OTHERS_GO_FIRST: Final[Callable[[], None]] = getattr(os, "sched_yield", lambda: None)


class Outbox:
    """Messages for one connection, kept until there is somebody to write them; None is the last."""

    def __init__(self) -> None:
        self._waiting: deque[bytes | None] = deque()
        self._write: Write | None = None
        self._writing: Coroutine[Any, Any, None] | None = None

    def put_nowait(self, message: bytes | None) -> None:
        """Say this after all that was put before."""
        self._waiting.append(message)
        self._go_on()

    def get_nowait(self) -> bytes | None:
        """Take the oldest message out, to say it in some other way."""
        return self._waiting.popleft()

    def empty(self) -> bool:
        """Whether nothing waits to be written."""
        return not self._waiting

    def written_by(self, write: Write) -> None:
        """From now on messages are written by `write`, those first that wait."""
        self._write = write
        self._go_on()

    def _go_on(self) -> None:
        while self._writing is None and self._write is not None and self._waiting:
            message = self._waiting.popleft()
            self._writing = self._write(message)
            if message is None:
                self._write = None
            self._step()
            _LET_OTHERS_GO_FIRST()

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
        self._step()
        if self._writing is None:
            self._go_on()
