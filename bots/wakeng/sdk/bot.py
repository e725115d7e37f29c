"""What an author writes: a class with one method, `choose`, that turns a question into a token."""

import asyncio
import inspect
from collections.abc import Awaitable, Sequence
from typing import Any

from wakeng.engine import PRESETS
from wakeng.engine.rules import FIELD_TYPES
from wakeng.sdk.decision import Choice, Decision
from wakeng.v1 import bot_pb2

PROTOCOL_VERSION = 1


class Bot:
    """A bot. Override `choose`, or for a neural net `choose_batch`; either may be `async`.

    All of a bot's tables ask the same object, side by side. A `choose` without `await` runs in the event loop, where
    it holds up every other table while it thinks: that is fastest for a bot that needs microseconds. One that needs
    milliseconds sets `threads`, or is `async` and awaits.
    """

    name: str = ""
    """How it calls itself; empty means the name of its class."""
    version: str = ""
    """Any short text; it stands in the records."""
    author: str = ""
    url: str = ""
    """Where to read about it."""
    presets: Sequence[str] = ()
    """The presets it plays; none named means all."""
    override_fields: Sequence[str] = ()
    """The fields of a rule set whose overriding it understands; none named means all."""
    max_tables: int = 1_024
    """Hands it can have in play at once, from 1."""
    max_decisions: int = 256
    """Questions that may wait for it at once, from 1."""
    wants_legal_actions: bool = True
    """False spares the arena the list; `Decision.legal` is then worked out when it is asked for."""
    threads: int = 0
    """0: choices run in the event loop. N: in N worker threads, and `choose` must be fit for that."""

    def choose(self, decision: Decision) -> Choice | Awaitable[Choice]:
        """One of `decision.legal`, as it stands or in an Answer with a note."""
        if not overrides(self, "choose_batch"):
            raise NotImplementedError(f"{type(self).__name__} has neither choose nor choose_batch")
        choices = self.choose_batch([decision])
        return _only(choices) if inspect.isawaitable(choices) else choices[0]

    def choose_batch(self, decisions: Sequence[Decision]) -> Sequence[Choice] | Awaitable[Sequence[Choice]]:
        """A choice for each question, in their order: all that the arena asked in one message, of any tables."""
        choices = [self.choose(decision) for decision in decisions]
        if any(inspect.isawaitable(choice) for choice in choices):
            return _all(choices)
        return choices  # type: ignore[return-value]  # none of them is awaited

    def ready(self) -> Awaitable[None] | None:
        """Called once, before the arena learns who this is: the place to load a model."""
        return None

    def hand_started(self, notice: bot_pb2.HandStarted) -> Awaitable[None] | None:
        """A hand began with this bot in a seat; called in streams only, before the hand's first question."""
        return None

    def hand_ended(self, notice: bot_pb2.HandEnded) -> Awaitable[None] | None:
        """A hand ended, or was voided; called in streams only."""
        return None


async def _only(choices: Awaitable[Sequence[Choice]]) -> Choice:
    return (await choices)[0]


async def _all(choices: Sequence[Any]) -> Sequence[Choice]:
    waiting = [asyncio.ensure_future(choice) for choice in choices if inspect.isawaitable(choice)]
    awaited = iter(await asyncio.gather(*waiting))
    return [next(awaited) if inspect.isawaitable(choice) else choice for choice in choices]


def overrides(bot: Bot, method: str) -> bool:
    """Whether the bot has written a method of its own."""
    own = getattr(bot, method)
    return getattr(own, "__func__", own) is not getattr(Bot, method)


def check(bot: Bot) -> None:
    """TypeError or ValueError if this cannot be served as a bot, in words for its author."""
    if isinstance(bot, type):
        raise TypeError(f"a bot is an object, not a class: write {bot.__name__}()")
    if not isinstance(bot, Bot):
        raise TypeError(f"a bot derives from wakeng.sdk.Bot; {type(bot).__name__} does not")
    if not overrides(bot, "choose") and not overrides(bot, "choose_batch"):
        raise TypeError(f"{type(bot).__name__} has neither choose nor choose_batch")
    for attribute, known in (("presets", PRESETS), ("override_fields", FIELD_TYPES)):
        if unknown := sorted(set(getattr(bot, attribute)) - set(known)):
            raise ValueError(f"{attribute}: {', '.join(unknown)} is unknown; there are {', '.join(known)}")
    for attribute, least in (("max_tables", 1), ("max_decisions", 1), ("threads", 0)):
        if getattr(bot, attribute) < least:
            raise ValueError(f"{attribute}: at least {least}, not {getattr(bot, attribute)}")


async def make_ready(bot: Bot) -> None:
    """Call the bot's `ready`, and wait for it where it is to be awaited; raises what that raises."""
    waiting = bot.ready()
    if inspect.isawaitable(waiting):
        await waiting


def description(bot: Bot) -> bot_pb2.DescribeResponse:
    """What the bot says of itself."""
    return bot_pb2.DescribeResponse(
        protocol_version=PROTOCOL_VERSION,
        name=bot.name or type(bot).__name__,
        version=bot.version,
        author=bot.author,
        url=bot.url,
        presets=bot.presets,
        override_fields=bot.override_fields,
        max_tables=bot.max_tables,
        max_decisions=bot.max_decisions,
        wants_legal_actions=bot.wants_legal_actions,
    )
