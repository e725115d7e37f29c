"""What to do while the store or NATS is away: wait, say so once, and go on where it was."""

import asyncio
import logging
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

log: Final = logging.getLogger(__name__)

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
                reason = str(problem) or type(problem).__name__
                journal.event("waiting", what=what, reason=reason)
                log.warning("what is needed is away, and waited for", extra={"what": what, "reason": reason})
            failures += 1
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_S)
        else:
            if failures:
                journal.event("going_on", what=what, failures=failures)
            return done
