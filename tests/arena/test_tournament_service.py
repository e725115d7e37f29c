"""TournamentService over real gRPC: made, watched, paused, resumed, cancelled, and what is private meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import grpc.aio
import orjson
import pytest

from tests.arena.serving import Client, Refusal, Served, refusal, refused, serving
from tests.arena.tournaments import CALM, SEED, rows, spec
from wakeng.engine import commitment
from wakeng.sdk import Bot, BotServer, Decision, start
from wakeng.services.store import Role, Store
from wakeng.services.tournament.messages import standings_dict
from wakeng.services.tournament.run import create, get, standings_now
from wakeng.services.tournament.spec_file import parse_spec
from wakeng.v1 import bot_pb2, match_pb2, tournament_pb2

RUNNING = tournament_pb2.TOURNAMENT_STATE_RUNNING
PAUSED = tournament_pb2.TOURNAMENT_STATE_PAUSED
FINISHED = tournament_pb2.TOURNAMENT_STATE_FINISHED
CANCELLED = tournament_pb2.TOURNAMENT_STATE_CANCELLED
BLOCKS = 4


class Holder(Bot):
    """Plays the first legal token; after so many hands it says so, and waits for `open` before it plays on."""

    def __init__(self, hands: int = 1_000_000) -> None:
        self.reached = asyncio.Event()
        self.open = asyncio.Event()
        self._hands = hands
        self._once = asyncio.Event()

    async def choose(self, decision: Decision) -> str:
        if self._hands <= 0 and not self.open.is_set():
            self.reached.set()
            once, opened = (asyncio.ensure_future(event.wait()) for event in (self._once, self.open))
            await asyncio.wait((once, opened), return_when=asyncio.FIRST_COMPLETED)
            once.cancel()
            opened.cancel()
        return decision.legal[0]

    def answer(self) -> None:
        """Answer what is waiting now, and hold up what comes after it."""
        self._once.set()
        self._once = asyncio.Event()

    def hand_ended(self, notice: bot_pb2.HandEnded) -> None:
        self._hands -= 1


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with serving(tmp_path) as arena:
        yield arena


@pytest.fixture
async def client(served: Served) -> AsyncIterator[Client]:
    async with Client(served.address) as caller:
        yield caller


@pytest.fixture
async def bot() -> AsyncIterator[BotServer]:
    """A bot that plays."""
    async with await start(Holder()) as server:
        yield server


def three(bot: BotServer, **fields: Any) -> str:
    """A tournament of one bot under three names, hand after hand."""
    items = [f'{{ name = "{name}", address = "{bot.address}" }}' for name in "abc"]
    return spec(*items, lines=(CALM,), **{"blocks": BLOCKS, "tables": 1, **fields})


async def made(client: Client, text: str, request_id: str = "r", **fields: Any) -> tournament_pb2.Tournament:
    request = tournament_pb2.CreateTournamentRequest(request_id=request_id, spec=text, **fields)
    found: tournament_pb2.Tournament = (await client(client.tournaments.CreateTournament, request)).tournament
    return found


async def one(client: Client, method: str, tournament_id: str, **fields: Any) -> tournament_pb2.Tournament:
    """What a call about one tournament answers."""
    request = getattr(tournament_pb2, f"{method}Request")(tournament_id=tournament_id, **fields)
    found: tournament_pb2.Tournament = (await client(getattr(client.tournaments, method), request)).tournament
    return found


async def watched(
    client: Client, tournament_id: str, *, standings: bool = True
) -> list[tournament_pb2.WatchTournamentResponse]:
    """All that a watcher is told."""
    request = tournament_pb2.WatchTournamentRequest(tournament_id=tournament_id, standings=standings)
    return [news async for news in client.tournaments.WatchTournament(request, metadata=client.metadata)]


async def finished(client: Client, tournament_id: str) -> tournament_pb2.Tournament:
    """The tournament once it is over."""
    last = (await watched(client, tournament_id, standings=False))[-1].tournament
    assert last.state == FINISHED, last
    return last


async def listed(client: Client, match_id: str, first: int = 0) -> list[int]:
    """The numbers of the hands whose records the caller may list."""
    request = match_pb2.ListHandRecordsRequest(match_id=match_id, from_hand_index=first)
    answers = client.matches.ListHandRecords(request, metadata=client.metadata)
    return [orjson.loads(answer.line)["hand_index"] async for answer in answers]


async def record(client: Client, match_id: str, hand_index: int) -> Any:
    request = match_pb2.GetHandRecordRequest(match_id=match_id, hand_index=hand_index)
    return await client(client.matches.GetHandRecord, request)


async def recorded(store: Store, tournament_id: str, hands: int) -> None:
    """Return when so many hands are in the store: a record is written a moment after its hand is over."""
    while await store.count_hands(tournament_id) < hands:  # noqa: ASYNC110 - a database tells nobody
        await asyncio.sleep(0.01)


# Made and watched ----------------------------------------------------------------------------------------------------


async def test_a_tournament_is_made_watched_to_its_end_and_told(served: Served, client: Client, bot: BotServer) -> None:
    tournament = await made(client, three(bot))
    assert tournament.commitment == commitment(bytes.fromhex(SEED))
    assert (tournament.format, tournament.planned_blocks, tournament.hands_per_block) == ("all", BLOCKS, 3)
    assert [entrant.name for entrant in tournament.bots] == ["a", "b", "c"]
    assert not tournament.HasField("seed")
    told = await watched(client, tournament.tournament_id)
    prefixes = [news.tournament.prefix for news in told]
    assert prefixes == sorted(prefixes)
    last = told[-1]
    assert (last.tournament.state, last.tournament.prefix, last.tournament.hands_recorded) == (FINISHED, 4, 12)
    assert last.tournament.seed == SEED
    request = tournament_pb2.GetStandingsRequest(tournament_id=tournament.tournament_id)
    standings = (await client(client.tournaments.GetStandings, request)).standings
    assert standings == last.standings
    again = await standings_now(served.store, await get(served.store, tournament.tournament_id))
    assert standings_dict(standings) == again.to_dict()
    assert await one(client, "GetTournament", tournament.tournament_id) == last.tournament


async def test_the_same_request_makes_one_tournament(client: Client, bot: BotServer) -> None:
    text = three(bot, seed=None)
    first = await made(client, text, tournament_id="mine")
    again = await made(client, text, tournament_id="mine")
    assert first.tournament_id == again.tournament_id == "mine"
    assert first.commitment == again.commitment, "the seed was drawn once"
    other = await refused(made(client, three(bot, blocks=2, seed=None)))
    assert (other.code, other.reason, other.field) == ("ALREADY_EXISTS", "REQUEST_ID_TAKEN", "request_id")
    taken = await refused(made(client, text, "r2", tournament_id="mine"))
    assert (taken.code, taken.reason, taken.field) == ("ALREADY_EXISTS", "TOURNAMENT_ID_TAKEN", "tournament_id")
    await finished(client, "mine")


async def test_tournaments_are_listed_by_pages_newest_first_and_are_no_matches(client: Client, bot: BotServer) -> None:
    for number in range(3):
        tournament = await made(client, three(bot, blocks=1), f"r{number}", tournament_id=f"t{number}")
        await finished(client, tournament.tournament_id)
    request = tournament_pb2.ListTournamentsRequest(page_size=2)
    page = await client(client.tournaments.ListTournaments, request)
    assert [one.tournament_id for one in page.tournaments] == ["t2", "t1"]
    request.page_token = page.next_page_token
    page = await client(client.tournaments.ListTournaments, request)
    assert [one.tournament_id for one in page.tournaments] == ["t0"]
    assert not page.next_page_token
    assert not (await client(client.matches.ListMatches, match_pb2.ListMatchesRequest())).matches
    for method, asked in (
        ("GetMatch", match_pb2.GetMatchRequest(match_id="t0")),
        ("CancelMatch", match_pb2.CancelMatchRequest(match_id="t0")),
    ):
        no_match = await refused(client(getattr(client.matches, method), asked))
        assert (no_match.code, "TournamentService" in no_match.message) == ("NOT_FOUND", True)


@pytest.mark.parametrize(
    ("text", "field", "said"),
    [
        ("", "spec", "must be a TOML text"),
        ("x" * 140_000, "spec", "at most"),
        ("name = ", "file", "(line 1)"),
        ("\nx" + ".y" * 60_000 + " = 1", "file", "(line 2): has a key of more than 64 parts"),
        ('"x y" . ' * 16_000 + "z = 1", "file", "(line 1): has a key of more than 64 parts"),
        ("x = " + "[" * 60_000, "file", "is nested too deeply"),
        ("x = " + "9" * 100_000, "file", "is no TOML"),
        (spec('"greedy"', '"lowest"', '"radnom"', blocks=1), "bots[2]", "(line 5): there is no built-in bot 'radnom'"),
        (spec('"greedy"', '"lowest"', blocks=1), "bots", "(line 5)"),
        (
            spec('"greedy"', '"lowest"', '{ name = "m", registered = "m" }', blocks=1),
            "bots[2].registered",
            "(line 5): no bot 'm' is registered",
        ),
        (
            spec('"greedy"', '"lowest"', '{ name = "m", address = "8.8.8.8:1" }', blocks=1),
            "bots[2]",
            "--allow-net",
        ),
    ],
)
async def test_a_spec_that_cannot_be_played_is_refused_by_field_and_line(
    served: Served, client: Client, text: str, field: str, said: str
) -> None:
    problem = await refused(made(client, text))
    assert (problem.code, problem.field) in (("INVALID_ARGUMENT", field), ("PERMISSION_DENIED", field))
    assert said in problem.message
    page = await client(client.tournaments.ListTournaments, tournament_pb2.ListTournamentsRequest())
    assert not page.tournaments


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"request_id": ""}, "request_id"),
        ({"request_id": "x" * 65}, "request_id"),
        ({"tournament_id": "a/b"}, "tournament_id"),
        ({"seed": "8" * 64}, "seed"),
        ({"seed": "8"}, "seed"),
    ],
)
async def test_a_request_is_checked_beside_its_spec(
    client: Client, bot: BotServer, fields: dict[str, str], field: str
) -> None:
    problem = await refused(made(client, three(bot), **{"request_id": "r", **fields}))
    assert (problem.code, problem.field) == ("INVALID_ARGUMENT", field)


@pytest.mark.parametrize("method", ["GetTournament", "PauseTournament", "ResumeTournament", "CancelTournament"])
async def test_an_unknown_tournament_is_not_found(client: Client, method: str) -> None:
    assert (await refused(one(client, method, "nobody"))).code == "NOT_FOUND"


# Paused, resumed, cancelled ------------------------------------------------------------------------------------------


async def test_a_paused_tournament_goes_on_when_it_is_resumed_and_ends_as_if_it_never_was(tmp_path: Path) -> None:
    standings = []
    for pause in (False, True):
        folder = tmp_path / str(pause)
        folder.mkdir()
        holder = Holder(hands=9)
        async with serving(folder) as served, Client(served.address) as client, await start(holder) as bot:
            await made(client, three(bot, tables=2), tournament_id="t")
            await holder.reached.wait()
            if pause:
                await paused_and_resumed(client, holder)
            holder.open.set()
            await finished(client, "t")
            standings.append((await standings_now(served.store, await get(served.store, "t"))).to_dict())
    assert standings[0] == standings[1]


async def paused_and_resumed(client: Client, holder: Holder) -> None:
    watching = asyncio.ensure_future(refused(watched(client, "t")))
    pausing = asyncio.ensure_future(one(client, "PauseTournament", "t"))
    request = tournament_pb2.WatchTournamentRequest(tournament_id="t")
    async for news in client.tournaments.WatchTournament(request):
        if news.tournament.state == PAUSED:
            break
    assert not pausing.done(), "it answers once the hands in play are over"
    holder.open.set()
    tournament = await pausing
    assert tournament.state == PAUSED
    assert tournament.hands_recorded < 12
    assert (await watching).reason == "NOT_PLAYED_HERE"
    assert (await one(client, "PauseTournament", "t")).state == PAUSED
    assert (await one(client, "ResumeTournament", "t")).state == RUNNING


async def test_a_paused_tournament_stays_so_over_a_restart_and_one_in_play_goes_on(tmp_path: Path) -> None:
    holder = Holder(hands=7)
    async with await start(holder) as bot:
        async with serving(tmp_path) as served, Client(served.address) as client:
            await made(client, three(bot), "r1", tournament_id="paused")
            await one(client, "PauseTournament", "paused")
            await made(client, three(bot), "r2", tournament_id="t")
            by_command = parse_spec(three(bot), drawn_seed=bytes(32))
            await create(served.store, "by-command", by_command)
            await holder.reached.wait()
        holder.open.set()
        async with serving(tmp_path) as served, Client(served.address) as client:
            assert (await finished(client, "t")).hands_recorded == 12
            states = {name: (await one(client, "GetTournament", name)).state for name in ("paused", "by-command")}
            assert states == {"paused": PAUSED, "by-command": tournament_pb2.TOURNAMENT_STATE_PENDING}
            other = await refused(one(client, "ResumeTournament", "by-command"))
            assert (other.code, other.reason) == ("FAILED_PRECONDITION", "NOT_PLAYED_HERE")
            await one(client, "ResumeTournament", "paused")
            assert (await finished(client, "paused")).hands_recorded == 12


async def test_a_cancelled_tournament_keeps_what_was_played(served: Served, client: Client) -> None:
    holder = Holder(hands=6)
    async with await start(holder) as bot:
        await made(client, three(bot), tournament_id="t")
        await holder.reached.wait()
        tournament = await one(client, "CancelTournament", "t", reason="rain")
        assert (tournament.state, tournament.reason, tournament.seed) == (CANCELLED, "rain", SEED)
        assert (tournament.hands_recorded, tournament.prefix) == (2, 0)
        assert (await watched(client, "t"))[-1].tournament == tournament
        assert (await one(client, "ResumeTournament", "t")).state == CANCELLED
        assert await listed(client, "t") == [0, 1], "no hand of the block will be played any more"


# What is private -----------------------------------------------------------------------------------------------------


async def test_nothing_of_a_block_is_told_before_it_is_complete(tmp_path: Path) -> None:
    """One bot under three names sits in every seat: after 12 of its hands a block is complete and one hand more."""
    holder = Holder(hands=12)
    async with serving(tmp_path, demand_tokens=True) as served, await start(holder) as bot:
        tokens = {role: await served.token(role, owner="wei" if role is Role.AUTHOR else "") for role in Role}
        await served.store.bots.add(_registered(bot, "wei"), token_hash=None, owner_token_hash=None)
        items = [f'{{ name = "{name}", registered = "mine" }}' for name in "abc"]
        text = spec(*items, lines=(CALM,), blocks=BLOCKS, tables=1)
        async with (
            Client(served.address, tokens[Role.ADMIN]) as admin,
            Client(served.address, tokens[Role.AUTHOR]) as owner,
            Client(served.address, tokens[Role.VIEWER]) as viewer,
        ):
            await made(owner, text, tournament_id="t")
            await holder.reached.wait()
            await recorded(served.store, "t", 4)
            news = await first_news(viewer, "t")
            assert (news.tournament.prefix, news.tournament.hands_recorded, news.standings.prefix) == (1, 4, 1)
            assert await listed(admin, "t") == [0, 1, 2, 3]
            assert await listed(owner, "t") == [0, 1, 2]
            assert await listed(owner, "t", first=1) == [1, 2]
            assert (await record(owner, "t", 2)).line
            assert (await record(admin, "t", 3)).line
            assert (await refused(record(owner, "t", 3))).reason == "RECORDS_PRIVATE"
            for index in (2, 3):
                assert (await refused(record(viewer, "t", index))).reason == "RECORDS_PRIVATE"
            holder.open.set()
            await finished(viewer, "t")
            assert await listed(viewer, "t") == list(range(12))


def _registered(bot: BotServer, owner: str) -> Any:
    from wakeng.services.registration import Registration

    return Registration(name="mine", address=bot.address, owner=owner, by_admin=True)


async def first_news(client: Client, tournament_id: str) -> tournament_pb2.WatchTournamentResponse:
    request = tournament_pb2.WatchTournamentRequest(tournament_id=tournament_id, standings=True)
    call = client.tournaments.WatchTournament(request, metadata=client.metadata)
    news: tournament_pb2.WatchTournamentResponse = await call.read()
    call.cancel()
    return news


async def test_who_may_do_what(tmp_path: Path) -> None:
    async with serving(tmp_path, demand_tokens=True) as served, await start(Holder()) as bot:
        wei = await served.token(Role.AUTHOR, owner="wei")
        li = await served.token(Role.AUTHOR, owner="li")
        async with (
            Client(served.address, wei) as mine,
            Client(served.address, li) as other,
            Client(served.address) as stranger,
        ):
            text = spec('"lowest"', '"lowest 2"', '"lowest 3"', blocks=1)
            text = text.replace('"lowest 2"', '{ name = "2", builtin = "lowest" }')
            text = text.replace('"lowest 3"', '{ name = "3", builtin = "lowest" }')
            assert (await refused(made(stranger, text))).code == "UNAUTHENTICATED"
            loopback = await refused(made(mine, three(bot)))
            assert (loopback.code, loopback.reason) == ("PERMISSION_DENIED", "ADDRESS_NOT_ALLOWED")
            assert loopback.field == "bots[0]"
            await made(mine, text, tournament_id="t")
            for method in ("PauseTournament", "ResumeTournament", "CancelTournament"):
                assert (await refused(one(other, method, "t"))).reason == "NOT_OWNER"
                assert (await refused(one(stranger, method, "t"))).code == "UNAUTHENTICATED"
            await finished(stranger, "t")
            assert await _standings_rows(stranger, "t") == ["2", "3", "lowest"]


async def _standings_rows(client: Client, tournament_id: str) -> Sequence[str]:
    request = tournament_pb2.GetStandingsRequest(tournament_id=tournament_id)
    answer = await client(client.tournaments.GetStandings, request)
    return sorted(rows(standings_dict(answer.standings)))


async def test_an_arena_that_stops_begins_no_tournament(tmp_path: Path, bot: BotServer) -> None:
    async with serving(tmp_path) as served, Client(served.address) as client:
        await served.server.tournaments.drain(0)
        draining = await refused(made(client, three(bot)))
        assert draining == Refusal("UNAVAILABLE", "DRAINING", message="the arena is stopping")


async def test_a_watcher_of_what_nobody_plays_is_told_so(served: Served, client: Client, bot: BotServer) -> None:
    await create(served.store, "t", parse_spec(three(bot), drawn_seed=bytes(32)))
    call = client.tournaments.WatchTournament(tournament_pb2.WatchTournamentRequest(tournament_id="t"))
    told = await call.read()
    assert (told.tournament.prefix, told.HasField("standings")) == (0, False)
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await call.read()
    assert refusal(error.value).reason == "NOT_PLAYED_HERE"
