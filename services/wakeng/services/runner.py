"""Plays the hands of a match, many side by side in one event loop: the thin shell around tables and seats.

Hands begin in order, each once every bot has a lease for it. A bot that is quarantined or was never ready gives its
hands away at once, while it is probed in the background (`wakeng.services.circuit`). A failure of the arena's own
voids the hand, which is played again on the same deal as another attempt; nothing a bot does leads there.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Final, Protocol

from wakeng.engine import Bidding, Fault, blind_first_seat, hand_seed
from wakeng.services.circuit import State
from wakeng.services.roster import Chair
from wakeng.services.seat import Seat
from wakeng.services.spec import MatchSpec
from wakeng.services.table import Decided, HandSpec, Table

MOST_VOIDS: Final = 3
"""After so many voids of one hand the match fails: the arena is broken, and says so."""

Record = dict[str, Any]


class Watcher(Protocol):
    """Who is told what happens at the tables: journal, metrics, spectators. Nothing here may fail or wait."""

    def hand_started(self, table: Table) -> None:
        """A table was set."""

    def decided(self, table: Table, decided: Decided) -> None:
        """A decision was applied."""

    def faulted(self, table: Table, seat: int, fault: Fault) -> None:
        """A fault was noted outside a decision, or made a seat leave."""

    def hand_ended(self, table: Table) -> None:
        """A hand was settled."""

    def hand_voided(self, table: Table, reason: str) -> None:
        """A hand was given up for a failure of the arena's own."""


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
        self.running = 0
        """Tables in play."""
        self._chairs = chairs
        self._each_chair = list(dict.fromkeys(chairs))
        self._seats = list(dict.fromkeys(chair.seat for chair in chairs))
        self._watchers = watchers
        self._on_record = on_record
        self._room = room
        self._fresh: Iterator[int] = (index for index in range(spec.hands) if index not in finished_hands)
        self._again: deque[tuple[int, int]] = deque()
        """Voided hands to be played before others: index and attempt."""
        self._playing: set[_Play] = set()
        self._wake = asyncio.Event()
        self._timers: list[asyncio.TimerHandle] = []
        self._probes: set[asyncio.Task[None]] = set()
        self._stopping = False
        self._broken: Exception | None = None

    async def run(self) -> None:
        """Play until every hand has its record, or `stop` was called and the hands in play are over."""
        for seat in self._seats:
            seat.on_free.add(self._wake.set)
        for chair in self._each_chair:
            self._schedule_probe(chair)
        try:
            await self._run()
        finally:
            self._let_go()

    async def _run(self) -> None:
        while True:
            await self._room()
            self._wake.clear()
            begun, more = self._begin_some()
            if self._broken is not None:
                raise self._broken
            if self.running or (more and not begun):
                await self._wake.wait()
            elif begun:
                await asyncio.sleep(0)  # Forfeited hands end at once; others get their turn between them.
            else:
                return

    def _let_go(self) -> None:
        """Leave nothing behind: leases, timers and probes of this match end with it."""
        for seat in self._seats:
            seat.on_free.discard(self._wake.set)
        for timer in self._timers:
            timer.cancel()
        for probe in self._probes:
            probe.cancel()
        for play in list(self._playing):
            play.over = True
            self._end(play)

    def stop(self) -> None:
        """Begin no further hand."""
        self._stopping = True
        self._wake.set()

    def void_waiting(self, seats: Sequence[Seat], reason: str) -> None:
        """Void every hand that waits for one of these seats."""
        for play in list(self._playing):
            if not play.table.over and self._chairs[play.table.seat].seat in seats:
                self.void(play, reason)

    # Beginning hands ------------------------------------------------------------------------------------------------

    def _begin_some(self) -> tuple[int, bool]:
        """Set the free tables; how many hands were begun, and whether some wait for a lease."""
        begun = 0
        room = self.spec.tables - self.running
        while begun < room and not self._stopping:
            hand = self._next_hand()
            if hand is None:
                return begun, False
            if not self._begin(*hand):
                self._again.appendleft(hand)
                return begun, True
            begun += 1
        return begun, False

    def _next_hand(self) -> tuple[int, int] | None:
        if self._again:
            return self._again.popleft()
        index = next(self._fresh, None)
        return None if index is None else (index, 0)

    def _begin(self, index: int, attempt: int) -> bool:
        """Set a table, or forfeit the hand where a bot is not dealt in; False if a lease is not to be had now."""
        absent = next((chair for chair in self._each_chair if not chair.circuit.dealt_in), None)
        if absent is None:
            if busy := [seat for seat in self._seats if not seat.free]:
                self._watch_draining(busy)
                return False
            for chair in self._each_chair:
                chair.circuit.deal_in()
        play = _Play(self, self._table(index, attempt), leased=absent is None)
        self._start(play)
        if absent is not None:
            place = self._chairs.index(absent)
            play.table.forfeit(place, absent.circuit.fault)
            self.faulted(play.table, place, absent.circuit.fault)
        play.go_on()
        return True

    def _table(self, index: int, attempt: int) -> Table:
        spec = self.spec
        return Table(
            HandSpec(
                match_id=spec.match_id,
                hand_index=index,
                attempt=attempt,
                rules=spec.rules,
                seed=hand_seed(spec.seed, index),
                time_control=spec.time_control,
                names=tuple(chair.seat.name for chair in self._chairs),
                blind_first_seat=blind_first_seat(spec.rules, spec.seed, index),
                assigned_digger=index % spec.rules.players if spec.rules.bidding is Bidding.ASSIGNED else None,
                match_commitment=spec.commitment,
            )
        )

    def _start(self, play: "_Play") -> None:
        self.running += 1
        self._playing.add(play)
        if play.leased:
            for seat in self._seats:
                seat.lease()
            for place, chair in enumerate(self._chairs):
                chair.seat.hand_started(play.table, place)
        for watcher in self._watchers:
            watcher.hand_started(play.table)

    def _end(self, play: "_Play") -> None:
        self.running -= 1
        self._playing.discard(play)
        self._wake.set()
        if play.leased:
            for place, chair in enumerate(self._chairs):
                chair.seat.hand_ended(play.table, place)
            for seat in self._seats:
                seat.give_back()

    def _watch_draining(self, seats: Sequence[Seat]) -> None:
        """A bot that wants no new hands and does not come back in time is not ready, so that nothing waits forever."""
        loop = asyncio.get_running_loop()
        for chair in self._each_chair:
            since = chair.seat.draining_since
            if chair.seat in seats and since is not None:
                due = since + self.spec.time_control.ready_ms / 1000
                if loop.time() >= due:
                    chair.circuit.trip(Fault.NOT_READY, loop.time())
                    self._schedule_probe(chair)
                    self._wake.set()
                else:
                    self._timers.append(loop.call_at(due, self._wake.set))

    # Called back by the plays ---------------------------------------------------------------------------------------

    def ask(self, play: "_Play") -> None:
        """Put the table's question to its seat."""
        self._chairs[play.table.seat].seat.ask(play)

    def decided(self, table: Table, decided: Decided) -> None:
        """Tell everybody."""
        for watcher in self._watchers:
            watcher.decided(table, decided)

    def faulted(self, table: Table, seat: int, fault: Fault) -> None:
        """Tell everybody."""
        for watcher in self._watchers:
            watcher.faulted(table, seat, fault)

    def ended(self, play: "_Play") -> None:
        """Count the hand, hand over its record and make place for another."""
        self._end(play)
        if play.leased:
            self._judge(play.table)
        for watcher in self._watchers:
            watcher.hand_ended(play.table)
        self._on_record(play.table.record())

    def void(self, play: "_Play", reason: str) -> None:
        """The arena failed at this hand: it is not recorded, and played again."""
        if play.over:
            return
        play.over = True
        self._end(play)
        for watcher in self._watchers:
            watcher.hand_voided(play.table, reason)
        spec = play.table.spec
        if spec.attempt + 1 >= MOST_VOIDS:
            self._broken = TooManyVoids(f"hand {spec.hand_index} was voided {MOST_VOIDS} times, last for: {reason}")
        self._again.append((spec.hand_index, spec.attempt + 1))

    def broke(self, play: "_Play", error: Exception) -> None:
        """An error of the arena's own at a table: the hand is void, or, where it was over already, the match fails."""
        if play.over:
            self._broken = self._broken or error
            self._wake.set()
        else:
            self.void(play, f"{type(error).__name__}: {error}")

    # Quarantine -----------------------------------------------------------------------------------------------------

    def _judge(self, table: Table) -> None:
        """What the hand says of each bot: one left, or all played it to the end."""
        result = table.hand.result
        assert result is not None
        if result.escaped_seat is None:
            for chair in self._each_chair:
                chair.circuit.completed()
            return
        chair = self._chairs[result.escaped_seat]
        chair.circuit.escaped(table.parting_fault or Fault.NOT_READY, asyncio.get_running_loop().time())
        self._schedule_probe(chair)

    def _schedule_probe(self, chair: Chair) -> None:
        if chair.circuit.state is State.OPEN:
            loop = asyncio.get_running_loop()
            self._timers = [timer for timer in self._timers if not timer.cancelled() and timer.when() > loop.time()]
            self._timers.append(loop.call_at(chair.circuit.probe_at, self._begin_probe, chair))

    def _begin_probe(self, chair: Chair) -> None:
        if chair.circuit.state is State.OPEN:
            chair.circuit.probing()
            probe = asyncio.get_running_loop().create_task(self._probe(chair))
            self._probes.add(probe)
            probe.add_done_callback(self._probes.discard)

    async def _probe(self, chair: Chair) -> None:
        there = await chair.make_ready(self.spec.rules, self.spec.time_control)
        chair.circuit.probed(there=there, now=asyncio.get_running_loop().time())
        self._schedule_probe(chair)
        self._wake.set()


class _Play:
    """One table in play: what the seat calls back. Once it is `over`, nothing reaches it any more."""

    __slots__ = ("_runner", "leased", "over", "table")

    def __init__(self, runner: MatchRunner, table: Table, *, leased: bool) -> None:
        self._runner = runner
        self.table = table
        self.leased = leased
        self.over = False

    def go_on(self) -> None:
        """Ask the next question, or end."""
        if self.table.over:
            self.over = True
            self._runner.ended(self)
        else:
            self._runner.ask(self)

    def noted(self, fault: Fault) -> None:
        """The bot did something wrong beside the question."""
        if not self.over:
            seat = self.table.seat
            self.table.note_fault(seat, fault)
            self._runner.faulted(self.table, seat, fault)

    def answered(self, action: str, *, latency_us: int, network_us: int, note: str | None) -> None:
        """The bot answered."""
        if not self.over:
            self._move(lambda: self.table.answer(action, latency_us=latency_us, network_us=network_us, note=note))

    def failed(self, fault: Fault, *, latency_us: int, network_us: int, offered: str | None = None) -> None:
        """The bot did not."""
        if not self.over:
            self._move(lambda: self.table.fault(fault, latency_us=latency_us, network_us=network_us, offered=offered))

    def voided(self, reason: str) -> None:
        """The arena failed before it could tell the table how the question went."""
        self._runner.void(self, reason)

    def _move(self, event: Callable[[], Decided | None]) -> None:
        """Apply an event and go on; whatever fails here is the arena's doing, and voids the hand."""
        seat = self.table.seat
        try:
            decided = event()
            if decided is not None:
                self._runner.decided(self.table, decided)
            else:
                assert self.table.parting_fault is not None
                self._runner.faulted(self.table, seat, self.table.parting_fault)
            self.go_on()
        except Exception as error:
            self._runner.broke(self, error)
