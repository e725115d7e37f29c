"""What to do while the store or NATS is away: wait, say so once, and go on where it was."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from wakeng.services.errors import (
    BadPageToken,
    MatchExists,
    SchemaError,
    StoreError,
    UnknownBot,
    UnknownMatch,
)
from wakeng.services.journal import Journal
from wakeng.services.workers.connection import QueueError

T = TypeVar("T")

_FIRST_S: Final = 0.1
_LONGEST_S: Final = 2.0
_ANSWERS: Final = (BadPageToken, MatchExists, SchemaError, UnknownBot, UnknownMatch)
"""Errors that are a store's answer, and the same however often it is asked."""


async def patiently(journal: Journal, what: str, work: Callable[[], Awaitable[T]]) -> T:
    """Do it again until it is done; it must be such that to do it twice changes nothing."""
    from nats.errors import Error

    pause, failures = _FIRST_S, 0
    while True:
        try:
            done = await work()
        except _ANSWERS:
            raise
        except (StoreError, QueueError, Error, TimeoutError, OSError) as problem:
            if not failures:
                journal.event("waiting", what=what, reason=str(problem) or type(problem).__name__)
            failures += 1
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_S)
        else:
            if failures:
                journal.event("going_on", what=what, failures=failures)
            return done
