"""The standings of a tournament that is being played, made now and then, and not by the loop that plays it.

Standings are made anew over all blocks of the prefix, which takes the longer the more there are. So they are made in a
thread, and not again before that has cost no more than a small share of the time.
"""

import asyncio
import time
from typing import Final

from wakeng.services.tournament.run import TournamentRun
from wakeng.services.tournament.statistics import Standings
from wakeng.services.tournament.verdicts import standings_over

_SHARE: Final = 0.05
"""Of the time, at most, that may go into it."""
_LEAST_S: Final = 0.25


class LiveStandings:
    """The standings of one run, shared by all who want them."""

    def __init__(self, run: TournamentRun) -> None:
        self._run = run
        self._made: Standings | None = None
        self._next_at = 0.0
        self._turn = asyncio.Lock()

    async def get(self) -> Standings | None:
        """Those over the prefix, or lately over a shorter one; None before the bots have been reached."""
        runner = self._run.runner
        if runner is None:
            return None
        async with self._turn:
            stale = self._made is None or self._made.prefix != runner.progress.prefix
            if stale and time.monotonic() >= self._next_at:
                await self._make(runner.progress.prefix)
            return self._made

    async def _make(self, prefix: int) -> None:
        runner = self._run.runner
        assert runner is not None
        blocks = [block for _, block in runner.progress.results if block is not None]
        began = time.monotonic()
        self._made = await asyncio.to_thread(standings_over, self._run.spec, blocks, prefix=prefix)
        took = time.monotonic() - began
        self._next_at = began + max(_LEAST_S, took / _SHARE)
