"""The schema is made by its migrations and by nothing else, and a database that is none of ours stays untouched."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine
from sqlalchemy.dialects import postgresql

from tests.services.records import played
from wakeng.services.errors import NoStore, SchemaError, UnknownMatch
from wakeng.services.store import MatchState, Store, downgrade, newest_schema
from wakeng.services.store.database import database_url
from wakeng.services.store.schema import _scripts
from wakeng.services.store.tables import hand_records, matches, metadata
from wakeng.services.store.upserts import insert_new, insert_or_replace

STEPS = [step.revision for step in ScriptDirectory.walk_revisions(_scripts())][::-1]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "wakeng.db"


@contextmanager
def database(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path)) as connection, connection:
        yield connection


def definitions(path: Path) -> set[str]:
    """What the database says of its tables and indices, without its white space."""
    with database(path) as connection:
        found = connection.execute("select sql from sqlite_master where sql is not null and name != 'alembic_version'")
        return {"".join(sql.split()).replace('"', "") for (sql,) in found}


async def opened_once(url: str, **options: Any) -> None:
    await (await Store.open(url, **options)).close()


async def test_the_migrations_lead_to_the_very_tables(path: Path, url: str, tmp_path: Path) -> None:
    await opened_once(url)
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    engine.dispose()
    made_at_once = create_engine(f"sqlite:///{tmp_path / 'other.db'}")
    metadata.create_all(made_at_once)
    made_at_once.dispose()
    assert {sorted_members(sql) for sql in definitions(path)} == {
        sorted_members(sql) for sql in definitions(tmp_path / "other.db")
    }


def sorted_members(sql: str) -> tuple[str, ...]:
    """A definition without regard to the order in which a table's constraints are named."""
    return tuple(sorted(sql.split(",")))


def test_steps_are_numbered_on() -> None:
    assert [f"{number:04}" for number in range(1, len(STEPS) + 1)] == STEPS
    assert newest_schema() == STEPS[-1]


async def test_each_step_down_undoes_its_step_up(path: Path, url: str) -> None:
    await opened_once(url)
    newest = definitions(path)
    for older in ["base", *STEPS[:-1]]:
        await downgrade(url, to=older)
        if older == "base":
            assert definitions(path) == set()
        await opened_once(url)
        assert definitions(path) == newest


async def test_a_step_that_fails_leaves_nothing_behind(path: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("half way")

    with monkeypatch.context() as patched:
        patched.setattr("alembic.op.create_index", fail)
        with pytest.raises(RuntimeError, match="half way"):
            await opened_once(url)
    assert definitions(path) == set()
    await opened_once(url)


async def test_an_old_database_is_opened_only_where_it_may_be_upgraded(url: str) -> None:
    with pytest.raises(SchemaError, match="no schema yet"):
        await opened_once(url, migrate=False)
    await opened_once(url)
    await opened_once(url, migrate=False)


async def test_a_database_of_a_newer_version_is_refused(path: Path, url: str) -> None:
    await opened_once(url)
    with database(path) as connection:
        connection.execute("update alembic_version set version_num = '9999'")
    for migrate in (True, False):
        with pytest.raises(SchemaError, match="9999, which is newer"):
            await opened_once(url, migrate=migrate)


async def test_a_database_of_something_else_is_refused(path: Path, url: str) -> None:
    with database(path) as connection:
        connection.execute("create table matches (sticks integer)")
    with pytest.raises(SchemaError, match="no store of wakeng"):
        await opened_once(url)
    assert definitions(path) == {"CREATETABLEmatches(sticksinteger)"}


async def test_a_file_that_is_no_database_is_refused(path: Path, url: str) -> None:
    path.write_text("Dear diary, today I dug a pit and fell into it myself." * 100)  # noqa: ASYNC240 - a small one
    with pytest.raises(NoStore, match="not a database"):
        await opened_once(url)


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


async def test_sqlite_behaves_as_its_reasons_say(url: str) -> None:
    async with await Store.open(url) as store, store._access.engine.connect() as connection:
        values = {
            name: (await connection.exec_driver_sql(f"pragma {name}")).scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }
    assert values == {"journal_mode": "wal", "synchronous": 1, "foreign_keys": 1}


async def test_what_belongs_to_a_match_goes_with_it(path: Path, url: str) -> None:
    async with await Store.open(url) as store:
        await store.create_match(match_id="m1", spec={}, seed="0", commitment="0", hands=1)
        await store.add_records([played()])
    with database(path) as connection:
        connection.execute("pragma foreign_keys = on")
        connection.execute("delete from matches")
        for table in metadata.tables:
            assert connection.execute(f"select count(*) from {table}").fetchone() == (0,)


def test_postgresql_is_written_to_in_its_own_words() -> None:
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    once = str(insert_new("postgresql", matches).compile(dialect=dialect))
    assert once.endswith("ON CONFLICT DO NOTHING")
    newer = str(insert_or_replace("postgresql", hand_records, newer_by="attempt").compile(dialect=dialect))
    assert "ON CONFLICT (match_id, hand_index) DO UPDATE SET attempt = excluded.attempt" in newer
    assert newer.endswith("WHERE excluded.attempt > hand_records.attempt")
