"""Bots of the test itself: they sit at a table to say how far things are, and to hold them up."""

from __future__ import annotations

import asyncio

from wakeng.sdk import Bot, Decision
from wakeng.v1 import bot_pb2


class Host(Bot):
    """Says when so many of its hands are over, or so many questions answered; further questions then wait for `open`.

    A choice is the first legal token, whatever happens to when it is made.
    """

    name = "host"
    version = "1"

    def __init__(self, *, hands: int | None = None, decisions: int | None = None) -> None:
        self.reached = asyncio.Event()
        self.open = asyncio.Event()
        self._hands = hands
        self._decisions = decisions

    async def choose(self, decision: Decision) -> str:
        if self._decisions is not None:
            self._decisions -= 1
            if self._decisions < 0:
                self.reached.set()
                await self.open.wait()
        return decision.legal[0]

    def hand_ended(self, notice: bot_pb2.HandEnded) -> None:
        if self._hands is not None:
            self._hands -= 1
            if self._hands <= 0:
                self.reached.set()
