"""The bots that an arena is measured against, each to be served by a process of its own."""

import asyncio
from collections.abc import Awaitable, Sequence

from wakeng.bots.lowest import Lowest
from wakeng.sdk import serve
from wakeng.sdk.decision import Choice, Decision
from wakeng.services.bench.child import announce

_MOST: int = 1_000_000


class Ready(Lowest):
    """Answers at once, any number of questions side by side."""

    max_tables = _MOST
    max_decisions = _MOST


class Patient(Ready):
    """Answers every message a while after it came, any number of them at once."""

    def __init__(self, latency_ms: float) -> None:
        super().__init__()
        self._latency_s = latency_ms / 1000

    def choose_batch(self, decisions: Sequence[Decision]) -> Awaitable[Sequence[Choice]]:
        """The lowest play of each, later."""
        return self._choose(decisions)

    async def _choose(self, decisions: Sequence[Decision]) -> Sequence[Choice]:
        await asyncio.sleep(self._latency_s)
        return [self.choose(decision) for decision in decisions]


def serve_bot(latency_ms: float = 0.0) -> None:
    """Be the bot, until standard input closes."""
    serve(Patient(latency_ms) if latency_ms else Ready(), "127.0.0.1:0", until_stdin_closes=True, announce=announce)
