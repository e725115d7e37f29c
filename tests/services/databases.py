"""The two kinds of database that a store may be in, as tests handle them behind its back."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from tests.postgres import Server

KINDS = ("sqlite", "postgresql")


class Database(Protocol):
    """One database."""

    url: str

    def sql(self, *statements: str) -> list[tuple[str, ...]]:
        """Does statements, and returns the rows of the last, in words; none while the file is not there."""

    def definitions(self) -> set[str]:
        """What it says of its tables and indices, without white space; of Alembic's own nothing."""

    async def assert_free(self) -> None:
        """Nobody has a transaction open."""


class SQLiteFile:
    """A database in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.url = f"sqlite:///{path}"

    def sql(self, *statements: str) -> list[tuple[str, ...]]:
        rows: list[tuple[Any, ...]] = []
        with closing(sqlite3.connect(self.path)) as connection, connection:
            connection.execute("PRAGMA foreign_keys = ON")
            for statement in statements:
                rows = connection.execute(statement).fetchall()
        return [tuple(map(str, row)) for row in rows]

    def definitions(self) -> set[str]:
        rows = self.sql("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name <> 'alembic_version'")
        return {_squeezed(sql) for (sql,) in rows}

    async def assert_free(self) -> None:
        with closing(sqlite3.connect(self.path, timeout=0, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            other.execute("ROLLBACK")
            (busy, _, _) = other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        assert not busy, "a reader has not ended"


class PostgresDatabase:
    """A database of a server."""

    def __init__(self, server: Server, name: str) -> None:
        self.server = server
        self.name = name
        self.url = server.url(name)

    def sql(self, *statements: str) -> list[tuple[str, ...]]:
        return [tuple(line.split("|")) for line in self.server.sql(*statements, database=self.name).splitlines()]

    def definitions(self) -> set[str]:
        dump = re.sub(r"^(--|\\|SET |SELECT ).*$", "", self.server.dump(self.name), flags=re.MULTILINE)
        return {_squeezed(sql) for sql in dump.split(";") if sql.strip() and "alembic_version" not in sql}

    async def assert_free(self) -> None:
        (count,) = self.sql(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND xact_start IS NOT NULL"
        )
        assert count == ("0",)


def _squeezed(sql: str) -> str:
    return "".join(sql.split()).replace('"', "")


_numbers = count(1)


@contextmanager
def postgres_database(server: Server, *, template: str = "template0") -> Iterator[PostgresDatabase]:
    """A new database, made from another; gone at the end."""
    name = f"test{next(_numbers)}"
    server.sql(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
    try:
        yield PostgresDatabase(server, name)
    finally:
        server.sql(f"DROP DATABASE {name} WITH (FORCE)")
