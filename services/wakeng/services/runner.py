"""Plays the hands of a match, many side by side in one event loop: the thin shell around tables and seats."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Protocol

from wakeng.engine import Bidding, Fault, blind_first_seat, hand_seed
from wakeng.services.seat import Seat
from wakeng.services.spec import MatchSpec
from wakeng.services.table import Decided, HandSpec, Table

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


class MatchRunner:
    """Runs one match. `on_record` gets every hand's record as it ends; `room` is awaited before another hand begins."""

    def __init__(
        self,
        spec: MatchSpec,
        seats: Sequence[Seat],
        *,
        watchers: Sequence[Watcher],
        on_record: Callable[[Record], None],
        room: Callable[[], Awaitable[None]],
        finished_hands: frozenset[int] = frozenset(),
    ) -> None:
        self.spec = spec
        self.running = 0
        """Tables in play."""
        self._seats = seats
        self._watchers = watchers
        self._on_record = on_record
        self._room = room
        self._hands = self._hands_to_play(finished_hands)
        self._escapes_in_a_row = [0] * len(seats)
        self._quarantined: dict[int, Fault] = {}
        self._wake = asyncio.Event()
        self._stopping = False
        self._broken: BaseException | None = None

    def _hands_to_play(self, finished: frozenset[int]) -> Iterator[int]:
        return (index for index in range(self.spec.hands) if index not in finished)

    async def run(self) -> None:
        """Play until every hand has its record, or `stop` was called and the hands in play are over."""
        while True:
            await self._room()
            self._wake.clear()
            begun = self._begin_some()
            if self.running:
                await self._wake.wait()
            elif begun:
                await asyncio.sleep(0)  # Forfeited hands end at once; others get their turn between them.
            if self._broken is not None:
                raise self._broken
            if not self.running and not begun:
                return

    def stop(self) -> None:
        """Begin no further hand."""
        self._stopping = True
        self._wake.set()

    def _begin_some(self) -> int:
        """Set the free tables; the number of hands begun."""
        free = 0 if self._stopping else self.spec.tables - self.running
        begun = list(islice(self._hands, free))
        for index in begun:
            self._begin(index)
        return len(begun)

    def _begin(self, index: int) -> None:
        spec = self.spec
        table = Table(
            HandSpec(
                match_id=spec.match_id,
                hand_index=index,
                rules=spec.rules,
                seed=hand_seed(spec.seed, index),
                time_control=spec.time_control,
                names=tuple(seat.name for seat in self._seats),
                blind_first_seat=blind_first_seat(spec.rules, spec.seed, index),
                assigned_digger=index % spec.rules.players if spec.rules.bidding is Bidding.ASSIGNED else None,
                match_commitment=spec.commitment,
            )
        )
        self.running += 1
        for watcher in self._watchers:
            watcher.hand_started(table)
        for seat, bot in enumerate(self._seats):
            bot.hand_started(table, seat)
        self._forfeit(table)
        _Play(self, table).go_on()

    def _forfeit(self, table: Table) -> None:
        """A bot that is not there, or no longer trusted to be, gives the hand away before its first question."""
        for seat, bot in enumerate(self._seats):
            fault = self._quarantined.get(seat) or (bot.not_ready and bot.not_ready.fault)
            if fault:
                table.forfeit(seat, fault)
                self.faulted(table, seat, fault)
                return

    # Called back by the plays ---------------------------------------------------------------------------------------

    def ask(self, play: "_Play") -> None:
        """Put the table's question to its seat."""
        self._seats[play.table.seat].ask(play)

    def decided(self, table: Table, decided: Decided) -> None:
        """Tell everybody."""
        for watcher in self._watchers:
            watcher.decided(table, decided)

    def faulted(self, table: Table, seat: int, fault: Fault) -> None:
        """Tell everybody."""
        for watcher in self._watchers:
            watcher.faulted(table, seat, fault)

    def ended(self, table: Table) -> None:
        """Count the hand, hand over its record and make place for another."""
        self.running -= 1
        self._wake.set()
        self._count_escapes(table)
        for seat, bot in enumerate(self._seats):
            bot.hand_ended(table, seat)
        for watcher in self._watchers:
            watcher.hand_ended(table)
        self._on_record(table.record())

    def broke(self, error: BaseException) -> None:
        """Something of the arena's own failed at a table; the match cannot go on."""
        self._broken = self._broken or error
        self._wake.set()

    def _count_escapes(self, table: Table) -> None:
        result = table.hand.result
        assert result is not None
        escaped = result.escaped_seat
        if escaped is None:
            self._escapes_in_a_row = [0] * len(self._seats)
            return
        self._escapes_in_a_row[escaped] += 1
        if self._escapes_in_a_row[escaped] >= self.spec.max_escapes:
            self._quarantined[escaped] = table.parting_fault or Fault.NOT_READY


class _Play:
    """One table in play: what the seat calls back."""

    __slots__ = ("_runner", "table")

    def __init__(self, runner: MatchRunner, table: Table) -> None:
        self._runner = runner
        self.table = table

    def go_on(self) -> None:
        """Ask the next question, or end."""
        if self.table.over:
            self._runner.ended(self.table)
        else:
            self._runner.ask(self)

    def answered(self, action: str, *, latency_us: int, network_us: int, note: str | None) -> None:
        """The bot answered."""
        seat = self.table.seat
        self._after(seat, self.table.answer(action, latency_us=latency_us, network_us=network_us, note=note))

    def failed(self, fault: Fault, *, latency_us: int, network_us: int, offered: str | None = None) -> None:
        """The bot did not."""
        seat = self.table.seat
        self._after(seat, self.table.fault(fault, latency_us=latency_us, network_us=network_us, offered=offered))

    def _after(self, seat: int, decided: Decided | None) -> None:
        try:
            if decided is not None:
                self._runner.decided(self.table, decided)
            else:
                assert self.table.parting_fault is not None
                self._runner.faulted(self.table, seat, self.table.parting_fault)
            self.go_on()
        except Exception as error:
            self._runner.broke(error)
