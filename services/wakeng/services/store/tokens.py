"""Tokens in the store: their hashes, what each gives the right to, and never a token itself."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from wakeng.services.errors import UnknownBot, UnknownToken
from wakeng.services.store.access import Access, Found
from wakeng.services.store.tables import bots, tokens
from wakeng.services.store.units import in_doubt
from wakeng.services.store.upserts import insert_new


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
        now = self._access.clock()

        async def add(connection: AsyncConnection) -> StoredToken:
            whose = owner if bot is None else await _owner(connection, bot)
            token = StoredToken(token_hash, role, whose, bot, now)
            await add_tokens(connection, [token])
            return token

        return await self._access.write(add)

    async def find(self, token_hash: str) -> StoredToken | None:
        """The token of that hash, if it was ever given out and not taken back."""
        rows = await self._access.rows(select(tokens).where(tokens.c.hash == token_hash))
        return _token(rows[0]) if rows else None

    async def list(self) -> tuple[StoredToken, ...]:
        """All of them, oldest first."""
        return tuple(map(_token, await self._access.rows(select(tokens).order_by(tokens.c.created_us, tokens.c.hash))))

    async def remove(self, token_id: str) -> StoredToken:
        """Take one back by the beginning of its hash; UnknownToken if that names none, or several."""
        gone: list[StoredToken] = []

        async def remove(connection: AsyncConnection) -> StoredToken:
            if gone and in_doubt(connection):
                await connection.execute(delete(tokens).where(tokens.c.hash == gone[0].hash))
                return gone[0]
            of_id = tokens.c.hash.startswith(token_id, autoescape=True)
            rows = (await connection.execute(select(tokens).where(of_id).limit(2))).all()
            if len(rows) != 1 or not token_id:
                raise UnknownToken(f"{'more than one' if rows else 'no'} token has an id that begins so")
            gone[:] = [_token(rows[0])]
            await connection.execute(delete(tokens).where(tokens.c.hash == gone[0].hash))
            return gone[0]

        return await self._access.write(remove)


async def add_tokens(connection: AsyncConnection, given: Iterable[StoredToken]) -> None:
    """Within a transaction: keep these. One that is kept already is the same one: they are random."""
    rows = [
        {"hash": t.hash, "role": t.role.value, "owner": t.owner, "bot": t.bot, "created_us": t.created_us}
        for t in given
    ]
    if rows:
        await connection.execute(insert_new(connection.dialect.name, tokens), rows)


async def has_author_token(connection: AsyncConnection, owner: str) -> bool:
    """Whether anyone was given an author's or admin's token by that name."""
    roles = [Role.AUTHOR.value, Role.ADMIN.value]
    query = select(tokens.c.hash).where(tokens.c.owner == owner, tokens.c.role.in_(roles)).limit(1)
    return (await connection.execute(query)).first() is not None


async def has_token(connection: AsyncConnection, token_hash: str | None) -> bool:
    """Whether the token of that hash is kept."""
    return (await connection.execute(select(tokens.c.hash).where(tokens.c.hash == token_hash))).first() is not None


async def _owner(connection: AsyncConnection, bot: str) -> str:
    # The bot is not to be deleted before its token is there.
    query = select(bots.c.owner).where(bots.c.name == bot).with_for_update(read=True, key_share=True)
    owner = (await connection.execute(query)).scalar_one_or_none()
    if owner is None:
        raise UnknownBot(f"name: no bot {bot[:80]!r} is registered")
    return str(owner)


def _token(row: Found) -> StoredToken:
    return StoredToken(**{**row._asdict(), "role": Role(row.role)})
