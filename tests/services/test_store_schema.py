"""The schema is made by its migrations and by nothing else, and a database that is none of ours stays untouched."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncConnection

from tests.postgres import Server
from tests.services.databases import Database
from tests.services.records import played
from wakeng.services.errors import NoStore, SchemaError, UnknownMatch
from wakeng.services.store import MatchState, Store, downgrade, newest_schema
from wakeng.services.store.database import database_url, open_engine
from wakeng.services.store.schema import steps
from wakeng.services.store.tables import metadata

STEPS = list(steps())


async def opened_once(url: str, **options: Any) -> None:
    await (await Store.open(url, **options)).close()


async def test_the_migrations_lead_to_the_very_tables(empty_database: Database, other_database: Database) -> None:
    await opened_once(empty_database.url)
    async with open_database(empty_database.url) as connection:
        assert await connection.run_sync(differences) == []
    async with open_database(other_database.url) as connection:
        await connection.run_sync(metadata.create_all)
    assert members(empty_database) == members(other_database)


@asynccontextmanager
async def open_database(url: str) -> AsyncIterator[AsyncConnection]:
    engine = await open_engine(database_url(url))
    try:
        async with engine.begin() as connection:
            yield connection
    finally:
        await engine.dispose()


def differences(connection: Connection) -> list[Any]:
    """What Alembic would write into a next step."""
    options = {"compare_type": True, "compare_server_default": True}
    found: list[Any] = compare_metadata(MigrationContext.configure(connection, opts=options), metadata)
    return found


def members(database: Database) -> set[tuple[str, ...]]:
    """The definitions without regard to the order in which a table's columns and constraints are named."""
    return {tuple(sorted(re.split(r",(?![^()]*\))|\(", sql))) for sql in database.definitions()}


def test_steps_are_numbered_on() -> None:
    assert [f"{number:04}" for number in range(1, len(STEPS) + 1)] == STEPS
    assert newest_schema() == STEPS[-1]


async def test_each_step_down_undoes_its_step_up(empty_database: Database) -> None:
    await opened_once(empty_database.url)
    newest = empty_database.definitions()
    for older in ["base", *STEPS[:-1]]:
        await downgrade(empty_database.url, to=older)
        if older == "base":
            assert empty_database.definitions() == set()
        await opened_once(empty_database.url)
        assert empty_database.definitions() == newest


SEATS = "SELECT match_id, hand_index, seat, score, finished_us, dug, won FROM hand_seats ORDER BY 1, 2, 3"


async def test_what_was_played_before_a_step_is_there_after_it_and_back(
    store: Store, url: str, database: Database
) -> None:
    await store.create_match(match_id="m1", spec={}, seed="0", commitment="0", hands=9)
    await store.add_records(
        [played(hand_index=index, escaped_seat=index if index == 2 else None) for index in range(3)]
    )
    await store.add_void("m1", 0, voids=2)
    before = await store.totals("m1"), [line async for line in store.records("m1")]
    await store.close()
    seats = database.sql(SEATS)
    await downgrade(url, to="0004")
    async with await Store.open(url) as later:
        assert (await later.totals("m1"), [line async for line in later.records("m1")]) == before
        assert await later.voids("m1") == {0: 2}
    assert database.sql(SEATS) == seats


async def test_a_step_that_fails_leaves_nothing_behind(
    empty_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("half way")

    with monkeypatch.context() as patched:
        patched.setattr("alembic.op.create_index", fail)
        with pytest.raises(RuntimeError, match="half way"):
            await opened_once(empty_database.url)
    assert empty_database.definitions() == set()
    await opened_once(empty_database.url)


async def test_of_many_who_open_a_new_database_one_makes_it(empty_database: Database) -> None:
    await asyncio.gather(*(opened_once(empty_database.url) for _ in range(5)))


async def test_an_old_database_is_opened_only_where_it_may_be_upgraded(empty_database: Database) -> None:
    with pytest.raises(SchemaError, match="no schema yet"):
        await opened_once(empty_database.url, migrate=False)
    await opened_once(empty_database.url)
    await opened_once(empty_database.url, migrate=False)


async def test_a_database_of_a_newer_version_is_refused(database: Database) -> None:
    await opened_once(database.url)
    database.sql("UPDATE alembic_version SET version_num = '9999'")
    for migrate in (True, False):
        with pytest.raises(SchemaError, match="9999, which is newer"):
            await opened_once(database.url, migrate=migrate)


async def test_a_database_of_something_else_is_refused(empty_database: Database) -> None:
    empty_database.sql("CREATE TABLE matches (sticks integer)")
    theirs = empty_database.definitions()
    with pytest.raises(SchemaError, match="no store of wakeng"):
        await opened_once(empty_database.url)
    assert empty_database.definitions() == theirs


async def test_text_is_compared_by_its_codes_in_postgresql_too(postgres_only: Database) -> None:
    collations = postgres_only.sql(
        "SELECT DISTINCT collation_name FROM information_schema.columns"
        " WHERE table_schema = 'public' AND data_type = 'text'"
    )
    assert collations == [("C",)]


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "wakeng.db"
    path.write_text("Dear diary, today I dug a pit and fell into it myself." * 100)
    with pytest.raises(NoStore, match="not a database"):
        await opened_once(f"sqlite:///{path}")


async def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoStore, match="unable to open"):
        await opened_once(f"sqlite:///{tmp_path}/nowhere/wakeng.db")


@pytest.mark.parametrize(
    "url",
    [
        "wakeng.db",
        "mysql://h/d",
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:///f?mode=ro",
        "sqlite:",
        "sqlite:///a\0",
        ":",
        "",
    ],
)
async def test_what_leads_to_no_store_is_refused(url: str) -> None:
    with pytest.raises(NoStore, match="store"):
        await opened_once(url)


@pytest.mark.parametrize(
    ("given", "driver"),
    [
        ("sqlite:///a b.db", "sqlite+aiosqlite"),
        ("sqlite+aiosqlite:////a/b.db", "sqlite+aiosqlite"),
        ("postgresql://u:p@h/d", "postgresql+asyncpg"),
        ("postgres://u@h/d", "postgresql+asyncpg"),
    ],
)
def test_users_need_not_know_of_drivers(given: str, driver: str) -> None:
    assert database_url(given).drivername == driver


async def test_a_reopened_store_has_what_was_written(url: str) -> None:
    async with await Store.open(url) as store:
        await store.create_match(match_id="m1", spec={}, seed="0", commitment="0", hands=1)
        await store.add_records([played()])
        await store.set_state("m1", MatchState.FINISHED)
    async with await Store.open(url) as store:
        assert await store.recorded_hands("m1") == {0}
        assert (await store.get_match("m1")).state is MatchState.FINISHED


async def test_no_error_shows_a_seed(url: str) -> None:
    async with await Store.open(url) as store:
        record = played("m9")
        with pytest.raises(UnknownMatch) as told:
            await store.add_records([record])
    assert record["seed"] not in f"{told.value} {told.value.__cause__}"


async def test_sqlite_behaves_as_its_reasons_say(tmp_path: Path) -> None:
    async with (
        await Store.open(f"sqlite:///{tmp_path / 'wakeng.db'}") as store,
        store._access.engine.connect() as connection,
    ):
        values = {
            name: (await connection.exec_driver_sql(f"pragma {name}")).scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }
    assert values == {"journal_mode": "wal", "synchronous": 1, "foreign_keys": 1}


async def test_what_belongs_to_a_match_goes_with_it(database: Database) -> None:
    async with await Store.open(database.url) as store:
        await store.create_match(match_id="m1", spec={}, seed="0", commitment="0", hands=1)
        await store.add_records([played()])
        await store.add_void("m1", 0, voids=1)
    database.sql("DELETE FROM matches")
    for table in set(metadata.tables) - {"bot_latencies"}:  # A bot's latencies are its own, whatever it played.
        assert database.sql(f"SELECT count(*) FROM {table}") == [("0",)]


async def test_a_url_that_postgresql_does_not_understand_is_refused(postgres: Server) -> None:
    for wrong in ("sslmode=perhaps", "port=x"):
        with pytest.raises(NoStore, match="store"):
            await opened_once(f"{postgres.url('postgres')}&{wrong}")


@pytest.mark.parametrize("wrong", ["postgresql://wakeng@/nowhere?host={}", "postgresql://nobody@/postgres?host={}"])
async def test_who_is_not_let_in_is_told_why_at_once(postgres: Server, wrong: str) -> None:
    folder = postgres.url("x").partition("host=")[2]
    with pytest.raises(NoStore, match="does not exist"):
        await opened_once(wrong.format(folder))
