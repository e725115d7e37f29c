"""Retention: finished matches and tournaments that are old enough go, a few hands at a time, beside a running arena.

Each transaction deletes a few hundred hands, which takes milliseconds; then the deleter stands back for as long as it
took, so that writers who waited get their turn. A match is marked before its first hand goes: broken off half way, what
is left of it says so, whatever reads it, and the next pruning takes the rest.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from wakeng.services.store.access import Access
from wakeng.services.store.rows import UNFINISHED, MatchKind, MatchState
from wakeng.services.store.tables import hand_records, matches
from wakeng.services.store.units import Work

HANDS_AT_ONCE: Final = 256
JUST_FINISHED_US: Final = 60_000_000
"""What finished within a minute stays, whatever is asked: its last records may be on their way."""
MARK: Final = "pruned: its hands are being deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """What is to stay. A match goes only if no rule that is given keeps it."""

    older_than_us: int | None = None
    """Microseconds since it finished, until which it is kept; None where age decides nothing."""
    keep: int | None = None
    """So many matches and so many tournaments, those that finished last; None where their number decides nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doomed:
    """A match that goes, or has gone."""

    match_id: str
    kind: MatchKind
    finished_us: int
    hands: int
    """Recorded."""


class Pruning:
    """The part of a store that forgets."""

    def __init__(self, access: Access) -> None:
        """For Store."""
        self._access = access

    async def doomed(self, retention: Retention) -> tuple[Doomed, ...]:
        """What would go, the oldest first: finished without exception."""
        now = self._access.clock()
        rank = func.row_number().over(partition_by=matches.c.kind, order_by=matches.c.finished_us.desc())
        ranked = (
            select(matches.c.match_id, matches.c.kind, matches.c.finished_us, matches.c.reason, rank.label("rank"))
            .where(matches.c.state.not_in([state.value for state in UNFINISHED]), matches.c.finished_us.is_not(None))
            .subquery()
        )
        given = ranked.c.finished_us < now - max(JUST_FINISHED_US, retention.older_than_us or 0)
        if retention.keep is not None:
            given &= ranked.c.rank > retention.keep
        chosen = (ranked.c.reason == MARK) | given
        hands = (
            select(func.count())
            .select_from(hand_records)
            .where(hand_records.c.match_id == ranked.c.match_id)
            .scalar_subquery()
        )
        query = (
            select(ranked.c.match_id, ranked.c.kind, ranked.c.finished_us, hands.label("hands"))
            .where(func.coalesce(chosen, False))
            .order_by(ranked.c.finished_us, ranked.c.match_id)
        )
        return tuple(
            Doomed(match_id=row.match_id, kind=MatchKind(row.kind), finished_us=row.finished_us, hands=row.hands)
            for row in await self._access.rows(query)
        )

    async def prune(self, doomed: Sequence[Doomed], *, on_hands: Callable[[int], None] = lambda hands: None) -> None:
        """Deletes these, telling how many hands have just gone; one that is not finished is left alone."""
        for match in doomed:
            if await self._paced(partial(_mark, match_id=match.match_id)):
                while deleted := await self._paced(partial(_delete_some, match_id=match.match_id)):
                    on_hands(deleted)
                await self._paced(partial(_delete_match, match_id=match.match_id))

    async def _paced(self, work: Work[int]) -> int:
        loop = asyncio.get_running_loop()
        began = loop.time()
        done = await self._access.write(work)
        await asyncio.sleep(loop.time() - began)
        return done


async def _mark(connection: AsyncConnection, match_id: str) -> int:
    finished = matches.c.state.not_in([state.value for state in UNFINISHED])
    marked = {"state": MatchState.CANCELLED.value, "reason": MARK}
    statement = update(matches).where(matches.c.match_id == match_id, finished).values(marked)
    return (await connection.execute(statement)).rowcount


async def _delete_some(connection: AsyncConnection, match_id: str) -> int:
    some = (
        select(hand_records.c.hand_index)
        .where(hand_records.c.match_id == match_id)
        .order_by(hand_records.c.hand_index)
        .limit(HANDS_AT_ONCE)
    )
    indices = list((await connection.execute(some)).scalars())
    if indices:
        mine = hand_records.c.match_id == match_id
        between = hand_records.c.hand_index.between(indices[0], indices[-1])
        await connection.execute(delete(hand_records).where(mine, between))
    return len(indices)


async def _delete_match(connection: AsyncConnection, match_id: str) -> int:
    return (await connection.execute(delete(matches).where(matches.c.match_id == match_id))).rowcount
