"""The schema's version: what a database has, what this code works with, and the way from the one to the other.

Steps are written by hand in `migrations/versions`, each numbered on from the last; tests hold that the last one leads
to the very tables of tables.py, and back.
"""

from typing import Final

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, inspect
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from wakeng.services.errors import SchemaError
from wakeng.services.store.database import WRITES, database_url, open_engine
from wakeng.services.store.retries import Patience, Retries
from wakeng.services.store.tables import metadata
from wakeng.services.store.units import T, Unit, Work

_OLDEST_POSTGRESQL: Final = (15,)
_LOCK: Final = 0x77616B656E67
"""The advisory lock of who changes the schema: `wakeng` in bytes."""


def newest_schema() -> str:
    """The schema that this code works with."""
    head = _scripts().get_current_head()
    assert head is not None
    return head


def steps() -> tuple[str, ...]:
    """Every schema there was, the oldest first."""
    return tuple(step.revision for step in _scripts().walk_revisions())[::-1]


async def bring_up(engine: AsyncEngine, url: URL, *, migrate: bool, patience: Patience) -> None:
    """Sees to it that the database has the newest schema; SchemaError if it cannot, or may not, have it."""
    has = await Retries(patience).until_done(Unit(engine, look).attempt)
    if has == newest_schema():
        return
    if not migrate:
        told = f"schema {has}" if has else "no schema yet"
        raise SchemaError(f"the database has {told}; it must be upgraded first (wakeng db upgrade)")
    await upgrade(url, patience=patience)


async def upgrade(url: URL, *, patience: Patience) -> str | None:
    """Brings a database to the newest schema, in one transaction; returns the one it had, None for none."""

    async def climb(connection: AsyncConnection) -> str | None:
        # Of two who come at once one does it all, and the other finds it done. SQLite's transaction locks by itself.
        if connection.dialect.name == "postgresql":
            await connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
        has = await look(connection)
        if has != newest_schema():
            await connection.run_sync(lambda sync: command.upgrade(_config(sync), newest_schema()))
        return has

    return await _alone(url, climb, patience)


async def downgrade(url: str, *, to: str) -> None:
    """Takes a database back to an older schema, `base` for none; what only newer ones can hold is lost."""

    async def climb_down(connection: AsyncConnection) -> None:
        await connection.run_sync(lambda sync: command.downgrade(_config(sync), to))

    await _alone(database_url(url), climb_down, Patience())


async def _alone(url: URL, work: Work[T], patience: Patience) -> T:
    """In a transaction of connections of its own, for which no statement is too long."""
    engine = await open_engine(url, limited=False)
    try:
        unit = Unit(engine.execution_options(**{WRITES: True}), work)
        return await Retries(patience).until_done(unit.attempt)
    finally:
        await engine.dispose()


async def look(connection: AsyncConnection) -> str | None:
    """The schema of the database, None if it is empty; SchemaError if we cannot work with it."""
    version = connection.dialect.server_version_info or ()
    if connection.dialect.name == "postgresql" and version < _OLDEST_POSTGRESQL:
        raise SchemaError(f"the server is PostgreSQL {version[0]}; wakeng needs {_OLDEST_POSTGRESQL[0]} or later")
    return await connection.run_sync(_known_schema)


def _known_schema(connection: Connection) -> str | None:
    has, newest = schema_of(connection), newest_schema()
    if has is not None and has not in steps():
        raise SchemaError(
            f"the database has schema {has}, which is newer than {newest}, the newest this version of wakeng knows; "
            "use the newer version"
        )
    if has is None and (taken := set(inspect(connection).get_table_names()) & set(metadata.tables)):
        raise SchemaError(f"the database is no store of wakeng, but has tables of its own named {sorted(taken)}")
    return has


def schema_of(connection: Connection) -> str | None:
    """The schema that the database says it has, None for none."""
    heads = MigrationContext.configure(connection).get_current_heads()
    return ", ".join(sorted(heads)) or None


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", "wakeng.services.store:migrations")
    config.set_main_option("path_separator", "newline")  # Alembic warns where it is left to guess.
    config.attributes["connection"] = connection
    return config
