"""The phases of a hand, what may follow what, and the tokens in which their choices are said (docs/rules.md 3)."""

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final

from wakeng.engine.cards import RANKS
from wakeng.engine.plays import PLAY_TOKENS


class Phase(Enum):
    """The phases in which a seat decides something, and the end."""

    BLIND = "BLIND"
    BID = "BID"
    GRAB = "GRAB"
    OPEN = "OPEN"
    BURY = "BURY"
    LIE_DOWN_ASK = "LIE_DOWN_ASK"
    LIE_DOWN_CONSENT = "LIE_DOWN_CONSENT"
    PLAY = "PLAY"
    END = "END"

    # Members are equal when they are the same, and tables by phase are read for every decision: Enum's own hash, which
    # hashes the name in Python, takes five times as long.
    __hash__ = object.__hash__


_FROM_KITTY: Final = frozenset({Phase.OPEN, Phase.BURY, Phase.LIE_DOWN_ASK, Phase.PLAY, Phase.END})

TRANSITIONS: Final[Mapping[Phase, frozenset[Phase]]] = MappingProxyType(
    {
        Phase.BLIND: frozenset({Phase.BLIND, Phase.BID, Phase.GRAB}) | _FROM_KITTY,
        Phase.BID: frozenset({Phase.BID, Phase.GRAB}) | _FROM_KITTY,
        Phase.GRAB: frozenset({Phase.GRAB}) | _FROM_KITTY,
        Phase.OPEN: frozenset({Phase.BURY, Phase.LIE_DOWN_ASK, Phase.PLAY, Phase.END}),
        Phase.BURY: frozenset({Phase.LIE_DOWN_ASK, Phase.PLAY, Phase.END}),
        Phase.LIE_DOWN_ASK: frozenset({Phase.LIE_DOWN_CONSENT, Phase.PLAY, Phase.END}),
        Phase.LIE_DOWN_CONSENT: frozenset({Phase.PLAY, Phase.END}),
        Phase.PLAY: frozenset({Phase.PLAY, Phase.END}),
        Phase.END: frozenset(),
    }
)
"""Which phase the next decision may be of. A seat that escapes can end the hand from anywhere."""

_OFFER: Final = ("no", "yes")

TOKENS: Final[Mapping[Phase, tuple[str, ...]]] = MappingProxyType(
    {
        Phase.BLIND: _OFFER,
        Phase.BID: ("pass", "bid1", "bid2", "bid3"),
        Phase.GRAB: _OFFER,
        Phase.OPEN: _OFFER,
        Phase.BURY: ("pass", *(f"bury{rank}" for rank in RANKS)),
        Phase.LIE_DOWN_ASK: _OFFER,
        Phase.LIE_DOWN_CONSENT: _OFFER,
        Phase.PLAY: PLAY_TOKENS,
        Phase.END: (),
    }
)
"""The words of every phase in their order; an *action* is a place in it (docs/protocol.md 1)."""

ACTIONS: Final[Mapping[Phase, Mapping[str, int]]] = MappingProxyType(
    {phase: {token: action for action, token in enumerate(tokens)} for phase, tokens in TOKENS.items()}
)
"""The way back: by phase, the action of a token."""

ALL_TOKENS: Final = frozenset(token for tokens in TOKENS.values() for token in tokens)

HIDDEN: Final = frozenset({Phase.LIE_DOWN_ASK, Phase.LIE_DOWN_CONSENT})
"""Phases whose decisions nobody but the seat itself learns of; only their outcome is public."""

EVENTS: Final[tuple[Mapping[Phase, tuple[str, ...]], ...]] = tuple(
    {
        phase: tuple(f"{seat}:{phase.value}:{token}" for token in tokens)
        for phase, tokens in TOKENS.items()
        if phase not in HIDDEN
    }
    for seat in range(4)
)
"""By seat, phase and action: the line that stands for a public decision in the history."""

LIE_DOWN_REFUSED: Final = "-:LIE_DOWN:refused"


def lies_down(seat: int) -> str:
    """The line of the history that says which seat lies down."""
    return f"{seat}:LIE_DOWN:lies"
