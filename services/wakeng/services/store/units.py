"""A transaction as a unit: once begun it goes on to its end, whatever becomes of the task that wanted it.

Drivers lose count of a transaction whose task is cancelled at the wrong await: a connection to SQLite then goes away
with the write lock still held, and whoever writes next waits for it in vain. So the unit has a task of its own, which
nobody cancels; a caller who is cancelled waits for its end, which is near, and leaves then.

**Doubt.** Where the connection is lost while a commit is under way, the unit may be done or not, and only the database
knows. The next try is told so (`in_doubt`): what it finds there already may be its own.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, Generic, TypeVar

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

T = TypeVar("T")
Work = Callable[[AsyncConnection], Awaitable[T]]
"""What is to be done within one transaction; it may be tried more than once."""

_IN_DOUBT: Final = "wakeng_in_doubt"


class Unit(Generic[T]):
    """Work in one transaction: all of it is committed, or on an error nothing."""

    def __init__(self, engine: AsyncEngine, work: Work[T]) -> None:
        self._engine = engine
        self._work = work
        self._in_doubt = False

    async def attempt(self) -> T:
        """Tries once, and to the end."""
        return await to_its_end(self._transaction())

    async def _transaction(self) -> T:
        # What is not committed when the connection goes back to the pool is undone there.
        async with self._engine.connect() as connection:
            if self._in_doubt:
                await connection.execution_options(**{_IN_DOUBT: True})
            try:
                await connection.begin()
                made = await self._work(connection)
            except OSError:
                await connection.invalidate()  # The driver gave up waiting; who knows what that connection is at.
                raise
            try:
                await connection.commit()
            except BaseException:
                self._in_doubt = True
                raise
            return made


def in_doubt(connection: AsyncConnection) -> bool:
    """Within a unit: whether an earlier try of it may have been committed after all."""
    return bool(connection.sync_connection and connection.sync_connection.get_execution_options().get(_IN_DOUBT))


async def to_its_end(unit: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine as a task that no cancellation of its caller reaches; he is cancelled when it has ended."""
    task = asyncio.create_task(unit)
    leaving: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as cancelled:
            leaving = cancelled
    if leaving is not None:
        task.cancelled() or task.exception()  # Nobody is left to hear of it.
        raise leaving
    return task.result()
