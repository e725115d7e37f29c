"""Whether a store is sound: its schema, its file, what refers to what, and records against their own checksums."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from random import Random
from typing import Any, Final

import orjson
from sqlalchemy import exists, func, select, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from wakeng.engine import RecordError, decode
from wakeng.services.errors import SchemaError, StoreError
from wakeng.services.store.access import failures_told
from wakeng.services.store.schema import look, newest_schema
from wakeng.services.store.tables import hand_records, hand_seats
from wakeng.services.store.units import T, Unit, Work

_AT_ONCE: Final = 500
_MOST_TOLD: Final = 5
"""Of things that are wrong in the same way."""
_RESTORE: Final = "stop the arena, keep a copy of the damaged store, and go back to the last backup"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one check found."""

    check: str
    ok: bool
    told: str
    advice: str = ""
    """What to do about it; empty where all is well."""

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


class Checking:
    """The checks of one database, which they do not change."""

    def __init__(self, engine: AsyncEngine, *, sample: int | None, random: Random) -> None:
        """At most `sample` records are read, chosen by `random`; all of them if it is None."""
        self._engine = engine
        self._sample = sample
        self._random = random

    async def findings(self, on_records: Callable[[int, int], None]) -> AsyncIterator[Finding]:
        """One after the other; `on_records` hears how many records of how many have been read."""
        has = None
        try:
            has = await self._ask(look)
            yield _schema(has)
        except SchemaError as problem:
            yield Finding(check="schema", ok=False, told=str(problem), advice="nothing else was checked")
        except StoreError as problem:
            yield Finding(check="schema", ok=False, told=str(problem), advice=_RESTORE)
        if has is not None:
            for name, check in _CHECKS.items():
                yield await self._finding(name, self._ask(check))
            yield await self._finding("records", self._records(on_records))

    async def _finding(self, check: str, finding: Awaitable[Finding]) -> Finding:
        try:
            return await finding
        except StoreError as problem:  # A file may be too damaged to be asked.
            return Finding(check=check, ok=False, told=str(problem), advice=_RESTORE)

    async def _ask(self, work: Work[T]) -> T:
        with failures_told():
            return await Unit(self._engine, work).attempt()

    async def _records(self, on_records: Callable[[int, int], None]) -> Finding:
        counts: Mapping[str, int] = await self._ask(_counts)
        chosen = dict(_chosen(counts, self._sample, self._random))
        goal, read, bad = sum(map(len, chosen.values())), 0, list[str]()
        for match_id, offsets in chosen.items():
            for first in range(0, len(offsets), _AT_ONCE):
                some = offsets[first : first + _AT_ONCE]
                bad += await self._ask(partial(_bad, match_id=match_id, offsets=some))
                read += len(some)
                on_records(read, goal)
        told = f"{read} of {sum(counts.values())} records read, "
        if not bad:
            return Finding(check="records", ok=True, told=told + "each fits its checksum")
        named = "; ".join(bad[:_MOST_TOLD]) + (f"; and {len(bad) - _MOST_TOLD} more" if len(bad) > _MOST_TOLD else "")
        return Finding(check="records", ok=False, told=f"{told}{len(bad)} damaged: {named}", advice=_RESTORE)


def _schema(has: str | None) -> Finding:
    newest = newest_schema()
    if has == newest:
        return Finding(check="schema", ok=True, told=f"schema {has}, the newest")
    told = f"schema {has}; the newest is {newest}" if has else "the database is empty"
    advice = "wakeng db upgrade brings it up; so does the arena when it starts"
    return Finding(check="schema", ok=False, told=told, advice=advice)


async def _integrity(connection: AsyncConnection) -> Finding:
    if connection.dialect.name != "sqlite":
        told = "the server sees to it (pg_amcheck looks closer)"
        return Finding(check="integrity", ok=True, told=told)
    said = list((await connection.exec_driver_sql(f"PRAGMA integrity_check({_MOST_TOLD})")).scalars())
    if said == ["ok"]:
        return Finding(check="integrity", ok=True, told="pages and indices are sound")
    return Finding(check="integrity", ok=False, told="; ".join(said), advice=_RESTORE)


async def _references(connection: AsyncConnection) -> Finding:
    if connection.dialect.name == "sqlite":
        rows = await connection.exec_driver_sql("PRAGMA foreign_key_check")
        broken = [f"{row.table} to {row.parent}" for row in rows]
    else:
        query = text("SELECT conname FROM pg_constraint WHERE contype = 'f' AND NOT convalidated")
        broken = list((await connection.execute(query)).scalars())
    if not broken:
        return Finding(check="references", ok=True, told="every row belongs to one that is there")
    told = f"{len(broken)} rows belong to nothing: {', '.join(sorted(set(broken)))}"
    return Finding(check="references", ok=False, told=told, advice=_RESTORE)


async def _seats(connection: AsyncConnection) -> Finding:
    key = (hand_seats.c.match_id == hand_records.c.match_id) & (hand_seats.c.hand_index == hand_records.c.hand_index)
    query = select(func.count()).select_from(hand_records).where(~exists().where(key))
    lacking = (await connection.execute(query)).scalar_one()
    if not lacking:
        return Finding(check="seats", ok=True, told="every record has its seats")
    return Finding(check="seats", ok=False, told=f"{lacking} records have none", advice=_RESTORE)


_CHECKS: Final = {"integrity": _integrity, "references": _references, "seats": _seats}


async def _counts(connection: AsyncConnection) -> Mapping[str, int]:
    query = select(hand_records.c.match_id, func.count()).group_by(hand_records.c.match_id)
    return {row[0]: row[1] for row in await connection.execute(query)}


def _chosen(counts: Mapping[str, int], sample: int | None, random: Random) -> Iterator[tuple[str, list[int]]]:
    """By match, which of its records, counted in the order of hands, are to be read."""
    total = sum(counts.values())
    numbers = sorted(random.sample(range(total), sample)) if sample is not None and sample < total else range(total)
    passed, place = 0, 0
    for match_id in sorted(counts):
        first = place
        while place < len(numbers) and numbers[place] < passed + counts[match_id]:
            place += 1
        if place > first:
            yield match_id, [number - passed for number in numbers[first:place]]
        passed += counts[match_id]


async def _bad(connection: AsyncConnection, match_id: str, offsets: list[int]) -> list[str]:
    """What is wrong with these records of a match."""
    mine = select(hand_records.c.hand_index).where(hand_records.c.match_id == match_id)
    within = mine.order_by(hand_records.c.hand_index).offset(offsets[0]).limit(offsets[-1] - offsets[0] + 1)
    indices = list((await connection.execute(within)).scalars())
    wanted = [indices[offset - offsets[0]] for offset in offsets if offset - offsets[0] < len(indices)]
    columns = [hand_records.c[name] for name in ("hand_index", "attempt", "line", "checksum")]
    rows = await connection.execute(
        select(*columns).where(hand_records.c.match_id == match_id, hand_records.c.hand_index.in_(wanted))
    )
    return [f"{match_id} hand {row.hand_index}: {problem}" for row in rows if (problem := _problem(match_id, row))]


def _problem(match_id: str, row: Any) -> str:
    try:
        record = decode(row.line.encode())
    except (RecordError, orjson.JSONDecodeError) as problem:
        return str(problem)
    told = (record["match_id"], record["hand_index"], record["attempt"], record["checksum"])
    return "" if told == (match_id, row.hand_index, row.attempt, row.checksum) else "the row is not the record's"
