"""What is to be said over one connection: one message after the other, the next once the one before is written.

Whoever puts a message here has it written at once, where nothing else is being written (`wakeng.sdk.writer`).
"""

from collections import deque
from collections.abc import Callable

from wakeng.sdk.writer import Writer, Writing

Write = Callable[[bytes | None], Writing]
"""Writes a message, or with None the end. What grpc raises there is for whoever reads the connection to learn."""


class Outbox(Writer):
    """Messages for one connection, kept until there is somebody to write them; None is the last."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: deque[bytes | None] = deque()
        self._write: Write | None = None

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
            writing = self._write(message)
            if message is None:
                self._write = None
            self._begin(writing)

    _written = _go_on
