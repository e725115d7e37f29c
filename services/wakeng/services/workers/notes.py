"""What a worker notes in the store of blocks that came to nothing, and how one is struck off (attempts.py)."""

import logging
from collections.abc import Callable
from typing import Final

from wakeng.services.arena import Arena
from wakeng.services.store import BlockAttempts
from wakeng.services.tournament.run import Stored, get
from wakeng.services.workers import attempts
from wakeng.services.workers.patience import patiently

log: Final = logging.getLogger(__name__)

Key = tuple[str, int]
"""Tournament and block."""
_STORE: Final = "store"


class AttemptNotes:
    """One worker's notes; while the store is away it waits for it."""

    def __init__(self, arena: Arena, *, most: int) -> None:
        self._store = arena.store
        self._journal = arena.journal
        self._metrics = arena.metrics
        self._most = most

    async def get(self, key: Key) -> BlockAttempts:
        """What is known of a block."""
        return await patiently(self._journal, _STORE, lambda: self._store.attempts.get(*key))

    async def gave_up(self, known: BlockAttempts) -> bool:
        """Whether the block was tried too often; it is then struck off for all, and the reason kept."""
        verdict = attempts.judged(known, most=self._most)
        if verdict is None:
            return False
        tournament = await patiently(self._journal, _STORE, lambda: get(self._store, known.match_id))
        await patiently(self._journal, _STORE, lambda: self._strike_off(tournament, verdict))
        told = {"match_id": known.match_id, "block": known.block, "reason": verdict.reason}
        self._journal.event("block_given_up", **told)
        log.error("a block was given up and is struck off for all", extra=told)
        self._metrics.blocks_given_up.inc()
        return True

    async def _strike_off(self, tournament: Stored, verdict: BlockAttempts) -> None:
        size, store = tournament.spec.hands_per_block, self._store
        numbers = range(verdict.block * size, (verdict.block + 1) * size)
        recorded = await store.some_records(tournament.id, numbers)
        missing = next((number for number in numbers if number not in recorded), None)
        if missing is not None:  # Else it was complete all along.
            await store.attempts.put(verdict)
            await store.add_void(tournament.id, missing, voids=tournament.spec.options.strike_off_after)

    async def begin(self, known: BlockAttempts) -> None:
        """An attempt at a suspect begins."""
        await patiently(self._journal, _STORE, lambda: self._store.attempts.put(attempts.tried(known)))

    async def passed(self, key: Key) -> None:
        """A suspect was played to its end."""
        await self._change(key, attempts.passed)

    async def failed(self, key: Key, reason: str, *, own: bool, noted: bool) -> None:
        """An attempt has failed, by the block's own fault as far as can be seen, or with others."""
        told = {"match_id": key[0], "block": key[1], "reason": reason}
        self._journal.event("block_failed", **told, own=own)
        log.warning("a block failed, and is tried again", extra=told)
        self._metrics.block_failures.inc()
        if own:
            await self._change(key, lambda known: attempts.failed(known, reason, noted=noted))

    async def given_back(self, key: Key, *, noted: bool) -> None:
        """The worker ends."""
        known = await self._store.attempts.get(*key)
        known = attempts.passed(known) if noted else known
        await self._store.attempts.put(attempts.given_back(known))

    async def _change(self, key: Key, change: Callable[[BlockAttempts], BlockAttempts]) -> None:
        known = await self.get(key)
        await patiently(self._journal, _STORE, lambda: self._store.attempts.put(change(known)))
