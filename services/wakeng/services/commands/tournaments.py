"""Where `wakeng tournament` looks tournaments up: in a running arena, or in a store on this machine."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol

from wakeng.services.commands.arena_client import ArenaClient, ArenaOptions
from wakeng.services.commands.tournament_play import check_resumable
from wakeng.services.commands.tournament_tell import Standings
from wakeng.services.store import MatchKind, MatchState, Store
from wakeng.services.tournament.messages import standings_dict, tournament_message
from wakeng.services.tournament.run import Stored, get, standings_now, stored
from wakeng.v1 import match_pb2, tournament_pb2


class Tournaments(Protocol):
    """Tournaments, wherever they are."""

    def list(self) -> AsyncIterator[tournament_pb2.Tournament]:
        """All of them, newest first."""

    async def get(self, tournament_id: str) -> tournament_pb2.Tournament:
        """One."""

    async def standings(self, tournament_id: str) -> tuple[tournament_pb2.Tournament, Standings]:
        """One with its standings."""

    def records(self, tournament_id: str) -> AsyncIterator[bytes]:
        """The lines of its records that can be had now, in the order of hands."""

    async def cancel(self, tournament_id: str, reason: str) -> tournament_pb2.Tournament:
        """End it for good."""


class OfStore:
    """Those of a store on this machine."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def list(self) -> AsyncIterator[tournament_pb2.Tournament]:
        """All of them, newest first."""
        token, more = "", True
        while more:
            page = await self._store.list_matches(1000, token, kind=MatchKind.TOURNAMENT)
            for row in page.matches:
                recorded = await self._store.count_hands(row.match_id)
                yield tournament_message(stored(row), hands_recorded=recorded)
            token = page.next_page_token
            more = token != ""

    async def get(self, tournament_id: str) -> tournament_pb2.Tournament:
        """One."""
        return (await self.standings(tournament_id))[0]

    async def standings(self, tournament_id: str) -> tuple[tournament_pb2.Tournament, Standings]:
        """One with its standings."""
        tournament = await get(self._store, tournament_id)
        standings = await standings_now(self._store, tournament)
        return await self._message(tournament, standings.prefix), standings.to_dict()

    async def _message(self, tournament: Stored, prefix: int) -> tournament_pb2.Tournament:
        recorded = await self._store.count_hands(tournament.id)
        attempts = await self._store.attempts.list(tournament.id)
        return tournament_message(tournament, hands_recorded=recorded, prefix=prefix, attempts=attempts)

    async def records(self, tournament_id: str) -> AsyncIterator[bytes]:
        """The lines of its records, in the order of hands."""
        await get(self._store, tournament_id)
        async for line in self._store.records(tournament_id):
            yield line

    async def cancel(self, tournament_id: str, reason: str) -> tournament_pb2.Tournament:
        """End it for good; a command that plays it notices when it is done."""
        tournament = await get(self._store, tournament_id)
        if not tournament.row.state.final:
            check_resumable(tournament)
            await self._store.set_state(tournament_id, MatchState.CANCELLED, reason=reason)
        return await self.get(tournament_id)


class OfArena:
    """Those of a running arena."""

    def __init__(self, client: ArenaClient) -> None:
        self._client = client

    async def list(self) -> AsyncIterator[tournament_pb2.Tournament]:
        """All of them, newest first."""
        token, more = "", True
        while more:
            request = tournament_pb2.ListTournamentsRequest(page_size=1000, page_token=token)
            page = await self._call("ListTournaments", request)
            for tournament in page.tournaments:
                yield tournament
            token = page.next_page_token
            more = token != ""

    async def get(self, tournament_id: str) -> tournament_pb2.Tournament:
        """One."""
        return await self._one("GetTournament", tournament_pb2.GetTournamentRequest(tournament_id=tournament_id))

    async def standings(self, tournament_id: str) -> tuple[tournament_pb2.Tournament, Standings]:
        """One with its standings."""
        answer = await self._call("GetStandings", tournament_pb2.GetStandingsRequest(tournament_id=tournament_id))
        tournament = await self.get(tournament_id)
        tournament.prefix = answer.standings.prefix
        return tournament, standings_dict(answer.standings)

    async def records(self, tournament_id: str) -> AsyncIterator[bytes]:
        """The lines of its records that are not private, in the order of hands."""
        await self.get(tournament_id)
        request = match_pb2.ListHandRecordsRequest(match_id=tournament_id)
        async for answer in self._client.stream(self._client.matches.ListHandRecords, request):
            yield answer.line.encode()

    async def cancel(self, tournament_id: str, reason: str) -> tournament_pb2.Tournament:
        """End it for good."""
        request = tournament_pb2.CancelTournamentRequest(tournament_id=tournament_id, reason=reason)
        return await self._one("CancelTournament", request)

    async def pause(self, tournament_id: str) -> tournament_pb2.Tournament:
        """Let the hands in play finish, and begin none."""
        return await self._one("PauseTournament", tournament_pb2.PauseTournamentRequest(tournament_id=tournament_id))

    async def resume(self, tournament_id: str) -> tournament_pb2.Tournament:
        """Go on with it."""
        return await self._one("ResumeTournament", tournament_pb2.ResumeTournamentRequest(tournament_id=tournament_id))

    async def create(self, request: tournament_pb2.CreateTournamentRequest) -> tournament_pb2.Tournament:
        """Make one and start it."""
        return await self._one("CreateTournament", request)

    async def watch(self, tournament_id: str) -> AsyncIterator[tournament_pb2.WatchTournamentResponse]:
        """How it stands, again and again, until it is over; Refused where it does not go on there."""
        request = tournament_pb2.WatchTournamentRequest(tournament_id=tournament_id, standings=True)
        async for news in self._client.stream(self._client.tournaments.WatchTournament, request):
            yield news

    async def _one(self, method: str, request: object) -> tournament_pb2.Tournament:
        found: tournament_pb2.Tournament = (await self._call(method, request)).tournament
        return found

    async def _call(self, method: str, request: object) -> Any:
        return await self._client.call(getattr(self._client.tournaments, method), request)


@asynccontextmanager
async def open_tournaments(arena: ArenaOptions | None, db: str) -> AsyncIterator[Tournaments]:
    """Those of the arena, or where none is named those of the store."""
    if arena is not None:
        async with ArenaClient(arena) as client:
            yield OfArena(client)
    else:
        async with await Store.open(db) as store:
            yield OfStore(store)
