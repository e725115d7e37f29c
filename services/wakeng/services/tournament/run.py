"""One tournament in this process, from its row in the store to its last block."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from wakeng.engine import derive
from wakeng.services.arena import Arena, check_bots
from wakeng.services.floor import Record, Watcher
from wakeng.services.roster import Chair
from wakeng.services.store import Match, MatchKind, MatchState, RecordWriter, Store
from wakeng.services.tournament.play import TournamentRunner, progress_of
from wakeng.services.tournament.spec import TournamentSpec
from wakeng.services.tournament.statistics import Standings
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
    store: Store, tournament_id: str, spec: TournamentSpec, *, request_id: str | None = None, owner: str = ""
) -> tuple[Stored, bool]:
    """Put a tournament into the store before any bot is started, and say whether it is new."""
    written = {"tournament": spec.to_dict(), "owner": owner}
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


async def records_of(store: Store, tournament_id: str) -> list[Record]:
    """Every record of a tournament, in the order of its hands."""
    return [orjson.loads(line) async for line in store.records(tournament_id)]


async def standings_now(store: Store, tournament: Stored) -> Standings:
    """The standings, computed anew from the records."""
    progress = progress_of(tournament.spec, await records_of(store, tournament.id))
    return standings_of(tournament.spec, progress)


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
    ) -> None:
        self.spec = tournament.spec
        self.id = tournament.id
        check_bots([bot.seat for bot in self.spec.bots])
        self.runner: TournamentRunner | None = None
        self.stopping = False
        self.decisions = 0
        """Decisions of the hands this process played."""
        self.hands = 0
        self.last_progress = time.monotonic()
        self._arena = arena
        self._in_process = in_process
        self._by_admin = by_admin
        self._watchers: list[Watcher] = [
            JournalWatcher(arena.journal),
            MetricsWatcher(arena.metrics, self.spec.rules, [bot.name for bot in self.spec.bots]),
            *watchers,
        ]
        self._writer = RecordWriter(arena.store)
        self._keys: list[str] = []
        self.chairs: list[Chair] = []

    async def play(self) -> Standings:
        """Play until the tournament is over, and return its standings; it is then FINISHED in the store.

        Stopped or broken off it stays RUNNING there with every finished hand's record, and another run goes on where
        this one ended.
        """
        store = self._arena.store
        await store.set_state(self.id, MatchState.RUNNING)
        progress = progress_of(self.spec, await records_of(store, self.id))
        try:
            if not progress.over:
                await self._seat_bots()
                self.runner = TournamentRunner(
                    self.id,
                    self.spec,
                    self.chairs,
                    progress=progress,
                    watchers=self._watchers,
                    on_record=self._keep,
                    room=self._writer.room,
                )
                await self._run(self.runner)
        finally:
            await self._settle()
        if progress.over:
            await store.set_state(self.id, MatchState.FINISHED)
        return standings_of(self.spec, progress)

    async def _run(self, runner: TournamentRunner) -> None:
        if self.stopping:
            runner.stop()
        self._arena.floors.add(runner.floor)
        try:
            await runner.run()
        finally:
            self._arena.floors.discard(runner.floor)

    def stop(self) -> None:
        """Begin no further hand; `play` returns when those in play are over."""
        self.stopping = True
        if self.runner is not None:
            self.runner.stop()

    def standings(self) -> Standings | None:
        """Over the prefix as it is now, None before the bots are ready."""
        return None if self.runner is None else standings_of(self.spec, self.runner.progress)

    def _keep(self, record: Record) -> None:
        self.hands += 1
        self.decisions += len(record.get("decisions", ()))
        self.last_progress = time.monotonic()
        self._writer.put(record)

    async def _seat_bots(self) -> None:
        """Each entrant a chair; entrants at one address share its seat. All are made ready side by side."""
        seating = self._arena.seating
        for place, bot in enumerate(self.spec.bots):
            key = seating.key(bot.seat, place=f"{self.id}/{place}")
            opener = seating.opener(
                bot.seat,
                seed=derive(self.spec.seed, "bot", place),
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
                await self._writer.close()
            finally:
                self._arena.journal.flush()
