"""TournamentService: tournaments made, watched, paused and read over gRPC, each a task of this process.

Docs: docs/protocol.md 5. What anybody is told of a tournament in play is how far it is, and the standings over its
completed prefix; the records of its hands are MatchService's, which knows what of them is private.
"""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final

from google.rpc import code_pb2

from wakeng.engine import parse_seed
from wakeng.services.arena import Arena
from wakeng.services.auth import caller
from wakeng.services.dialling import DiallingPolicy, NotAllowed
from wakeng.services.errors import BadPageToken, MatchExists, UnknownMatch
from wakeng.services.logging import bind_ids
from wakeng.services.match_requests import MOST_REQUEST_ID
from wakeng.services.rpc import Context, invalid, not_found, refuse
from wakeng.services.spec import SpecError
from wakeng.services.store import MatchKind, MatchState
from wakeng.services.tournament.entry import check_id, read_tournament
from wakeng.services.tournament.live import LiveStandings
from wakeng.services.tournament.messages import FINAL, standings_message, tournament_message
from wakeng.services.tournament.run import Elsewhere, Stored, TournamentRun, create, get, standings_now, stored
from wakeng.services.tournament.spec import TournamentSpec
from wakeng.services.tournament.statistics import Standings
from wakeng.v1 import tournament_pb2, tournament_pb2_grpc

MOST_RUNNING: Final = 16
"""Tournaments in play at once; a further one is refused, and may be asked for again."""
MOST_TEXT: Final = 1 << 17
"""Bytes of a spec."""
MOST_KEPT: Final = 64
"""Tournaments that are not in play whose standings are kept."""
DEFAULT_PAGE: Final = 50
WATCH_S: Final = 0.5
"""Seconds between two messages to a watcher."""
ORIGIN: Final = "service"
"""Marks in the store the tournaments that a restart goes on with; others are played by a command."""

log = logging.getLogger("wakeng.services")


class _Running:
    """A tournament in play: its run, its task, and its standings so far."""

    def __init__(self, run: TournamentRun) -> None:
        self.run = run
        self.live = LiveStandings(run)
        self.task: asyncio.Task[None] | None = None
        self.ended = asyncio.Event()
        self.reason = ""
        """Why it is cancelled, empty while it is not."""
        self.pausing = False

    @property
    def prefix(self) -> int | None:
        """None before its bots have been reached."""
        return None if self.run.runner is None else self.run.runner.progress.prefix


class Tournaments(tournament_pb2_grpc.TournamentServiceServicer):
    """The service, and the tournaments in play behind it."""

    def __init__(self, arena: Arena, policy: DiallingPolicy | None = None, elsewhere: Elsewhere | None = None) -> None:
        """Without a policy every address that is named is dialled; without `elsewhere` this process plays all."""
        self._elsewhere = elsewhere
        self._arena = arena
        self._store = arena.store
        self._policy = policy
        self._running: dict[str, _Running] = {}
        self._kept: dict[str, tuple[int, Standings]] = {}
        """Standings of tournaments not in play, with how many hands were recorded then."""
        self._draining = False

    # Playing them ---------------------------------------------------------------------------------------------------

    async def take_up(self) -> int:
        """Go on with the tournaments that a former process left unfinished; how many there are."""
        unfinished = await self._store.unfinished_matches(MatchKind.TOURNAMENT)
        mine = [row for row in unfinished if row.spec.get("origin") == ORIGIN]
        for row in mine:
            self._start(stored(row))
        return len(mine)

    def _start(self, tournament: Stored) -> None:
        by_admin = tournament.row.spec["by_admin"]
        run = TournamentRun(self._arena, tournament, by_admin=by_admin, elsewhere=self._elsewhere)
        running = self._running[tournament.id] = _Running(run)
        running.task = asyncio.create_task(self._play(running), name=f"tournament {tournament.id}")

    async def _play(self, running: _Running) -> None:
        tournament_id = running.run.id
        bind_ids(match_id=tournament_id)
        log.info("a tournament goes on")
        try:
            standings = await running.run.play()
            log.info("a tournament is over" if not running.run.stopping else "a tournament was stopped")
            self._keep(tournament_id, await self._store.count_hands(tournament_id), standings)
            if running.pausing:
                await self._store.set_state(tournament_id, MatchState.PAUSED)
        except asyncio.CancelledError:
            if not running.reason:
                raise  # The process ends; the tournament goes on at the next start.
            await self._store.set_state(tournament_id, MatchState.CANCELLED, reason=running.reason)
        except Exception as error:
            log.exception("a tournament has failed")
            self._arena.journal.event("tournament_failed", match_id=tournament_id, reason=repr(error))
            reason = f"{type(error).__name__}: {error}"
            await self._store.set_state(tournament_id, MatchState.FAILED, reason=reason)
        finally:
            self._running.pop(tournament_id, None)
            running.ended.set()

    @property
    def in_play(self) -> int:
        """How many tournaments are in play."""
        return len(self._running)

    async def drain(self, grace: float) -> None:
        """Begin nothing more; wait so many seconds for hands in play, then drop them. What was played is kept."""
        self._draining = True
        tasks = [running.task for running in self._running.values() if running.task is not None]
        for running in self._running.values():
            running.run.stop()
        if tasks:
            await asyncio.wait(tasks, timeout=grace)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # The service ----------------------------------------------------------------------------------------------------

    async def CreateTournament(
        self, request: tournament_pb2.CreateTournamentRequest, context: Context
    ) -> tournament_pb2.CreateTournamentResponse:
        """Make a tournament and start it; the same request_id again returns the tournament made then."""
        await self._check_room(context)
        who = caller(context)
        try:
            tournament_id = _check_request(request)
            spec = await self._read(request, by_admin=who.admin)
        except NotAllowed as problem:
            field = str(problem).partition(":")[0]
            await refuse(context, code_pb2.PERMISSION_DENIED, "ADDRESS_NOT_ALLOWED", str(problem), field=field)
        except SpecError as problem:
            await invalid(context, problem.field, str(problem))
        try:
            made, new = await create(
                self._store,
                tournament_id,
                spec,
                request_id=request.request_id,
                owner=who.owner,
                by_admin=who.admin,
                origin=ORIGIN,
                # A drawn one is another each time, and no reason to call a repeated request another one.
                seed=request.seed if request.HasField("seed") else None,
            )
        except MatchExists as problem:
            field, _, said = str(problem).partition(": ")
            field = field.replace("match_id", "tournament_id")
            reason = f"{field.upper()}_TAKEN"
            await refuse(context, code_pb2.ALREADY_EXISTS, reason, f"{field}: {said}", field=field)
        if new:
            self._start(made)
        return tournament_pb2.CreateTournamentResponse(tournament=await self._message(made))

    async def GetTournament(
        self, request: tournament_pb2.GetTournamentRequest, context: Context
    ) -> tournament_pb2.GetTournamentResponse:
        """One tournament as it stands."""
        tournament = await self._get(request.tournament_id, context)
        return tournament_pb2.GetTournamentResponse(tournament=await self._message(tournament))

    async def ListTournaments(
        self, request: tournament_pb2.ListTournamentsRequest, context: Context
    ) -> tournament_pb2.ListTournamentsResponse:
        """A page of tournaments, newest first."""
        size = request.page_size or DEFAULT_PAGE
        try:
            page = await self._store.list_matches(size, request.page_token, kind=MatchKind.TOURNAMENT)
        except BadPageToken as problem:
            await invalid(context, "page_token", str(problem))
        listed = [
            tournament_message(stored(row), hands_recorded=await self._store.count_hands(row.match_id))
            for row in page.matches
        ]
        return tournament_pb2.ListTournamentsResponse(tournaments=listed, next_page_token=page.next_page_token)

    async def PauseTournament(
        self, request: tournament_pb2.PauseTournamentRequest, context: Context
    ) -> tournament_pb2.PauseTournamentResponse:
        """Begin no further hand, and answer once those in play are over."""
        tournament = await self._own(request.tournament_id, context)
        running = self._running.get(tournament.id)
        if running is not None:
            running.pausing = True
            running.run.stop()
        await self._store.set_state(tournament.id, MatchState.PAUSED)  # So that a restart would not go on with it.
        if running is not None:
            await running.ended.wait()
        return tournament_pb2.PauseTournamentResponse(tournament=await self._again(tournament.id))

    async def ResumeTournament(
        self, request: tournament_pb2.ResumeTournamentRequest, context: Context
    ) -> tournament_pb2.ResumeTournamentResponse:
        """Go on with a paused tournament."""
        tournament = await self._own(request.tournament_id, context)
        running = self._running.get(tournament.id)
        if running is not None and running.run.stopping:
            await running.ended.wait()
        tournament = await get(self._store, tournament.id)
        if not tournament.row.state.final and tournament.id not in self._running:
            await self._check_room(context)
            await self._store.set_state(tournament.id, MatchState.RUNNING)
            if tournament.id not in self._running:
                self._start(tournament)
        return tournament_pb2.ResumeTournamentResponse(tournament=await self._again(tournament.id))

    async def CancelTournament(
        self, request: tournament_pb2.CancelTournamentRequest, context: Context
    ) -> tournament_pb2.CancelTournamentResponse:
        """End a tournament now; the hands in play are dropped, finished ones stay."""
        tournament = await self._own(request.tournament_id, context)
        reason = request.reason[:200] or "cancelled"
        running = self._running.get(tournament.id)
        if running is not None and running.task is not None:
            running.reason = reason
            await asyncio.sleep(0)  # A task that is cancelled before its first step would clear nothing away.
            running.task.cancel()
            await running.ended.wait()
        else:
            await self._store.set_state(tournament.id, MatchState.CANCELLED, reason=reason)
        return tournament_pb2.CancelTournamentResponse(tournament=await self._again(tournament.id))

    async def WatchTournament(
        self, request: tournament_pb2.WatchTournamentRequest, context: Context
    ) -> AsyncIterator[tournament_pb2.WatchTournamentResponse]:
        """How a tournament stands, whenever its prefix has grown; UNAVAILABLE where it does not go on here."""
        tournament = await self._get(request.tournament_id, context)
        told: tournament_pb2.WatchTournamentResponse | None = None
        while True:
            running = self._running.get(tournament.id)
            news = await self._news(tournament.id, standings=request.standings)
            if told is None or _differ(news, told):
                told = news
                yield news
            if news.tournament.state in FINAL:
                return
            if running is None:
                reason = "the tournament does not go on here now; ask again once it is resumed"
                await refuse(context, code_pb2.UNAVAILABLE, "NOT_PLAYED_HERE", reason)
            with suppress(TimeoutError):
                async with asyncio.timeout(WATCH_S):
                    await running.ended.wait()

    async def GetStandings(
        self, request: tournament_pb2.GetStandingsRequest, context: Context
    ) -> tournament_pb2.GetStandingsResponse:
        """The standings over the completed prefix."""
        tournament = await self._get(request.tournament_id, context)
        return tournament_pb2.GetStandingsResponse(standings=standings_message(await self._standings(tournament)))

    # Helpers --------------------------------------------------------------------------------------------------------

    async def _check_room(self, context: Context) -> None:
        if self._draining:
            await refuse(context, code_pb2.UNAVAILABLE, "DRAINING", "the arena is stopping")
        if len(self._running) >= MOST_RUNNING:
            reason = f"{MOST_RUNNING} tournaments are in play; ask again when one is over"
            await refuse(context, code_pb2.RESOURCE_EXHAUSTED, "TOO_MANY_TOURNAMENTS", reason)

    async def _read(self, request: tournament_pb2.CreateTournamentRequest, *, by_admin: bool) -> TournamentSpec:
        """The spec that is asked for; SpecError names the field that makes it impossible."""
        try:
            seed = parse_seed(request.seed) if request.HasField("seed") else secrets.token_bytes(32)
        except ValueError as problem:
            raise SpecError("seed", str(problem)) from None
        spec = await read_tournament(
            request.spec, drawn_seed=seed, store=self._store, policy=self._policy, by_admin=by_admin, dial_in=True
        )
        if request.HasField("seed") and spec.seed != seed:
            raise SpecError("seed", "differs from the one in the spec")
        return spec

    async def _get(self, tournament_id: str, context: Context) -> Stored:
        try:
            return await get(self._store, tournament_id)
        except UnknownMatch:
            await not_found(context, f"tournament_id: there is no tournament {tournament_id[:80]!r}")

    async def _own(self, tournament_id: str, context: Context) -> Stored:
        """The tournament, if the caller may pause and end it."""
        tournament = await self._get(tournament_id, context)
        if not caller(context).owns(tournament.row.spec["owner"]):
            message = "tournament_id: only whose tournament it is, or an admin, may do that"
            await refuse(context, code_pb2.PERMISSION_DENIED, "NOT_OWNER", message, field="tournament_id")
        if tournament.row.spec.get("origin") != ORIGIN:
            message = "tournament_id: it is played by a command on the arena's machine, not by the arena"
            await refuse(context, code_pb2.FAILED_PRECONDITION, "NOT_PLAYED_HERE", message, field="tournament_id")
        return tournament

    async def _again(self, tournament_id: str) -> tournament_pb2.Tournament:
        return await self._message(await get(self._store, tournament_id))

    async def _message(self, tournament: Stored) -> tournament_pb2.Tournament:
        running = self._running.get(tournament.id)
        prefix = running.prefix if running is not None else (await self._standings(tournament)).prefix
        recorded = await self._store.count_hands(tournament.id)
        attempts = await self._store.attempts.list(tournament.id)
        return tournament_message(tournament, hands_recorded=recorded, prefix=prefix, attempts=attempts)

    async def _news(self, tournament_id: str, *, standings: bool) -> tournament_pb2.WatchTournamentResponse:
        tournament = await get(self._store, tournament_id)
        running = self._running.get(tournament_id)
        shown: Standings | None = None
        if standings:
            in_play = running is not None and not tournament.row.state.final
            shown = await running.live.get() if running and in_play else await self._standings(tournament)
        return tournament_pb2.WatchTournamentResponse(
            tournament=await self._message(tournament),
            standings=None if shown is None else standings_message(shown),
        )

    async def _standings(self, tournament: Stored) -> Standings:
        """Those of the moment: made from the records, where they were not made for as many of them before."""
        running = self._running.get(tournament.id)
        live = await running.live.get() if running is not None and not tournament.row.state.final else None
        if live is not None:
            return live
        recorded = await self._store.count_hands(tournament.id)
        known = self._kept.get(tournament.id)
        if known is not None and known[0] == recorded:
            return known[1]
        made = await standings_now(self._store, tournament)
        self._keep(tournament.id, recorded, made)
        return made

    def _keep(self, tournament_id: str, recorded: int, standings: Standings) -> None:
        self._kept.pop(tournament_id, None)
        self._kept[tournament_id] = recorded, standings
        while len(self._kept) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]


def _check_request(request: tournament_pb2.CreateTournamentRequest) -> str:
    """The id of the tournament that is asked for; SpecError names what is wrong beside the spec."""
    if not 1 <= len(request.request_id) <= MOST_REQUEST_ID or not request.request_id.isprintable():
        raise SpecError("request_id", f"must be 1 to {MOST_REQUEST_ID} printable characters")
    if not request.spec or len(request.spec.encode()) > MOST_TEXT:
        raise SpecError("spec", f"must be a TOML text of at most {MOST_TEXT} bytes")
    return check_id(request.tournament_id) if request.HasField("tournament_id") else f"t{secrets.token_hex(8)}"


def _differ(news: tournament_pb2.WatchTournamentResponse, told: tournament_pb2.WatchTournamentResponse) -> bool:
    return (news.tournament.state, news.tournament.prefix, news.standings.prefix) != (
        told.tournament.state,
        told.tournament.prefix,
        told.standings.prefix,
    )
