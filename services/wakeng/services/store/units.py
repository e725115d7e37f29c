"""A transaction as a unit: once begun it goes on to its end, whatever becomes of the task that wanted it.

Drivers lose count of a transaction whose task is cancelled at the wrong await: a connection to SQLite then goes away
with the write lock still held, and whoever writes next waits for it in vain. So the unit has a task of its own, which
nobody cancels; a caller who is cancelled waits for its end, which is near, and leaves then.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

T = TypeVar("T")
Work = Callable[[AsyncConnection], Awaitable[T]]
"""What is to be done within one transaction."""


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


async def transaction(engine: AsyncEngine, work: Work[T]) -> T:
    """All that `work` does is committed together, or on an error nothing of it."""
    async with engine.begin() as connection:
        return await work(connection)
