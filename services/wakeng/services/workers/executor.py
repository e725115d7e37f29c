"""The coordinator's side: an executor that publishes blocks and finds in the store what workers made of them.

A notice says which blocks are recorded, and the store is read there. Notices may be lost, and so may messages where a
NATS server loses its disk; so now and then a sweep compares what is out with the queue and the store. It asks the queue
first: a block that has no message there was either recorded before, and the store has it, or is to be published again.

A block that is struck off has its voids in the store, like one that this process would have played.
"""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final

import orjson

from wakeng.services.floor import Floor
from wakeng.services.journal import Journal
from wakeng.services.store import Store
from wakeng.services.tournament.docket import Work
from wakeng.services.tournament.executor import Outcomes
from wakeng.services.tournament.spec import TournamentSpec
from wakeng.services.tournament.statistics.results import hand_result
from wakeng.services.workers.patience import patiently
from wakeng.services.workers.presence import Presence
from wakeng.services.workers.queue import BlockMessage, Queue

SWEEP_S: Final = 5.0
LET_GO_WITHIN_S: Final = 30.0
"""So long workers may take to end the hands in play of a tournament that is stopped, before nobody waits for them."""
_LOOK_AGAIN_S: Final = 0.2
_AT_ONCE: Final = 64
"""Blocks published, or read, side by side."""


class BlockExecutor:
    """Has the blocks of one tournament played by workers."""

    def __init__(
        self,
        tournament_id: str,
        spec: TournamentSpec,
        outcomes: Outcomes,
        *,
        queue: Queue,
        presence: Presence,
        store: Store,
        journal: Journal,
    ) -> None:
        self.floor: Floor | None = None
        self.running = 0
        """Hands in play, as the workers lately said."""
        self._id = tournament_id
        self._size = spec.hands_per_block
        self._strike_off_after = spec.options.strike_off_after
        self._outcomes = outcomes
        self._queue = queue
        self._presence = presence
        self._store = store
        self._journal = journal
        self._out: dict[int, Work] = {}
        """Blocks that are to be played, and not known to be over."""
        self._told: dict[int, set[int]] = {}
        """By block out: the places of its hands that `outcomes` was told of."""
        self._unpublished: list[int] = []
        self._publish = asyncio.Event()
        self._done: set[int] = set()
        """Blocks out that may be found recorded."""
        self._look = asyncio.Event()
        self._reading = asyncio.Lock()
        self._ended = asyncio.Event()
        self._stopping = False

    def submit(self, work: Work) -> None:
        """Have a block played."""
        index = work.block.index
        self._out[index] = work
        self._told[index] = set(work.done)
        self._unpublished.append(index)
        self._publish.set()

    def stop(self) -> None:
        """Have no further hand begun."""
        self._stopping = True
        self._ended.set()

    def end(self) -> None:
        """What is in play counts for nothing any more."""
        self._ended.set()

    async def run(self) -> None:
        """Publish and read until `end` or `stop`; workers then let go."""
        notices = await patiently(self._journal, "queue", lambda: self._queue.on_done(self._id, self._noticed))
        ended = asyncio.create_task(self._ended.wait())
        tasks = [
            ended,
            *map(asyncio.create_task, (self._keep_publishing(), self._keep_reading(), self._keep_sweeping())),
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._let_go()
            if not self._queue.client.is_closed:
                await notices.unsubscribe()

    def _noticed(self, blocks: Iterable[int]) -> None:
        self._done.update(block for block in blocks if block in self._out)
        if self._done:
            self._look.set()

    # Publishing -----------------------------------------------------------------------------------------------------

    async def _keep_publishing(self) -> None:
        while True:
            await self._publish.wait()
            self._publish.clear()
            while self._unpublished:
                some, self._unpublished = self._unpublished[:_AT_ONCE], self._unpublished[_AT_ONCE:]
                await asyncio.gather(*(self._publish_one(block) for block in sorted(some)))

    async def _publish_one(self, block: int) -> None:
        work = self._out.get(block)
        if work is not None:
            message = BlockMessage(tournament_id=self._id, block=work.block, done=work.done, voids=work.voids)
            await patiently(self._journal, "queue", lambda: self._queue.publish(message))

    # Reading --------------------------------------------------------------------------------------------------------

    async def _keep_reading(self) -> None:
        while True:
            await self._look.wait()
            self._look.clear()
            while self._done:
                some = sorted(self._done)[:_AT_ONCE]
                self._done.difference_update(some)
                await self._read(some)

    async def _read(self, blocks: list[int]) -> None:
        """Tell of the hands of these blocks that the store has."""
        async with self._reading:
            blocks = [block for block in blocks if block in self._out]
            hands = [block * self._size + place for block in blocks for place in self._missing(block)]
            lines = await patiently(self._journal, "store", lambda: self._store.some_records(self._id, hands))
            for block in blocks:
                self._tell(block, lines)
                await asyncio.sleep(0)
            if unfinished := [block for block in blocks if block in self._out]:
                await self._read_voids(unfinished)

    def _tell(self, block: int, lines: Mapping[int, bytes]) -> None:
        for place in self._missing(block):
            if line := lines.get(block * self._size + place):
                self._told[block].add(place)
                self._outcomes.ended(block, place, hand_result(orjson.loads(line)))
        if not self._missing(block):
            self._forget(block)

    async def _read_voids(self, blocks: list[int]) -> None:
        voids = await patiently(self._journal, "store", lambda: self._store.voids(self._id))
        for hand, count in voids.items():
            block, place = divmod(hand, self._size)
            if block in blocks and block in self._out and count >= self._strike_off_after:
                self._forget(block)
                self._outcomes.voided(block, place, count)

    def _missing(self, block: int) -> list[int]:
        return [place for place in range(self._size) if place not in self._told[block]]

    def _forget(self, block: int) -> None:
        self._out.pop(block, None)
        self._told.pop(block, None)

    # Sweeping -------------------------------------------------------------------------------------------------------

    async def _keep_sweeping(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_S)
            await patiently(self._journal, "queue", self._sweep)

    async def _sweep(self) -> None:
        out = [block for block in self._out if block not in self._unpublished]
        queued = await self._queue.queued(self._id)
        missing = [block for block in out if block not in queued and block in self._out]
        await self._read(missing)
        lost = [block for block in missing if block in self._out]
        if lost:
            self._journal.event("blocks_published_again", match_id=self._id, blocks=len(lost), first=lost[0])
            self._unpublished += lost
            self._publish.set()
        self.running = await self._held()

    # The end --------------------------------------------------------------------------------------------------------

    async def _let_go(self) -> None:
        """Nothing of the tournament is left in the queue, and where it was stopped, nothing in play with workers."""
        from nats.errors import Error

        with suppress(Error, TimeoutError, OSError):
            async with asyncio.timeout(LET_GO_WITHIN_S):
                await self._queue.forget(self._id)
                while self._stopping and await self._held():  # noqa: ASYNC110 - it is others who let go
                    await asyncio.sleep(_LOOK_AGAIN_S)

    async def _held(self) -> int:
        """Blocks that workers hold, as they lately said."""
        return sum(note.blocks.get(self._id, 0) for note in await self._presence.notes())
