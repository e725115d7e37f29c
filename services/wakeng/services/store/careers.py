"""What bots have played: their hands, newest first, and their sums by role and rules, without reading a record."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import astuple, dataclass, fields
from enum import Enum
from typing import Any, Final

import orjson
from sqlalchemy import case, func, select, tuple_

from wakeng.services.errors import BadPageToken
from wakeng.services.store.access import MOST_A_PAGE, Access, Found
from wakeng.services.store.tables import hand_seats, matches

_ORDER: Final = tuple(hand_seats.c[name] for name in ("finished_us", "match_id", "hand_index", "seat"))


class HandRole(Enum):
    """What a seat was in a hand; the value is the column's."""

    DIGGER = True
    DEFENDER = False
    NEITHER = None
    """The hand ended before there was a digger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BotHand:
    """A seat that a bot had in a recorded hand."""

    match_id: str
    hand_index: int
    seat: int
    role: HandRole
    won: bool | None
    """None where the hand was not played to the end."""
    score: int
    task_bonus: int | None
    escaped: bool
    finished_us: int


@dataclass(frozen=True, slots=True)
class BotHandPage:
    """Some hands, and what to ask with for those before them; empty where there are none."""

    hands: tuple[BotHand, ...]
    next_page_token: str


@dataclass(frozen=True, slots=True)
class Sums:
    """Over seats of hands."""

    hands: int = 0
    decided: int = 0
    """Of them played to the end."""
    wins: int = 0
    score: int = 0
    task_bonus: int = 0
    escapes: int = 0

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(*map(sum, zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Career:
    """The sums of a bot under one set of rules in one role."""

    rules: Mapping[str, Any]
    """As the match's spec has them: a preset, and what differs from it."""
    role: HandRole
    sums: Sums


class CareerRows:
    """The part of a store that answers what a bot has played."""

    def __init__(self, access: Access) -> None:
        """For Store."""
        self._access = access

    async def hands(self, bot: str, page_size: int = 50, page_token: str = "") -> BotHandPage:
        """A page of 1 to 1,000 hands of a bot, newest first; of one that sat twice in a hand, both seats.

        BadPageToken if the token is neither empty nor the last page's.
        """
        size = min(max(page_size, 1), MOST_A_PAGE)
        newest_first = [column.desc() for column in _ORDER]
        query = select(hand_seats).where(hand_seats.c.bot == bot).order_by(*newest_first).limit(size + 1)
        if page_token:
            query = query.where(tuple_(*_ORDER) < _read_page_token(page_token))
        found = tuple(map(_hand, await self._access.rows(query) if _may_be_stored(bot) else ()))
        return BotHandPage(found[:size], _token_after(found[size - 1]) if len(found) > size else "")

    async def sums(self, bot: str) -> tuple[Career, ...]:
        """What a bot has to show, by rules and role; it looks at all of its hands, two microseconds each or so."""
        dug, won = hand_seats.c.dug, hand_seats.c.won
        each = (
            select(
                hand_seats.c.match_id,
                dug,
                func.count().label("hands"),
                func.count(won).label("decided"),
                func.sum(case((won, 1), else_=0)).label("wins"),
                func.sum(hand_seats.c.score).label("score"),
                func.coalesce(func.sum(hand_seats.c.task_bonus), 0).label("task_bonus"),
                func.sum(case((hand_seats.c.escaped, 1), else_=0)).label("escapes"),
            )
            .where(hand_seats.c.bot == bot)
            .group_by(hand_seats.c.match_id, dug)
            .subquery()
        )
        query = select(matches.c.spec, each).join_from(each, matches, matches.c.match_id == each.c.match_id)
        return _careers(await self._access.rows(query) if _may_be_stored(bot) else ())


def _may_be_stored(text: str) -> bool:
    return "\0" not in text


def _careers(rows: Iterable[Found]) -> tuple[Career, ...]:
    found: dict[tuple[bytes, HandRole], Sums] = defaultdict(Sums)
    for row in rows:
        rules = orjson.dumps(orjson.loads(row.spec).get("rules", {}), option=orjson.OPT_SORT_KEYS)
        found[rules, HandRole(row.dug)] += Sums(*(int(getattr(row, field.name)) for field in fields(Sums)))
    roles = list(HandRole)
    return tuple(
        Career(rules=orjson.loads(rules), role=role, sums=sums)
        for (rules, role), sums in sorted(found.items(), key=lambda item: (item[0][0], roles.index(item[0][1])))
    )


def _hand(row: Found) -> BotHand:
    named = row._asdict()
    return BotHand(role=HandRole(named.pop("dug")), **{name: named[name] for name in named if name != "bot"})


def _token_after(last: BotHand) -> str:
    return urlsafe_b64encode(orjson.dumps([last.finished_us, last.match_id, last.hand_index, last.seat])).decode()


def _read_page_token(token: str) -> tuple[int, str, int, int]:
    with suppress(ValueError):
        match orjson.loads(urlsafe_b64decode(token.encode("ascii"))):
            case [int(when), str(match_id), int(index), int(seat)] if (
                0 <= when < 2**63 and 0 <= index < 2**31 and 0 <= seat < 2**31 and _may_be_stored(match_id)
            ):
                return when, match_id, index, seat
    raise BadPageToken("page_token: is none that a page gave")
