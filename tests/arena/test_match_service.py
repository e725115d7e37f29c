"""MatchService over real gRPC: what callers may ask, what they are told, and what happens when it cannot be."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from google.protobuf import json_format

from tests.arena.hosts import Host
from tests.arena.playing import SEED, checked, folder_in, match, playing, story
from tests.arena.serving import Client, Refusal, Served, refused, serving
from wakeng.engine import commitment, replay
from wakeng.sdk import BotServer, start
from wakeng.v1 import match_pb2, rules_pb2

FINISHED = match_pb2.MATCH_STATE_FINISHED
RUNNING = match_pb2.MATCH_STATE_RUNNING
CANCELLED = match_pb2.MATCH_STATE_CANCELLED


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
    async with await start(Host()) as server:
        yield server


def request(*seats: str, request_id: str = "r1", hands: int = 6, **fields: Any) -> match_pb2.CreateMatchRequest:
    """A match of the bots at those addresses."""
    return match_pb2.CreateMatchRequest(
        request_id=request_id,
        rules=fields.pop("rules", rules_pb2.RuleSet(preset="three_feature")),
        seats=[match_pb2.SeatSpec(address=address) for address in seats],
        hands=hands,
        **{"seed": SEED.hex(), **fields},
    )


async def create(client: Client, asked: match_pb2.CreateMatchRequest) -> match_pb2.Match:
    made: match_pb2.Match = (await client(client.matches.CreateMatch, asked)).match
    return made


async def get(client: Client, match_id: str) -> match_pb2.Match:
    found: match_pb2.Match = (await client(client.matches.GetMatch, match_pb2.GetMatchRequest(match_id=match_id))).match
    return found


async def events(client: Client, match_id: str, after: int = 0) -> list[match_pb2.MatchEvent]:
    """All events of a match, to the end that the stream has by itself."""
    call = client.matches.WatchMatch(match_pb2.WatchMatchRequest(match_id=match_id, after_sequence=after))
    return [response.event async for response in call]


async def lines(client: Client, match_id: str, **fields: Any) -> list[match_pb2.ListHandRecordsResponse]:
    call = client.matches.ListHandRecords(match_pb2.ListHandRecordsRequest(match_id=match_id, **fields))
    return [response async for response in call]


async def played(client: Client, asked: match_pb2.CreateMatchRequest) -> match_pb2.Match:
    """A match, played to its end."""
    made = await create(client, asked)
    await events(client, made.match_id)
    return await get(client, made.match_id)


# A match and what becomes of it --------------------------------------------------------------------------------------


async def test_a_match_is_played_and_told_as_it_stands(client: Client, tmp_path: Path) -> None:
    host = Host(decisions=5)
    async with await start(host) as server:
        made = await create(client, request(*[server.address] * 3, time_control=rules_pb2.TimeControl(move_ms=60_000)))
        assert made.commitment == commitment(SEED)
        await host.reached.wait()
        running = await get(client, made.match_id)
        assert running.state == RUNNING
        assert not running.HasField("seed") and not running.HasField("finish_time")
        host.open.set()
        await events(client, made.match_id)
    over = await get(client, made.match_id)
    assert (over.state, over.seed, over.hands_finished) == (FINISHED, SEED.hex(), 6)
    assert over.HasField("finish_time") and not over.reason
    assert over.time_control == rules_pb2.TimeControl(
        move_ms=60_000, bank_ms=1_000, ready_ms=5_000, reconnect_ms=2_000, max_strikes=3
    )
    assert (over.fault_policy.max_strikes, over.fault_policy.max_escapes, over.tables) == (3, 3, 64)
    assert [seat.address for seat in over.seats] == [server.address] * 3


async def test_totals_are_those_of_the_records(client: Client, bot: BotServer) -> None:
    over = await played(client, request(*[bot.address] * 3, hands=20))
    results = [orjson.loads(response.line)["result"] for response in await lines(client, over.match_id)]
    for seat, totals in enumerate(over.totals):
        assert totals.score == sum(result["scores"][seat] for result in results)
        assert totals.hands_as_digger == sum(result["digger"] == seat for result in results)
        assert totals.wins_as_digger == sum(r["digger"] == seat and r["winner"] == "DIGGER" for r in results)
        assert totals.wins_as_defender == sum(r["digger"] != seat and r["winner"] == "DEFENDERS" for r in results)
        assert totals.escapes == 0


async def test_records_are_the_lines_and_the_same_parsed(client: Client, bot: BotServer, tmp_path: Path) -> None:
    over = await played(client, request(*[bot.address] * 3))
    found = await lines(client, over.match_id, parsed=True)
    records = [checked(response.line.encode()) for response in found]
    assert [record["hand_index"] for record in records] == list(range(6))
    for response, record in zip(found, records, strict=True):
        assert json_format.MessageToDict(response.record, preserving_proto_field_name=True) == record
    one = await client(
        client.matches.GetHandRecord, match_pb2.GetHandRecordRequest(match_id=over.match_id, hand_index=4)
    )
    assert (one.line, one.record) == (found[4].line, found[4].record)
    rest = await lines(client, over.match_id, from_hand_index=4)
    assert [response.line for response in rest] == [response.line for response in found[4:]]
    assert not rest[0].HasField("record")
    async with playing(folder_in(tmp_path, "elsewhere")) as arena:
        same = await arena.match(match(*[bot.address] * 3, rules="three_feature", hands=6))
    assert list(map(story, records)) == list(map(story, same))


async def test_a_built_in_bot_is_a_seat_by_name(client: Client, bot: BotServer) -> None:
    asked = request(*[bot.address] * 2)
    asked.seats.append(match_pb2.SeatSpec(builtin="faulty:illegal"))
    over = await played(client, asked)
    assert (over.state, over.totals[2].escapes) == (FINISHED, 6)
    assert over.seats[2].builtin == "faulty:illegal"


async def test_what_was_asked_twice_is_made_once(client: Client, bot: BotServer) -> None:
    asked = request(*[bot.address] * 3)
    first = await create(client, asked)
    again = await create(client, asked)
    assert again.match_id == first.match_id
    other = request(*[bot.address] * 3, hands=7)
    assert await refused(create(client, other)) == Refusal(
        "ALREADY_EXISTS",
        "REQUEST_ID_TAKEN",
        "request_id",
        message="request_id: r1 was given before, to another request",
    )
    asked.request_id = "r2"
    assert (await create(client, asked)).match_id != first.match_id


async def test_a_seed_that_is_not_given_is_drawn_and_told_at_the_end(client: Client, bot: BotServer) -> None:
    asked = request(*[bot.address] * 3, hands=1)
    asked.ClearField("seed")
    over = await played(client, asked)
    assert over.seed != SEED.hex()
    assert commitment(bytes.fromhex(over.seed)) == over.commitment
    assert (await create(client, asked)).match_id == over.match_id, "asked again it is the same request"


async def test_matches_come_by_pages_newest_first(client: Client, bot: BotServer) -> None:
    made = []
    for number in range(5):
        asked = request(*[bot.address] * 3, request_id=f"r{number}", hands=1)
        made.append((await create(client, asked)).match_id)
    found, token, pages = [], "", 0
    while pages == 0 or token:
        page = await client(client.matches.ListMatches, match_pb2.ListMatchesRequest(page_size=2, page_token=token))
        found += [listed.match_id for listed in page.matches]
        token, pages = page.next_page_token, pages + 1
    assert found == made[::-1]
    assert pages == 3
    whole = await client(client.matches.ListMatches, match_pb2.ListMatchesRequest())
    assert [listed.match_id for listed in whole.matches] == found and not whole.next_page_token


# Cancelling ----------------------------------------------------------------------------------------------------------


async def test_a_cancelled_match_keeps_what_was_finished_and_says_why(client: Client, served: Served) -> None:
    host = Host(decisions=600)
    async with await start(host) as server:
        asked = request(*[server.address] * 3, hands=1_000, tables=4)
        asked.time_control.move_ms = 60_000
        made = await create(client, asked)
        await host.reached.wait()
        cancel = match_pb2.CancelMatchRequest(match_id=made.match_id, reason="rain")
        over = (await client(client.matches.CancelMatch, cancel)).match
        assert (over.state, over.reason, over.seed) == (CANCELLED, "rain", SEED.hex())
        assert 0 < over.hands_finished < 1_000
        assert [checked(response.line.encode()) for response in await lines(client, made.match_id)]
        again = match_pb2.CancelMatchRequest(match_id=made.match_id, reason="snow")
        assert (await client(client.matches.CancelMatch, again)).match == over
        assert (await events(client, made.match_id))[-1].state == CANCELLED
    assert served.metrics.registry.get_sample_value("wakeng_tables_running") == 0
    assert served.metrics.registry.get_sample_value("wakeng_matches_running") == 0


async def test_a_match_can_be_cancelled_while_its_bots_come_up(client: Client) -> None:
    asked = request("127.0.0.1:1", "127.0.0.1:1", "127.0.0.1:1")
    asked.time_control.ready_ms = 600_000
    made = await create(client, asked)
    over = (await client(client.matches.CancelMatch, match_pb2.CancelMatchRequest(match_id=made.match_id))).match
    assert (over.state, over.hands_finished, over.reason) == (CANCELLED, 0, "cancelled")


# Watching ------------------------------------------------------------------------------------------------------------


async def test_events_are_the_public_history_of_each_hand_and_end_with_the_state(
    client: Client, bot: BotServer
) -> None:
    over = await played(client, request(*[bot.address] * 3, rules=rules_pb2.RuleSet(preset="three_traditional")))
    found = await events(client, over.match_id)
    assert found[-1].state == FINISHED
    histories: dict[int, list[str]] = {}
    for event in found:
        if event.HasField("hand_event"):
            histories.setdefault(event.hand_event.hand_index, []).append(event.hand_event.event)
    records = [orjson.loads(response.line) for response in await lines(client, over.match_id)]
    assert histories == {record["hand_index"]: replay(record).history for record in records}
    assert not any("LIE_DOWN_" in event for history in histories.values() for event in history)
    ends = [event.hand_ended for event in found if event.HasField("hand_ended")]
    assert [list(end.scores) for end in ends] == [record["result"]["scores"] for record in records]


async def test_a_watcher_who_was_cut_off_goes_on_after_the_last_event_he_saw(client: Client, bot: BotServer) -> None:
    """Live and afterwards, an event has the same number; nothing comes twice and nothing is missed."""
    host = Host(decisions=120)  # Of six hands side by side, so that some 20 of the first are told.
    async with await start(host) as server:
        asked = request(*[server.address] * 3)
        asked.time_control.move_ms = 60_000
        made = await create(client, asked)
        call = client.matches.WatchMatch(match_pb2.WatchMatchRequest(match_id=made.match_id))
        live = [(await call.read()).event for _ in range(12)]
        call.cancel()
        host.open.set()
        live += await events(client, made.match_id, live[-1].sequence)
    past = await events(client, made.match_id)
    assert live == past
    numbers = [event.sequence for event in past]
    assert numbers == sorted(set(numbers)) and numbers[0] == 1
    assert await events(client, made.match_id, numbers[-1]) == []


async def test_nothing_hidden_is_told_while_a_hand_is_played(client: Client) -> None:
    """Whatever the arena says before a match is over, no spectator sees a card that is not on the table."""
    host = Host(decisions=30)
    async with await start(host) as server:
        asked = request(*[server.address] * 3, hands=1)
        asked.time_control.move_ms = 60_000
        made = await create(client, asked)
        await host.reached.wait()
        call = client.matches.WatchMatch(match_pb2.WatchMatchRequest(match_id=made.match_id))
        seen = [str((await call.read()).event) for _ in range(30)]
        seen.append(str(await get(client, made.match_id)))
        host.open.set()
        await events(client, made.match_id)
        call.cancel()
    record = checked((await lines(client, made.match_id))[0].line.encode())
    secrets = [record["seed"], SEED.hex(), record["deal"]["kitty"], *record["deal"]["hands"]]
    assert not [secret for secret in secrets if any(secret in text for text in seen)]


async def test_a_match_that_stops_with_the_arena_ends_the_watching_with_a_word_to_come_again(tmp_path: Path) -> None:
    host = Host(decisions=50)
    async with await start(host) as server:
        async with serving(tmp_path) as arena, Client(arena.address) as client:
            asked = request(*[server.address] * 3, hands=1_000)
            asked.time_control.move_ms = 60_000
            made = await create(client, asked)
            watching = asyncio.create_task(refused(events(client, made.match_id)))
            await host.reached.wait()
            await arena.server.matches.drain(0)
            told = await watching
        assert (told.code, told.reason) == ("UNAVAILABLE", "NOT_PLAYED_HERE")


# Refusals ------------------------------------------------------------------------------------------------------------


def changed(**fields: Any) -> match_pb2.CreateMatchRequest:
    """A good request but for some fields."""
    asked = request(*["127.0.0.1:50051"] * 3)
    for name, value in fields.items():
        asked.ClearField(name)  # type: ignore[arg-type]
        if value is not None:
            asked.MergeFrom(match_pb2.CreateMatchRequest(**{name: value}))
    return asked


SEATS = [match_pb2.SeatSpec(address="127.0.0.1:50051")] * 2


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        (changed(request_id=None), "request_id"),
        (changed(request_id="x" * 65), "request_id"),
        (changed(request_id="a\nb"), "request_id"),
        (changed(rules=None), "rules.preset"),
        (changed(rules=rules_pb2.RuleSet(preset="bridge")), "rules.preset"),
        (changed(rules=rules_pb2.RuleSet(preset="xian", players=9)), "rules.players"),
        (changed(hands=None), "hands"),
        (changed(hands=-1), "hands"),
        (changed(seats=None), "seats"),
        (changed(seats=SEATS), "seats"),
        (changed(seats=[*SEATS, match_pb2.SeatSpec()]), "seats"),
        (changed(seats=[*SEATS, match_pb2.SeatSpec(builtin="gredy")]), "seats"),
        (changed(seats=[*SEATS, match_pb2.SeatSpec(registered="nobody")]), "seats"),
        (changed(seats=[*SEATS, match_pb2.SeatSpec(address="greedy")]), "seats"),
        (changed(seats=[*SEATS, match_pb2.SeatSpec(address="unix:/run/bot.sock")]), "seats"),
        (changed(seed="0" * 63), "seed"),
        (changed(seed="G" * 64), "seed"),
        (changed(seed=""), "seed"),
        (changed(tables=-1), "tables"),
        (changed(time_control=rules_pb2.TimeControl(move_ms=0)), "time_control.move_ms"),
        (changed(time_control=rules_pb2.TimeControl(max_strikes=0)), "time_control.max_strikes"),
        (changed(fault_policy=match_pb2.FaultPolicy(max_escapes=0)), "fault_policy.max_escapes"),
        (
            changed(
                time_control=rules_pb2.TimeControl(max_strikes=2), fault_policy=match_pb2.FaultPolicy(max_strikes=3)
            ),
            "fault_policy.max_strikes",
        ),
    ],
)
async def test_a_request_that_cannot_be_names_its_field(
    client: Client, asked: match_pb2.CreateMatchRequest, field: str
) -> None:
    told = await refused(create(client, asked))
    assert (told.code, told.field) == ("INVALID_ARGUMENT", field)
    assert told.reason == "INVALID_FIELD"
    assert told.message.startswith(field)


async def test_what_is_not_offered_is_unimplemented(client: Client) -> None:
    told = await refused(create(client, changed(duplicate=True)))
    assert (told.code, told.reason, told.field) == ("UNIMPLEMENTED", "NOT_OFFERED", "duplicate")


async def test_an_unknown_match_is_not_found_whatever_is_asked_of_it(client: Client) -> None:
    stub = client.matches
    calls = [
        client(stub.GetMatch, match_pb2.GetMatchRequest(match_id="m0")),
        client(stub.CancelMatch, match_pb2.CancelMatchRequest(match_id="m0")),
        client(stub.GetHandRecord, match_pb2.GetHandRecordRequest(match_id="m0")),
        events(client, "m0"),
        lines(client, "m0"),
    ]
    for call in calls:
        told = await refused(call)
        assert (told.code, told.reason) == ("NOT_FOUND", "NOT_FOUND")
        assert "match_id: there is no match 'm0'" in told.message


async def test_a_hand_that_is_not_finished_has_no_record(client: Client, bot: BotServer) -> None:
    over = await played(client, request(*[bot.address] * 3))
    for index in (6, -1):
        asked = match_pb2.GetHandRecordRequest(match_id=over.match_id, hand_index=index)
        told = await refused(client(client.matches.GetHandRecord, asked))
        assert told.code == "NOT_FOUND"


@pytest.mark.parametrize("token", ["nonsense", "AAAA", "x" * 5000])
async def test_a_page_token_that_no_page_gave_is_refused(client: Client, token: str) -> None:
    told = await refused(client(client.matches.ListMatches, match_pb2.ListMatchesRequest(page_token=token)))
    assert (told.code, told.field) == ("INVALID_ARGUMENT", "page_token")


async def test_an_arena_that_stops_takes_no_more_matches(served: Served, client: Client, bot: BotServer) -> None:
    await served.server.matches.drain(0)
    told = await refused(create(client, request(*[bot.address] * 3)))
    assert (told.code, told.reason) == ("UNAVAILABLE", "DRAINING")
