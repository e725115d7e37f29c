"""How a database is reached: the URL that users write, the driver for it, and how SQLite is to behave."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, Connection, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from wakeng.services.errors import NoStore
from wakeng.services.store.postgres import postgres_engine

DRIVERS: Final = {
    "sqlite": "sqlite+aiosqlite",
    "postgresql": "postgresql+asyncpg",
    "postgres": "postgresql+asyncpg",
}
"""By the scheme that users write: the driver that does not block the loop."""

WRITES: Final = "wakeng_writes"
"""The execution option of a connection that is going to write."""

# Readers go on while one writes (WAL). A commit is in the kernel's hands when it returns, so kill -9 at any moment
# loses nothing; since only checkpoints wait for the disk (NORMAL), a power cut may lose the last commits, though never
# part of one, and leaves the database sound. Hands lost so are played again from their seeds.
_OF_THE_FILE: Final = "PRAGMA journal_mode = WAL"
_OF_A_CONNECTION: Final = (
    "PRAGMA busy_timeout = 10000",  # Another process may be writing; wait for it, in milliseconds.
    "PRAGMA synchronous = NORMAL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA wal_autocheckpoint = 4000",  # Pages of 4 KiB: fewer and larger waits for the disk than at the default 1000.
)


def database_url(text: str) -> URL:
    """The URL of a store with its driver; NoStore if it is none."""
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise NoStore("a store's URL looks like sqlite:///FILE or postgresql://USER@HOST/DATABASE") from None
    if url.drivername in DRIVERS:
        url = url.set(drivername=DRIVERS[url.drivername])
    if url.drivername not in DRIVERS.values():
        raise NoStore(f"a store's URL begins with sqlite:// or postgresql://, not {url.drivername}://")
    if url.get_backend_name() == "sqlite" and (url.database in (None, "", ":memory:") or url.query):
        raise NoStore("a store of SQLite is a file and nothing else: sqlite:///FILE")
    return url


def existing(url: URL) -> URL:
    """The URL, if it is not that of a file which is not there; NoStore then, where one is not to be made."""
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
        raise NoStore(f"there is no store at {url.database}")
    return url


async def open_engine(url: URL, *, limited: bool = True) -> AsyncEngine:
    """The connections to a database; NoStore if its driver is missing, or SQLite's file cannot be had.

    Unless `limited` a statement may take as long as it likes.
    """
    if url.get_backend_name() == "postgresql":
        return postgres_engine(url, limited=limited)
    await asyncio.to_thread(_try_file, url)
    # Parameters hold seeds, which no log is to show.
    engine = create_async_engine(url, hide_parameters=True)
    event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    event.listen(engine.sync_engine, "begin", _begin_sqlite)
    return engine


def _try_file(url: URL) -> None:
    # The asynchronous driver leaves a thread with a traceback behind where a file cannot be opened, so ask before.
    try:
        with closing(sqlite3.connect(url.database or "", timeout=30)) as connection:
            connection.execute(_OF_THE_FILE)
    except (sqlite3.Error, ValueError) as problem:
        raise NoStore(f"cannot open the store {url.database}: {problem}") from problem


def _prepare_sqlite(connection: DBAPIConnection, _record: Any) -> None:
    # Python's sqlite3 opens transactions by its own lights, late and never for tables; ours begin where we say.
    connection.isolation_level = None
    try:
        cursor = connection.cursor()
        for pragma in _OF_A_CONNECTION:
            cursor.execute(pragma)
        cursor.close()
    except BaseException:
        connection.close()  # The pool does not know it yet.
        raise


def _begin_sqlite(connection: Connection) -> None:
    # Who is going to write takes the lock at once: one that read first could be refused it later, whatever the timeout.
    writes = connection.get_execution_options().get(WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
