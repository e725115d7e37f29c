"""The scheduler of a load test, on the floor that matches are played on.

It begins hands as the step of the load wants them, one bot under test at each table, its place moving on from hand to
hand. A question to that bot comes back here first (`PacedSeat`). In closed loop it is put at once. In open loop it is
parked until a decision is due, and a decision that is due while no table has a question goes to the next that has.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from math import ceil
from typing import Final, NamedTuple

from wakeng.engine import Bidding, Fault, hand_seed
from wakeng.services.floor import Floor, Record
from wakeng.services.loadtest.measure import Measured
from wakeng.services.loadtest.plan import GRAIN_PER_S, LoadPlan, Step
from wakeng.services.loadtest.targets import Seated, Target
from wakeng.services.questions import Asker
from wakeng.services.table import Decided, HandSpec, Table
from wakeng.services.tally import Latencies

_BEGIN_AT_ONCE: Final = 16
"""Hands dealt in one turn of the loop, so that no question waits for all of them."""
_BEAT: Final = 0.01
_LEAST_TABLES: Final = 8
_TABLES_A_SECOND: Final = 0.5
"""Tables that stand ready in open loop, for each decision due in a second."""
_LONGEST_DRAIN: Final = 5.0


class Lane:
    """One bot under test and its tables."""

    def __init__(self, target: Target, measured: Measured) -> None:
        self.target = target
        self.measured = measured
        self.running = 0
        self.wanted = 0
        self.parked: deque[Asker] = deque()
        """Questions that wait until a decision is due."""
        self.overdue: deque[tuple[float, int]] = deque()
        """Decisions that were due while no table had a question: since when, and in which step."""


class _Open(NamedTuple):
    """A decision that the bot owes."""

    lane: Lane
    due: float
    step: int


class Load:
    """A load test in progress: `lanes`, `step` and `elapsed` can be read while `run` goes on."""

    def __init__(self, plan: LoadPlan, seated: Seated, *, seed: bytes) -> None:
        self.plan = plan
        self.steps = plan.steps
        self.lanes = [Lane(target, Measured(self.steps, limit_ms=plan.move_ms)) for target in seated.targets]
        self.step: Step = self.steps[0]
        self.hands = 0
        """Hands that came to an end."""
        self.voided = 0
        self.lag = [Latencies() for _ in self.steps]
        """How late the test's own timers were, by step, in microseconds."""
        self.elapsed = 0.0
        """Seconds under load, once it is over."""
        self.processor_s = 0.0
        """Of the test's own process, once it is over."""
        self._seated = seated
        self._seed = seed
        self._dealt = 0
        self._open: dict[Table, _Open] = {}
        self._moments = plan.moments()
        self._next = next(self._moments, None)
        self._turn = 0
        self._loop = asyncio.get_running_loop()
        self._began = 0.0
        self._refill_due = False
        self._over = asyncio.Event()
        self._drained = asyncio.Event()
        self._floor = Floor(
            [seated.filler, *(target.chair for target in seated.targets)], watchers=[self], wake=self._refill_soon
        )
        for lane in self.lanes:
            lane.target.seat.on_question = partial(self.asked, lane)

    @property
    def now(self) -> float:
        """Seconds since the test began."""
        return time.perf_counter() - self._began

    @property
    def complete(self) -> bool:
        """Whether it went on for as long as it was to."""
        return self.elapsed >= self.plan.duration_s

    async def run(self) -> None:
        """Put the load on until the time is over or `stop` was called, then wait a little for what is still open."""
        self._began, used = time.perf_counter(), time.process_time()
        self._floor.open()
        try:
            self._beat(0.0)
            self._tick()
            await self._over.wait()
            self.elapsed, self.processor_s = self.now, time.process_time() - used
            await self._drain()
        finally:
            self._over.set()
            self._floor.close()
            self._count_what_is_open()
        if self._floor.broken is not None:
            raise self._floor.broken

    def stop(self) -> None:
        """Ask nothing more; a second call waits for nothing either."""
        if self._over.is_set():
            self._drained.set()
        self._over.set()

    async def _drain(self) -> None:
        if not self._open and not any(lane.overdue for lane in self.lanes):
            return
        patience = min(_LONGEST_DRAIN, self.plan.move_ms / 1000 + 0.5)
        timer = self._loop.call_later(patience, self._drained.set)
        try:
            await self._drained.wait()
        finally:
            timer.cancel()

    def _count_what_is_open(self) -> None:
        """A decision without an answer took at least until now; to leave it out would flatter the bot."""
        now = self.now
        for table, open_ in self._open.items():
            self._count(open_, now, phase_of=table, answered=False)
        for lane in self.lanes:
            for due, step in lane.overdue:
                self._count(_Open(lane, due, step), now, phase_of=None, answered=False)
            lane.overdue.clear()
        self._open.clear()

    def _count(self, open_: _Open, now: float, *, phase_of: Table | None, answered: bool) -> None:
        phase = None if phase_of is None else phase_of.hand.phase
        open_.lane.measured.add(open_.step, phase, int(1e6 * (now - open_.due)), answered=answered)

    # Time -----------------------------------------------------------------------------------------------------------

    def _tick(self) -> None:
        """Go on to the step of the moment, and ask what is due."""
        now = self.now
        if self._over.is_set():
            return
        while now >= self.step.ends and self.step is not self.steps[-1]:
            self.step = self.steps[self.step.index + 1]
        for lane in self.lanes:
            lane.wanted = self._tables(lane)
        self._release_due(now)
        self._refill()
        if now >= self.plan.duration_s or self._floor.broken is not None:
            self._over.set()
        else:
            self._at(self._next_moment(), self._tick)

    def _at(self, moment: float, callback: Callable[[], None]) -> None:
        wait = max(0.0, moment - self.now)
        self._loop.call_later(ceil(wait * GRAIN_PER_S) / GRAIN_PER_S, callback)

    def _next_moment(self) -> float:
        return min(self.step.ends, self._next[0] if self._next is not None else self.step.ends)

    def _beat(self, planned: float) -> None:
        """Look how late the test itself is."""
        now = self.now
        self.lag[self.step.index].add(max(0, int(1e6 * (now - planned))))
        if not self._over.is_set():
            again = now + _BEAT
            self._at(again, partial(self._beat, again))

    def _release_due(self, now: float) -> None:
        while self._next is not None and self._next[0] <= now:
            lane = self.lanes[self._turn % len(self.lanes)]
            self._turn += 1
            if lane.parked:
                self._put(lane, lane.parked.popleft(), *self._next)
            else:
                lane.overdue.append(self._next)
                lane.wanted = min(self._share(self.plan.tables), lane.running + len(lane.overdue))
            self._next = next(self._moments, None)

    # Tables ---------------------------------------------------------------------------------------------------------

    def _share(self, tables: float) -> int:
        return max(1, int(tables) // len(self.lanes))

    def _tables(self, lane: Lane) -> int:
        """How many the lane is to have now; in open loop it keeps those it has come to need."""
        if not self.plan.open:
            return self._share(self.step.load)
        ready = max(_LEAST_TABLES, ceil(_TABLES_A_SECOND * self.step.load))
        return max(lane.wanted, self._share(min(self.plan.tables, ready)))

    def _refill_soon(self) -> None:
        if not self._refill_due:
            self._refill_due = True
            self._loop.call_soon(self._refill)

    def _refill(self) -> None:
        """Begin hands where tables are missing, a few at a time."""
        self._refill_due = False
        if self._over.is_set():
            return
        if self._floor.broken is not None:
            self._over.set()
            return
        begun = 0
        for lane in self.lanes:
            while lane.running < lane.wanted:
                if begun == _BEGIN_AT_ONCE:
                    self._refill_soon()
                    return
                if not self._begin(lane):
                    break
                begun += 1

    def _begin(self, lane: Lane) -> bool:
        if not lane.target.chair.circuit.dealt_in:
            return False  # It asked for no new hands; the floor looks whether it takes some again.
        players = self.plan.rules.players
        place = self._dealt % players
        chairs = [lane.target.chair if seat == place else self._seated.filler for seat in range(players)]
        hand = HandSpec(
            match_id="loadtest",
            hand_index=self._dealt,
            rules=self.plan.rules,
            seed=hand_seed(self._seed, self._dealt),
            time_control=self._seated.time_control,
            names=tuple(chair.seat.name for chair in chairs),
            assigned_digger=self._dealt % players if self.plan.rules.bidding is Bidding.ASSIGNED else None,
        )
        lane.running += 1
        if not self._floor.begin(hand, chairs, _Ending(self, lane), ready_ms=self._seated.time_control.ready_ms):
            lane.running -= 1
            return False
        self._dealt += 1
        return True

    def ended(self, lane: Lane, *, voided: bool) -> None:
        """A hand is over."""
        lane.running -= 1
        self.voided += voided
        self.hands += not voided
        self._refill_soon()

    # Questions ------------------------------------------------------------------------------------------------------

    def asked(self, lane: Lane, asker: Asker) -> None:
        """A table has a question for the bot, which has answered the one before."""
        self._floor.tell()
        if lane.overdue:
            self._put(lane, asker, *lane.overdue.popleft())
        elif self.plan.open or self._over.is_set():
            lane.parked.append(asker)
        else:
            self._put(lane, asker, self.now, self.step.index)

    def _put(self, lane: Lane, asker: Asker, due: float, step: int) -> None:
        self._open[asker.table] = _Open(lane, due, step)
        lane.target.seat.put(asker)

    # As a watcher of the tables -------------------------------------------------------------------------------------

    def decided(self, told: Sequence[Decided]) -> None:
        """Count those that the bot under test was asked for."""
        for decided in told:
            if (open_ := self._open.pop(decided.table, None)) is not None:
                self._answered(decided, open_)

    def _answered(self, decided: Decided, open_: _Open) -> None:
        latency_us = int(1e6 * (self.now - open_.due))
        measured = open_.lane.measured
        measured.add(open_.step, decided.phase, latency_us, fault=decided.fault)
        if not self._over.is_set():
            measured.answered[self.step.index] += 1
        if self._over.is_set() and not self._open and not any(lane.overdue for lane in self.lanes):
            self._drained.set()

    def hand_started(self, table: Table) -> None:
        """Nothing."""

    def faulted(self, table: Table, seat: int, fault: Fault) -> None:
        """A fault beside any decision."""
        for lane in self.lanes:
            if table.spec.names[seat].bot == lane.target.name:
                lane.measured.all.faults[fault.value] += 1

    def hand_ended(self, table: Table) -> None:
        """Nothing."""

    def hand_voided(self, table: Table, reason: str) -> None:
        """Nobody answers its question any more."""
        self._open.pop(table, None)


class _Ending:
    """Knows whose hand it was."""

    __slots__ = ("_lane", "_load")

    def __init__(self, load: Load, lane: Lane) -> None:
        self._load = load
        self._lane = lane

    def ended(self, record: Record) -> None:
        """It was played to its end."""
        self._load.ended(self._lane, voided=False)

    def voided(self, reason: str) -> None:
        """It was not."""
        self._load.ended(self._lane, voided=True)
