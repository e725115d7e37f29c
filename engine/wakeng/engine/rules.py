"""Rule sets as frozen values that check themselves, and the ten presets (docs/rules.md 5)."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import Enum
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final

from wakeng.engine.cards import CARD_BITS, CARD_NAMES, DECK, HEARTS, format_cards, parse_cards
from wakeng.engine.plays import NO_RUNS, RUN_KINDS, Kind, Play, Row, run_leads
from wakeng.engine.tasks import CATALOGUE


class RuleError(ValueError):
    """An impossible rule set. The message begins with `field`, the field at fault, and says what would do."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field


class FirstCaller(Enum):
    """Who bids first: the seat dealt the lowest heart, or the one dealt a card drawn and shown before the deal."""

    LOWEST_HEART = "lowest_heart"
    MARKED_CARD = "marked_card"


class Bidding(Enum):
    """Whether seats bid for the dig, or an input of the hand names the digger (pure card play)."""

    AUCTION = "auction"
    ASSIGNED = "assigned"


MOST_CARDS: Final = 20
"""A digger's hand with the kitty; it bounds the lengths of runs in the vocabulary."""
MOST_BASE_TIMES_CAP: Final = 8_000_000
"""Keeps every score within 32 bits."""

_RANGES: Final = {
    "players": (3, 4),
    "hand_size": (1, MOST_CARDS),
    "kitty_size": (0, MOST_CARDS - 1),
    "max_bid": (1, 3),
    "lie_down_points": (0, None),
    "lie_down_margin": (1, None),
    "straight_min": (3, 10),
    "pair_run_min": (3, 10),
    "triple_run_min": (3, 10),
    "base": (1, 1_000_000),
    "bomb_cap": (1, MOST_BASE_TIMES_CAP),
    "escape_factor": (0, 1_000),
}
_LARGEST: Final = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class RuleSet:
    """One way to play. Fields, ranges and meaning as in docs/rules.md 5; RuleError on an impossible combination."""

    preset: str
    players: int
    removed_cards: tuple[int, ...] = ()
    hand_size: int
    kitty_size: int = 4
    first_caller: FirstCaller = FirstCaller.LOWEST_HEART
    bidding: Bidding = Bidding.AUCTION
    max_bid: int = 3
    black_dig: bool = False
    blind_dig: bool = False
    grab: bool = False
    open: bool = False
    tasks: bool = False
    lie_down: bool = False
    lie_down_points: int = 9
    lie_down_margin: int = 4
    bury: bool = False
    bombs: bool = False
    triple_runs: bool = False
    quad_runs: bool = False
    straight_min: int = 3
    pair_run_min: int = 3
    triple_run_min: int = 3
    must_beat: bool = False
    base: int = 1
    bomb_cap: int = 4
    escape_factor: int = 10
    escape_settles: bool = False

    def __post_init__(self) -> None:
        for name, kind in FIELD_TYPES.items():
            _check_type(name, getattr(self, name), kind)
        for name, (least, most) in _RANGES.items():
            _check_range(name, getattr(self, name), least, _LARGEST if most is None else most)
        self._check_cards()
        self._check_phases()
        if self.bomb_cap & self.bomb_cap - 1:
            raise RuleError("bomb_cap", f"must be a power of two (1, 2, 4, 8, ...), not {self.bomb_cap}")
        if self.base * self.bomb_cap > MOST_BASE_TIMES_CAP:
            raise RuleError(
                "bomb_cap",
                f"base x bomb_cap is at most {MOST_BASE_TIMES_CAP}, not {self.base} x {self.bomb_cap}",
            )

    def _check_cards(self) -> None:
        removed = self.removed_cards
        if list(removed) != sorted(set(removed)) or not set(removed) <= set(DECK):
            raise RuleError("removed_cards", "must be different cards in ascending order")
        if self.hand_size + self.kitty_size > MOST_CARDS:
            raise RuleError(
                "hand_size",
                f"hand_size + kitty_size is at most {MOST_CARDS}, not {self.hand_size} + {self.kitty_size}",
            )
        deck = len(DECK) - len(removed)
        needed = self.players * self.hand_size + self.kitty_size
        if needed != deck:
            raise RuleError(
                "hand_size",
                f"players x hand_size + kitty_size must be the deck of {deck} cards, not"
                f" {self.players} x {self.hand_size} + {self.kitty_size} = {needed};"
                " change players, hand_size, kitty_size or removed_cards together",
            )
        hearts = len(set(HEARTS) - set(removed))
        if hearts <= self.kitty_size:
            raise RuleError(
                "removed_cards", f"more hearts must stay than the kitty holds: {hearts} <= {self.kitty_size}"
            )

    def _check_phases(self) -> None:
        if self.black_dig and self.blind_dig:
            raise RuleError("blind_dig", "black_dig and blind_dig exclude each other; switch one off")
        if self.lie_down and self.players != 3:
            raise RuleError("lie_down", "is for three players only")
        if self.bury and self.hand_size + self.kitty_size < 2:
            raise RuleError("bury", "the digger holds a single card, which has to be played")

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        # Of all numbers and of nothing else, since a copy may go to a process that hashes words in another way.
        return hash(tuple([getattr(self, name) for name, kind in FIELD_TYPES.items() if kind in (bool, int)]))

    @cached_property
    def deck(self) -> tuple[int, ...]:
        """The cards in play, ascending."""
        removed = set(self.removed_cards)
        return tuple(card for card in DECK if card not in removed)

    @cached_property
    def deck_bits(self) -> tuple[int, ...]:
        """The same, each as the set of that card alone."""
        return tuple(CARD_BITS[card] for card in self.deck)

    @cached_property
    def draws(self) -> tuple[int, ...]:
        """What each draw of a deal is below, in the order of docs/rules.md 7."""
        deck = len(self.deck)
        marked = (deck,) if self.first_caller is FirstCaller.MARKED_CARD else ()
        task = (len(CATALOGUE),) if self.tasks else ()
        return (*marked, self.players, *range(deck, 1, -1), *task)

    @cached_property
    def has_blind(self) -> bool:
        """Whether the BLIND phase occurs."""
        return (self.black_dig or self.blind_dig) and self.bidding is Bidding.AUCTION

    def shortest_run(self, size: int) -> int | None:
        """The fewest ranks a run of this group size needs, None where the rule set has no such runs."""
        return (
            self.straight_min,
            self.pair_run_min,
            self.triple_run_min if self.triple_runs else None,
            3 if self.quad_runs else None,
        )[size - 1]

    @cached_property
    def run_leads(self) -> tuple[Row, ...]:
        """By group size: for every value of a plane's run bits, the runs that can be led."""
        lengths = [self.shortest_run(size) for size in (1, 2, 3, 4)]
        return tuple(NO_RUNS if n is None else run_leads(size, n) for size, n in enumerate(lengths, 1))

    def allows(self, play: Play) -> bool:
        """Whether the play is a combination of this rule set (the pass is none)."""
        if play.kind not in RUN_KINDS:
            return play.kind is not Kind.PASS
        shortest = self.shortest_run(play.size)
        return shortest is not None and play.groups >= shortest

    def overrides(self) -> dict[str, bool | int | str]:
        """The fields that differ from the preset, as plain values."""
        return dict(self._overrides)

    @cached_property
    def _overrides(self) -> dict[str, bool | int | str]:
        preset = PRESETS.get(self.preset)
        if preset is None:
            raise RuleError("preset", f"{self.preset!r} is no rule set")
        return {
            name: _plain(getattr(self, name)) for name in FIELD_TYPES if getattr(self, name) != getattr(preset, name)
        }

    def to_dict(self) -> dict[str, bool | int | str]:
        """The form it has in records: `preset`, then the overridden fields alone."""
        return {"preset": self.preset, **self.overrides()}

    def with_overrides(self, overrides: Mapping[str, object]) -> "RuleSet":
        """The same with some fields changed; values as in `rule_set`."""
        values: dict[str, Any] = {name: _read(name, value) for name, value in overrides.items()}
        return replace(self, **values)


FIELD_TYPES: Final[Mapping[str, Any]] = MappingProxyType(
    {field.name: field.type for field in fields(RuleSet) if field.name != "preset"}
)
"""The fields that can be overridden, with their types, in the order of docs/rules.md 5."""


def rule_set(preset: str, overrides: Mapping[str, object] | None = None) -> RuleSet:
    """A preset with overridden fields, each value typed or as text (`on`, `12`, `assigned`, `AcAd`).

    RuleError names the field: an unknown one, a value that cannot be read, or an impossible combination.
    """
    if preset not in PRESETS:
        raise RuleError("preset", f"{preset[:80]!r} is no rule set; there are {', '.join(PRESETS)}")
    return PRESETS[preset].with_overrides(overrides or {})


_WORDS: Final = {
    "true": True,
    "on": True,
    "yes": True,
    "1": True,
    "false": False,
    "off": False,
    "no": False,
    "0": False,
}


def _read(name: str, value: object) -> object:
    kind = FIELD_TYPES.get(name)
    if kind is None:
        raise RuleError(name[:80], f"is no field of a rule set; there are {', '.join(FIELD_TYPES)}")
    if not isinstance(value, str):
        return value
    try:
        if kind is bool:
            return _WORDS[value.lower()]
        if kind is int:
            return _whole_number(value)
        if kind in (FirstCaller, Bidding):
            return kind(value)
        return parse_cards(value)
    except (KeyError, ValueError) as problem:
        reason = f" ({problem})" if name == "removed_cards" else ""
        raise RuleError(name, f"{value[:80]!r} is not {_describe(kind)}{reason}") from None


def _whole_number(text: str) -> int:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 10):
        raise ValueError(text)
    return int(text)


def _describe(kind: object) -> str:
    if kind is bool:
        return "on or off"
    if kind is int:
        return "a whole number"
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "one of " + ", ".join(member.value for member in kind)
    return f"a string of cards such as {CARD_NAMES[0]}{CARD_NAMES[-1]}"


def _check_type(name: str, value: object, kind: Any) -> None:
    if kind is bool or kind is int:
        fits = type(value) is kind
    elif isinstance(kind, type):
        fits = isinstance(value, kind)
    else:
        fits = isinstance(value, tuple) and all(type(card) is int for card in value)
    if not fits:
        raise RuleError(name, f"must be {_describe(kind)}, not {str(value)[:80]!r}")


def _check_range(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise RuleError(name, f"must be {least} to {most}, not {value}")


def _plain(value: Any) -> bool | int | str:
    if isinstance(value, Enum):
        return str(value.value)
    return format_cards(value) if isinstance(value, tuple) else value


_XIAN: Final = {"players": 3, "hand_size": 16}
_FOUR: Final = {"players": 4, "hand_size": 12, "bury": True}
_BAOJI: Final = {"players": 3, "hand_size": 14, "removed_cards": parse_cards("AcAdAhAs2d3d")}
_FEATURE: Final = {"grab": True, "open": True, "tasks": True}
_LYING: Final = {"lie_down": True}
_BLIND: Final = {"first_caller": FirstCaller.MARKED_CARD, "blind_dig": True}


def _preset(name: str, *parts: Mapping[str, Any]) -> RuleSet:
    values: dict[str, Any] = {}
    for part in parts:
        values |= part
    return RuleSet(preset=name, **values)


PRESETS: Final[Mapping[str, RuleSet]] = MappingProxyType(
    {
        rules.preset: rules
        for rules in (
            _preset("xian", _XIAN, {"black_dig": True, "bombs": True, "triple_runs": True}),
            _preset("three_traditional", _XIAN),
            _preset("three_feature", _XIAN, _FEATURE, _LYING),
            _preset("three_blind", _XIAN, _FEATURE, _LYING, _BLIND),
            _preset("four_traditional", _FOUR),
            _preset("four_feature", _FOUR, _FEATURE),
            _preset("four_blind", _FOUR, _FEATURE, _BLIND),
            _preset("baoji_traditional", _BAOJI),
            _preset("baoji_feature", _BAOJI, _FEATURE, _LYING),
            _preset("baoji_blind", _BAOJI, _FEATURE, _LYING, _BLIND),
        )
    }
)
"""The ten rule sets of the game, by name."""
