"""Figures are kept as hands are recorded, and are what a count of all records would give, whatever came in between."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from tests.services.databases import Database
from tests.services.records import played
from wakeng.services.gist import Gist
from wakeng.services.store import Store, downgrade
from wakeng.services.store.figures import BESIDE, Figures, bucket, bucket_from
from wakeng.services.store.tables import bot_latencies, hand_faults, match_figures

TABLES = (match_figures, bot_latencies, hand_faults)


async def furnished(database: Database) -> Store:
    store = await Store.open(database.url)
    for match_id in ("m1", "m2"):
        await store.create_match(match_id=match_id, spec={}, seed="", commitment="", hands=9)
    return store


async def rows(store: Store) -> dict[str, list[Any]]:
    """All figures but for when they came."""
    found = {}
    for table in TABLES:
        all_ = [row._asdict() for row in await store._access.rows(select(table))]
        found[table.name] = sorted(({**row, "last_us": 0, "finished_us": 0} for row in all_), key=repr)
    return found


def faulty(**fields: Any) -> dict[str, Any]:
    """A hand with a fault in a decision and one beside."""
    record = played(**fields)
    record["decisions"][2]["fault"] = "DEADLINE"
    return {**record, "faults": [{"seat": 1, "fault": "STALE", "count": 4}]}


async def test_sums_are_by_match_seat_and_bot(database: Database) -> None:
    async with await furnished(database) as store:
        records = [played(hand_index=index) for index in range(5)]
        await store.add_records(records)
        seats = await store.pages.seats_of("m1")
    assert [(seat.seat, seat.bot, seat.hands) for seat in seats] == [
        (0, "greedy", 5),
        (1, "lowest", 5),
        (2, "random", 5),
    ]
    for seat in seats:
        results = [record["result"] for record in records]
        assert seat.score == sum(result["scores"][seat.seat] for result in results)
        digs = [result for result in results if result["digger"] == seat.seat]
        assert seat.as_digger == len(digs)
        assert seat.won_as_digger == sum(result["winner"] == "DIGGER" for result in digs)
        assert seat.as_digger + seat.as_defender == 5


async def test_writing_a_hand_again_counts_nothing(database: Database) -> None:
    async with await furnished(database) as store:
        await store.add_records([faulty()])
        before = await rows(store)
        await store.add_records([faulty(), faulty(attempt=0)])
        assert await rows(store) == before


async def test_a_later_attempt_is_counted_in_place_of_the_first(database: Database, twin: Database) -> None:
    async with await furnished(database) as store:
        await store.add_records([faulty(), played("m2")])
        await store.add_records([played(attempt=1, latency_us=70_000)])
        found = await rows(store)
    async with await furnished(twin) as store:
        await store.add_records([played(attempt=1, latency_us=70_000), played("m2")])
        due = await rows(store)
    found["bot_latencies"] = [row for row in found["bot_latencies"] if row["decisions"]]
    assert found == due


async def test_faults_are_found_by_bot_and_by_match(database: Database) -> None:
    async with await furnished(database) as store:
        record = faulty()
        await store.add_records([record])
        bot = record["seats"][record["decisions"][2]["seat"]]["bot"]
        (fault,) = [one for one in await store.pages.faults_of(bot, 10) if one.number < BESIDE]
        assert (fault.hand_index, fault.number, fault.fault) == (0, 2, "DEADLINE")
        assert {one.fault for one in await store.pages.faults_in("m1", 10)} == {"DEADLINE", "STALE"}
        assert await store.pages.faults_in("m1", 10, below=0) == ()


async def test_an_older_store_is_counted_when_it_is_upgraded(database: Database) -> None:
    async with await furnished(database) as store:
        await store.add_records([faulty(hand_index=index) for index in range(4)] + [played("m2")])
        before = await rows(store)
    await downgrade(database.url, to="0007")
    async with await Store.open(database.url) as store:
        assert await rows(store) == before


async def test_pages_of_hands_are_found_by_index_and_by_bot(database: Database) -> None:
    async with await furnished(database) as store:
        await store.add_records([played(hand_index=index) for index in range(6)])
        pages = store.pages
        assert [hand.hand_index for hand in await pages.hands("m1", first=2, most=3)] == [2, 3, 4]
        assert [hand.hand_index for hand in await pages.hands("m1", first=2, most=9, below=4)] == [2, 3]
        assert [hand.hand_index for hand in await pages.hands_of_bot("lowest", "m1", most=2)] == [5, 4]
        (hand,) = await pages.hands("m1", first=0, most=1)
        assert (hand.bots, hand.scores) == (("greedy", "lowest", "random"), tuple(played()["result"]["scores"]))
        assert await pages.hands_of(["m1", "m2"]) == {"m1": 6, "m2": 0}


async def test_the_record_of_a_bot_is_by_rule_set(database: Database) -> None:
    async with await furnished(database) as store:
        await store.add_records([played(), played("m2", preset="xian")])
        record = await store.pages.record_of("greedy")
    assert {key: sums.hands for key, sums in record.items()} == {("three_feature", 1): 1, ("xian", 1): 1}


@given(st.integers(0, 10**9))
def test_a_latency_lies_in_its_bucket_which_is_a_quarter_wide_at_most(latency_us: int) -> None:
    low, high = bucket_from(bucket(latency_us)), bucket_from(bucket(latency_us) + 1)
    assert low <= latency_us < high
    assert high - low <= max(1, low // 4)


def test_taking_out_what_was_counted_leaves_nothing() -> None:
    figures = Figures()
    figures.add(Gist.of(faulty()), 1)
    figures.take_out(Gist.of(faulty()), 1)
    assert figures.latencies == []
    assert all(
        value == 0 for row in figures.seats for name, value in row.items() if name in ("hands", "score", "faults")
    )


@pytest.mark.parametrize("preset", ["xian", "four_blind"])
def test_seats_of_a_hand_are_all_counted(preset: str) -> None:
    figures = Figures()
    figures.add(Gist.of(played(preset=preset)), 1)
    assert len(figures.seats) == len(played(preset=preset)["seats"])
