"""How PostgreSQL is reached: by its own driver's reading of the URL, through a pool of few connections.

The driver reads the URL itself, so that all works which the manual of PostgreSQL says of such URLs: `sslmode`,
`sslrootcert`, a socket's folder as `host`, `application_name`, and passwords from PGPASSFILE or PGPASSWORD.

No connection is tried before each use, which would be three more messages each: one that has died is told by its first
use, the pool then forgets all that it has, and the unit is tried again at once (retries.py).
"""

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import URL
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from wakeng.services.errors import NoStore

if TYPE_CHECKING:
    from asyncpg import Connection

_POOL: Final = {
    "pool_size": 4,  # Kept. One writes records, the others answer questions, which are short.
    "max_overflow": 6,  # More while there is a rush; a server has a hundred by default, for all of its users.
    "pool_timeout": 10,  # Seconds that one waits for a free one, before it counts as a failure that passes.
    "pool_recycle": 1800,  # Seconds after which one is made anew, since firewalls forget those that are quiet.
}
_CONNECT_S: Final = 10.0
_COMMAND_S: Final = 60.0
"""Longer than any statement of ours takes; a server that says nothing for so long is lost."""


def postgres_engine(url: URL, *, limited: bool = True) -> AsyncEngine:
    """Connections to a server; unless `limited` a statement may take as long as it likes, as a migration's may."""
    try:
        import asyncpg
    except ModuleNotFoundError:
        raise NoStore("a store at postgresql:// needs asyncpg: pip install 'wakeng[server,postgres]'") from None
    dsn = url.set(drivername="postgresql").render_as_string(hide_password=False)

    async def connect() -> "Connection[Any]":
        try:
            made: Connection[Any] = await asyncpg.connect(
                dsn, timeout=_CONNECT_S, command_timeout=_COMMAND_S if limited else None
            )
        except (ValueError, asyncpg.InterfaceError) as problem:  # It could not make sense of the URL.
            raise NoStore(f"a store's URL must be one that PostgreSQL understands: {problem}") from problem
        return made

    # Parameters hold seeds, which no log is to show.
    return create_async_engine("postgresql+asyncpg://", async_creator=connect, hide_parameters=True, **_POOL)
