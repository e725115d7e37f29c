"""How the checker reaches a bot: by a `BotClient` where it listens, by the arena's own means where it dials in.

Every call may fail with `CallError`. The checker bounds its waits itself, and lets nothing go by cancelling it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from wakeng.v1 import bot_pb2


class Conversation(Protocol):
    """An open Play stream, or the like of it: one writer, one reader."""

    async def write(self, message: bytes) -> None:
        """Hand over one encoded PlayRequest."""

    async def read(self) -> bytes | None:
        """The next encoded PlayResponse, None at the end."""

    async def finish(self) -> None:
        """Say that nothing more will be asked."""

    def abandon(self) -> None:
        """End it, whatever the bot does; a read in progress then ends in any way."""


class Caller(Protocol):
    """A way to one bot."""

    async def describe(self, request: bot_pb2.DescribeRequest, *, within: float) -> bot_pb2.DescribeResponse:
        """What the bot says of itself, in so many seconds."""

    async def decide(self, request: bytes, *, within: float) -> bytes:
        """One encoded DecideResponse; `Trouble.UNIMPLEMENTED` where the bot does not take single questions."""

    def play(self) -> Conversation:
        """Open a stream; the first read says whether the bot has one."""

    async def close(self) -> None:
        """Let the bot go."""


Connect = Callable[[], Caller]
"""Makes a new way to the bot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """The time control that a bot is tried with, in milliseconds (docs/protocol.md 7)."""

    move_ms: int = 1_000
    bank_ms: int = 1_000
    ready_ms: int = 5_000
    reconnect_ms: int = 2_000

    @property
    def move(self) -> float:
        """Seconds for one decision."""
        return self.move_ms / 1000

    @property
    def bank(self) -> float:
        """Seconds a hand beyond that."""
        return self.bank_ms / 1000

    @property
    def ready(self) -> float:
        """Seconds to get ready."""
        return self.ready_ms / 1000

    @property
    def reconnect(self) -> float:
        """Seconds for a lost connection to come back."""
        return self.reconnect_ms / 1000
