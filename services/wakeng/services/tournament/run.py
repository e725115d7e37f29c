"""One tournament in this process, from its row in the store to its last block."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from wakeng.engine import derive
from wakeng.services.arena import Arena, check_bots
from wakeng.services.errors import UnknownMatch
from wakeng.services.floor import Record, Watcher
from wakeng.services.metrics import TournamentFigures
from wakeng.services.roster import Chair
from wakeng.services.store import Match, MatchKind, MatchState, Store
from wakeng.services.tournament.executor import Executor, Outcomes
from wakeng.services.tournament.kept import keep, kept
from wakeng.services.tournament.play import TournamentRunner, progress_of
from wakeng.services.tournament.spec import TournamentSpec
from wakeng.services.tournament.statistics import Standings
from wakeng.services.tournament.statistics.results import HandResult
from wakeng.services.tournament.tables import Keeping, Tables
from wakeng.services.tournament.verdicts import standings_of
from wakeng.services.watchers import JournalWatcher, MetricsWatcher


@dataclass(frozen=True, slots=True)
class Stored:
    """A tournament as the store has it."""

    row: Match
    spec: TournamentSpec

    @property
    def id(self) -> str:
        """Its name."""
        return self.row.match_id


async def create(
    store: Store,
    tournament_id: str,
    spec: TournamentSpec,
    *,
    request_id: str | None = None,
    owner: str = "",
    **marks: Any,
) -> tuple[Stored, bool]:
    """Put a tournament into the store before any bot is started, and say whether it is new.

    `marks` are kept beside the spec, and a request that is told again must have the same.
    """
    written = {"tournament": spec.to_dict(), "owner": owner, **marks}
    hands = (spec.planned_blocks or 0) * spec.hands_per_block
    row, new = await store.create_match(
        match_id=tournament_id,
        spec=written,
        seed=spec.seed.hex(),
        commitment=spec.commitment,
        hands=hands,
        request_id=request_id,
        kind=MatchKind.TOURNAMENT,
    )
    return stored(row), new


def stored(row: Match) -> Stored:
    """A tournament of its row."""
    return Stored(row, TournamentSpec.from_dict(row.spec["tournament"], seed=bytes.fromhex(row.seed)))


async def get(store: Store, tournament_id: str) -> Stored:
    """A tournament; UnknownMatch if there is none of that id."""
    row = await store.get_match(tournament_id)
    if row.kind is not MatchKind.TOURNAMENT:
        raise UnknownMatch(f"tournament_id: {tournament_id} is a match")
    return stored(row)


async def records_of(store: Store, tournament_id: str) -> list[Record]:
    """Every record of a tournament, in the order of its hands."""
    return [orjson.loads(line) async for line in store.records(tournament_id)]


async def standings_now(store: Store, tournament: Stored) -> Standings:
    """The standings, computed anew from the records, in a thread of its own: there may be many."""
    records, voids = await records_of(store, tournament.id), await store.voids(tournament.id)
    return await asyncio.to_thread(lambda: standings_of(tournament.spec, progress_of(tournament.spec, records, voids)))


class Elsewhere(Protocol):
    """Where tournaments are played, if not in this process."""

    async def takes(self, spec: TournamentSpec) -> bool:
        """Whether it could be played there; else it is played here."""

    def executor(self, tournament: Stored, outcomes: Outcomes) -> Executor:
        """Plays it there."""


class TournamentRun:
    """Plays a tournament on; `runner` can be read while `play` goes on."""

    def __init__(
        self,
        arena: Arena,
        tournament: Stored,
        *,
        in_process: bool = False,
        by_admin: bool = True,
        watchers: Sequence[Watcher] = (),
        elsewhere: Elsewhere | None = None,
    ) -> None:
        """Without `elsewhere` this process plays."""
        self.spec = tournament.spec
        self.id = tournament.id
        check_bots([bot.seat for bot in self.spec.bots])
        self.runner: TournamentRunner | None = None
        self.stopping = False
        self.decisions = 0
        """Decisions of the hands this process played."""
        self.hands = 0
        """Hands that were played for this run."""
        self.last_progress = time.time()
        """When a hand last ended, by the wall clock."""
        self._recorded = 0
        """Hands that were recorded before."""
        self._oldest = 0
        self._oldest_since = self.last_progress
        self._arena = arena
        self._in_process = in_process
        self._by_admin = by_admin
        self._watchers: list[Watcher] = [
            JournalWatcher(arena.journal),
            MetricsWatcher(arena.metrics, self.spec.rules, [bot.name for bot in self.spec.bots]),
            *arena.watchers,
            *watchers,
        ]
        self._writer = arena.writer()
        self._voids: list[asyncio.Task[None]] = []
        """Voids that are being written."""
        self._keys: list[str] = []
        self._tournament = tournament
        self._elsewhere = elsewhere
        self.chairs: list[Chair] = []
        """By place in the field; empty where others play."""

    async def play(self) -> Standings:
        """Play until the tournament is over, and return its standings; it is then FINISHED in the store.

        Stopped or broken off it stays RUNNING there with every finished hand's record, and another run goes on where
        this one ended.
        """
        store = self._arena.store
        await store.set_state(self.id, MatchState.RUNNING)
        records, voids = await records_of(store, self.id), await store.voids(self.id)
        self._recorded = len(records)
        progress = await asyncio.to_thread(progress_of, self.spec, records, voids)
        del records  # They may be large, and the hands have what is needed of them.
        try:
            if not progress.over:
                if self._elsewhere is not None and not await self._elsewhere.takes(self.spec):
                    self._elsewhere = None
                if self._elsewhere is None:
                    await self._seat_bots()
                self.runner = TournamentRunner(progress, self._executor)
                async with kept(store, self):
                    await self._run(self.runner)
        finally:
            await self._settle()
        await keep(store, self.id, self.spec, progress)
        if progress.over:
            await store.set_state(self.id, MatchState.FINISHED)
        return standings_of(self.spec, progress)

    def _executor(self, outcomes: Outcomes) -> Executor:
        if self._elsewhere is not None:
            return self._elsewhere.executor(self._tournament, _Counted(self, outcomes))
        return Tables(
            self.id,
            self.spec,
            self.chairs,
            tables=self.spec.tables,
            outcomes=outcomes,
            keeping=Keeping(record=self._keep, void=self._note_void, room=self._room),
            watchers=self._watchers,
        )

    async def _run(self, runner: TournamentRunner) -> None:
        if self.stopping:
            runner.stop()
        if runner.floor is not None:
            self._arena.floors[runner.floor] = self.spec.tables
        self._arena.metrics.tournaments.add(self)
        try:
            await runner.run()
        finally:
            self._arena.metrics.tournaments.discard(self)
            if runner.floor is not None:
                del self._arena.floors[runner.floor]

    def stop(self) -> None:
        """Begin no further hand; `play` returns when those in play are over."""
        self.stopping = True
        if self.runner is not None:
            self.runner.stop()

    def standings(self) -> Standings | None:
        """Over the prefix as it is now, None before the bots are ready."""
        return None if self.runner is None else standings_of(self.spec, self.runner.progress)

    def _keep(self, record: Record) -> None:
        self.decisions += len(record.get("decisions", ()))
        self.counted()
        self._writer.put(record)

    def counted(self) -> None:
        """One more hand has its record."""
        self._note_oldest()
        self.hands += 1
        self.last_progress = time.time()

    def _note_void(self, hand: int, voids: int) -> None:
        self.last_progress = time.time()
        self._voids.append(asyncio.create_task(self._arena.store.add_void(self.id, hand, voids=voids)))

    async def _room(self) -> None:
        """No hand begins that may follow from a void which the store does not know of."""
        while self._voids:
            await asyncio.shield(self._voids[0])
            del self._voids[0]
        await self._writer.room()

    def figures(self) -> TournamentFigures:
        """How it stands, for metrics."""
        runner, spec = self.runner, self.spec
        assert runner is not None
        self._note_oldest()
        recorded, running, planned = self._recorded + self.hands, runner.executor.running, spec.planned_blocks
        queued = None if planned is None else max(0, planned * spec.hands_per_block - recorded - running)
        return TournamentFigures(
            hands_recorded=recorded,
            tables_running=running,
            hands_queued=queued,
            blocks_completed=runner.progress.prefix,
            blocks_planned=planned,
            oldest_block_since=self._oldest_since,
            last_progress=self.last_progress,
        )

    def _note_oldest(self) -> None:
        """The prefix grew, if it did, when a hand last ended."""
        assert self.runner is not None
        if self.runner.progress.prefix != self._oldest:
            self._oldest, self._oldest_since = self.runner.progress.prefix, self.last_progress

    async def _seat_bots(self) -> None:
        """Each entrant a chair; entrants at one address share its seat. All are made ready side by side.

        Built-in bots have a process each. Those of one name have one seed, by the place of the first of them: they are
        one bot under several names, and against itself a bot scores exactly 0.
        """
        seating = self._arena.seating
        seats = [bot.seat for bot in self.spec.bots]
        for place, bot in enumerate(self.spec.bots):
            key = seating.key(bot.seat, place=f"{self.id}/{place}")
            opener = seating.opener(
                bot.seat,
                seed=derive(self.spec.seed, "bot", seats.index(bot.seat)),
                by_admin=self._by_admin,
                in_process=self._in_process,
            )
            self._keys.append(key)
            seat = self._arena.roster.take(key, bot.name, opener)
            self.chairs.append(Chair(seat, max_escapes=self.spec.max_escapes))
        await asyncio.gather(*(chair.make_ready(self.spec.rules, self.spec.time_control) for chair in self.chairs))

    async def _settle(self) -> None:
        """Whatever happened: the bots are let go, and the records reach the store and the journal its file."""
        try:
            await asyncio.gather(*(self._arena.roster.leave(key) for key in self._keys))
        finally:
            try:
                await asyncio.gather(*self._voids)
                await self._writer.close()
            finally:
                self._arena.done_with(self._writer)
                self._arena.journal.flush()


class _Counted:
    """Counts hands that others record."""

    def __init__(self, run: TournamentRun, outcomes: Outcomes) -> None:
        self._run = run
        self._outcomes = outcomes

    def ended(self, block: int, place: int, result: HandResult) -> None:
        self._run.counted()
        self._outcomes.ended(block, place, result)

    def voided(self, block: int, place: int, voids: int) -> None:
        self._outcomes.voided(block, place, voids)
