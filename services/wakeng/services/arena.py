"""The arena of one process: what all matches share, and how one match is played from its spec to its last record."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Final

import orjson

from wakeng.bots import REFERENCE_BOTS, create
from wakeng.engine import derive
from wakeng.services.deadlines import Deadlines
from wakeng.services.journal import Journal
from wakeng.services.local import local
from wakeng.services.metrics import Metrics
from wakeng.services.processes import BotProcess
from wakeng.services.remote import remote
from wakeng.services.runner import MatchRunner, Record, Watcher
from wakeng.services.seat import Ids, Opener, Seat, Transport
from wakeng.services.spec import MatchSpec, SeatKind, SeatSpec, SpecError
from wakeng.services.store import MatchState, RecordWriter, Store
from wakeng.services.tally import Tally
from wakeng.services.watchers import JournalWatcher, MetricsWatcher

ARENA_VERSION: Final = version("wakeng")
_PROCESS_START_S: Final = 30.0
"""A built-in bot's process comes up before its ready budget begins; importing Python code is not thinking."""


class Arena:
    """Store, journal, metrics, clock and ids of one process."""

    def __init__(self, *, store: Store, journal: Journal, metrics: Metrics) -> None:
        self.store = store
        self.journal = journal
        self.metrics = metrics
        self.deadlines = Deadlines(asyncio.get_running_loop())
        self.ids = Ids(int(time.time()))

    def close(self) -> None:
        """Forget all deadlines; store and journal are the caller's."""
        self.deadlines.close()


class MatchRun:
    """One match in this process: `tally` and `runner` can be read while `play` goes on."""

    def __init__(
        self,
        arena: Arena,
        spec: MatchSpec,
        *,
        in_process: bool = False,
        watchers: Sequence[Watcher] = (),
        on_record: Callable[[Record], None] = lambda record: None,
        on_taken_up: Callable[[Record], None] = lambda record: None,
    ) -> None:
        check_bots(spec.seats)
        self.spec = spec
        self.tally = Tally(spec.rules.players)
        self.seats: list[Seat] = []
        self.runner: MatchRunner | None = None
        self._arena = arena
        self._in_process = in_process
        self._watchers: list[Watcher] = [
            JournalWatcher(arena.journal),
            MetricsWatcher(arena.metrics, spec.rules, [seat.bot for seat in spec.seats]),
            *watchers,
        ]
        self._on_record = on_record
        self._on_taken_up = on_taken_up
        self._writer = RecordWriter(arena.store)
        self._processes: list[BotProcess] = []
        self.stopping = False

    async def play(self) -> Tally:
        """Play every hand that has no record yet, and return the tally of all of them.

        The match is then FINISHED in the store. Stopped or broken off it stays RUNNING there, with every finished
        hand's record, and another run goes on where this one ended.
        """
        store, spec = self._arena.store, self.spec
        await store.set_state(spec.match_id, MatchState.RUNNING)
        finished = frozenset(await store.recorded_hands(spec.match_id))
        if finished:
            await self._take_up()
        try:
            await self._start_seats()
            self.runner = MatchRunner(
                spec,
                self.seats,
                watchers=self._watchers,
                on_record=self._keep,
                room=self._room,
                finished_hands=finished,
            )
            if self.stopping:
                self.runner.stop()
            await self.runner.run()
        finally:
            await self._settle()
        if self.tally.hands == spec.hands:
            await store.set_state(spec.match_id, MatchState.FINISHED)
        return self.tally

    def stop(self) -> None:
        """Begin no further hand; `play` returns when those in play are over."""
        self.stopping = True
        if self.runner is not None:
            self.runner.stop()

    async def _settle(self) -> None:
        """Whatever happened: the records reach the store, the journal its file, and the bots are let go."""
        with contextlib.ExitStack() as errors:
            errors.callback(self._arena.journal.flush)
            await asyncio.gather(*(seat.close() for seat in set(self.seats)))
            await asyncio.gather(*(process.stop() for process in self._processes))
            await self._writer.close()

    async def _take_up(self) -> None:
        async for line in self._arena.store.records(self.spec.match_id):
            record: Record = orjson.loads(line)
            self.tally.add(record)
            self._on_taken_up(record)

    def _keep(self, record: Record) -> None:
        self.tally.add(record)
        self._writer.put(record)
        self._on_record(record)

    async def _room(self) -> None:
        await self._writer.room()

    # Seats ----------------------------------------------------------------------------------------------------------

    async def _start_seats(self) -> None:
        """One seat per bot: places with the same address share theirs."""
        shared: dict[str, Seat] = {}
        for place, seat_spec in enumerate(self.spec.seats):
            key = seat_spec.bot if seat_spec.kind is SeatKind.ADDRESS else str(place)
            if key not in shared:
                shared[key] = self._seat(place, seat_spec)
            self.seats.append(shared[key])
        await asyncio.gather(*(seat.start() for seat in shared.values()))

    def _seat(self, place: int, seat_spec: SeatSpec) -> Seat:
        return Seat(
            seat_spec.bot,
            self._opener(place, seat_spec),
            ids=self._arena.ids,
            deadlines=self._arena.deadlines,
            time_control=self.spec.time_control,
        )

    def _opener(self, place: int, seat_spec: SeatSpec) -> Opener:
        if seat_spec.kind is SeatKind.ADDRESS:
            return remote(seat_spec.bot, rules=self.spec.rules, arena_version=ARENA_VERSION)
        seed = derive(self.spec.seed, "bot", place)
        if self._in_process:
            return local(create(seat_spec.bot, seed))
        return self._process_opener(seat_spec.bot, seed)

    def _process_opener(self, name: str, seed: bytes) -> Opener:
        async def open_(seat: Seat) -> Transport:
            process = await BotProcess.start(name, seed=seed, within=_PROCESS_START_S)
            self._processes.append(process)
            return await remote(process.address, rules=self.spec.rules, arena_version=ARENA_VERSION)(seat)

        return open_


def check_bots(seats: Sequence[SeatSpec]) -> None:
    """SpecError if a seat names a built-in bot that there is not."""
    for seat in seats:
        if seat.kind is SeatKind.BUILTIN and seat.bot not in REFERENCE_BOTS:
            raise SpecError(
                "seats",
                f"there is no built-in bot {seat.bot!r}; there are {', '.join(REFERENCE_BOTS)}"
                " (a bot of your own is named by its HOST:PORT or unix:PATH)",
            )
