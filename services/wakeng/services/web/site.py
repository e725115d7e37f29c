"""What pages are about: a store, and the arena in the same process where there is one."""

import asyncio
import time
from dataclasses import dataclass, field
from typing import Final, Protocol

from wakeng.services.arena import Arena, MatchRun
from wakeng.services.store import Match, MatchState, Store
from wakeng.services.store.pages import KeptStandings
from wakeng.services.tournament.kept import keep_from_records
from wakeng.services.tournament.run import stored
from wakeng.services.web.gate import Gate
from wakeng.services.web.hub import Hub

STALE_S: Final = 60.0
"""Seconds after which standings of a tournament that nobody seems to play are made anew."""


class InPlay(Protocol):
    """What is played in this process."""

    @property
    def in_play(self) -> int:
        """How many there are."""


class MatchesInPlay(InPlay, Protocol):
    """Matches that are."""

    def run_of(self, match_id: str) -> MatchRun | None:
        """One of them, None where it is not played here."""


@dataclass(slots=True)
class Site:
    """A store and its pages."""

    store: Store
    gate: Gate
    hub: Hub
    arena: Arena | None = None
    matches: MatchesInPlay | None = None
    tournaments: InPlay | None = None
    _making: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    def run_of(self, match_id: str) -> MatchRun | None:
        """A match that is played in this process."""
        return None if self.matches is None else self.matches.run_of(match_id)

    async def standings(self, match: Match) -> KeptStandings | None:
        """The standings that are kept of a tournament; None while there are none yet.

        Where they are missing or old they are made from the records meanwhile, one tournament at a time.
        """
        kept = await self.store.pages.standings_of(match.match_id)
        if await self._due(match, kept):
            self._make(match)
        return kept

    def making(self, match_id: str) -> bool:
        """Whether standings are just being made from records."""
        return match_id in self._making

    async def _due(self, match: Match, kept: KeptStandings | None) -> bool:
        hands = (await self.store.pages.hands_of([match.match_id]))[match.match_id]
        if not hands or (kept is not None and kept.hands >= hands):
            return False
        if kept is None and match.state is not MatchState.RUNNING:
            return True
        # Whoever plays it keeps them up to date; one that was killed does not.
        since = match.created_us if kept is None else kept.made_us
        return time.time() - since / 1e6 > STALE_S

    def _make(self, match: Match) -> None:
        if self._making:
            return

        async def make() -> None:
            try:
                await keep_from_records(self.store, stored(match))
            finally:
                self._making.pop(match.match_id, None)

        self._making[match.match_id] = asyncio.create_task(make(), name=f"standings {match.match_id}")
