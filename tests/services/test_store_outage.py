"""An outage of the database costs time and nothing else; one that is too long is said, and loses nothing either."""

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from tests.arena.tournaments import CALM, FIELD, spec, timeless
from tests.postgres import Server, running
from tests.services.databases import Database
from tests.services.records import played
from wakeng.engine import encode
from wakeng.services.commands.local_arena import local_arena
from wakeng.services.errors import BotExists, MatchExists, NoStore, StoreError
from wakeng.services.store import MatchState, NewBot, Patience, RecordWriter, Role, Store
from wakeng.services.tournament.run import TournamentRun, create
from wakeng.services.tournament.spec_file import parse_spec

SHORT = Patience(budget_s=0.2, first_wait_s=0.05)


class Told(logging.Handler):
    """Hears what the store logs of outages."""

    def __init__(self) -> None:
        super().__init__()
        self.away = asyncio.Event()
        self.back = asyncio.Event()

    def emit(self, record: logging.LogRecord) -> None:
        (self.away if "is away" in record.getMessage() else self.back).set()


@pytest.fixture
async def told() -> AsyncIterator[Told]:
    handler = Told()
    log = logging.getLogger("wakeng.services.store")
    log.addHandler(handler)
    yield handler
    log.removeHandler(handler)


@pytest.fixture(scope="module")
def own_server() -> Iterator[Server]:
    """One of this module's own, to stop and start."""
    with running() as server:
        yield server


@pytest.fixture
def server(own_server: Server) -> Iterator[Server]:
    """It, with an empty database `club`."""
    own_server.start()
    own_server.sql("DROP DATABASE IF EXISTS club WITH (FORCE)", "CREATE DATABASE club STRATEGY file_copy")
    yield own_server
    own_server.start()


async def stopped(server: Server) -> None:
    await asyncio.to_thread(server.stop, "immediate")


async def started(server: Server) -> None:
    await asyncio.to_thread(server.start)


async def make_match(store: Store, match_id: str = "m1") -> None:
    await store.create_match(match_id=match_id, spec={}, seed="0", commitment="0", hands=99)


# A server that is stopped ------------------------------------------------------------------------


async def test_records_wait_for_a_server_that_crashed_and_are_there_once(server: Server, told: Told) -> None:
    records = [played(hand_index=index) for index in range(40)]
    async with await Store.open(server.url("club")) as store:
        await make_match(store)
        writer = RecordWriter(store)
        for record in records[:20]:
            writer.put(record)
        await writer.flush()
        await stopped(server)
        for record in records[20:]:
            writer.put(record)
        flushing = asyncio.create_task(writer.flush())
        await told.away.wait()
        assert not flushing.done()
        await started(server)
        await flushing
        assert told.back.is_set()
        assert writer.ignored == 0
        assert [line async for line in store.records("m1")] == [encode(record) for record in records]


async def test_every_reader_and_writer_waits_for_the_server(server: Server, told: Told) -> None:
    async with await Store.open(server.url("club")) as store:
        await make_match(store)
        await stopped(server)
        asked = asyncio.gather(
            *(store.get_match("m1") for _ in range(30)),
            store.bots.add(NewBot(name="mine", address=None, owner="wei", by_admin=False)),
            store.set_state("m1", MatchState.RUNNING),
        )
        await told.away.wait()
        await started(server)
        await asked
        assert (await store.get_match("m1")).state is MatchState.RUNNING


async def test_connections_that_died_unnoticed_are_no_outage(postgres_only: Database, told: Told) -> None:
    async with await Store.open(postgres_only.url) as store:
        await make_match(store)
        await asyncio.gather(*(store.get_match("m1") for _ in range(4)))
        others = "datname = current_database() AND pid <> pg_backend_pid()"
        postgres_only.sql(f"SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE {others}")
        await asyncio.gather(*(store.set_state("m1", MatchState.RUNNING) for _ in range(4)))
        assert not told.away.is_set()


async def test_an_outage_longer_than_the_patience_is_said_and_loses_nothing(server: Server) -> None:
    async with await Store.open(server.url("club"), patience=SHORT) as store:
        await make_match(store)
        await stopped(server)
        writer = RecordWriter(store)
        writer.put(played())
        for wait in (writer.flush, writer.room):
            with pytest.raises(StoreError, match="the store is away"):
                await wait()
        with pytest.raises(StoreError, match="the store is away"):
            await store.get_match("m1")
        await started(server)
        await writer.close()
        assert await store.recorded_hands("m1") == {0}


async def test_who_is_cancelled_does_not_wait_for_the_server(server: Server, told: Told) -> None:
    async with await Store.open(server.url("club")) as store:
        await stopped(server)
        asking = asyncio.create_task(store.get_match("m1"))
        await told.away.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking


async def test_a_store_is_not_waited_for_long_at_the_start(server: Server) -> None:
    await stopped(server)
    with pytest.raises(NoStore, match="cannot open the store postgresql"):
        await Store.open(server.url("club"), patience_at_start=SHORT)


# A tournament -------------------------------------------------------------------------------------


@asynccontextmanager
async def tournament(url: str, folder: Path) -> AsyncIterator[TournamentRun]:
    text = spec(*FIELD, blocks=40, lines=[CALM])
    async with await Store.open(url) as store, local_arena(store, folder / "journal.jsonl", None) as arena:
        made, _ = await create(store, "t", parse_spec(text, drawn_seed=bytes(32)))
        yield TournamentRun(arena, made, in_process=True)


async def undisturbed(folder: Path) -> Any:
    async with tournament(f"sqlite:///{folder / 'undisturbed.db'}", folder) as run:
        return timeless((await run.play()).to_dict())


async def disturbed(server: Server, folder: Path, told: Told, *, outage: Callable[[], Any]) -> Any:
    async with tournament(server.url("club"), folder) as run:
        playing = asyncio.create_task(run.play())
        while run.hands < 20:
            await run._arena.store.count_hands("t")
        await stopped(server)
        await told.away.wait()
        await outage()
        await started(server)
        standings = await playing
        store = run._arena.store
        assert (await store.get_match("t")).state is MatchState.FINISHED
        assert await store.count_hands("t") == standings.hands
        return timeless(standings.to_dict())


async def test_an_outage_during_a_tournament_changes_nothing_of_it(server: Server, tmp_path: Path, told: Told) -> None:
    async def no_longer_than_it_is_noticed() -> None:
        pass

    expected = await undisturbed(tmp_path)
    assert await disturbed(server, tmp_path, told, outage=no_longer_than_it_is_noticed) == expected


@pytest.mark.slow
async def test_an_outage_of_30_seconds_during_a_tournament(server: Server, tmp_path: Path, told: Told) -> None:
    expected = await undisturbed(tmp_path)
    assert await disturbed(server, tmp_path, told, outage=lambda: asyncio.sleep(30)) == expected


# Writers in each other's way ----------------------------------------------------------------------


async def test_of_two_writers_that_wait_for_each_other_both_get_through(postgres_only: Database) -> None:
    async with await Store.open(postgres_only.url) as store:
        await make_match(store, "a")
        await make_match(store, "b")
        met = asyncio.Barrier(2)

        def crosswise(first: str, second: str) -> Callable[[AsyncConnection], Any]:
            tries = count()

            async def work(connection: AsyncConnection) -> int:
                change = text("UPDATE matches SET reason = coalesce(reason, '') || 'x' WHERE match_id = :id")
                nth = next(tries)
                await connection.execute(text("SET LOCAL deadlock_timeout = '1ms'"))
                await connection.execute(change, {"id": first})
                if nth == 0:
                    await met.wait()
                await connection.execute(change, {"id": second})
                return nth

            return work

        tried = await asyncio.gather(
            store._access.write(crosswise("a", "b")),
            store._access.write(crosswise("b", "a")),
        )
        assert sorted(tried)[0] == 0
        assert max(tried) > 0, "there was no deadlock"
        assert [(await store.get_match(name)).reason for name in "ab"] == ["xx", "xx"]


async def test_a_file_that_another_process_has_locked_is_waited_for(
    tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wakeng.services.store.database._OF_A_CONNECTION", ("PRAGMA busy_timeout = 0",))
    async with await Store.open(f"sqlite:///{tmp_path / 'w.db'}") as store:
        await make_match(store)
        with closing(sqlite3.connect(tmp_path / "w.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            moving = asyncio.create_task(store.set_state("m1", MatchState.RUNNING))
            await told.away.wait()
            assert (await store.get_match("m1")).state is MatchState.PENDING
            other.execute("ROLLBACK")
        assert (await moving).state is MatchState.RUNNING


# A commit of which nobody knows whether it was made -----------------------------------------------


@pytest.fixture(params=["lost after", "lost before"])
def doubtful(request: pytest.FixtureRequest, store: Store, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Arms the next commit: the connection is lost just after the database made it, or just before."""
    real = AsyncConnection.commit
    armed: list[bool] = []

    async def commit(connection: AsyncConnection) -> None:
        if not armed:
            return await real(connection)
        armed.clear()
        if request.param == "lost after":
            await real(connection)
        await connection.invalidate()
        raise DBAPIError("COMMIT", None, OSError("the line is dead"), connection_invalidated=True)

    monkeypatch.setattr(AsyncConnection, "commit", commit)
    return lambda: armed.append(True)


A_BOT = NewBot(name="mine", address=None, owner="wei", by_admin=False)


async def test_a_match_is_made_once(store: Store, doubtful: Callable[[], None]) -> None:
    for request_id in (None, "r1"):
        doubtful()
        name = f"m-{request_id}"
        given = {"spec": {}, "seed": "0", "commitment": "0", "hands": 1, "request_id": request_id}
        match, new = await store.create_match(match_id=name, **given)  # type: ignore[arg-type]
        assert new
        assert await store.get_match(name) == match
    doubtful()
    with pytest.raises(MatchExists):
        await make_match(store, "m-None")


async def test_records_count_once_and_as_written(store: Store, doubtful: Callable[[], None]) -> None:
    await make_match(store)
    await store.add_records([played(hand_index=0)])
    doubtful()
    added = await store.add_records([played(hand_index=index) for index in (0, 1, 2)])
    assert [entry.key for entry in added.written] == [("m1", 1), ("m1", 2)]
    assert added.ignored == 1
    assert await store.count_hands("m1") == 3


async def test_a_bot_is_registered_and_forgotten_once(store: Store, doubtful: Callable[[], None]) -> None:
    doubtful()
    made, owner_is_new = await store.bots.add(A_BOT, token_hash="1" * 64, owner_token_hash="2" * 64)
    assert owner_is_new
    assert await store.bots.get("mine") == made
    assert len(await store.tokens.list()) == 2
    doubtful()
    with pytest.raises(BotExists):
        await store.bots.add(A_BOT)
    doubtful()
    assert await store.bots.delete("mine") == made


async def test_a_token_is_given_and_taken_back_once(store: Store, doubtful: Callable[[], None]) -> None:
    doubtful()
    kept = await store.tokens.add("1" * 64, Role.VIEWER)
    assert await store.tokens.list() == (kept,)
    doubtful()
    assert await store.tokens.remove("111") == kept
    assert await store.tokens.list() == ()


async def test_all_else_may_be_done_twice(store: Store, doubtful: Callable[[], None]) -> None:
    await make_match(store)
    await store.bots.add(A_BOT)
    doubtful()
    await store.add_void("m1", 3, voids=2)
    assert await store.voids("m1") == {3: 2}
    doubtful()
    await store.bots.describe("mine", version="2", author="", url="")
    assert (await store.bots.get("mine")).version == "2"
    doubtful()
    ended = await store.set_state("m1", MatchState.FINISHED)
    assert await store.get_match("m1") == ended
