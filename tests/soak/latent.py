"""A bot as a process that takes 5 ms for its answers, to any number of questions at once."""

import asyncio
import sys
from collections.abc import Sequence
from typing import Any, Final

from wakeng.bots import create
from wakeng.sdk import Bot, Decision, serve

LATENCY_S: Final = 0.005
ANY: Final = 1_000_000


class Latent(Bot):
    """Plays as `greedy` does, 5 ms later."""

    max_tables = ANY
    max_decisions = ANY

    def __init__(self) -> None:
        self._greedy = create("greedy")

    async def choose_batch(self, decisions: Sequence[Decision]) -> list[Any]:
        choices = [self._greedy.choose(decision) for decision in decisions]
        await asyncio.sleep(LATENCY_S)
        return choices


def said(address: str) -> None:
    sys.stdout.write(f"listening on {address}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    serve(Latent(), "127.0.0.1:0", until_stdin_closes=True, announce=said)
