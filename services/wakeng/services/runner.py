"""Plays the hands of a match, many side by side: they begin in order, each once every bot has a lease for it."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Final

from wakeng.engine import Bidding, blind_first_seat, hand_seed
from wakeng.services.floor import Floor, Record, Watcher
from wakeng.services.roster import Chair
from wakeng.services.spec import MatchSpec
from wakeng.services.table import HandSpec

MOST_VOIDS: Final = 3
"""After so many voids of one hand the match fails: the arena is broken, and says so."""


class TooManyVoids(Exception):
    """The arena failed too often at one hand."""


class MatchRunner:
    """Runs one match. `on_record` gets every hand's record as it ends; `room` is awaited before another hand begins."""

    def __init__(
        self,
        spec: MatchSpec,
        chairs: Sequence[Chair],
        *,
        watchers: Sequence[Watcher],
        on_record: Callable[[Record], None],
        room: Callable[[], Awaitable[None]],
        finished_hands: frozenset[int] = frozenset(),
    ) -> None:
        self.spec = spec
        self._chairs = chairs
        self._on_record = on_record
        self._room = room
        self._fresh: Iterator[int] = (index for index in range(spec.hands) if index not in finished_hands)
        self._again: deque[tuple[int, int]] = deque()
        """Hands to be played before fresh ones: index and attempt."""
        self._wake = asyncio.Event()
        self._stopping = False
        self.floor = Floor(chairs, watchers=watchers, wake=self._wake.set)

    async def run(self) -> None:
        """Play until every hand has its record, or `stop` was called and the hands in play are over."""
        self.floor.open()
        try:
            await self._run()
        finally:
            self.floor.close()

    async def _run(self) -> None:
        while True:
            await self._room()
            self._wake.clear()
            begun, waiting = self._begin_some()
            if self.floor.broken is not None:
                raise self.floor.broken
            if self.floor.running or (waiting and not begun):
                await self._wake.wait()
            elif begun or self._again:
                await asyncio.sleep(0)  # Forfeited hands end at once; others get their turn between them.
            else:
                return

    def stop(self) -> None:
        """Begin no further hand."""
        self._stopping = True
        self._again.clear()
        self._wake.set()

    def _begin_some(self) -> tuple[int, bool]:
        """Set the free tables; how many hands were begun, and whether one waits for a lease."""
        begun = 0
        room = self.spec.tables - self.floor.running
        while begun < room and not self._stopping:
            hand = self._again.popleft() if self._again else self._next_fresh()
            if hand is None:
                break
            if not self._begin(*hand):
                self._again.appendleft(hand)
                return begun, True
            begun += 1
        return begun, False

    def _next_fresh(self) -> tuple[int, int] | None:
        index = next(self._fresh, None)
        return None if index is None else (index, 0)

    def _begin(self, index: int, attempt: int) -> bool:
        ending = _Ending(self, index, attempt)
        ready_ms = self.spec.time_control.ready_ms
        return self.floor.begin(self._hand(index, attempt), self._chairs, ending, ready_ms=ready_ms)

    def _hand(self, index: int, attempt: int) -> HandSpec:
        spec = self.spec
        return HandSpec(
            match_id=spec.match_id,
            hand_index=index,
            attempt=attempt,
            rules=spec.rules,
            seed=hand_seed(spec.seed, index),
            time_control=spec.time_control,
            names=tuple([chair.seat.name for chair in self._chairs]),
            blind_first_seat=blind_first_seat(spec.rules, spec.seed, index),
            assigned_digger=index % spec.rules.players if spec.rules.bidding is Bidding.ASSIGNED else None,
            match_commitment=spec.commitment,
        )

    def ended(self, record: Record) -> None:
        """A hand is over."""
        self._on_record(record)

    def voided(self, index: int, attempt: int, reason: str) -> None:
        """A hand is to be played again."""
        if attempt + 1 >= MOST_VOIDS:
            self.floor.broken = TooManyVoids(f"hand {index} was voided {MOST_VOIDS} times, last for: {reason}")
        self._again.append((index, attempt + 1))


class _Ending:
    """Knows which hand it was."""

    __slots__ = ("_attempt", "_index", "_runner")

    def __init__(self, runner: MatchRunner, index: int, attempt: int) -> None:
        self._runner = runner
        self._index = index
        self._attempt = attempt

    def ended(self, record: Record) -> None:
        """It has a record."""
        self._runner.ended(record)

    def voided(self, reason: str) -> None:
        """It has none."""
        self._runner.voided(self._index, self._attempt, reason)
