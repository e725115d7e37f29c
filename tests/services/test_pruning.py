"""Old matches go by age or number, whole or marked, and never one that is not over."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.services.databases import Database
from tests.services.records import played
from wakeng.services.errors import StoreError
from wakeng.services.store import Doomed, MatchKind, MatchState, Retention, Store
from wakeng.services.store.pruning import HANDS_AT_ONCE, MARK

MINUTE = 60_000_000
HOUR = 60 * MINUTE


class Clock:
    now = 1_000 * HOUR

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def store(database: Database, clock: Clock) -> AsyncIterator[Store]:
    async with await Store.open(database.url, clock=clock) as opened:
        yield opened


async def finish(
    store: Store, match_id: str, *, kind: MatchKind = MatchKind.MATCH, state: MatchState = MatchState.FINISHED
) -> None:
    await store.create_match(match_id=match_id, spec={}, seed="0", commitment="0", hands=2, kind=kind)
    await store.add_records([played(match_id, index) for index in range(2)])
    await store.add_void(match_id, 0, voids=1)
    await store.set_state(match_id, state)


async def would_go(store: Store, retention: Retention) -> list[str]:
    return [match.match_id for match in await store.pruning.doomed(retention)]


async def left(store: Store) -> set[str]:
    return {match.match_id for kind in MatchKind for match in (await store.list_matches(99, kind=kind)).matches}


async def test_by_age_goes_what_finished_before_it(store: Store, clock: Clock) -> None:
    for match_id in ("a", "b", "c"):
        await finish(store, match_id)
        clock.now += HOUR
    assert await would_go(store, Retention(older_than_us=90 * MINUTE)) == ["a", "b"]
    doomed = await store.pruning.doomed(Retention(older_than_us=150 * MINUTE))
    assert doomed == (Doomed(match_id="a", kind=MatchKind.MATCH, finished_us=1_000 * HOUR, hands=2),)


async def test_by_number_the_last_of_each_kind_stay(store: Store, clock: Clock) -> None:
    for match_id in ("a", "b", "c"):
        await finish(store, f"m-{match_id}")
        await finish(store, f"t-{match_id}", kind=MatchKind.TOURNAMENT)
        clock.now += HOUR
    assert await would_go(store, Retention(keep=1)) == ["m-a", "t-a", "m-b", "t-b"]
    assert await would_go(store, Retention(keep=0)) == ["m-a", "t-a", "m-b", "t-b", "m-c", "t-c"]
    assert await would_go(store, Retention(keep=1, older_than_us=150 * MINUTE)) == ["m-a", "t-a"]


async def test_what_is_not_over_or_only_just_stays(store: Store, clock: Clock) -> None:
    for state in MatchState:
        await finish(store, state.value, state=state)
    assert await would_go(store, Retention(keep=0)) == []
    clock.now += HOUR
    over = {state.value for state in MatchState if state.final}
    assert set(await would_go(store, Retention(keep=0))) == over
    await store.pruning.prune(await store.pruning.doomed(Retention(keep=0)))
    assert await left(store) == {state.value for state in MatchState} - over


async def test_what_goes_goes_with_all_that_belongs_to_it(store: Store, clock: Clock, database: Database) -> None:
    await finish(store, "a")
    await finish(store, "b")
    clock.now += HOUR
    gone: list[int] = []
    doomed = await store.pruning.doomed(Retention(keep=0))
    await store.pruning.prune(doomed[:1], on_hands=gone.append)
    assert gone == [2]
    assert await left(store) == {"b"}
    counts = {table: database.sql(f"SELECT count(*) FROM {table}") for table in ("hand_records", "hand_voids")}
    assert counts == {"hand_records": [("2",)], "hand_voids": [("1",)]}
    assert database.sql("SELECT DISTINCT match_id FROM hand_seats") == [("b",)]


async def test_what_was_broken_off_says_so_and_goes_the_next_time(store: Store, clock: Clock) -> None:
    hands = HANDS_AT_ONCE + 1
    await store.create_match(match_id="a", spec={}, seed="0", commitment="0", hands=hands)
    record = played("a")
    await store.add_records({**record, "hand_index": index} for index in range(hands))
    await store.set_state("a", MatchState.FINISHED)
    clock.now += HOUR

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await store.pruning.prune(await store.pruning.doomed(Retention(keep=0)), on_hands=interrupt)
    half = await store.get_match("a")
    assert (half.state, half.reason) == (MatchState.CANCELLED, MARK)
    assert await store.count_hands("a") == 1
    doomed = await store.pruning.doomed(Retention(keep=99, older_than_us=999 * HOUR))
    assert [match.match_id for match in doomed] == ["a"]
    await store.pruning.prune(doomed)
    assert await left(store) == set()


async def test_a_match_that_was_doomed_but_goes_on_is_left_alone(store: Store) -> None:
    await store.create_match(match_id="a", spec={}, seed="0", commitment="0", hands=1)
    await store.add_records([played("a")])
    await store.pruning.prune([Doomed(match_id="a", kind=MatchKind.MATCH, finished_us=0, hands=1)])
    assert await store.count_hands("a") == 1


async def test_writers_get_their_turn_meanwhile(store: Store, clock: Clock, database: Database) -> None:
    await store.create_match(match_id="a", spec={}, seed="0", commitment="0", hands=9)
    record = played("a")
    await store.add_records({**record, "hand_index": index} for index in range(4 * HANDS_AT_ONCE))
    await store.set_state("a", MatchState.FINISHED)
    clock.now += HOUR
    async with await Store.open(database.url) as arena:
        await arena.create_match(match_id="b", spec={}, seed="0", commitment="0", hands=9)
        pruning = asyncio.create_task(store.pruning.prune(await store.pruning.doomed(Retention(keep=0))))
        for index in range(20):
            await arena.add_records([played("b", index)])
        await pruning
        assert await arena.count_hands("b") == 20
    assert await left(store) == {"b"}


async def test_an_error_is_told(store: Store, clock: Clock, database: Database) -> None:
    await finish(store, "a")
    clock.now += HOUR
    doomed = await store.pruning.doomed(Retention(keep=0))
    database.sql("ALTER TABLE hand_records RENAME TO elsewhere")
    with pytest.raises(StoreError, match="the store has failed"):
        await store.pruning.prune(doomed)
