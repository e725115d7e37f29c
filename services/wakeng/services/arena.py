"""The arena of one process: what all matches share, and how one match is played from its spec to its last record."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

import orjson

from wakeng.bots import BUILTIN_BOTS, UnknownBot
from wakeng.engine import derive
from wakeng.services.deadlines import Deadlines
from wakeng.services.floor import Floor, Record, Watcher
from wakeng.services.gist import Gist
from wakeng.services.ids import Ids
from wakeng.services.journal import Journal
from wakeng.services.loopback import loopback_works
from wakeng.services.measured import MeasuredStore
from wakeng.services.metrics import Metrics
from wakeng.services.roster import Chair, Roster
from wakeng.services.runner import MatchRunner
from wakeng.services.seating import BotTls, Seating
from wakeng.services.spec import MatchSpec, SeatKind, SeatSpec, SpecError
from wakeng.services.store import MatchState, RecordWriter, Store
from wakeng.services.tally import Tally
from wakeng.services.watchers import JournalWatcher, MetricsWatcher


class Arena:
    """What all matches of a process share: store, journal, metrics, clock, ids and the roster of bots."""

    def __init__(
        self,
        *,
        store: Store,
        journal: Journal,
        metrics: Metrics,
        tls: BotTls | None = None,
        loopback: Callable[[], Awaitable[bool]] = loopback_works,
        ids: Ids | None = None,
    ) -> None:
        """`ids` are given where several processes ask the same bots."""
        self.store = store
        self.journal = journal
        self.metrics = metrics
        self.deadlines = Deadlines(asyncio.get_running_loop(), time.monotonic)
        self.roster = Roster(
            ids=ids or Ids(int(time.time())), deadlines=self.deadlines, metrics=metrics, on_outage=self._outage
        )
        self.seating = Seating(store=store, tls=tls or BotTls())
        """A server of this arena puts a policy and a gateway in its place."""
        self.watchers: list[Watcher] = []
        """Told of every hand of every match, beside the journal and the metrics: traces, where they are asked for."""
        self.floors: dict[Floor, int] = {}
        """Those in use, with the tables that each may set."""
        self.writers: set[RecordWriter] = set()
        """Those in use."""
        metrics.store_away.set_function(lambda: float(store.away))
        metrics.records_waiting.set_function(lambda: sum(writer.waiting for writer in list(self.writers)))
        metrics.tables_running.set_function(lambda: sum(floor.running for floor in list(self.floors)))
        metrics.tables_free.set_function(self._free_tables)
        metrics.leases = self.roster.leases
        self._loopback = loopback
        self._probe: asyncio.Task[None] | None = None

    def close(self) -> None:
        """Forget all deadlines; store and journal are the caller's."""
        self.deadlines.close()
        if self._probe is not None:
            self._probe.cancel()

    def writer(self) -> RecordWriter:
        """A writer of records to the store, for who plays; `done_with` it when it is closed."""
        writer = RecordWriter(MeasuredStore(self.store, self.metrics))
        self.writers.add(writer)
        return writer

    def done_with(self, writer: RecordWriter) -> None:
        """It has nothing left to write."""
        self.writers.discard(writer)

    def _free_tables(self) -> int:
        return sum(max(0, tables - floor.running) for floor, tables in list(self.floors.items()))

    def _outage(self) -> None:
        """Several bots were lost at once: see whether the arena can reach itself."""
        if self._probe is None or self._probe.done():
            self._probe = asyncio.get_running_loop().create_task(self._probe_itself())

    async def _probe_itself(self) -> None:
        if await self._loopback():
            return
        lost = self.roster.lost_seats()
        for floor in list(self.floors):
            floor.void_waiting(lost, "several bots were lost at once, and the arena could not reach itself")


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
        self.chairs: list[Chair] = []
        """By place; places with the same bot share theirs."""
        self.runner: MatchRunner | None = None
        self._arena = arena
        self._in_process = in_process
        self._watchers: list[Watcher] = [
            JournalWatcher(arena.journal),
            MetricsWatcher(arena.metrics, spec.rules, [seat.bot for seat in spec.seats]),
            *arena.watchers,
            *watchers,
        ]
        self._on_record = on_record
        self._on_taken_up = on_taken_up
        self._writer = arena.writer()
        self._keys: list[str] = []
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
        with self._arena.metrics.matches_running.track_inprogress():
            try:
                await self._seat_bots()
                await self._run(finished)
            finally:
                await self._settle()
        if self.tally.hands == spec.hands:
            await store.set_state(spec.match_id, MatchState.FINISHED)
        return self.tally

    async def _run(self, finished: frozenset[int]) -> None:
        runner = MatchRunner(
            self.spec,
            self.chairs,
            watchers=self._watchers,
            on_record=self._keep,
            room=self._writer.room,
            finished_hands=finished,
        )
        self.runner = runner
        if self.stopping:
            runner.stop()
        self._arena.floors[runner.floor] = self.spec.tables
        try:
            await runner.run()
        finally:
            del self._arena.floors[runner.floor]

    def stop(self) -> None:
        """Begin no further hand; `play` returns when those in play are over."""
        self.stopping = True
        if self.runner is not None:
            self.runner.stop()

    async def _settle(self) -> None:
        """Whatever happened: the bots are let go, and the records reach the store and the journal its file."""
        try:
            await asyncio.gather(*(self._arena.roster.leave(key) for key in self._keys))
        finally:
            try:
                await self._writer.close()
            finally:
                self._arena.done_with(self._writer)
                self._arena.journal.flush()

    async def _take_up(self) -> None:
        async for line in self._arena.store.records(self.spec.match_id):
            record: Record = orjson.loads(line)
            self.tally.add(Gist.of(record))
            self._on_taken_up(record)

    def _keep(self, record: Record) -> None:
        self.tally.add(self._writer.put(record).gist)
        self._on_record(record)

    # Seats ----------------------------------------------------------------------------------------------------------

    async def _seat_bots(self) -> None:
        """One chair per bot: places with the same address share theirs; then make all ready, side by side."""
        chairs: dict[str, Chair] = {}
        seating = self._arena.seating
        for place, seat in enumerate(self.spec.seats):
            key = seating.key(seat, place=f"{self.spec.match_id}/{place}")
            if key not in chairs:
                self._keys.append(key)
                opener = seating.opener(
                    seat,
                    seed=derive(self.spec.seed, "bot", place),
                    by_admin=self.spec.by_admin,
                    in_process=self._in_process,
                )
                chairs[key] = Chair(self._arena.roster.take(key, seat.bot, opener), max_escapes=self.spec.max_escapes)
            self.chairs.append(chairs[key])
        await asyncio.gather(*(chair.make_ready(self.spec.rules, self.spec.time_control) for chair in chairs.values()))


def check_bots(seats: Sequence[SeatSpec]) -> None:
    """SpecError if a seat names a built-in bot that there is not, or one that may not sit at a table."""
    for seat in seats:
        if seat.kind is SeatKind.BUILTIN and seat.bot not in BUILTIN_BOTS:
            raise SpecError(
                "seats", f"{UnknownBot(seat.bot)} (a bot of your own is named by its HOST:PORT or unix:PATH)"
            )
