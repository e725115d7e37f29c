"""Space that deleted rows have left, given back to the system."""

import asyncio
import sqlite3
from contextlib import closing

from sqlalchemy import URL

from wakeng.services.errors import StoreError
from wakeng.services.store.access import failures_told
from wakeng.services.store.database import open_engine


async def vacuum(url: URL) -> None:
    """Packs the database. SQLite takes no writes meanwhile, and needs the room twice; PostgreSQL goes on as ever."""
    if url.get_backend_name() == "sqlite":
        await asyncio.to_thread(_pack, url.database or "")
        return
    engine = await open_engine(url, limited=False)
    try:
        with failures_told():
            async with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
                await connection.exec_driver_sql("VACUUM (ANALYZE)")
    finally:
        await engine.dispose()


def _pack(file: str) -> None:
    try:
        with closing(sqlite3.connect(file, timeout=60, isolation_level=None)) as connection:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as problem:
        raise StoreError(f"the store could not be packed: {problem}") from problem
