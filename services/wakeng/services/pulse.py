"""How late the event loop is: what one process can bear shows here first, before any bot is asked too late.

Everything of an arena's runs in one loop, so whatever holds it holds every table. Each half second a callback is due,
and how much later it comes is the measure.
"""

import asyncio
from collections.abc import Callable
from typing import Final

EVERY: Final = 0.5
"""Seconds from one beat to the next."""


class Pulse:
    """Tells how many seconds late each beat was, until it is closed."""

    def __init__(self, tell: Callable[[float], object], *, every: float = EVERY) -> None:
        self._tell = tell
        self._every = every
        self._loop = asyncio.get_running_loop()
        self._due = 0.0
        self._next()

    def _next(self) -> None:
        self._due = self._loop.time() + self._every
        self._timer = self._loop.call_at(self._due, self._beat)

    def _beat(self) -> None:
        self._tell(max(0.0, self._loop.time() - self._due))
        self._next()

    def close(self) -> None:
        """No further beat."""
        self._timer.cancel()
