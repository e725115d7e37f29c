"""MatchService: matches made, watched and read over gRPC, each a task of this process (docs/protocol.md 5)."""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator
from typing import Any, Final, NoReturn

import orjson
from google.protobuf import json_format
from google.rpc import code_pb2

from wakeng.services import record_access
from wakeng.services.arena import Arena, MatchRun, check_bots
from wakeng.services.auth import caller
from wakeng.services.dialling import BadAddress, DiallingPolicy, NotAllowed
from wakeng.services.errors import BadPageToken, MatchExists, UnknownBot, UnknownMatch
from wakeng.services.feed import Gone, MatchFeed
from wakeng.services.logging import bind_ids
from wakeng.services.match_requests import STATES, NotOffered, match_message, read_request
from wakeng.services.rpc import Context, invalid, not_found, refuse, unimplemented
from wakeng.services.spec import MatchSpec, SeatKind, SpecError
from wakeng.services.store import Match, MatchKind, MatchState
from wakeng.v1 import match_pb2, match_pb2_grpc, record_pb2

MOST_RUNNING: Final = 64
"""Matches in play at once; a further one is refused, and may be asked for again."""
DEFAULT_PAGE: Final = 50
ORIGIN: Final = "service"
"""Marks in the store the matches that a restart goes on with; those of `wakeng match` end with their command."""

log = logging.getLogger("wakeng.services")


class _Running:
    """A match in play: its run, its task and its feed."""

    def __init__(self, run: MatchRun, feed: MatchFeed) -> None:
        self.run = run
        self.feed = feed
        self.task: asyncio.Task[None] | None = None
        self.reason = ""
        """Why it is cancelled, empty while it is not."""


class Matches(match_pb2_grpc.MatchServiceServicer):
    """The service, and the matches in play behind it."""

    def __init__(self, arena: Arena, policy: DiallingPolicy | None = None) -> None:
        """Without a policy every address that is named is dialled."""
        self._arena = arena
        self._policy = policy
        self._running: dict[str, _Running] = {}
        self._draining = False

    # Running them ---------------------------------------------------------------------------------------------------

    async def take_up(self) -> int:
        """Go on with the matches that a former process left unfinished; how many there are."""
        unfinished = [
            match for match in await self._arena.store.unfinished_matches() if match.spec.get("origin") == ORIGIN
        ]
        for match in unfinished:
            self._start(_spec(match))
        return len(unfinished)

    def _start(self, spec: MatchSpec) -> None:
        feed = MatchFeed(spec.hands)
        run = MatchRun(self._arena, spec, watchers=(feed,), on_taken_up=feed.recorded)
        running = _Running(run, feed)
        self._running[spec.match_id] = running
        running.task = asyncio.create_task(self._play(running), name=f"match {spec.match_id}")

    async def _play(self, running: _Running) -> None:
        match_id = running.run.spec.match_id
        bind_ids(match_id=match_id)
        log.info("a match goes on")
        try:
            await running.run.play()
            log.info("a match is over" if not running.run.stopping else "a match was stopped")
        except asyncio.CancelledError:
            if not running.reason:
                raise  # The process ends; the match goes on at the next start.
            await self._arena.store.set_state(match_id, MatchState.CANCELLED, reason=running.reason)
        except Exception as error:
            log.exception("a match has failed")
            self._arena.journal.event("match_failed", match_id=match_id, reason=repr(error))
            await self._arena.store.set_state(match_id, MatchState.FAILED, reason=f"{type(error).__name__}: {error}")
        finally:
            self._running.pop(match_id, None)
            running.feed.close(_final(await self._arena.store.get_match(match_id)))

    @property
    def in_play(self) -> int:
        """How many matches are in play."""
        return len(self._running)

    def run_of(self, match_id: str) -> MatchRun | None:
        """A match in play, None where it is not played here."""
        running = self._running.get(match_id)
        return None if running is None else running.run

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

    async def CreateMatch(
        self, request: match_pb2.CreateMatchRequest, context: Context
    ) -> match_pb2.CreateMatchResponse:
        """Make a match and start it; the same request_id again returns the match made then."""
        who = caller(context)
        if self._draining:
            await refuse(context, code_pb2.UNAVAILABLE, "DRAINING", "the arena is stopping")
        if len(self._running) >= MOST_RUNNING:
            reason = f"{MOST_RUNNING} matches are in play; ask again when one is over"
            await refuse(context, code_pb2.RESOURCE_EXHAUSTED, "TOO_MANY_MATCHES", reason)
        try:
            spec = read_request(
                request,
                match_id=f"m{secrets.token_hex(8)}",
                drawn_seed=secrets.token_bytes(32),
                owner=who.owner,
                by_admin=who.admin,
            )
            check_bots(spec.seats)
            await self._check_reach(spec)
        except NotOffered as problem:
            await unimplemented(context, problem.field, str(problem))
        except NotAllowed as problem:
            await refuse(context, code_pb2.PERMISSION_DENIED, "ADDRESS_NOT_ALLOWED", str(problem), field="seats")
        except SpecError as problem:
            await invalid(context, problem.field, str(problem))
        asked = {**spec.to_dict(), "origin": ORIGIN, "seed": request.seed if request.HasField("seed") else None}
        try:
            match, new = await self._arena.store.create_match(
                match_id=spec.match_id,
                spec=asked,
                seed=spec.seed.hex(),
                commitment=spec.commitment,
                hands=spec.hands,
                request_id=request.request_id,
            )
        except MatchExists as problem:
            await refuse(context, code_pb2.ALREADY_EXISTS, "REQUEST_ID_TAKEN", str(problem), field="request_id")
        if new:
            self._start(spec)
        return match_pb2.CreateMatchResponse(match=await self._message(match))

    async def GetMatch(self, request: match_pb2.GetMatchRequest, context: Context) -> match_pb2.GetMatchResponse:
        """One match as it stands."""
        return match_pb2.GetMatchResponse(match=await self._message(await self._match(request.match_id, context)))

    async def ListMatches(
        self, request: match_pb2.ListMatchesRequest, context: Context
    ) -> match_pb2.ListMatchesResponse:
        """A page of matches, newest first."""
        try:
            page = await self._arena.store.list_matches(request.page_size or DEFAULT_PAGE, request.page_token)
        except BadPageToken as problem:
            await invalid(context, "page_token", str(problem))
        messages = [await self._message(match) for match in page.matches]
        return match_pb2.ListMatchesResponse(matches=messages, next_page_token=page.next_page_token)

    async def CancelMatch(
        self, request: match_pb2.CancelMatchRequest, context: Context
    ) -> match_pb2.CancelMatchResponse:
        """End a match now; the hands in play are dropped, finished ones stay."""
        match = await self._match(request.match_id, context)
        if not caller(context).owns(match.spec["owner"]):
            message = "match_id: only whose match it is, or an admin, may cancel it"
            await refuse(context, code_pb2.PERMISSION_DENIED, "NOT_OWNER", message, field="match_id")
        running = self._running.get(match.match_id)
        if running is not None and running.task is not None:
            running.reason = request.reason[:200] or "cancelled"
            await asyncio.sleep(0)  # A task that is cancelled before its first step would clear nothing away.
            running.task.cancel()
            await asyncio.wait([running.task])
        elif not match.state.final:
            await self._arena.store.set_state(match.match_id, MatchState.CANCELLED, reason=request.reason[:200])
        match = await self._arena.store.get_match(match.match_id)
        return match_pb2.CancelMatchResponse(match=await self._message(match))

    async def WatchMatch(
        self, request: match_pb2.WatchMatchRequest, context: Context
    ) -> AsyncIterator[match_pb2.WatchMatchResponse]:
        """A match's public events, those of the past first, to its end; UNAVAILABLE where it does not go on here."""
        match = await self._match(request.match_id, context)
        running = self._running.get(match.match_id)
        # Where it is not in play it may have ended since it was looked up, so it is looked up again.
        feed = running.feed if running is not None else await self._past(await self._match(match.match_id, context))
        try:
            async for event in feed.follow(max(0, request.after_sequence)):
                yield match_pb2.WatchMatchResponse(event=event)
            if not feed.complete:
                reason = "the match does not go on here now; ask again for what follows the last event"
                await refuse(context, code_pb2.UNAVAILABLE, "NOT_PLAYED_HERE", reason)
        except Gone as problem:
            await refuse(context, code_pb2.OUT_OF_RANGE, "EVENTS_GONE", str(problem), field="after_sequence")

    async def GetHandRecord(
        self, request: match_pb2.GetHandRecordRequest, context: Context
    ) -> match_pb2.GetHandRecordResponse:
        """The record of one finished hand, of a match or a tournament."""
        match = await self._recorded(request.match_id, context)
        try:
            line = await record_access.record(self._arena.store, match, request.hand_index, caller(context))
        except record_access.Private as problem:
            await _refuse_records(context, problem)
        if line is None:
            await not_found(context, f"hand_index: hand {request.hand_index} has no record yet")
        return match_pb2.GetHandRecordResponse(line=line.decode(), record=record_message(line))

    async def ListHandRecords(
        self, request: match_pb2.ListHandRecordsRequest, context: Context
    ) -> AsyncIterator[match_pb2.ListHandRecordsResponse]:
        """The records so far, of a match or a tournament, in the order of hands."""
        match = await self._recorded(request.match_id, context)
        first = max(0, request.from_hand_index)
        try:
            async for line in record_access.records(self._arena.store, match, first, caller(context)):
                record = record_message(line) if request.parsed else None
                yield match_pb2.ListHandRecordsResponse(line=line.decode(), record=record)
        except record_access.Private as problem:
            await _refuse_records(context, problem)

    async def _check_reach(self, spec: MatchSpec) -> None:
        """SpecError for a seat that leads nowhere, NotAllowed for an address that is not dialled for who asks."""
        for seat in spec.seats:
            try:
                if seat.kind is SeatKind.REGISTERED:
                    await self._arena.store.bots.get(seat.bot)
                elif seat.kind is SeatKind.ADDRESS and self._policy is not None:
                    await self._policy.target(seat.bot, admin=spec.by_admin)
            except (UnknownBot, BadAddress) as problem:
                raise SpecError("seats", str(problem)) from None

    # Helpers --------------------------------------------------------------------------------------------------------

    async def _match(self, match_id: str, context: Context) -> Match:
        match = await self._recorded(match_id, context)
        if match.kind is not MatchKind.MATCH:
            await not_found(context, f"match_id: {match_id} is a tournament; ask TournamentService")
        return match

    async def _recorded(self, match_id: str, context: Context) -> Match:
        """A match or a tournament: whatever has records."""
        try:
            return await self._arena.store.get_match(match_id)
        except UnknownMatch:
            await not_found(context, f"match_id: there is no match {match_id[:80]!r}")

    async def _message(self, match: Match) -> match_pb2.Match:
        store = self._arena.store
        return match_message(
            match,
            _spec(match),
            finished=await store.count_hands(match.match_id),
            totals=await store.totals(match.match_id),
        )

    async def _past(self, match: Match) -> MatchFeed:
        feed = MatchFeed(match.hands)
        async for line in self._arena.store.records(match.match_id):
            feed.recorded(orjson.loads(line))
        feed.close(_final(match))
        return feed


def _final(match: Match) -> "match_pb2.MatchState.ValueType | None":
    """The state a match has ended in, None while it goes on."""
    return STATES[match.state] if match.state.final else None


def _spec(match: Match) -> MatchSpec:
    return MatchSpec.from_dict(match.spec, match_id=match.match_id, seed=bytes.fromhex(match.seed))


async def _refuse_records(context: Context, problem: record_access.Private) -> NoReturn:
    await refuse(context, code_pb2.PERMISSION_DENIED, "RECORDS_PRIVATE", f"match_id: {problem}", field="match_id")


def record_message(line: bytes) -> record_pb2.HandRecord:
    """A record's line as a message."""
    record: dict[str, Any] = orjson.loads(line)
    return json_format.ParseDict(record, record_pb2.HandRecord())
