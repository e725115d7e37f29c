"""The floor: hands in play, from the lease to the record, whoever decides which hand begins when.

A scheduler (`wakeng.services.runner`, `wakeng.services.tournament`) begins hands in its own order. The floor takes the
leases before the deal, lets a bot that is not dealt in give its hand away at once, and drives every table by callbacks
from the seats. A failure of the arena's own voids the hand, which the scheduler plays again on the same deal; nothing a
bot does leads there. Bots that are quarantined or were never ready are probed in the background
(`wakeng.services.circuit`).

Decisions are told at the end of the loop's turn, all at once, when the next questions are on their way: what watchers
do then happens while the bots think.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Protocol

from wakeng.engine import Fault
from wakeng.services.circuit import State
from wakeng.services.encoding import RequestWriter
from wakeng.services.roster import Chair
from wakeng.services.seat import MOST_PER_MESSAGE, Seat
from wakeng.services.table import Decided, HandSpec, Table

WATCH_EVERY: Final = 15.0
"""Seconds between looks for tables that stand still."""

Record = dict[str, Any]


class Watcher(Protocol):
    """Who is told what happens at the tables: journal, metrics, spectators. Nothing here may fail or wait."""

    def hand_started(self, table: Table) -> None:
        """A table was set."""

    def decided(self, told: Sequence[Decided]) -> None:
        """Decisions were applied, in this order; no table has two among them."""

    def faulted(self, table: Table, seat: int, fault: Fault) -> None:
        """A fault was noted outside a decision, or made a seat leave."""

    def hand_ended(self, table: Table) -> None:
        """A hand was settled."""

    def hand_voided(self, table: Table, reason: str) -> None:
        """A hand was given up for a failure of the arena's own."""


class Ending(Protocol):
    """What a scheduler is told of a hand it began."""

    def ended(self, record: Record) -> None:
        """It was played to its end, or left."""

    def voided(self, reason: str) -> None:
        """The arena failed at it; it has no record."""


class Floor:
    """Hands in play for one match or tournament. `wake` is called whenever a hand may begin that could not before."""

    def __init__(self, chairs: Iterable[Chair], *, watchers: Sequence[Watcher], wake: Callable[[], None]) -> None:
        self.chairs = list(dict.fromkeys(chairs))
        self.running = 0
        """Tables in play."""
        self.broken: Exception | None = None
        """An error of the arena's own outside any hand; nothing can go on."""
        self._watchers = watchers
        self.untold: list[Decided] = []
        """Decisions of this turn; who puts the first one here sees to it that they will be told."""
        self._wake = wake
        self._loop = asyncio.get_running_loop()
        self._playing: set[_Play] = set()
        self._timers: set[asyncio.TimerHandle] = set()
        self._probes: set[asyncio.Task[None]] = set()

    def open(self) -> None:
        """Begin to listen for leases, and to probe bots that were not made ready."""
        for chair in self.chairs:
            chair.seat.on_free.add(self._wake)
            self._schedule_probe(chair)
        self._at(self._loop.time() + WATCH_EVERY, self._keep_watch)

    def _keep_watch(self) -> None:
        """Void every table that has stood still for longer than any deadline lets it; nobody else would move it."""
        now = self._loop.time()
        for play in list(self._playing):
            if play.still_for(now) > play.patience:
                self.void(play, f"no progress for {play.patience:.0f} s")
        self._at(now + WATCH_EVERY, self._keep_watch)

    def close(self) -> None:
        """Leave nothing behind: hands in play are dropped, and their leases, timers and probes with them."""
        for chair in self.chairs:
            chair.seat.on_free.discard(self._wake)
        for timer in self._timers:
            timer.cancel()
        for probe in self._probes:
            probe.cancel()
        self.tell()
        for play in list(self._playing):
            play.over = True
            self._end(play)

    @property
    def tables(self) -> list[Table]:
        """The tables in play, in no order."""
        return [play.table for play in self._playing]

    def void_waiting(self, seats: Sequence[Seat], reason: str) -> None:
        """Void every hand that waits for one of these seats."""
        for play in list(self._playing):
            if not play.over and play.chairs[play.table.seat].seat in seats:
                self.void(play, reason)

    # Beginning a hand -----------------------------------------------------------------------------------------------

    def begin(self, hand: HandSpec, chairs: Sequence[Chair], ending: Ending, *, ready_ms: int) -> bool:
        """Set a table for the chairs by place; False if a lease is not to be had now, and `wake` will be called.

        A bot that asked for no new hands and does not come back within `ready_ms` is not ready, so that nobody waits
        for it forever.
        """
        absent = next((chair for chair in chairs if not chair.circuit.dealt_in), None)
        if absent is not None:
            self._forfeit(_Play(self, Table(hand), chairs, ending, leased=False), chairs.index(absent))
            return True
        each = list(dict.fromkeys(chairs))
        if busy := [chair for chair in each if not chair.seat.free]:
            self._watch_draining(busy, ready_ms / 1000)
            return False
        for chair in each:
            chair.circuit.deal_in()
        play = _Play(self, Table(hand), chairs, ending, leased=True)
        self._start(play)
        play.go_on()
        return True

    def _forfeit(self, play: "_Play", place: int) -> None:
        """A bot that is not there, or no longer trusted to be, gives the hand away before its first question."""
        fault = play.chairs[place].circuit.fault
        self._start(play)
        play.table.forfeit(place, fault)
        self.faulted(play.table, place, fault)
        play.go_on()

    def _start(self, play: "_Play") -> None:
        self.running += 1
        self._playing.add(play)
        if play.leased:
            for seat in play.seats():
                seat.lease()
            for place, chair in enumerate(play.chairs):
                chair.seat.hand_started(play.table, place)
        for watcher in self._watchers:
            watcher.hand_started(play.table)

    def _end(self, play: "_Play") -> None:
        self.running -= 1
        self._playing.discard(play)
        self._wake()
        if play.leased:
            for place, chair in enumerate(play.chairs):
                chair.seat.hand_ended(play.table, place)
            for seat in play.seats():
                seat.give_back()

    def _watch_draining(self, busy: Sequence[Chair], patience: float) -> None:
        for chair in busy:
            since = chair.seat.draining_since
            if since is None:
                continue
            if self._loop.time() >= since + patience:
                chair.circuit.trip(Fault.NOT_READY, self._loop.time())
                self._schedule_probe(chair)
                self._wake()
            else:
                self._at(since + patience, self._wake)

    def _at(self, when: float, callback: Callable[[], None]) -> None:
        def fire() -> None:
            self._timers.discard(timer)
            callback()

        timer = self._loop.call_at(when, fire)
        self._timers.add(timer)

    # Called back by the plays ---------------------------------------------------------------------------------------

    def tell_soon(self) -> None:
        """Tell everybody at the end of the turn."""
        self._loop.call_soon(self.tell)

    def tell(self) -> None:
        """Tell everybody of what was decided; hands of which the arena fails to tell are void."""
        if not self.untold:
            return
        told, self.untold = self.untold, []
        try:
            for watcher in self._watchers:
                watcher.decided(told)
        except Exception as error:
            tables = {decided.table for decided in told}
            for play in [play for play in self._playing if play.table in tables]:
                self.broke(play, error)

    def faulted(self, table: Table, seat: int, fault: Fault) -> None:
        """Tell everybody, after what was decided before."""
        self.tell()
        try:
            for watcher in self._watchers:
                watcher.faulted(table, seat, fault)
        except Exception as error:  # Of the arena's own; the seat that reports the fault is not to suffer from it.
            self._break(error)

    def parted(self, table: Table) -> None:
        """Tell everybody what made a seat leave."""
        result, fault = table.hand.result, table.parting_fault
        assert result is not None and result.escaped_seat is not None and fault is not None
        self.faulted(table, result.escaped_seat, fault)

    def ended(self, play: "_Play") -> None:
        """Give the leases back, judge the bots and hand over the record."""
        self._end(play)
        if play.leased:
            self._judge(play)
        for watcher in self._watchers:
            watcher.hand_ended(play.table)
        play.ending.ended(play.table.record())

    def void(self, play: "_Play", reason: str) -> None:
        """The arena failed at this hand."""
        self.tell()
        if play.over:
            return
        play.over = True
        self._end(play)
        try:
            for watcher in self._watchers:
                watcher.hand_voided(play.table, reason)
        except Exception as error:  # A journal on a full disk: what voids the hand fails at telling it, too.
            self._break(error)
        play.ending.voided(reason)

    def broke(self, play: "_Play", error: Exception) -> None:
        """An error of the arena's own at a table: the hand is void, or, where it was over already, all is."""
        if play.over:
            self._break(error)
        else:
            self.void(play, f"{type(error).__name__}: {error}")

    def _break(self, error: Exception) -> None:
        self.broken = self.broken or error
        self._wake()

    # Quarantine -----------------------------------------------------------------------------------------------------

    def _judge(self, play: "_Play") -> None:
        """What the hand says of each bot: one left, or all played it to the end."""
        result = play.table.hand.result
        assert result is not None
        if result.escaped_seat is None:
            for chair in play.chairs:
                chair.circuit.completed()
            return
        chair = play.chairs[result.escaped_seat]
        chair.circuit.escaped(play.table.parting_fault or Fault.NOT_READY, self._loop.time())
        self._schedule_probe(chair)

    def _schedule_probe(self, chair: Chair) -> None:
        if chair.circuit.state is State.OPEN:
            self._at(chair.circuit.probe_at, lambda: self._begin_probe(chair))

    def _begin_probe(self, chair: Chair) -> None:
        if chair.circuit.state is State.OPEN:
            chair.circuit.probing()
            probe = self._loop.create_task(self._probe(chair))
            self._probes.add(probe)
            probe.add_done_callback(self._probes.discard)

    async def _probe(self, chair: Chair) -> None:
        there = await chair.make_ready_again()
        chair.circuit.probed(there=there, now=self._loop.time())
        self._schedule_probe(chair)
        self._wake()


class _Play:
    """One table in play: what the seat calls back. Once it is `over`, nothing reaches it any more."""

    __slots__ = ("_decisions", "_floor", "_since", "chairs", "ending", "leased", "over", "table", "writer")

    def __init__(self, floor: Floor, table: Table, chairs: Sequence[Chair], ending: Ending, *, leased: bool) -> None:
        self._floor = floor
        self.table = table
        self.writer = RequestWriter(table)
        self.chairs = chairs
        self.ending = ending
        self.leased = leased
        self.over = False
        self._decisions, self._since = -1, 0.0
        """At how many decisions the table stood when it was last looked at, and since when it was seen there."""

    @property
    def patience(self) -> float:
        """Seconds within which a question is answered or declared, whatever happens; twice that, to be sure.

        A question may wait for the bot's window while those before it take their whole budgets.
        """
        times = self.table.spec.time_control
        return 60 + 2 * MOST_PER_MESSAGE * (times.move_ms + times.bank_ms + times.reconnect_ms) / 1000

    def still_for(self, now: float) -> float:
        """Seconds for which the table has been seen where it is."""
        decisions = len(self.table.hand.decisions)
        if decisions != self._decisions:
            self._decisions, self._since = decisions, now
        return now - self._since

    def seats(self) -> Iterable[Seat]:
        """Each bot's seat once."""
        return dict.fromkeys(chair.seat for chair in self.chairs)

    def go_on(self) -> None:
        """Ask the next question, or end."""
        hand = self.table.hand
        if hand.result is None:
            self.chairs[hand.turn].seat.ask(self)
        else:
            self._end()

    def _end(self) -> None:
        self._floor.tell()
        if not self.over:  # It is, where that failed.
            self.over = True
            self._floor.ended(self)

    def noted(self, fault: Fault) -> None:
        """The bot did something wrong beside the question."""
        if not self.over:
            seat = self.table.seat
            self.table.note_fault(seat, fault)
            self._floor.faulted(self.table, seat, fault)

    def answered(self, action: str, *, latency_us: int, network_us: int, note: str | None) -> None:
        """The bot answered."""
        if self.over:
            return
        try:
            self._moved(self.table.answer(action, latency_us=latency_us, network_us=network_us, note=note))
        except Exception as error:
            self._floor.broke(self, error)

    def failed(self, fault: Fault, *, latency_us: int, network_us: int, offered: str | None = None) -> None:
        """The bot did not."""
        if self.over:
            return
        try:
            self._moved(self.table.fault(fault, latency_us=latency_us, network_us=network_us, offered=offered))
        except Exception as error:
            self._floor.broke(self, error)

    def voided(self, reason: str) -> None:
        """The arena failed before it could tell the table how the question went."""
        self._floor.void(self, reason)

    def _moved(self, decided: Decided | None) -> None:
        """Tell of it and go on; for whatever fails on the way the caller voids the hand."""
        floor = self._floor
        if decided is None:
            floor.parted(self.table)
        else:
            if not floor.untold:
                floor.tell_soon()
            floor.untold.append(decided)
        hand = self.table.hand
        if hand.result is None:
            self.chairs[hand.turn].seat.ask(self)
        else:
            self._end()
