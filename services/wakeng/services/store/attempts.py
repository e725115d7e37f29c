"""Blocks that workers failed at, in the store: how often, why, and whether they were given up."""

from dataclasses import asdict, dataclass
from typing import Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from wakeng.services.store.access import Access
from wakeng.services.store.tables import block_attempts
from wakeng.services.store.upserts import insert_or_replace

MOST_REASON: Final = 500
"""Characters kept of a reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockAttempts:
    """What became of a block's deliveries to workers, apart from the last. Of most blocks there is nothing to tell."""

    match_id: str
    block: int
    failures: int = 0
    """Attempts that failed by themselves."""
    given_back: int = 0
    """Times a worker gave it back unplayed or half played, for no fault of the block's."""
    dead: bool = False
    """Whether it was given up, and struck off for all."""
    reason: str = ""
    """Of the last failure, or of giving it up."""
    updated_us: int = 0


class AttemptRows:
    """The part of a store that keeps them."""

    def __init__(self, access: Access) -> None:
        """For Store."""
        self._access = access

    async def get(self, match_id: str, block: int) -> BlockAttempts:
        """Those of one block."""
        rows = block_attempts
        found = await self._access.rows(select(rows).where(rows.c.match_id == match_id, rows.c.block == block))
        return BlockAttempts(**found[0]._mapping) if found else BlockAttempts(match_id=match_id, block=block)

    async def put(self, attempts: BlockAttempts) -> None:
        """Keep them, in place of what was known."""
        row = asdict(attempts) | {"reason": attempts.reason[:MOST_REASON], "updated_us": self._access.clock()}

        async def work(connection: AsyncConnection) -> None:
            await connection.execute(insert_or_replace(self._access.dialect, block_attempts), row)

        await self._access.write(work)

    async def list(self, match_id: str) -> list[BlockAttempts]:
        """Of all blocks of a tournament that failed or were given up, in schedule order."""
        rows = block_attempts
        failed = (rows.c.failures > 0) | rows.c.dead
        query = select(rows).where(rows.c.match_id == match_id, failed).order_by(rows.c.block)
        return [BlockAttempts(**row._mapping) for row in await self._access.rows(query)]
