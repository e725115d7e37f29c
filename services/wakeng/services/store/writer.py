"""The one writer of records: tables hand theirs over and go on playing; they are written in batches.

A batch waits a moment, for what a transaction costs hardly depends on how many hands it holds. Each record is encoded
as it comes, so that what waits is small and no table waits for a whole batch. Nothing is ever dropped: what cannot be
written stays, the error goes to whoever waits in `flush` or `room`, and the next such call tries again.
"""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Final, Protocol, Self

from wakeng.services.store.recordfile import RecordFile
from wakeng.services.store.rows import Added, Entry

_MOST_IN_A_BATCH: Final = 128
"""More hardly cost less each, and would hold the loop longer."""


class Writable(Protocol):
    """What a writer needs of the store."""

    async def add(self, entries: Sequence[Entry]) -> Added:
        """Writes entries, all or none."""


class RecordWriter:
    """Writes records to a store, and to a file as well where one is given. To be used from one event loop.

    At most `most_waiting` records should wait; `room` says when there is place for one more. The records of a batch
    wait up to `linger_s` seconds for company, unless somebody waits in `flush` or there is no room.
    """

    def __init__(
        self,
        store: Writable,
        *,
        file: RecordFile | None = None,
        most_waiting: int = 4096,
        linger_s: float = 0.05,
    ) -> None:
        self._store = store
        self._file = file
        self._most_waiting = most_waiting
        self._linger_s = linger_s
        self._waiting: deque[Entry] = deque()
        self._unfiled: list[bytes] = []  # In the store, and still to go to the file.
        self._under_way = 0  # How many of those waiting are just being written.
        self._put = 0
        self._done = 0
        self._batch: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()
        self._failed = False
        self.ignored = 0
        """Records of hands that the store had already."""

    @property
    def waiting(self) -> int:
        """Records that are not written yet."""
        return len(self._waiting)

    def put(self, record: Mapping[str, Any]) -> Entry:
        """Takes a record; returns at once, room or not, with what goes into the store."""
        entry = Entry.of_record(record)
        self._waiting.append(entry)
        self._put += 1
        if self._batch is None and not self._failed:
            self._begin()
        if len(self._waiting) - self._under_way >= _MOST_IN_A_BATCH:
            self._hurry.set()
        return entry

    async def room(self) -> None:
        """Returns when there is place for one more record: to be awaited before a hand that will make one."""
        while self._failed or len(self._waiting) >= self._most_waiting:
            await self._next_batch()

    async def flush(self) -> None:
        """Returns when all that was put so far is committed, or raises why it cannot be."""
        goal = self._put
        while self._done < goal:
            await self._next_batch()

    async def close(self) -> None:
        """Flushes; the store and the file stay open, being the caller's."""
        await self.flush()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _next_batch(self) -> None:
        """Waits for the batch under way, or a new one; raises what it raised."""
        self._hurry.set()
        batch = self._batch or self._begin()
        # Unlike an await of the task itself, this leaves the batch alone when the caller is cancelled.
        await asyncio.wait([batch])
        batch.result()

    def _begin(self) -> asyncio.Task[None]:
        self._batch = asyncio.create_task(self._write(), name="wakeng-record-writer")
        self._batch.add_done_callback(self._ended)
        return self._batch

    def _ended(self, batch: asyncio.Task[None]) -> None:
        self._batch = None
        self._under_way = 0
        self._failed = batch.cancelled() or batch.exception() is not None
        if self._waiting and not self._failed:
            self._begin()

    async def _write(self) -> None:
        if not self._hurry.is_set():
            await self._company()
        self._hurry.clear()
        entries = list(islice(self._waiting, _MOST_IN_A_BATCH))
        self._under_way = len(entries)
        added = await self._store.add(entries)
        for _ in entries:
            self._waiting.popleft()
        self._under_way = 0
        self.ignored += added.ignored
        if self._file is not None:
            self._unfiled += [entry.line for entry in added.written]
            self._file.append(self._unfiled)
            self._unfiled.clear()
        self._done = self._put - len(self._waiting)

    async def _company(self) -> None:
        timer = asyncio.get_running_loop().call_later(self._linger_s, self._hurry.set)
        try:
            await self._hurry.wait()
        finally:
            timer.cancel()
