"""What pages ask of the store: each question reads a page's worth of rows by an index, however many hands there are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
from sqlalchemy import BigInteger, Select, cast, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from wakeng.services.store.access import Access
from wakeng.services.store.tables import (
    SUMS,
    bot_latencies,
    hand_faults,
    hand_records,
    hand_seats,
    match_figures,
    standings,
)
from wakeng.services.store.upserts import insert_or_replace

NO_END: Final = 2**31 - 1
"""Beyond every index of a hand."""

_LATEST_FAULTS: Final = (hand_faults.c.finished_us.desc(), hand_faults.c.hand_index.desc())


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """Sums over recorded hands of whatever they stand beside. Points are points, not units of a base."""

    hands: int
    score: int
    task_bonus: int
    as_digger: int
    won_as_digger: int
    digger_score: int
    as_defender: int
    won_as_defender: int
    defender_score: int
    escapes: int
    decisions: int
    faults: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatFigures(Sums):
    """Those of one bot in one seat of a match or tournament."""

    match_id: str
    seat: int
    bot: str
    preset: str
    base: int
    last_us: int


@dataclass(frozen=True, slots=True)
class BotLine:
    """A bot as it stands in the list of bots."""

    bot: str
    hands: int
    matches: int
    faults: int
    last_us: int


@dataclass(frozen=True, slots=True)
class HandLine:
    """A hand as it stands in a list; tuples go by seat."""

    match_id: str
    hand_index: int
    winner: str
    digger: int | None
    stake: int | None
    finished_us: int
    bots: tuple[str, ...]
    scores: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FaultLine:
    """Where a fault happened; `number` as figures.py gives it."""

    match_id: str
    hand_index: int
    number: int
    seat: int
    fault: str
    finished_us: int


@dataclass(frozen=True, slots=True)
class KeptStandings:
    """Standings as they were made when `hands` hands were recorded, with how the scores went."""

    hands: int
    made_us: int
    standings: dict[str, Any]
    series: dict[str, Any]


class PageRows:
    """The part of a store that pages read."""

    def __init__(self, access: Access) -> None:
        """For Store."""
        self._access = access

    async def hands_of(self, match_ids: Sequence[str]) -> dict[str, int]:
        """How many hands of each are recorded."""
        figures = match_figures.c
        query = (
            select(figures.match_id, cast(func.sum(figures.hands), BigInteger))
            .where(figures.match_id.in_(match_ids), figures.seat == 0)
            .group_by(figures.match_id)
        )
        found = dict.fromkeys(match_ids, 0)
        return found | {match_id: int(hands) for match_id, hands in await self._access.rows(query)}

    async def seats_of(self, match_id: str) -> tuple[SeatFigures, ...]:
        """The figures of a match or tournament, by seat and bot."""
        query = select(match_figures).where(match_figures.c.match_id == match_id)
        ordered = query.order_by(match_figures.c.seat, match_figures.c.bot)
        return tuple(SeatFigures(**row._asdict()) for row in await self._access.rows(ordered))

    async def bots(self, *, after: str = "", most: int) -> tuple[BotLine, ...]:
        """Those that have a hand in the store, by name, from the first beyond another on."""
        figures = match_figures.c
        query = (
            select(
                figures.bot,
                cast(func.sum(figures.hands), BigInteger),
                func.count(figures.match_id.distinct()),
                cast(func.sum(figures.faults), BigInteger),
                func.max(figures.last_us),
            )
            .where(figures.bot > after)
            .group_by(figures.bot)
            .order_by(figures.bot)
            .limit(most)
        )
        return tuple(BotLine(bot, *map(int, rest)) for bot, *rest in await self._access.rows(query))

    async def record_of(self, bot: str) -> dict[tuple[str, int], Sums]:
        """A bot's sums by preset and base."""
        figures = match_figures.c
        sums = [cast(func.sum(figures[name]), BigInteger) for name in SUMS]
        query = (
            select(figures.preset, figures.base, *sums)
            .where(figures.bot == bot)
            .group_by(figures.preset, figures.base)
            .order_by(figures.preset, figures.base)
        )
        found = await self._access.rows(query)
        return {
            (preset, base): Sums(**dict(zip(SUMS, map(int, values), strict=True))) for preset, base, *values in found
        }

    async def matches_of(self, bot: str, most: int) -> tuple[SeatFigures, ...]:
        """A bot's latest matches and tournaments, a row for each seat it had."""
        query = select(match_figures).where(match_figures.c.bot == bot)
        ordered = query.order_by(match_figures.c.last_us.desc()).limit(most)
        return tuple(SeatFigures(**row._asdict()) for row in await self._access.rows(ordered))

    async def latencies_of(self, bot: str) -> dict[str, dict[int, int]]:
        """By phase the decisions in each bucket."""
        mine = (bot_latencies.c.bot == bot) & (bot_latencies.c.decisions > 0)
        query = select(bot_latencies.c.phase, bot_latencies.c.bucket, bot_latencies.c.decisions).where(mine)
        found: dict[str, dict[int, int]] = {}
        for phase, bucket, decisions in await self._access.rows(query.order_by(bot_latencies.c.bucket)):
            found.setdefault(phase, {})[bucket] = int(decisions)
        return found

    async def faults_of(self, bot: str, most: int) -> tuple[FaultLine, ...]:
        """A bot's latest faults."""
        return await self._faults(hand_faults.c.bot == bot, most)

    async def faults_in(self, match_id: str, most: int, *, below: int = NO_END) -> tuple[FaultLine, ...]:
        """The latest faults of a match, in hands below an index."""
        of_match = (hand_faults.c.match_id == match_id) & (hand_faults.c.hand_index < below)
        return await self._faults(of_match, most)

    async def _faults(self, which: Any, most: int) -> tuple[FaultLine, ...]:
        columns = [hand_faults.c[name] for name in FaultLine.__slots__]
        query = select(*columns).where(which).order_by(*_LATEST_FAULTS).limit(most)
        return tuple(FaultLine(*row) for row in await self._access.rows(query))

    async def hands(self, match_id: str, *, first: int, most: int, below: int = NO_END) -> tuple[HandLine, ...]:
        """Recorded hands of a match from an index on, and below another."""
        index = hand_records.c.hand_index
        wanted = select(index).where(hand_records.c.match_id == match_id, index >= first, index < below)
        return await self._hands(match_id, wanted.order_by(index).limit(most))

    async def hands_of_bot(self, bot: str, match_id: str, *, most: int, below: int = NO_END) -> tuple[HandLine, ...]:
        """A bot's last hands of a match, below an index, the last first."""
        index = hand_seats.c.hand_index
        wanted = select(index).where(hand_seats.c.bot == bot, hand_seats.c.match_id == match_id, index < below)
        return (await self._hands(match_id, wanted.distinct().order_by(index.desc()).limit(most)))[::-1]

    async def _hands(self, match_id: str, wanted: Select[Any]) -> tuple[HandLine, ...]:
        """The hands of a match whose indices are wanted, in their order."""
        record, seat = hand_records.c, hand_seats.c

        async def look(connection: AsyncConnection) -> tuple[HandLine, ...]:
            indices = list((await connection.execute(wanted)).scalars())
            columns = (getattr(record, name) for name in HandLine.__slots__[:6])
            these = select(*columns).where(record.match_id == match_id, record.hand_index.in_(indices))
            hands = (await connection.execute(these.order_by(record.hand_index))).all()
            seated = select(seat.hand_index, seat.bot, seat.score).where(
                seat.match_id == match_id, seat.hand_index.in_(indices)
            )
            seats: dict[int, list[tuple[str, int]]] = {}
            for index, bot, score in await connection.execute(seated.order_by(seat.hand_index, seat.seat)):
                seats.setdefault(index, []).append((bot, score))
            return tuple(_hand_line(hand, seats[hand.hand_index]) for hand in hands)

        return await self._access.read(look)

    async def standings_of(self, match_id: str) -> KeptStandings | None:
        """The standings that were last kept of a tournament, None where none ever were."""
        found = await self._access.rows(select(standings).where(standings.c.match_id == match_id))
        if not found:
            return None
        row = found[0]
        return KeptStandings(row.hands, row.made_us, orjson.loads(row.standings), orjson.loads(row.series))

    async def keep_standings(
        self, match_id: str, hands: int, *, standings_: dict[str, Any], series: dict[str, Any]
    ) -> None:
        """Keep a tournament's standings, in place of those that were made of no more hands."""
        row = {
            "match_id": match_id,
            "hands": hands,
            "made_us": self._access.clock(),
            "standings": orjson.dumps(standings_).decode(),
            "series": orjson.dumps(series).decode(),
        }
        statement = insert_or_replace(self._access.dialect, standings)
        await self._access.write(lambda connection: connection.execute(statement, row))


def _hand_line(hand: Any, seats: Sequence[tuple[str, int]]) -> HandLine:
    bots, scores = zip(*seats, strict=True)
    match_id, hand_index, winner, digger, stake, finished_us = hand
    return HandLine(match_id, hand_index, winner, digger, stake, finished_us, bots, scores)
