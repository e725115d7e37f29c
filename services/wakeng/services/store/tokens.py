"""Tokens in the store: their hashes, what each gives the right to, and never a token itself."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from sqlalchemy import RowMapping, Select, delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from wakeng.services.errors import UnknownBot, UnknownToken
from wakeng.services.store.access import Access
from wakeng.services.store.tables import bots, tokens


class Role(Enum):
    """What a token gives the right to be; the value is the word in the store."""

    ADMIN = "admin"
    AUTHOR = "author"
    VIEWER = "viewer"
    BOT = "bot"
    """A bot's own: to join as that bot, and to look on."""


@dataclass(frozen=True, slots=True)
class StoredToken:
    """What the store has of a token."""

    hash: str
    """SHA-256 in hex."""
    role: Role
    owner: str
    """Empty where it was given to nobody in particular."""
    bot: str | None
    """The bot whose own it is."""
    created_us: int

    @property
    def token_id(self) -> str:
        """Names the token among others and gives none of it away."""
        return self.hash[:12]


class TokenRows:
    """The part of a store that keeps tokens."""

    def __init__(self, access: Access) -> None:
        """For Store."""
        self._access = access

    async def add(self, token_hash: str, role: Role, *, owner: str = "", bot: str | None = None) -> StoredToken:
        """Keep a new token's hash. A bot's own has the bot's owner; UnknownBot if that bot is not registered."""
        async with self._access.write() as connection:
            if bot is not None:
                found = await _found(connection, select(bots.c.owner).where(bots.c.name == bot))
                if not found:
                    raise UnknownBot(f"name: no bot {bot[:80]!r} is registered")
                owner = found[0]["owner"]
            token = StoredToken(token_hash, role, owner, bot, self._access.clock())
            await add_tokens(connection, [token])
        return token

    async def find(self, token_hash: str) -> StoredToken | None:
        """The token of that hash, if it was ever given out and not taken back."""
        async with self._access.read() as connection:
            rows = await _found(connection, select(tokens).where(tokens.c.hash == token_hash))
        return _token(rows[0]) if rows else None

    async def list(self) -> tuple[StoredToken, ...]:
        """All of them, oldest first."""
        async with self._access.read() as connection:
            rows = await _found(connection, select(tokens).order_by(tokens.c.created_us, tokens.c.hash))
        return tuple(map(_token, rows))

    async def remove(self, token_id: str) -> StoredToken:
        """Take one back by the beginning of its hash; UnknownToken if that names none, or several."""
        async with self._access.write() as connection:
            of_id = tokens.c.hash.startswith(token_id, autoescape=True)
            rows = await _found(connection, select(tokens).where(of_id).limit(2))
            if len(rows) != 1 or not token_id:
                raise UnknownToken(f"{'more than one' if rows else 'no'} token has an id that begins so")
            token = _token(rows[0])
            await connection.execute(delete(tokens).where(tokens.c.hash == token.hash))
        return token


async def add_tokens(connection: AsyncConnection, given: Iterable[StoredToken]) -> None:
    """Within a transaction: keep these."""
    rows = [
        {"hash": t.hash, "role": t.role.value, "owner": t.owner, "bot": t.bot, "created_us": t.created_us}
        for t in given
    ]
    if rows:
        await connection.execute(insert(tokens), rows)


async def has_author_token(connection: AsyncConnection, owner: str) -> bool:
    """Whether anyone was given an author's or admin's token by that name."""
    roles = [Role.AUTHOR.value, Role.ADMIN.value]
    query = select(tokens.c.hash).where(tokens.c.owner == owner, tokens.c.role.in_(roles)).limit(1)
    return bool(await _found(connection, query))


async def _found(connection: AsyncConnection, query: Select[Any]) -> "list[RowMapping]":
    return list((await connection.execute(query)).mappings())


def _token(row: RowMapping) -> StoredToken:
    return StoredToken(**{**row, "role": Role(row["role"])})
