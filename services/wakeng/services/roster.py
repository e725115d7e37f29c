"""Who is seated in this process: one seat per bot, shared by every match that names it."""

import asyncio
from collections.abc import Callable
from typing import Final

from wakeng.engine import RuleSet
from wakeng.services.circuit import Circuit, State
from wakeng.services.deadlines import Deadlines
from wakeng.services.ids import Ids
from wakeng.services.metrics import LeaseFigures, Metrics
from wakeng.services.seat import NotReady, Opener, Seat
from wakeng.services.spec import TimeControl

TOGETHER: Final = 0.25
"""Seconds within which the loss of several bots looks like one event, and so perhaps the arena's own."""


class Chair:
    """A bot's place in one match: the shared seat, and what this match has seen of the bot."""

    def __init__(self, seat: Seat, *, max_escapes: int) -> None:
        self.seat = seat
        self.circuit = Circuit(max_escapes)
        self.not_ready = ""
        """Why the bot could not be made ready, empty if it could."""
        self._last: tuple[RuleSet, TimeControl] | None = None

    async def make_ready(self, rules: RuleSet, time_control: TimeControl) -> bool:
        """Reach the bot and tell it what is played; False opens the circuit."""
        self._last = rules, time_control
        try:
            await self.seat.make_ready(rules, time_control)
        except NotReady as reason:
            self.not_ready = str(reason)
            if self.circuit.state is State.CLOSED:
                self.circuit.trip(reason.fault, self.seat.now())
            return False
        self.not_ready = ""
        return True

    async def make_ready_again(self) -> bool:
        """The same once more, for a bot that was not there or left too often."""
        assert self._last is not None
        return await self.make_ready(*self._last)


class _Entry:
    def __init__(self, seat: Seat) -> None:
        self.seat = seat
        self.users = 0


class Roster:
    """The seats in use. `take` and `leave` come in pairs; a seat that nobody uses is closed."""

    def __init__(self, *, ids: Ids, deadlines: Deadlines, metrics: Metrics, on_outage: Callable[[], None]) -> None:
        self._ids = ids
        self._deadlines = deadlines
        self._metrics = metrics
        self._on_outage = on_outage
        self._entries: dict[str, _Entry] = {}
        self._losses: dict[str, float] = {}

    def take(self, key: str, name: str, opener: Opener) -> Seat:
        """The seat of the bot that `key` stands for; `opener` is used where it is the first to ask."""
        entry = self._entries.get(key)
        if entry is None:
            seat = Seat(name, opener, ids=self._ids, deadlines=self._deadlines, counts=self._metrics.bot(name))
            seat.on_lost = lambda lost: self._lost(key)
            entry = self._entries[key] = _Entry(seat)
        entry.users += 1
        return entry.seat

    async def leave(self, key: str) -> None:
        """One user fewer."""
        entry = self._entries[key]
        entry.users -= 1
        if not entry.users:
            del self._entries[key]
            await entry.seat.close()

    def leases(self) -> list[LeaseFigures]:
        """Of every seat in use, for metrics, whose thread is another."""
        seats = [entry.seat for entry in list(self._entries.values())]
        return [LeaseFigures(seat.name.bot, seat.leases.taken, seat.leases.limit) for seat in seats]

    def _lost(self, key: str) -> None:
        """One lost bot is its own affair; several at the same moment may be the arena's."""
        now = asyncio.get_running_loop().time()
        self._losses = {other: when for other, when in self._losses.items() if now - when <= TOGETHER}
        self._losses[key] = now
        if len(self._losses) > 1:
            for other in self._losses:
                if other in self._entries:
                    self._entries[other].seat.pause()
            self._on_outage()

    def lost_seats(self) -> list[Seat]:
        """The seats whose connection is away."""
        return [entry.seat for entry in self._entries.values() if not entry.seat.up]
