"""Plays a tournament: its schedule on the floor, hand by hand, from whatever a former process left behind.

    Progress (pure: which hands may start) -> Floor (hands in play) -> records -> store
        ^                                                     |
        '------- outcomes, by block, in schedule order <------'

The results of a tournament are a fold over its records, so nothing but them has to survive: a tournament that was
killed is begun anew over what was recorded, and goes on at the first hand that is missing. Hands of a quarantined bot
wait for it, and are forfeited once it has been away too long; other bots' hands go on meanwhile.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from math import comb
from types import MappingProxyType
from typing import Final

from wakeng.services.circuit import State
from wakeng.services.floor import Floor, Record, Watcher
from wakeng.services.roster import Chair
from wakeng.services.table import HandSpec, Name
from wakeng.services.tournament.prefix import Progress, Recorded, Turn
from wakeng.services.tournament.schedule import schedule_of
from wakeng.services.tournament.spec import TournamentSpec
from wakeng.services.tournament.statistics.results import Block, HandResult, block_of, hand_result
from wakeng.services.tournament.verdicts import rating, stop_rule

PATIENCE_S: Final = 30.0
"""How long the hands of a quarantined bot wait for it before they are forfeited."""
_LARGEST: Final = 2**31 - 1
_NOTHING: Final[Mapping[int, int]] = MappingProxyType({})


def progress_of(
    spec: TournamentSpec, records: Sequence[Record] = (), voids: Mapping[int, int] = _NOTHING
) -> Progress[HandResult, Block]:
    """A tournament at its beginning, with the hands that were recorded already; `voids` are counts by hand."""
    hands: dict[int, dict[int, HandResult]] = {}
    for record in records:
        block, place = divmod(record["hand_index"], spec.hands_per_block)
        hands.setdefault(block, {})[place] = hand_result(record)
    voided = {divmod(hand, spec.hands_per_block): count for hand, count in voids.items()}
    return Progress(
        schedule_of(spec, rate=rating(spec), stop=stop_rule(spec)),
        spec.dealer,
        fold=lambda block, outcomes: block_of(outcomes),
        window=spec.blocks_beyond_prefix,
        strike_off_after=spec.options.strike_off_after,
        recorded=Recorded(hands=hands, voids=voided),
    )


class TournamentRunner:
    """Runs the hands of one tournament. `chairs` go by place in the field."""

    def __init__(
        self,
        tournament_id: str,
        spec: TournamentSpec,
        chairs: Sequence[Chair],
        *,
        progress: Progress[HandResult, Block],
        watchers: Sequence[Watcher],
        on_record: Callable[[Record], None],
        on_void: Callable[[int, int], None],
        room: Callable[[], Awaitable[None]],
    ) -> None:
        """`on_void` is told a hand's number and how often it was voided by now, before anything follows from that."""
        self.spec = spec
        self.progress = progress
        self._id = tournament_id
        self._chairs = chairs
        self._on_record = on_record
        self._on_void = on_void
        self._room = room
        self._wake = asyncio.Event()
        self._stopping = False
        self._loop = asyncio.get_running_loop()
        self._absent: dict[int, float] = {}
        """Bots that are not dealt in, by their place in the field, and since when."""
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        """When the timer goes off, or went off last."""
        self.floor = Floor(chairs, watchers=watchers, wake=self._wake.set)

    async def run(self) -> None:
        """Play until the tournament is over, or `stop` was called and the hands in play are over."""
        self.floor.open()
        try:
            while not (self.progress.over or (self._stopping and not self.floor.running)):
                await self._room()
                self._wake.clear()
                begun = self._begin_some()
                if self.floor.broken is not None:
                    raise self.floor.broken
                if self.progress.over:
                    return
                if begun and not self.floor.running:
                    await asyncio.sleep(0)  # Forfeited hands end at once; others get their turn between them.
                else:
                    await self._wake.wait()
        finally:
            if self._timer is not None:
                self._timer.cancel()
            self.floor.close()

    def stop(self) -> None:
        """Begin no further hand."""
        self._stopping = True
        self._wake.set()

    def _begin_some(self) -> int:
        """Set the free tables, the oldest incomplete block first; how many hands were begun."""
        begun = 0
        room = self.spec.tables - self.floor.running + self._kept_waiting()
        for turn in self.progress.ready():
            if begun >= room or self._stopping:
                break
            if self._must_wait(turn):
                continue
            self.progress.started(turn.block.index)
            if self._begin(turn):
                begun += 1
            else:
                self.progress.put_back(turn.block.index)
        return begun

    def _kept_waiting(self) -> int:
        """Hands that wait for a slow bot beyond its share of the tables; others are played in their place meanwhile.

        A hand that waits takes memory and nothing else. Counted in full, the hands of one slow bot would fill the
        tables, and all the others would play at its pace. The window bounds how many can be set in their place.
        """
        share = -(-self.spec.tables // len(self.floor.chairs))
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
        ready_ms = self.spec.time_control.ready_ms
        return self.floor.begin(self._hand(turn), chairs, _Ending(self, turn), ready_ms=ready_ms)

    def _hand(self, turn: Turn) -> HandSpec:
        spec, hand = self.spec, turn.hand
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
        rank = line_up_rank(turn.block.line_up, len(self.spec.bots))
        return {**place, "line_up": rank} if rank <= _LARGEST else place

    def ended(self, block: int, record: Record) -> None:
        """A hand has its record."""
        self._on_record(record)
        self.progress.finished(block, hand_result(record))

    def voided(self, turn: Turn) -> None:
        """The arena failed at a hand: it is played again, or its block struck off for all."""
        self._on_void(turn.hand.number, turn.attempt + 1)
        self.progress.voided(turn.block.index)

    @property
    def away(self) -> list[str]:
        """The bots that are not dealt in now."""
        return [
            self.spec.bots[bot].name
            for bot, chair in enumerate(self._chairs)
            if chair.circuit.state is not State.CLOSED
        ]


class _Ending:
    """Knows which hand it was."""

    __slots__ = ("_runner", "_turn")

    def __init__(self, runner: TournamentRunner, turn: Turn) -> None:
        self._runner = runner
        self._turn = turn

    def ended(self, record: Record) -> None:
        """It has a record."""
        self._runner.ended(self._turn.block.index, record)

    def voided(self, reason: str) -> None:
        """It has none."""
        self._runner.voided(self._turn)


def line_up_rank(line_up: Sequence[int], bots: int) -> int:
    """A line-up's place among all of its size, ascending line-ups in lexicographic order."""
    rank, previous = 0, -1
    left = len(line_up)
    for bot in line_up:
        rank += sum(comb(bots - 1 - other, left - 1) for other in range(previous + 1, bot))
        previous, left = bot, left - 1
    return rank
