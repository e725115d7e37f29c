"""The store keeps matches and records, once each, and gives them back as they came."""

import asyncio
from typing import Any

import pytest

from tests.services.records import played
from wakeng.engine import RecordError, encode, verify
from wakeng.services.errors import BadPageToken, MatchExists, UnknownMatch
from wakeng.services.store import Match, MatchState, RecordFile, SeatTotals, Store

SPEC = {"rules": {"preset": "xian"}, "seats": ["greedy", "lowest", "random"], "tables": 64}


async def create(
    store: Store, match_id: str = "m1", *, request_id: str | None = None, spec: dict[str, Any] = SPEC
) -> tuple[Match, bool]:
    return await store.create_match(
        match_id=match_id, request_id=request_id, spec=spec, seed="00" * 32, commitment="ab" * 32, hands=5
    )


async def lines(store: Store, match_id: str = "m1", from_hand_index: int = 0) -> list[bytes]:
    return [line async for line in store.records(match_id, from_hand_index)]


# Matches ------------------------------------------------------------------------------------------


async def test_a_match_comes_back_as_it_was_made(store: Store) -> None:
    made, new = await create(store, request_id="r1")
    assert new
    assert made == await store.get_match("m1")
    assert made == Match(
        match_id="m1",
        request_id="r1",
        spec=SPEC,
        seed="00" * 32,
        commitment="ab" * 32,
        state=MatchState.PENDING,
        hands=5,
        created_us=1_000_000,
        finished_us=None,
        reason=None,
    )


async def test_a_repeated_request_makes_no_second_match(store: Store) -> None:
    first, _ = await create(store, "m1", request_id="r1")
    reordered = dict(reversed(SPEC.items()))
    assert await create(store, "m2", request_id="r1", spec=reordered) == (first, False)
    assert [match.match_id for match in (await store.list_matches()).matches] == ["m1"]


async def test_requests_at_the_same_time_make_one_match(store: Store) -> None:
    made = await asyncio.gather(*(create(store, f"m{number}", request_id="r1") for number in range(10)))
    assert sum(new for _, new in made) == 1
    assert len({match.match_id for match, _ in made}) == 1


async def test_a_request_id_stands_for_one_request(store: Store) -> None:
    await create(store, "m1", request_id="r1")
    with pytest.raises(MatchExists, match="request_id"):
        await create(store, "m2", request_id="r1", spec={**SPEC, "tables": 1})


@pytest.mark.parametrize("request_id", [None, "r2"])
async def test_a_match_id_stands_for_one_match(store: Store, request_id: str | None) -> None:
    await create(store, "m0")
    await create(store, "m1", request_id="r1")
    with pytest.raises(MatchExists, match="match_id"):
        await create(store, "m1", request_id=request_id)


async def test_a_match_moves_on_to_its_end_and_stays_there(store: Store) -> None:
    await create(store)
    assert (await store.set_state("m1", MatchState.RUNNING)).finished_us is None
    ended = await store.set_state("m1", MatchState.CANCELLED, reason="enough")
    assert (ended.state, ended.reason, ended.finished_us) == (MatchState.CANCELLED, "enough", 2_000_000)
    assert await store.set_state("m1", MatchState.FINISHED) == ended
    assert await store.get_match("m1") == ended


async def test_an_unknown_match_is_named(store: Store) -> None:
    for asked in (store.get_match("m9"), store.set_state("m9", MatchState.RUNNING)):
        with pytest.raises(UnknownMatch, match="m9"):
            await asked


async def test_what_is_unfinished_is_what_a_restart_goes_on_with(store: Store, url: str) -> None:
    for number, state in enumerate(MatchState):
        await create(store, f"m{number}")
        await store.set_state(f"m{number}", state)
    async with await Store.open(url) as restarted:
        going_on = await restarted.unfinished_matches()
    assert [(match.match_id, match.state) for match in going_on] == [
        ("m0", MatchState.PENDING),
        ("m1", MatchState.RUNNING),
    ]


# Pages --------------------------------------------------------------------------------------------


async def test_matches_are_listed_newest_first_page_by_page(store: Store) -> None:
    for number in range(5):
        await create(store, f"m{number}")
    found, token = [], ""
    for size in (2, 2, 1):
        page = await store.list_matches(2, token)
        assert len(page.matches) == size
        found += [match.match_id for match in page.matches]
        token = page.next_page_token
    assert found == ["m4", "m3", "m2", "m1", "m0"]
    assert token == ""


async def test_matches_made_while_one_turns_the_pages_shift_nothing(store: Store) -> None:
    for number in range(4):
        await create(store, f"m{number}")
    first = await store.list_matches(2)
    await create(store, "m9")
    second = await store.list_matches(2, first.next_page_token)
    assert [match.match_id for match in second.matches] == ["m1", "m0"]


async def test_matches_of_the_same_moment_are_told_apart(url: str) -> None:
    async with await Store.open(url, clock=lambda: 7) as store:
        for number in (2, 0, 1):
            await create(store, f"m{number}")
        first = await store.list_matches(1)
        second = await store.list_matches(9, first.next_page_token)
    assert [match.match_id for match in first.matches + second.matches] == ["m2", "m1", "m0"]


async def test_an_empty_store_has_one_empty_page(store: Store) -> None:
    page = await store.list_matches()
    assert (page.matches, page.next_page_token) == ((), "")


@pytest.mark.parametrize("token", ["x", "é", "bnVsbA==", "WzEsMl0=", "W10=", "WyIxIiwibSJd", "Wy0xLCJtIl0=", "2" * 999])
async def test_a_token_that_no_page_gave_is_refused(store: Store, token: str) -> None:
    with pytest.raises(BadPageToken, match="page_token"):
        await store.list_matches(10, token)


# Records ------------------------------------------------------------------------------------------


async def test_a_line_comes_back_byte_by_byte(store: Store) -> None:
    await create(store)
    record = played()
    record["seats"][0]["version"] = '1.0 "beta" 挖坑\n'
    added = await store.add_records([record])
    assert [entry.line for entry in added.written] == [encode(record)]
    line = await store.get_record("m1", 0)
    assert line == encode(record)
    assert line is not None
    verify(line)


async def test_records_come_in_the_order_of_hands_however_they_were_written(store: Store) -> None:
    await create(store)
    await create(store, "m2")
    records = {index: played(hand_index=index) for index in (3, 0, 4, 1)}
    await store.add_records([records[3], records[0], played("m2", 2)])
    await store.add_records([records[4], records[1]])
    assert await lines(store) == [encode(records[index]) for index in (0, 1, 3, 4)]
    assert await lines(store, from_hand_index=2) == [encode(records[index]) for index in (3, 4)]
    assert await store.recorded_hands("m1") == {0, 1, 3, 4}
    assert (await store.count_hands("m1"), await store.count_hands("m3")) == (4, 0)
    assert await store.get_record("m1", 2) is None


async def test_records_of_many_pages_are_all_there(store: Store) -> None:
    await create(store)
    record = played()
    await store.add_records({**record, "hand_index": index} for index in range(600))
    assert len(await lines(store)) == 600


async def test_a_record_written_again_is_ignored_and_counted(store: Store) -> None:
    await create(store)
    await store.add_records([played(hand_index=0)])
    added = await store.add_records([played(hand_index=index) for index in (0, 1, 1)])
    assert [entry.key for entry in added.written] == [("m1", 1)]
    assert added.ignored == 2
    assert len(await lines(store)) == 2


async def test_nothing_to_write_is_no_matter(store: Store) -> None:
    added = await store.add_records([])
    assert (added.written, added.ignored) == ((), 0)


@pytest.mark.parametrize("attempt", [0, 1])
async def test_another_line_of_the_same_or_a_lower_attempt_does_not_replace_the_first(
    store: Store, attempt: int
) -> None:
    await create(store)
    first = played(attempt=1, latency_us=100)
    await store.add_records([first])
    added = await store.add_records([played(attempt=attempt, latency_us=200)])
    assert (added.written, added.ignored) == ((), 1)
    assert await lines(store) == [encode(first)]


async def test_a_higher_attempt_replaces_a_lower_one_with_all_that_was_taken_from_it(store: Store) -> None:
    await create(store)
    await store.add_records([played(attempt=0, escaped_seat=1)])
    assert [seat.escapes for seat in await store.totals("m1")] == [0, 1, 0]
    again = played(attempt=1)
    added = await store.add_records([again])
    assert len(added.written) == 1
    assert await lines(store) == [encode(again)]
    totals = await store.totals("m1")
    assert [seat.score for seat in totals] == again["result"]["scores"]
    assert [seat.escapes for seat in totals] == [0, 0, 0]


async def test_of_attempts_in_one_batch_the_highest_stays(store: Store) -> None:
    await create(store)
    attempts = [played(attempt=attempt) for attempt in (0, 2, 1)]
    added = await store.add_records(attempts)
    assert (len(added.written), added.ignored) == (1, 2)
    assert await lines(store) == [encode(attempts[1])]


async def test_a_batch_is_written_whole_or_not_at_all(store: Store) -> None:
    await create(store)
    with pytest.raises(UnknownMatch):
        await store.add_records([played("m1"), played("m9")])
    assert await lines(store) == []
    await store.add_records([played("m1")])


async def test_lines_from_anywhere_are_checked(store: Store) -> None:
    await create(store)
    good = encode(played())
    with pytest.raises(RecordError, match="checksum"):
        await store.add_lines([good, good.replace(b'"hand_index":0', b'"hand_index":1')])
    assert await lines(store) == []
    assert len((await store.add_lines([good])).written) == 1


async def test_totals_are_the_sums_over_the_records(store: Store) -> None:
    await create(store)
    assert await store.totals("m1") == ()
    records = [played(hand_index=index) for index in range(20)]
    records += [played(hand_index=20, escaped_seat=2)]
    await store.add_records(records)
    expected = []
    for seat in range(3):
        results = [record["result"] for record in records]
        ended = [result for result in results if result["winner"] != "ESCAPED"]
        dug = [result["winner"] for result in ended if result["digger"] == seat]
        defended = [result["winner"] for result in ended if result["digger"] != seat]
        expected.append(
            SeatTotals(
                score=sum(result["scores"][seat] for result in results),
                task_bonus=sum(result.get("task_bonus", [0] * 3)[seat] for result in results),
                hands_as_digger=len(dug),
                wins_as_digger=dug.count("DIGGER"),
                wins_as_defender=defended.count("DEFENDERS"),
                escapes=1 if seat == 2 else 0,
            )
        )
    assert await store.totals("m1") == tuple(expected)


async def test_task_bonuses_are_summed_apart(store: Store) -> None:
    await create(store)
    record = played()
    record["result"]["task_bonus"] = [0, 3, 0]
    await store.add_records([record, played(hand_index=1)])
    assert [seat.task_bonus for seat in await store.totals("m1")] == [0, 3, 0]


async def test_two_stores_on_one_file_see_what_the_other_wrote(store: Store, url: str) -> None:
    await create(store)
    async with await Store.open(url) as other:
        writes = (side.add_records([played(hand_index=i)]) for i, side in enumerate((store, other) * 5))
        await asyncio.gather(*writes)
        assert await other.recorded_hands("m1") == await store.recorded_hands("m1") == set(range(10))


async def test_reading_goes_on_while_another_writes(store: Store) -> None:
    await create(store)
    await store.add_records(played(hand_index=index) for index in range(3))
    read = []
    async for line in store.records("m1"):
        read.append(line)
        await store.add_records([played(hand_index=10 + len(read))])
    assert len(read) == 3


def test_a_record_file_has_a_line_per_record(tmp_path: Any) -> None:
    for index in range(2):
        with RecordFile(tmp_path / "r.jsonl") as file:
            file.append([encode(played(hand_index=index))])
    written = (tmp_path / "r.jsonl").read_bytes()
    assert written.endswith(b"\n")
    assert [verify(line)["hand_index"] for line in written.splitlines()] == [0, 1]
