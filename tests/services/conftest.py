"""A store in a database of its own: whatever is tested with one is tested with one of each kind."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.postgres import Server
from tests.services.databases import KINDS, Database, PostgresDatabase, SQLiteFile, postgres_database
from wakeng.services.store import Store


@pytest.fixture(scope="session")
def postgres_template(postgres: Server) -> str:
    """A database with the newest schema, to make others from: quicker than to make each step by step."""
    name = "wakeng_template"
    postgres.sql(f"CREATE DATABASE {name}")

    async def migrate() -> None:
        await (await Store.open(postgres.url(name))).close()

    asyncio.run(migrate())
    return name


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """One that a store may be opened in."""
    if request.param == "sqlite":
        yield SQLiteFile(tmp_path / "wakeng.db")
    else:
        server = request.getfixturevalue("postgres")
        with postgres_database(server, template=request.getfixturevalue("postgres_template")) as made:
            yield made


@pytest.fixture(params=KINDS)
def empty_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """One that has nothing in it yet."""
    if request.param == "sqlite":
        yield SQLiteFile(tmp_path / "wakeng.db")
    else:
        with postgres_database(request.getfixturevalue("postgres")) as made:
            yield made


@pytest.fixture
def other_database(empty_database: Database, tmp_path: Path) -> Iterator[Database]:
    """Another empty one of the same kind."""
    if isinstance(empty_database, PostgresDatabase):
        with postgres_database(empty_database.server) as made:
            yield made
    else:
        yield SQLiteFile(tmp_path / "other.db")


@pytest.fixture
def twin(database: Database, tmp_path: Path) -> Iterator[Database]:
    """An empty one of the same kind as `database`."""
    if isinstance(database, PostgresDatabase):
        with postgres_database(database.server) as made:
            yield made
    else:
        yield SQLiteFile(tmp_path / "twin.db")


@pytest.fixture
def postgres_only(postgres: Server, postgres_template: str) -> Iterator[PostgresDatabase]:
    """One in PostgreSQL that a store may be opened in."""
    with postgres_database(postgres, template=postgres_template) as made:
        yield made


@pytest.fixture
def url(database: Database) -> str:
    return database.url


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    """A store whose clock goes on by a second with each look at it."""
    ticks = count(1_000_000, 1_000_000)
    async with await Store.open(url, clock=lambda: next(ticks)) as opened:
        yield opened
