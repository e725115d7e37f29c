"""Faulty bots that the SDK can serve: all that is wrong with them is how they choose."""

import asyncio
import os

from wakeng.bots.faulty.base import FaultyBot
from wakeng.engine import PLAYS, Fault
from wakeng.sdk.decision import Decision

_LATE_S = 1.0
"""Beyond the budget: more than the network's share (0.1 s at most) and the arena's own lag can excuse."""


class Hang(FaultyBot):
    """Takes every question and answers none. Earns DEADLINE."""

    name = "faulty:hang"
    earns = (Fault.DEADLINE,)

    async def choose(self, decision: Decision) -> str:  # type: ignore[override]  # a bot may await, its base does not
        """Never."""
        return await asyncio.Future()


class Late(FaultyBot):
    """Answers well, but a second after the move's time and the bank are over. Earns DEADLINE.

    An answer that is only late on the move would be paid from the bank for as long as that lasts.
    """

    name = "faulty:late"
    earns = (Fault.DEADLINE,)

    async def choose(self, decision: Decision) -> str:  # type: ignore[override]  # a bot may await, its base does not
        """The right answer, when nobody waits for it any more."""
        await asyncio.sleep((decision.time_left_ms + decision.bank_left_ms) / 1000 + _LATE_S)
        return super().choose(decision)


class Illegal(FaultyBot):
    """Answers with a word of the vocabulary that is not legal here. Earns ILLEGAL_ACTION."""

    name = "faulty:illegal"
    earns = (Fault.ILLEGAL_ACTION,)

    def choose(self, decision: Decision) -> str:
        """The first play of the vocabulary that is not offered; outside PLAY every one but perhaps the pass."""
        legal = set(decision.legal)
        return next(play.token for play in PLAYS if play.token not in legal)


class Crash(FaultyBot):
    """Its process dies at the first question. Earns DISCONNECTED, and UNREACHABLE from then on."""

    name = "faulty:crash"
    earns = (Fault.DISCONNECTED, Fault.UNREACHABLE)

    def choose(self, decision: Decision) -> str:
        """Ends the process on the spot, with nothing flushed and no connection closed in order."""
        os._exit(1)
