"""How the parts of a store come at its database: readers at once, writers in turn, failures in our own words."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from typing import Any, Final

from sqlalchemy import Row, Select
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as NoConnectionFree
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from wakeng.services.errors import StoreError, UnknownMatch
from wakeng.services.store.database import WRITES
from wakeng.services.store.retries import Patience, Retries, passes, problem_of
from wakeng.services.store.units import T, Unit, Work

MOST_A_PAGE: Final = 1000

Found = Row[*tuple[Any, ...]]
"""A row of any shape."""


class Access:
    """One database, shared by all parts of a store."""

    def __init__(self, engine: AsyncEngine, clock: Callable[[], int], patience: Patience) -> None:
        """`clock` gives microseconds since 1970."""
        self.engine = engine
        self.dialect = engine.dialect.name
        self.clock = clock
        # Apart, since a file of SQLite that is locked to writers is read as ever.
        self._reads, self._writes = Retries(patience), Retries(patience)
        self._writing = engine.execution_options(**{WRITES: True})
        # SQLite has one writer at a time; those of this process queue here, in order, not at the file's lock.
        self._turn: AbstractAsyncContextManager[Any] = asyncio.Lock() if self.dialect == "sqlite" else nullcontext()

    @property
    def away(self) -> bool:
        """Whether the database is away, and what it was asked is tried again."""
        return self._reads.away or self._writes.away

    async def read(self, work: Work[T]) -> T:
        """What `work` makes of the database; tried again while failures are of the kind that passes."""
        with failures_told():
            return await self._reads.until_done(Unit(self.engine, work).attempt)

    async def write(self, work: Work[T]) -> T:
        """What `work` gives back; all that it writes is done, or on an error nothing. Tried again as `read` is."""
        with failures_told():
            async with self._turn:
                # A caller who is cancelled while he queues has begun nothing, and leaves at once.
                return await self._writes.until_done(Unit(self._writing, work).attempt)

    async def rows(self, query: Select[*tuple[Any, ...]]) -> Sequence[Found]:
        """What one question finds."""

        async def ask(connection: AsyncConnection) -> Sequence[Found]:
            return (await connection.execute(query)).all()

        return await self.read(ask)


@contextmanager
def failures_told() -> Iterator[None]:
    """What the database complains of, in our words; the cause hangs on."""
    try:
        yield
    except IntegrityError as problem:
        # The only references from outside a batch that are not looked up before are those of records to their match.
        raise UnknownMatch(f"a record belongs to no match of this store: {problem_of(problem)}") from problem
    except (DBAPIError, NoConnectionFree, OSError) as problem:
        what = "is away" if passes(problem) else "has failed"
        raise StoreError(f"the store {what}: {problem_of(problem)}") from problem
