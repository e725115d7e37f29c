"""Registered bots in the store: who they are, how they are reached, whose they are."""

import re
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, delete, select, true, update
from sqlalchemy.ext.asyncio import AsyncConnection

from wakeng.services.errors import BadPageToken, BotExists, UnknownBot
from wakeng.services.plaintext import plain_text
from wakeng.services.store.access import MOST_A_PAGE, Access, Found
from wakeng.services.store.tables import bots
from wakeng.services.store.tokens import Role, StoredToken, add_tokens, has_author_token, has_token
from wakeng.services.store.units import in_doubt
from wakeng.services.store.upserts import insert_new

NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
"""What bots and owners may be called; no other text comes near the database, which might choke on it."""
MOST_SAID: Final = 200
"""Characters kept of each thing that a bot says of itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBot:
    """What is told of a bot when it is registered."""

    name: str
    address: str | None
    """Where it listens; None where it dials in."""
    owner: str
    """Empty where it is the operators' own."""
    by_admin: bool
    """Whether an admin registered it, who alone may name addresses of the arena's own machine."""
    max_tables: int | None = None
    max_decisions: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredBot(NewBot):
    """A bot as the store has it. Times are microseconds since 1970, UTC."""

    created_us: int
    version: str | None = None
    """This and the next as it last described itself; None until it has."""
    author: str | None = None
    url: str | None = None

    @property
    def dial_in(self) -> bool:
        """Whether it calls the arena, and not the arena it."""
        return self.address is None


@dataclass(frozen=True, slots=True)
class BotPage:
    """Some bots, and what to ask with for those after them; empty where there are none."""

    bots: tuple[RegisteredBot, ...]
    next_page_token: str


class BotRows:
    """The part of a store that keeps registered bots."""

    def __init__(self, access: Access) -> None:
        """For Store."""
        self._access = access

    async def add(
        self, bot: NewBot, *, token_hash: str | None = None, owner_token_hash: str | None = None
    ) -> tuple[RegisteredBot, bool]:
        """Register a bot, with its own token if one is given; BotExists, and nothing is done, if the name is taken.

        The owner's token is kept only if he has none yet; whether it was is the second of what comes back.
        """
        now = self._access.clock()
        row = {name: getattr(bot, name) for name in NewBot.__slots__} | {"created_us": now}

        async def add(connection: AsyncConnection) -> tuple[RegisteredBot, bool]:
            statement = insert_new(self._access.dialect, bots).returning(bots.c.name)
            if (await connection.execute(statement, row)).first() is None:
                if in_doubt(connection) and await _is_there(connection, row):
                    return await _bot(connection, bot.name), await has_token(connection, owner_token_hash)
                raise BotExists(f"name: {bot.name} is taken")
            own = [] if token_hash is None else [StoredToken(token_hash, Role.BOT, bot.owner, bot.name, now)]
            if owner_token_hash and not await has_author_token(connection, bot.owner):
                own.append(StoredToken(owner_token_hash, Role.AUTHOR, bot.owner, None, now))
            await add_tokens(connection, own)
            return await _bot(connection, bot.name), any(token.role is Role.AUTHOR for token in own)

        return await self._access.write(add)

    async def get(self, name: str) -> RegisteredBot:
        """One bot; UnknownBot if there is none of that name."""
        return await self._access.read(lambda connection: _bot(connection, name))

    async def list(self, page_size: int = 50, page_token: str = "", *, owner: str | None = None) -> BotPage:
        """A page of 1 to 1,000 bots by name, all of them or one owner's; BadPageToken if no page gave that token."""
        size = min(max(page_size, 1), MOST_A_PAGE)
        of_owner: ColumnElement[bool] = true() if owner is None else bots.c.owner == owner
        query = select(bots).where(of_owner).order_by(bots.c.name).limit(size + 1)
        if page_token:
            query = query.where(bots.c.name > _read_page_token(page_token))
        found = tuple(map(_registered, await self._access.rows(query)))
        more = urlsafe_b64encode(found[size - 1].name.encode()).decode() if len(found) > size else ""
        return BotPage(found[:size], more)

    async def describe(self, name: str, *, version: str, author: str, url: str) -> None:
        """Keep what a bot said of itself, cut and made safe to show; of one that is not registered nothing."""
        said = {"version": version, "author": author, "url": url}
        said = {name: plain_text(text)[:MOST_SAID] for name, text in said.items()}
        statement = update(bots).where(bots.c.name == name).values(said)
        await self._access.write(lambda connection: connection.execute(statement))

    async def delete(self, name: str) -> RegisteredBot:
        """Forget a bot and its token; UnknownBot if there is none of that name."""

        found: list[RegisteredBot] = []

        async def delete_it(connection: AsyncConnection) -> RegisteredBot:
            if not found or not in_doubt(connection):
                found[:] = [await _bot(connection, name)]
            await connection.execute(delete(bots).where(bots.c.name == name))
            return found[0]

        return await self._access.write(delete_it)


async def _bot(connection: AsyncConnection, name: str) -> RegisteredBot:
    query = select(bots).where(bots.c.name == name)
    row = (await connection.execute(query)).first() if NAME.fullmatch(name) else None
    if row is None:
        raise UnknownBot(f"name: no bot {name[:80]!r} is registered")
    return _registered(row)


async def _is_there(connection: AsyncConnection, row: Mapping[str, Any]) -> bool:
    """Whether the bot of that name was registered in this very way, at this very moment."""
    query = select(bots).where(*(bots.c[name].is_not_distinct_from(value) for name, value in row.items()))
    return (await connection.execute(query)).first() is not None


def _registered(row: Found) -> RegisteredBot:
    return RegisteredBot(**row._asdict())


def _read_page_token(token: str) -> str:
    try:
        name = b64decode(token.encode("ascii"), altchars=b"-_", validate=True).decode()
    except ValueError:
        name = ""
    if not NAME.fullmatch(name):
        raise BadPageToken("page_token: is none that a page gave")
    return name
