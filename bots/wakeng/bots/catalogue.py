"""The tables of built-in bots: light to import, since a bot is loaded only when somebody wants it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from pathlib import Path

    from wakeng.bots.net import Net
    from wakeng.bots.reference import ReferenceBot


class UnknownBot(ValueError):
    """A name that no built-in bot has; the message offers the nearest, and lists the reference bots."""

    def __init__(self, name: str) -> None:
        # Imported late: only who mistypes a name pays for it.
        from difflib import get_close_matches

        if name in NO_SEAT:
            super().__init__(f"{name} is no bot: {NO_SEAT[name]}")
            self.name = name
            return
        among = FAULTY_BOTS if name.startswith("faulty") else REFERENCE_BOTS
        near = get_close_matches(name, among, 1)
        hint = f" did you mean {near[0]}?" if near else ""
        super().__init__(f"there is no bot {name[:80]!r};{hint} there are {', '.join(among)}")
        self.name = name


@dataclass(frozen=True, slots=True)
class BotInfo:
    """A built-in bot before it is loaded."""

    summary: str
    """How it plays, or how it fails, in one sentence."""
    module: str
    class_name: str
    extra: str = ""
    """The extra of this package that it needs."""
    thinks: bool = False
    """It thinks for milliseconds, so it does not share an event loop with an arena."""
    learns: bool = False
    """It plays by a weights file, and another one may be given."""

    def load(self) -> type[ReferenceBot]:
        """Its class; MissingExtra (wakeng.bots.extras) where it needs one that is not installed."""
        found: type[ReferenceBot] = getattr(import_module(self.module), self.class_name)
        return found


REFERENCE_BOTS: Final[Mapping[str, BotInfo]] = MappingProxyType(
    {
        "random": BotInfo("any legal choice, all equally likely", "wakeng.bots.random", "Random"),
        "lowest": BotInfo(
            "the first legal play of the vocabulary; never bids, and says no to every offer",
            "wakeng.bots.lowest",
            "Lowest",
        ),
        "greedy": BotInfo(
            "sheds the most cards, beats whatever it can, keeps A, 2, 3 and quads back",
            "wakeng.bots.greedy",
            "Greedy",
        ),
        "expert": BotInfo(
            "counts the turns its hand needs, and weighs control cards, partner and danger",
            "wakeng.bots.expert",
            "Expert",
        ),
        "net": BotInfo(
            "plays xian as a small network values its choices, other rule sets as expert; needs wakeng[net]",
            "wakeng.bots.net",
            "Net",
            extra="net",
            learns=True,
        ),
        "search": BotInfo(
            "deals the hidden cards 64 times and plays each deal out, in xian; needs wakeng[search]",
            "wakeng.bots.search",
            "Search",
            extra="search",
            thinks=True,
            learns=True,
        ),
    }
)
"""The reference bots by name, weakest first."""

NO_SEAT: Final[Mapping[str, str]] = MappingProxyType(
    {"seer": "it sees all cards, so it may not sit at a table; it is for analysis (wakeng.bots.seer)"}
)
"""What goes by a name, and why it gets no seat."""

_CHOICES, _SERVERS = "wakeng.bots.faulty.bad_choices", "wakeng.bots.faulty.bad_servers"

FAULTY_BOTS: Final[Mapping[str, BotInfo]] = MappingProxyType(
    {
        f"faulty:{kind}": BotInfo(f"{how}; earns {faults}", module, class_name)
        for kind, how, faults, module, class_name in (
            ("hang", "takes every question and answers none", "DEADLINE", _CHOICES, "Hang"),
            ("late", "answers a second after its time and its bank are over", "DEADLINE", _CHOICES, "Late"),
            ("illegal", "answers with a token that is not legal here", "ILLEGAL_ACTION", _CHOICES, "Illegal"),
            ("garbage", "answers with bytes that are no message", "MALFORMED", _SERVERS, "Garbage"),
            ("oversize", "answers with more bytes than are read", "MALFORMED", _SERVERS, "Oversize"),
            ("wrong_id", "answers questions nobody asked", "STALE, then DEADLINE", _SERVERS, "WrongId"),
            ("crash", "dies at its first question", "DISCONNECTED, then UNREACHABLE", _CHOICES, "Crash"),
            ("flood", "sends a thousand empty messages for each it gets", "MALFORMED", _SERVERS, "Flood"),
            ("slow_start", "takes twice the time it has to get ready", "NOT_READY", _SERVERS, "SlowStart"),
            ("half_open", "accepts connections and never reads", "NOT_READY", _SERVERS, "HalfOpen"),
        )
    }
)
"""Bots that are broken on purpose, by name, with the faults that the arena must lay to them (docs/protocol.md 7)."""

BUILTIN_BOTS: Final[Mapping[str, BotInfo]] = MappingProxyType({**REFERENCE_BOTS, **FAULTY_BOTS})
"""Every bot that goes by a name of its own."""


def create(name: str, seed: bytes | None = None, *, weights: Path | None = None) -> ReferenceBot:
    """A built-in bot; UnknownBot says which there are. Without a seed it has the empty one.

    `weights`: a file of `wakeng train net`, for a bot that plays by one (ValueError for others). MissingExtra
    (wakeng.bots.extras) says what must be installed for a bot that needs more than the base.
    """
    if name not in BUILTIN_BOTS:
        raise UnknownBot(name)
    info = BUILTIN_BOTS[name]
    if weights is None:
        return info.load()(seed or b"")
    if not info.learns:
        raise ValueError(f"{name} plays by no weights file")
    return cast("type[Net]", info.load())(seed or b"", weights)
