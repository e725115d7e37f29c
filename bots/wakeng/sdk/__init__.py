"""What a bot author builds on: derive from `Bot`, write `choose`, and `serve` it, or `join` an arena with it.

Names are loaded when they are first asked for: `wakeng.sdk.options` and the command line need none of gRPC.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wakeng.sdk.bot import PROTOCOL_VERSION, Bot
    from wakeng.sdk.client import BotClient, CallError, PlayStream, Trouble
    from wakeng.sdk.decision import Answer, Choice, Decision, Event
    from wakeng.sdk.errors import JoinRefused, ListenError, SdkError
    from wakeng.sdk.joining import Backoff, JoinedBot, join
    from wakeng.sdk.server import BotServer, serve, start
    from wakeng.sdk.wire import observation_message, rules_from_message, rules_message

__all__ = [
    "PROTOCOL_VERSION",
    "Answer",
    "Backoff",
    "Bot",
    "BotClient",
    "BotServer",
    "CallError",
    "Choice",
    "Decision",
    "Event",
    "JoinRefused",
    "JoinedBot",
    "ListenError",
    "PlayStream",
    "SdkError",
    "Trouble",
    "join",
    "observation_message",
    "rules_from_message",
    "rules_message",
    "serve",
    "start",
]

_HOMES = {
    "bot": "PROTOCOL_VERSION Bot",
    "client": "BotClient CallError PlayStream Trouble",
    "decision": "Answer Choice Decision Event",
    "errors": "JoinRefused ListenError SdkError",
    "joining": "Backoff JoinedBot join",
    "server": "BotServer serve start",
    "wire": "observation_message rules_from_message rules_message",
}
_HOME_OF = {name: f"wakeng.sdk.{home}" for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
