"""Whoever is cancelled while he uses the store leaves no transaction behind, wherever it hits him."""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from itertools import count
from typing import Any

import pytest

from tests.services.databases import Database, SQLiteFile
from tests.services.records import played
from wakeng.services.errors import UnknownMatch
from wakeng.services.store import MatchState, Store

Use = Callable[[Store], Awaitable[Any]]
USES: dict[str, Use] = {
    "a match is moved on": lambda store: store.set_state("m1", MatchState.RUNNING),
    "records are added": lambda store: store.add_records([played(hand_index=index) for index in range(3)]),
    "a token is looked for": lambda store: store.tokens.find("0"),
}


class CancelledAtWait(Generator[Any, Any, Any]):
    """Awaits something, and has the task that does so cancelled as it begins to wait for the nth time."""

    def __init__(self, awaited: Awaitable[Any], nth: int) -> None:
        self._steps = awaited.__await__()
        self._left = nth

    def __await__(self) -> "CancelledAtWait":
        return self

    def send(self, value: Any) -> Any:
        return self._waits(self._steps.send(value))

    def throw(self, thrown: Any, *_: Any) -> Any:
        return self._waits(self._steps.throw(thrown))

    def _waits(self, future: Any) -> Any:
        self._left -= 1
        if self._left == 0:
            task = asyncio.current_task()
            assert task is not None
            asyncio.get_running_loop().call_soon(task.cancel)
        return future


async def use(store: Store, what: str) -> None:
    await USES[what](store)


async def cancelled_at_wait(store: Store, what: str, nth: int) -> None:
    await CancelledAtWait(USES[what](store), nth)


@pytest.fixture
async def one_match(store: Store) -> Store:
    await store.create_match(match_id="m1", spec={}, seed="0", commitment="0", hands=9)
    return store


@pytest.mark.parametrize("what", USES)
async def test_at_any_of_its_waits(one_match: Store, database: Database, what: str) -> None:
    for nth in count(1):
        using = asyncio.create_task(cancelled_at_wait(one_match, what, nth))
        await asyncio.wait([using])
        await database.assert_free()
        if not using.cancelled():
            break
    await one_match.set_state("m1", MatchState.PAUSED)


@pytest.mark.parametrize("what", USES)
async def test_at_any_turn_of_the_loop(one_match: Store, database: Database, what: str) -> None:
    for turns in range(50):
        using = [asyncio.create_task(use(one_match, what)) for _ in range(2)]
        for _ in range(turns):
            await asyncio.sleep(0)
        for each in using:
            each.cancel()
        await asyncio.wait(using)
        await database.assert_free()


async def test_what_was_begun_is_done_when_the_caller_leaves(one_match: Store) -> None:
    begun = asyncio.Event()
    go_on = asyncio.Event()

    async def work(connection: Any) -> None:
        begun.set()
        await go_on.wait()
        await connection.exec_driver_sql("UPDATE matches SET reason = 'done'")

    writing = asyncio.create_task(one_match._access.write(work))
    await begun.wait()
    for _ in range(2):
        writing.cancel()
        await asyncio.sleep(0)
    assert not writing.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert (await one_match.get_match("m1")).reason == "done"


async def test_who_has_not_had_his_turn_leaves_at_once(one_match: Store, database: Database) -> None:
    if not isinstance(database, SQLiteFile):
        return  # Its writers take no turns.
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def work(_: Any) -> None:
        begun.set()
        await go_on.wait()

    first = asyncio.create_task(one_match._access.write(work))
    await begun.wait()
    second = asyncio.create_task(use(one_match, "a match is moved on"))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    go_on.set()
    await first
    assert (await one_match.get_match("m1")).state is MatchState.PENDING


async def test_an_error_leaves_nothing_behind_either(one_match: Store, database: Database) -> None:
    with pytest.raises(UnknownMatch):
        await one_match.add_records([played("m9")])
    await database.assert_free()
