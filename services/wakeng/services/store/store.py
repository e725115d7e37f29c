"""The store itself: one object per database, shared by all who read and write it in this process.

**Idempotence.** A match has one row by its id and by the caller's request id, a hand one by match and index. Writing
what is there already changes nothing and says so, so that whoever is not sure whether a thing was done does it again.
A hand's record gives way only to one of a higher attempt.

**Concurrency.** Readers never wait; the writers of one process take turns (access.py).
"""

import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Self

from sqlalchemy import URL, ColumnElement, Select, case, func, select, tuple_, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from wakeng.services.errors import MatchExists, NoStore, UnknownMatch
from wakeng.services.plaintext import plain_text
from wakeng.services.store import figures, upserts
from wakeng.services.store.access import MOST_A_PAGE, Access, Found
from wakeng.services.store.attempts import AttemptRows
from wakeng.services.store.bots import BotRows
from wakeng.services.store.careers import CareerRows
from wakeng.services.store.database import database_url, open_engine
from wakeng.services.store.pages import PageRows
from wakeng.services.store.pruning import Pruning
from wakeng.services.store.retries import Patience, problem_of
from wakeng.services.store.rows import (
    UNFINISHED,
    Added,
    Entry,
    Key,
    Match,
    MatchKind,
    MatchState,
    Page,
    SeatTotals,
    hand_row,
    latest,
    match_of,
    plain_spec,
    read_page_token,
    seat_rows,
    token_after,
)
from wakeng.services.store.schema import bring_up
from wakeng.services.store.tables import hand_records, hand_seats, hand_voids, matches
from wakeng.services.store.tokens import TokenRows
from wakeng.services.store.units import in_doubt
from wakeng.services.store.upserts import insert_new, insert_or_replace

PATIENT: Final = Patience()
IN_A_HURRY: Final = Patience(budget_s=5.0)
"""At the start whoever waits would rather hear of a wrong address soon."""
_LINES_A_PAGE: Final = 256


def wall_clock_us() -> int:
    """Microseconds since 1970, UTC."""
    return time.time_ns() // 1000


@contextmanager
def told_why(url: URL) -> Iterator[None]:
    """NoStore for whatever the database, or the way to it, complains of."""
    try:
        yield
    except (DBAPIError, OSError) as problem:
        shown = url.render_as_string(hide_password=True)
        raise NoStore(f"cannot open the store {shown}: {problem_of(problem)}") from problem


class Store:
    """Matches, records, bots and tokens in a database. Every method may raise StoreError: the database has failed."""

    def __init__(self, access: Access) -> None:
        """For `open`, which is how one gets a store."""
        self.bots: Final = BotRows(access)
        """The registered bots."""
        self.tokens: Final = TokenRows(access)
        """The hashes of tokens."""
        self.careers: Final = CareerRows(access)
        """What bots have played."""
        self.pruning: Final = Pruning(access)
        """What goes when it is old."""
        self.attempts: Final = AttemptRows(access)
        """Blocks of tournaments that workers failed at."""
        self.pages: Final = PageRows(access)
        """What pages show."""
        self._access = access
        self._dialect = access.dialect
        self._clock = access.clock

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        migrate: bool = True,
        clock: Callable[[], int] = wall_clock_us,
        patience: Patience = PATIENT,
        patience_at_start: Patience = IN_A_HURRY,
    ) -> Self:
        """The store at `sqlite:///FILE` or `postgresql://…`, made if there is none and brought to the newest schema.

        With `migrate` off the schema must be the newest already. NoStore if there is no way in, SchemaError if the
        database is that of a newer version, or of something else.
        """
        parsed = database_url(url)
        engine = await open_engine(parsed)
        try:
            with told_why(parsed):
                await bring_up(engine, parsed, migrate=migrate, patience=patience_at_start)
        except BaseException:
            await engine.dispose()
            raise
        return cls(Access(engine, clock, patience))

    @property
    def away(self) -> bool:
        """Whether the database is away, and what it was asked is tried again."""
        return self._access.away

    async def close(self) -> None:
        """Closes every connection; whatever was written is there to stay."""
        await self._access.engine.dispose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # Matches

    async def create_match(
        self,
        *,
        match_id: str,
        spec: Mapping[str, Any],
        seed: str,
        commitment: str,
        hands: int,
        request_id: str | None = None,
        kind: MatchKind = MatchKind.MATCH,
    ) -> tuple[Match, bool]:
        """Stores a match as PENDING, and says whether it is new.

        Where `request_id` is known with the same spec, the match made then comes back instead; with another spec, or
        where `match_id` is taken, MatchExists.
        """
        text = plain_spec(spec)
        row = {
            "match_id": match_id,
            "request_id": request_id,
            "spec": text,
            "seed": seed,
            "commitment": commitment,
            "state": MatchState.PENDING.value,
            "hands": hands,
            "created_us": self._clock(),
            "kind": kind.value,
        }

        async def create(connection: AsyncConnection) -> tuple[Found | None, bool]:
            statement = insert_new(self._dialect, matches).returning(matches.c.match_id)
            new = (await connection.execute(statement, row)).first() is not None
            if in_doubt(connection) and not new:
                same = (await connection.execute(select(matches).where(matches.c.match_id == match_id))).first()
                new = same is not None and same._asdict() == row | {"finished_us": None, "reason": None}
            mine = matches.c.match_id == match_id if new else matches.c.request_id == request_id
            return (await connection.execute(select(matches).where(mine))).first(), new

        found, new = await self._access.write(create)
        if found is None or (request_id is None and not new):
            raise MatchExists(f"match_id: {match_id} is taken")
        if found.spec != text:
            raise MatchExists(f"request_id: {request_id} was given before, to another request")
        return match_of(found._asdict()), new

    async def set_state(self, match_id: str, state: MatchState, *, reason: str | None = None) -> Match:
        """Moves a match on, and returns it as it then stands; one that is over stays as it ended."""
        values: dict[str, Any] = {"state": state.value, "reason": reason and plain_text(reason)}
        if state.final:
            values["finished_us"] = self._clock()
        going_on = matches.c.state.in_([unfinished.value for unfinished in UNFINISHED])
        statement = update(matches).where(matches.c.match_id == match_id, going_on).values(values)

        async def move(connection: AsyncConnection) -> Match:
            await connection.execute(statement)
            return await _match(connection, match_id)

        return await self._access.write(move)

    async def get_match(self, match_id: str) -> Match:
        """One match; UnknownMatch if there is none."""
        return await self._access.read(lambda connection: _match(connection, match_id))

    async def list_matches(
        self, page_size: int = 50, page_token: str = "", *, kind: MatchKind = MatchKind.MATCH
    ) -> Page:
        """A page of 1 to 1,000 matches, newest first. Matches made while one turns the pages shift nothing.

        BadPageToken if the token is neither empty nor the last page's.
        """
        size = min(max(page_size, 1), MOST_A_PAGE)
        order = tuple_(matches.c.created_us, matches.c.match_id)
        query = (
            select(matches)
            .where(matches.c.kind == kind.value)
            .order_by(matches.c.created_us.desc(), matches.c.match_id.desc())
            .limit(size + 1)
        )
        if page_token:
            query = query.where(order < read_page_token(page_token))
        found = await self._matches(query)
        return Page(found[:size], token_after(found[size - 1]) if len(found) > size else "")

    async def unfinished_matches(self, kind: MatchKind = MatchKind.MATCH) -> tuple[Match, ...]:
        """What a restart has to go on with, oldest first; what was paused waits for somebody to resume it."""
        going_on = matches.c.state.in_([MatchState.PENDING.value, MatchState.RUNNING.value])
        mine = select(matches).where(going_on, matches.c.kind == kind.value)
        return await self._matches(mine.order_by(matches.c.created_us, matches.c.match_id))

    async def _matches(self, query: Select[Any]) -> tuple[Match, ...]:
        return tuple(match_of(row._asdict()) for row in await self._access.rows(query))

    # Hands

    async def add_records(self, records: Iterable[Mapping[str, Any]]) -> Added:
        """Writes records that the arena has made, all of them or, on an error, none."""
        return await self.add([Entry.of_record(record) for record in records])

    async def add_lines(self, lines: Iterable[bytes]) -> Added:
        """Writes lines from anywhere, all or none; RecordError if one's shape or checksum is not right."""
        return await self.add([Entry.of_line(line) for line in lines])

    async def add(self, entries: Sequence[Entry]) -> Added:
        """Writes encoded records in one transaction. UnknownMatch, and none is written, if one names no match here."""
        newest = latest(entries)
        if not newest:
            return Added((), 0)
        now = self._clock()
        rows = {key: hand_row(newest[key], now) for key in sorted(newest)}  # Writers who meet go the same way.

        async def add(connection: AsyncConnection) -> tuple[Entry, ...]:
            statement = insert_or_replace(self._dialect, hand_records, newer_by="attempt").returning(
                hand_records.c.match_id, hand_records.c.hand_index
            )
            former = await figures.replaced(connection, newest.values())
            keys = {(match_id, index) for match_id, index in await connection.execute(statement, list(rows.values()))}
            fresh = [newest[key] for key in keys]
            if in_doubt(connection):
                keys |= await _written_before(connection, rows)
            written = tuple(entry for key, entry in newest.items() if key in keys)
            seats = [row for entry in written for row in seat_rows(entry, now)]
            await upserts.write(connection, insert_or_replace(self._dialect, hand_seats), seats)
            await figures.count(connection, self._dialect, fresh, instead_of=former, now_us=now)
            return written

        written = await self._access.write(add)
        return Added(written, len(entries) - len(written))

    async def add_void(self, match_id: str, hand_index: int, *, voids: int) -> None:
        """Notes that a hand was voided so often by now; a smaller number than is known changes nothing."""
        statement = insert_or_replace(self._dialect, hand_voids, newer_by="voids")
        row = {"match_id": match_id, "hand_index": hand_index, "voids": voids}
        await self._access.write(lambda connection: connection.execute(statement, row))

    async def voids(self, match_id: str) -> dict[int, int]:
        """How often hands of a match were voided, by index; those that never were are not in it."""
        query = select(hand_voids.c.hand_index, hand_voids.c.voids).where(hand_voids.c.match_id == match_id)
        return {row.hand_index: row.voids for row in await self._access.rows(query)}

    async def recorded_hands(self, match_id: str) -> set[int]:
        """The indices of a match's hands that are recorded; they need not be played again."""
        query = select(hand_records.c.hand_index).where(hand_records.c.match_id == match_id)
        return {row.hand_index for row in await self._access.rows(query)}

    async def count_hands(self, match_id: str, *, first: int = 0, last: int = 2**31 - 1) -> int:
        """How many of a match's hands are recorded, of those from index `first` to `last`."""
        mine = (hand_records.c.match_id == match_id) & hand_records.c.hand_index.between(first, last)
        query = select(func.count()).select_from(hand_records).where(mine)
        ((count,),) = await self._access.rows(query)
        return int(count)

    async def get_record(self, match_id: str, hand_index: int) -> bytes | None:
        """The canonical line of one hand, without its newline; None while there is none."""
        query = select(hand_records.c.line).where(
            hand_records.c.match_id == match_id, hand_records.c.hand_index == hand_index
        )
        found = await self._access.rows(query)
        return found[0].line.encode() if found else None

    async def records(self, match_id: str, from_hand_index: int = 0) -> AsyncIterator[bytes]:
        """The canonical lines of a match in the order of its hands, read page by page; it holds nothing meanwhile."""
        index = hand_records.c.hand_index
        query = (
            select(index, hand_records.c.line)
            .where(hand_records.c.match_id == match_id)
            .order_by(index)
            .limit(_LINES_A_PAGE)
        )
        more = True
        while more:
            page = await self._access.rows(query.where(index >= from_hand_index))
            for hand_index, line in page:
                yield line.encode()
                from_hand_index = hand_index + 1
            more = len(page) == _LINES_A_PAGE

    async def some_records(self, match_id: str, hands: Sequence[int]) -> dict[int, bytes]:
        """The canonical lines of some hands of a match, by index, of those that are recorded."""
        index = hand_records.c.hand_index
        found: dict[int, bytes] = {}
        for first in range(0, len(hands), _LINES_A_PAGE):
            some = hands[first : first + _LINES_A_PAGE]
            query = select(index, hand_records.c.line).where(hand_records.c.match_id == match_id, index.in_(some))
            found |= {number: line.encode() for number, line in await self._access.rows(query)}
        return found

    async def totals(self, match_id: str) -> tuple[SeatTotals, ...]:
        """What each seat of a match has won so far, by seat; empty before the first hand."""
        dug, won = hand_seats.c.dug, hand_seats.c.won
        query = (
            select(
                func.sum(hand_seats.c.score),
                func.coalesce(func.sum(hand_seats.c.task_bonus), 0),
                _count(dug & won.is_not(None)),
                _count(dug & won),
                _count(~dug & won),
                _count(hand_seats.c.escaped),
            )
            .where(hand_seats.c.match_id == match_id)
            .group_by(hand_seats.c.seat)
            .order_by(hand_seats.c.seat)
        )
        return tuple(SeatTotals(*map(int, row)) for row in await self._access.rows(query))


def _count(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((condition, 1), else_=0))


async def _written_before(connection: AsyncConnection, rows: Mapping[Key, Mapping[str, Any]]) -> set[Key]:
    """Which of these rows are there as they are to be, up to the moment of writing: an earlier try's own."""
    key = tuple_(hand_records.c.match_id, hand_records.c.hand_index)
    query = select(hand_records).where(key.in_(list(rows)))
    return {
        (row.match_id, row.hand_index)
        for row in await connection.execute(query)
        if row._asdict() == rows[row.match_id, row.hand_index]
    }


async def _match(connection: AsyncConnection, match_id: str) -> Match:
    query = select(matches).where(matches.c.match_id == match_id)
    # PostgreSQL holds no U+0000, and fails where it is asked for one.
    row = None if "\0" in match_id else (await connection.execute(query)).first()
    if row is None:
        raise UnknownMatch(f"match_id: there is no match {match_id}")
    return match_of(row._asdict())
