"""The schema's version: what a database has, what this code works with, and the way from the one to the other.

Steps are written by hand in `migrations/versions`, each numbered on from the last; tests hold that the last one leads
to the very tables of tables.py, and back.
"""

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from wakeng.services.errors import SchemaError
from wakeng.services.store.database import WRITES, database_url, open_engine
from wakeng.services.store.tables import metadata
from wakeng.services.store.units import to_its_end, transaction


def newest_schema() -> str:
    """The schema that this code works with."""
    head = _scripts().get_current_head()
    assert head is not None
    return head


async def bring_up(engine: AsyncEngine, *, migrate: bool) -> None:
    """Sees to it that the database has the newest schema; SchemaError if it cannot, or may not, have it."""

    async def bring(connection: AsyncConnection) -> None:
        await connection.run_sync(_bring_up, migrate=migrate)

    # One that is to be changed is locked before it is looked at, so that of two openers one does it all.
    await to_its_end(transaction(engine.execution_options(**{WRITES: migrate}), bring))


async def downgrade(url: str, *, to: str) -> None:
    """Takes a database back to an older schema, `base` for none; what only newer ones can hold is lost."""

    async def take_back(connection: AsyncConnection) -> None:
        await connection.run_sync(lambda sync: command.downgrade(_config(sync), to))

    engine = await open_engine(database_url(url))
    try:
        await to_its_end(transaction(engine.execution_options(**{WRITES: True}), take_back))
    finally:
        await engine.dispose()


def _bring_up(connection: Connection, *, migrate: bool) -> None:
    has, newest = _schema_of(connection), newest_schema()
    if has == newest:
        return
    if has is not None and has not in {step.revision for step in _scripts().walk_revisions()}:
        raise SchemaError(
            f"the database has schema {has}, which is newer than {newest}, the newest this version of wakeng knows; "
            "use the newer version"
        )
    if has is None and (taken := set(inspect(connection).get_table_names()) & set(metadata.tables)):
        raise SchemaError(f"the database is no store of wakeng, but has tables of its own named {sorted(taken)}")
    if not migrate:
        raise SchemaError(f"the database has {f'schema {has}' if has else 'no schema yet'}; it must be upgraded first")
    command.upgrade(_config(connection), newest)


def _schema_of(connection: Connection) -> str | None:
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
