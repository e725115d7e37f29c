"""Anything may be said to the arena, by callers, bots and strangers: it stays up, and says what it does not like."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from google.protobuf.message import Message
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.arena.babble import HELLO, Word, babble_joined, babbling, words
from tests.arena.fuzzed import Fuzzed, fuzzed, methods
from tests.arena.fuzzing import PREFACE, edited, messages, nearly, noise, not_utf8, spoiled
from tests.arena.network import faults
from tests.arena.serving import refusal
from wakeng.v1 import bot_pb2, gateway_pb2, match_pb2, tournament_pb2

METHODS = methods()
ARENAS_OWN = {"INTERNAL", "UNKNOWN", "DATA_LOSS"}
"""Statuses by which the arena would own that it has failed itself."""
MAKES: dict[str, tuple[Any, str, Any]] = {
    "CreateMatch": (
        match_pb2.CreateMatchResponse,
        "/wakeng.v1.MatchService/CancelMatch",
        lambda name: match_pb2.CancelMatchRequest(match_id=name),
    ),
    "CreateTournament": (
        tournament_pb2.CreateTournamentResponse,
        "/wakeng.v1.TournamentService/CancelTournament",
        lambda name: tournament_pb2.CancelTournamentRequest(tournament_id=name),
    ),
}
"""What is begun by a call, and how it is ended, so that it takes nobody's time."""
HELLO_BYTES = HELLO.SerializeToString()
HELLO_JOIN = gateway_pb2.JoinRequest(hello=HELLO).SerializeToString()


def examples(few: int) -> settings:
    """So many examples; twelve times as many by `--hypothesis-profile=soak`."""
    many = 12 if settings.get_current_profile_name() == "soak" else 1
    return settings(max_examples=few * many, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzzed]:
    with fuzzed(tmp_path_factory.mktemp("fuzzed")) as served:
        yield served


def as_bytes(message: Message) -> bytes:
    return message.SerializeToString()


HELLOS = messages(bot_pb2.DescribeResponse.DESCRIPTOR, ["xian", "bidding", "1"]).map(as_bytes)
JOINS = messages(gateway_pb2.JoinRequest.DESCRIPTOR, ["xian", "pass"]).map(as_bytes)


# Requests ------------------------------------------------------------------------------------------------------------


async def hold_request(arena: Fuzzed, path: str, raw: bytes) -> None:
    """A request is answered, or refused for a reason that is not the arena's own failure."""
    method = METHODS[path]
    came, answers = await arena.call(path, method, raw)
    assert came.code == "OK" or (came.reason and came.code not in ARENAS_OWN), came
    if method.name in MAKES and answers:
        made, cancel, request = MAKES[method.name]
        answer = made.FromString(answers[0])
        name = answer.match.match_id if method.name == "CreateMatch" else answer.tournament.tournament_id
        _, ended = await arena.call(cancel, METHODS[cancel], request(name).SerializeToString())
        assert ended


@pytest.mark.parametrize("path", METHODS)
def test_every_request_is_answered_or_refused_for_a_reason(arena: Fuzzed, path: str) -> None:
    good = messages(METHODS[path].input_type, arena.words).map(as_bytes)

    @examples(40)
    @given(raw=spoiled(good))
    def hold(raw: bytes) -> None:
        arena.run(hold_request(arena, path, raw))

    hold()


def test_a_match_that_is_nearly_as_it_should_be_is_made_or_refused(arena: Fuzzed) -> None:
    good = arena.request()

    @examples(60)
    @given(request=nearly(good, arena.words))
    def hold(request: Any) -> None:
        if request.request_id == good.request_id:
            request.request_id += f".{next(arena.names)}"  # Else it would be known, and not looked at.
        arena.run(hold_request(arena, "/wakeng.v1.MatchService/CreateMatch", request.SerializeToString()))

    hold()


def test_a_tournament_that_is_nearly_as_it_should_be_is_made_or_refused(arena: Fuzzed) -> None:
    good = arena.tournament()

    @examples(60)
    @given(spec=edited(good))
    @example(spec=good)
    @example(spec="blocks = " + "9" * 5_000)
    @example(spec="blocks = " + "[" * 5_000)
    def hold(spec: str) -> None:
        request = tournament_pb2.CreateTournamentRequest(request_id=f"t{next(arena.names)}", spec=spec)
        arena.run(hold_request(arena, "/wakeng.v1.TournamentService/CreateTournament", request.SerializeToString()))

    hold()


@pytest.mark.parametrize("path", METHODS)
def test_what_is_no_text_is_not_taken_for_one(arena: Fuzzed, path: str) -> None:
    for field in METHODS[path].input_type.fields:
        if field.type == field.TYPE_STRING:
            came, _ = arena.run(arena.call(path, METHODS[path], not_utf8(field.number)))
            assert (came.code, came.reason, came.field) == ("INVALID_ARGUMENT", "INVALID_FIELD", "request")


# Bots ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("streams", [True, False])
def test_whatever_a_bot_says_its_match_ends_and_nobody_else_is_blamed(arena: Fuzzed, *, streams: bool) -> None:
    @examples(25)
    @given(script=words(), description=st.one_of(st.just(HELLO_BYTES), spoiled(HELLOS)))
    def hold(script: list[Word], description: bytes) -> None:
        arena.run(play(script, description))

    async def play(script: list[Word], description: bytes) -> None:
        async with babbling(streams=streams) as bot:
            bot.tell(script)
            bot.description = description
            records = await arena.match(match_pb2.SeatSpec(address=bot.address))
            assert {seat for seat, _ in faults(records)} <= {1}

    hold()


def test_whatever_a_bot_says_that_has_dialled_in_the_same_holds(arena: Fuzzed) -> None:
    joins = st.one_of(st.just([HELLO_JOIN]), st.lists(spoiled(JOINS), max_size=3))

    @examples(25)
    @given(script=words(), first=joins)
    def hold(script: list[Word], first: list[bytes]) -> None:
        arena.run(play(script, first))

    async def play(script: list[Word], first: list[bytes]) -> None:
        name, token = await arena.registered()
        joining = asyncio.ensure_future(babble_joined(arena.client.channel, token, first, script))
        records = await arena.match(match_pb2.SeatSpec(registered=name))
        assert {seat for seat, _ in faults(records)} <= {1}
        joining.cancel()
        await asyncio.wait([joining])
        if not joining.cancelled() and (ended := joining.result()) is not None:
            came = refusal(ended)
            # gRPC itself gives no reason: where a message is over its limit, and where a call of ours breaks off.
            plain = came.code == "CANCELLED" or came.message == "Internal error from Core"
            plain = plain or "message larger than max" in came.message
            assert plain or (came.reason and came.code not in ARENAS_OWN), came

    hold()


# Strangers -----------------------------------------------------------------------------------------------------------


def test_noise_at_the_port_costs_its_connection_and_no_more(arena: Fuzzed) -> None:
    @examples(150)
    @given(sent=noise(), ends=st.booleans())
    def hold(sent: bytes, *, ends: bool) -> None:
        arena.run(say(sent, ends=ends))

    async def say(sent: bytes, *, ends: bool) -> None:
        reader, writer = await connect(arena)
        writer.write(sent)
        if ends:
            writer.write_eof()
        with suppress(OSError):
            await writer.drain()
            await asyncio.wait([asyncio.ensure_future(reader.read(1))], timeout=0.02)
        writer.transport.abort()

    hold()


def test_who_connects_and_dawdles_keeps_nobody_out(arena: Fuzzed) -> None:
    async def dawdle() -> None:
        lines = [await connect(arena) for _ in range(200)]
        for turn in range(len(PREFACE)):
            for place, (_, writer) in enumerate(lines):
                if place % 4:  # Every fourth says nothing at all.
                    writer.write(PREFACE[turn : turn + 1])
            await arena.healthy()
        records = await arena.match(match_pb2.SeatSpec(address=arena.honest))
        assert faults(records) == {}
        for _, writer in lines:
            writer.transport.abort()

    arena.run(dawdle())


async def connect(arena: Fuzzed) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A plain connection to the arena's port."""
    host, _, port = arena.served.address.rpartition(":")
    return await asyncio.open_connection(host, int(port))
