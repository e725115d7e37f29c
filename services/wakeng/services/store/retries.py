"""Failures that pass, and the patience to sit them out: a unit is tried again until it is done or the time is up.

A server that restarts, two writers in each other's way, a file that another process has locked: none of these is a
reason to fail a match that thousands of hands were played for. The waits between tries double up to a bound. They are
not spread at random, for what is tried again comes from a pool of few connections, and waited in turn before.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnectionFree

T = TypeVar("T")

log: Final = logging.getLogger(__name__)

_PASSING_STATES: Final = {
    "25006": "read-only for now, as a standby is before it takes over",
    "25P03": "a session that idled in a transaction was ended",
    "40001": "could not be serialised",
    "40P01": "a deadlock",
    "53300": "too many connections",
    "57P01": "stopped by its operator",
    "57P02": "another session crashed the server",
    "57P03": "starting up, or shutting down",
    "57P05": "a session that idled was ended",
}
"""Of the codes that every error of PostgreSQL bears."""
_LOST_CONNECTION: Final = "08"
"""What the codes of a lost or refused connection begin with."""
_SQLITE_BUSY: Final = {5, 6}
"""Another connection has the file, or the table, locked (the low byte of SQLite's codes)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long failures that pass are sat out; all in seconds."""

    budget_s: float = 120.0
    """From the first try on; no try begins later. Enough for a server to restart, or a standby to take over."""
    first_wait_s: float = 0.05
    longest_wait_s: float = 2.0

    def waits(self) -> Iterator[float]:
        """Before the second try and those after it, without end."""
        yield 0.0  # A connection that died while it idled is told by its first use, and the next is a new one.
        wait = self.first_wait_s
        while True:
            yield wait
            wait = min(2 * wait, self.longest_wait_s)


class Retries:
    """Tries again, and logs the beginning and end of an outage once, however many wait for it."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._away_since: float | None = None

    @property
    def away(self) -> bool:
        """Whether a failure is being sat out."""
        return self._away_since is not None

    async def until_done(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """What `attempt` returns when it does; raises what is no passing failure, and what is when the time is up."""
        loop = asyncio.get_running_loop()
        last_try = loop.time() + self._patience.budget_s
        for wait in self._patience.waits():
            try:
                made = await attempt()
            except Exception as problem:
                if not passes(problem) or loop.time() + wait > last_try:
                    raise
                if wait:
                    self._note_away(problem, loop.time())
            else:
                self._note_back(loop.time())
                return made
            await asyncio.sleep(wait)
        raise AssertionError("waits have no end")

    def _note_away(self, problem: Exception, now: float) -> None:
        if self._away_since is None:
            self._away_since = now
            log.warning("the store is away (%s); trying for %g s", problem_of(problem), self._patience.budget_s)

    def _note_back(self, now: float) -> None:
        if self._away_since is not None:
            log.warning("the store is back after %.1f s", now - self._away_since)
            self._away_since = None


def passes(problem: BaseException) -> bool:
    """Whether a failure is one that passes by itself."""
    if isinstance(problem, (OSError, NoConnectionFree)):
        return True  # Nobody listens, the name is not known just now, the driver gave up waiting, all are in use.
    if not isinstance(problem, DBAPIError):
        return False
    if problem.connection_invalidated:
        return True
    state = getattr(problem.orig, "sqlstate", None) or ""
    busy = (getattr(problem.orig, "sqlite_errorcode", None) or 0) & 0xFF in _SQLITE_BUSY
    return busy or state in _PASSING_STATES or state.startswith(_LOST_CONNECTION)


def problem_of(problem: BaseException) -> str:
    """What the driver says, without the statement around it."""
    orig: Any = getattr(problem, "orig", None) or problem
    # PostgreSQL's errors are wrapped twice, and the outer says its own class as well.
    said = getattr(orig, "driver_exception", None) or orig.__cause__ or orig
    return str(said) or type(said).__name__
