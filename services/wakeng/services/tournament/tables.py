"""The tables of this process: an executor that plays blocks on a floor, hand by hand.

    submit -> Docket (pure: which hands may start) -> Floor (hands in play) -> records, outcomes

Hands of a quarantined bot wait for it, and are forfeited once it has been away too long; other bots' hands go on
meanwhile. A worker plays the blocks that it was given in the same way (`wakeng.services.workers`).
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Final

from wakeng.services.circuit import State
from wakeng.services.floor import Floor, Record, Watcher
from wakeng.services.roster import Chair
from wakeng.services.table import HandSpec, Name
from wakeng.services.tournament.docket import Docket, Turn, Work
from wakeng.services.tournament.executor import Outcomes
from wakeng.services.tournament.spec import TournamentSpec
from wakeng.services.tournament.statistics.results import hand_result

PATIENCE_S: Final = 30.0
"""How long the hands of a quarantined bot wait for it before they are forfeited."""
_LARGEST: Final = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """What becomes of hands that are over: their records and voids kept, and room made before others begin."""

    record: Callable[[Record], None]
    void: Callable[[int, int], None]
    """Told a hand's number and how often it was voided by now, before anything follows from that."""
    room: Callable[[], Awaitable[None]]
    """Awaited before hands begin."""


class Tables:
    """Plays blocks of one tournament. `chairs` go by place in the field."""

    def __init__(
        self,
        tournament_id: str,
        spec: TournamentSpec,
        chairs: Sequence[Chair],
        *,
        tables: int,
        outcomes: Outcomes,
        keeping: Keeping,
        watchers: Sequence[Watcher],
    ) -> None:
        """At most `tables` hands are in play at once."""
        self.docket = Docket(spec.options.strike_off_after)
        self._id = tournament_id
        self._spec = spec
        self._chairs = chairs
        self._tables = tables
        self._outcomes = outcomes
        self._keeping = keeping
        self._wake = asyncio.Event()
        self._stopping = False
        self._ended = False
        self._loop = asyncio.get_running_loop()
        self._absent: dict[int, float] = {}
        """Bots that are not dealt in, by their place in the field, and since when."""
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        """When the timer goes off, or went off last."""
        self.floor = Floor(chairs, watchers=watchers, wake=self._wake.set)

    @property
    def running(self) -> int:
        """Hands in play."""
        return self.floor.running

    def submit(self, work: Work) -> None:
        """Play a block."""
        self.docket.add(work)
        self._wake.set()

    def stop(self) -> None:
        """Begin no further hand."""
        self._stopping = True
        self._wake.set()

    def end(self) -> None:
        """What is in play counts for nothing any more."""
        self._ended = True
        self._wake.set()

    async def run(self) -> None:
        """Play until `end`, or `stop` was called and the hands in play are over."""
        self.floor.open()
        try:
            while not (self._ended or (self._stopping and not self.floor.running)):
                await self._keeping.room()
                self._wake.clear()
                begun = self._begin_some()
                if self.floor.broken is not None:
                    raise self.floor.broken
                if begun and not self.floor.running:
                    await asyncio.sleep(0)  # Forfeited hands end at once; others get their turn between them.
                elif not self._ended:
                    await self._wake.wait()
        finally:
            if self._timer is not None:
                self._timer.cancel()
            self.floor.close()

    def _begin_some(self) -> int:
        """Set the free tables, the oldest block first; how many hands were begun."""
        begun = 0
        room = self._tables - self.floor.running + self.kept_waiting()
        for turn in self.docket.ready():
            if begun >= room or self._stopping or self._ended:
                break
            if self._must_wait(turn):
                continue
            self.docket.started(turn.block.index)
            if self._begin(turn):
                begun += 1
            else:
                self.docket.put_back(turn.block.index)
        return begun

    def kept_waiting(self) -> int:
        """Hands that wait for a slow bot beyond its share of the tables; others are played in their place meanwhile.

        A hand that waits takes memory and nothing else. Counted in full, the hands of one slow bot would fill the
        tables, and all the others would play at its pace. The window bounds how many can be set in their place.
        """
        share = -(-self._tables // len(self.floor.chairs))
        return sum(max(0, chair.seat.waiting - share) for chair in self.floor.chairs)

    def _must_wait(self, turn: Turn) -> bool:
        """Whether a bot of the hand is away, and not for too long yet."""
        now = self._loop.time()
        waits = False
        for bot in dict.fromkeys(turn.hand.bots):
            circuit = self._chairs[bot].circuit
            if circuit.state is State.CLOSED:  # A trial alone does not renew anybody's patience.
                self._absent.pop(bot, None)
            if circuit.dealt_in:
                continue
            due = self._absent.setdefault(bot, now) + PATIENCE_S
            if now < due:
                self._wake_at(due)
                waits = True
        return waits

    def _wake_at(self, when: float) -> None:
        if self._due <= self._loop.time():
            self._due = when
            self._timer = self._loop.call_at(when, self._wake.set)

    def _begin(self, turn: Turn) -> bool:
        chairs = [self._chairs[bot] for bot in turn.hand.bots]
        ready_ms = self._spec.time_control.ready_ms
        return self.floor.begin(self._hand(turn), chairs, _Ending(self, turn), ready_ms=ready_ms)

    def _hand(self, turn: Turn) -> HandSpec:
        spec, hand = self._spec, turn.hand
        return HandSpec(
            match_id=self._id,
            hand_index=hand.number,
            attempt=turn.attempt,
            rules=spec.rules,
            seed=hand.seed,
            time_control=spec.time_control,
            names=tuple(Name(spec.bots[bot].name, self._chairs[bot].seat.name.version) for bot in hand.bots),
            assigned_digger=hand.assigned_digger,
            match_commitment=spec.commitment,
            schedule=self._place(turn),
        )

    def _place(self, turn: Turn) -> Mapping[str, str | int]:
        place: dict[str, str | int] = {
            "tournament_id": self._id,
            "block": turn.block.index,
            "deal": turn.hand.deal,
            "rotation": turn.hand.turn,
        }
        rank = line_up_rank(turn.block.line_up, len(self._spec.bots))
        return {**place, "line_up": rank} if rank <= _LARGEST else place

    def ended(self, turn: Turn, record: Record) -> None:
        """A hand has its record, which is kept even where the block is no longer ours."""
        self._keeping.record(record)
        if turn.block.index in self.docket:
            self.docket.finished(turn.block.index)
            self._outcomes.ended(turn.block.index, turn.hand.place, hand_result(record))

    def voided(self, turn: Turn) -> None:
        """The arena failed at a hand: it is played again, or its block struck off for all."""
        voids = turn.attempt + 1
        self._keeping.void(turn.hand.number, voids)
        if turn.block.index in self.docket:
            self.docket.voided(turn.block.index)
            self._outcomes.voided(turn.block.index, turn.hand.place, voids)


class _Ending:
    """Knows which hand it was."""

    __slots__ = ("_tables", "_turn")

    def __init__(self, tables: Tables, turn: Turn) -> None:
        self._tables = tables
        self._turn = turn

    def ended(self, record: Record) -> None:
        """It has a record."""
        self._tables.ended(self._turn, record)

    def voided(self, reason: str) -> None:
        """It has none."""
        self._tables.voided(self._turn)


def line_up_rank(line_up: Sequence[int], bots: int) -> int:
    """A line-up's place among all of its size, ascending line-ups in lexicographic order."""
    rank, previous = 0, -1
    left = len(line_up)
    for bot in line_up:
        rank += sum(comb(bots - 1 - other, left - 1) for other in range(previous + 1, bot))
        previous, left = bot, left - 1
    return rank
