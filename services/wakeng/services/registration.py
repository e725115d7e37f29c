"""Registering a bot: what a registration must say, and the tokens that come of it."""

from dataclasses import dataclass
from typing import Final

from wakeng.bots import BUILTIN_BOTS
from wakeng.services.dialling import BadAddress, parse_address
from wakeng.services.spec import SpecError
from wakeng.services.store import NewBot, RegisteredBot, Store
from wakeng.services.store.bots import NAME
from wakeng.services.tokens import hash_token, new_token

MOST_LIMIT: Final = 1_000_000
_NAME_SAYS: Final = "must be 1 to 64 of the characters A-Z a-z 0-9 . _ -"


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration(NewBot):
    """A bot to be registered, checked but for its address, which is for who dials it to judge."""

    owner_is_new: bool = False
    """Whether the owner gets an author's token, if he has none."""
    unix: bool = False
    """Whether its address may be a `unix:` path."""

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise SpecError("name", _NAME_SAYS)
        if self.name.lower() in {*map(str.lower, BUILTIN_BOTS), "faulty"}:
            raise SpecError("name", f"{self.name} is the name of a built-in bot")
        check_owner(self.owner)
        if self.address is not None and not (self.unix and self.address.startswith("unix:")):
            try:
                parse_address(self.address)
            except BadAddress as problem:
                raise SpecError("address", str(problem)) from None
        for field in ("max_tables", "max_decisions"):
            value = getattr(self, field)
            if value is not None and not 1 <= value <= MOST_LIMIT:
                raise SpecError(field, f"must be 1 to {MOST_LIMIT}, not {value}")


@dataclass(frozen=True, slots=True)
class Registered:
    """A bot, and the tokens to be told now or never."""

    bot: RegisteredBot
    token: str | None
    """The bot's own, where it dials in."""
    owner_token: str | None


def check_owner(owner: str) -> None:
    """SpecError unless it is empty or a name."""
    if owner and not NAME.fullmatch(owner):
        raise SpecError("owner", _NAME_SAYS)


async def register(store: Store, asked: Registration) -> Registered:
    """Register a bot; BotExists if its name is taken."""
    token = new_token() if asked.address is None else None
    owner_token = new_token() if asked.owner_is_new and asked.owner else None
    bot, owner_had_none = await store.bots.add(
        asked,
        token_hash=hash_token(token) if token else None,
        owner_token_hash=hash_token(owner_token) if owner_token else None,
    )
    return Registered(bot, token, owner_token if owner_had_none else None)
