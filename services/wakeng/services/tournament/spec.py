"""A tournament as a frozen value that checks itself: who plays whom, for how long, by which rules.

Fields that contradict each other are refused, and so are values that would have no effect. SpecError names the field
by the path it has in a file (`bots[2].name`); spec_file.py adds the line.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from math import ceil, comb, log2
from typing import Any, Final

from wakeng.engine import Bidding, RuleSet, commitment, rule_set
from wakeng.engine.deal import SEED_BYTES
from wakeng.services.spec import DEFAULT_TABLES, MOST_HANDS, MOST_TABLES, SeatSpec, SpecError, TimeControl
from wakeng.services.tournament.blocks import BlockKind, Dealer
from wakeng.services.tournament.options import ONLY_IN, Options

MOST_BOTS: Final = 1_000
MOST_NAME: Final = 100
_MARGIN: Final = {Bidding.AUCTION: 0.2, Bidding.ASSIGNED: 0.4}
"""d1, in points a hand where `base` is 1."""
_SPREAD: Final = {Bidding.AUCTION: 2.4, Bidding.ASSIGNED: 4.8}
"""s, the standard deviation of a swap pair's value that `max_blocks` reckons with."""
_TIMES: Final = TimeControl()
_OPTIONS: Final = Options()


class Format(Enum):
    """Who meets whom (docs/statistics.md 7 and 9)."""

    ALL = "all"
    BALANCED = "balanced"
    GAUNTLET = "gauntlet"
    SWISS = "swiss"
    LADDER = "ladder"
    SPRT = "sprt"


@dataclass(frozen=True, slots=True)
class Entrant:
    """One of the field: its name in the tournament, and who sits down for it. One bot may enter under two names."""

    name: str
    seat: SeatSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentSpec:
    """A tournament. What is None by default follows from the rest, as the properties below say."""

    name: str
    rules: RuleSet
    bots: tuple[Entrant, ...]
    seed: bytes = field(repr=False)
    format: Format = Format.ALL
    blocks: int | None = None
    """How many; None for Swiss and sprt, which know it themselves, and for a ladder without end."""
    rounds: int | None = None
    """Swiss only; the least that separates the field by default."""
    challengers: tuple[str, ...] = ()
    """Gauntlet only: names of bots."""
    block: BlockKind | None = None
    """Rotations by default, and swap pairs in sprt, which has no other."""
    duplicate: bool = True
    """Whether the hands of a block share its deal."""
    tables: int = DEFAULT_TABLES
    window: int | None = None
    """Blocks beyond the completed prefix that may be begun; 4 x tables by default."""
    time_control: TimeControl = _TIMES
    max_escapes: int = 3
    options: Options = _OPTIONS

    def __post_init__(self) -> None:
        _check_text("name", self.name)
        if len(self.seed) != SEED_BYTES:
            raise SpecError("seed", f"is {SEED_BYTES} bytes, not {len(self.seed)}")
        _check_range("tables", self.tables, 1, MOST_TABLES)
        _check_range("window", self.window, 1, 2 * MOST_TABLES)
        _check_range("fault_policy.max_escapes", self.max_escapes, 1, MOST_HANDS)
        self._check_field()
        self._check_challengers()
        self._check_block()
        self._check_length()
        self._check_options()

    # What follows from it -------------------------------------------------------------------------------------------

    @property
    def bidding(self) -> Bidding:
        """Auction or assigned: part of the rules."""
        return self.rules.bidding

    @property
    def pairing(self) -> Format:
        """The format that is played: `all` gives way to the balanced rule where there are too many line-ups."""
        if self.format is Format.ALL and self._line_ups > self.options.line_ups_all_below:
            return Format.BALANCED
        return self.format

    @property
    def block_kind(self) -> BlockKind:
        """What a block is."""
        return self.block or self._default_block

    @property
    def hands_per_block(self) -> int:
        """How many hands a block has."""
        return self.block_kind.hands(self.rules.players)

    @property
    def swiss_rounds(self) -> int:
        """Rounds of a Swiss tournament."""
        return self.rounds if self.rounds is not None else self._fewest_rounds

    @property
    def blocks_at_once(self) -> int:
        """Swiss: blocks of a table in a round. Ladder: blocks of a round."""
        if self.format is Format.SWISS:
            return self.options.swiss_blocks
        return self.options.ladder_blocks or len(self.bots)

    @property
    def planned_blocks(self) -> int | None:
        """The tournament's length, sprt's where it does not stop before; None for a ladder without end."""
        if self.format is Format.SWISS:
            return self.swiss_rounds * (len(self.bots) // self.rules.players) * self.options.swiss_blocks
        return self.max_blocks if self.format is Format.SPRT else self.blocks

    @property
    def margins(self) -> tuple[float, float]:
        """d0 and d1 as the test takes them: divided by `base`, like the scores."""
        d0, d1 = self.options.d0 / self.rules.base, self.options.d1
        return d0, _MARGIN[self.bidding] if d1 is None else d1 / self.rules.base

    @property
    def max_blocks(self) -> int:
        """Where sprt gives up."""
        if self.options.max_blocks is not None:
            return self.options.max_blocks
        return ceil(round(35 * (_SPREAD[self.bidding] / self.margins[1]) ** 2, 6))

    @property
    def blocks_beyond_prefix(self) -> int:
        """The window."""
        return 4 * self.tables if self.window is None else self.window

    @property
    def challenger_numbers(self) -> tuple[int, ...]:
        """The challengers' places in the field."""
        names = [bot.name for bot in self.bots]
        return tuple(names.index(name) for name in self.challengers)

    @property
    def dealer(self) -> Dealer:
        """Who turns its blocks into hands."""
        assigned = self.bidding is Bidding.ASSIGNED
        return Dealer(seed=self.seed, players=self.rules.players, assigned=assigned, duplicate=self.duplicate)

    @property
    def commitment(self) -> str:
        """What is published before the first deal: SHA-256 of the seed."""
        return commitment(self.seed)

    def differing(self) -> dict[str, Any]:
        """The options of docs/statistics.md 11 that are not at their default, which every report names."""
        chosen = {
            "block": (self.block_kind.value, self._default_block.value),
            "bidding": (self.bidding.value, Bidding.AUCTION.value),
            "duplicate": (self.duplicate, True),
            "window": (self.blocks_beyond_prefix, 4 * self.tables),
        }
        return {name: value for name, (value, default) in chosen.items() if value != default} | self.options.differing()

    @property
    def _line_ups(self) -> int:
        return comb(len(self.bots), self.rules.players)

    @property
    def _default_block(self) -> BlockKind:
        return BlockKind.SWAP if self.format is Format.SPRT else BlockKind.ROTATION

    @property
    def _fewest_rounds(self) -> int:
        return ceil(log2(len(self.bots)) + 2)

    # Checks ---------------------------------------------------------------------------------------------------------

    def _check_field(self) -> None:
        bots, players = len(self.bots), self.rules.players
        if self.format is Format.SPRT and bots != 2:
            raise SpecError("bots", f"sprt is between two bots, not {bots}")
        if self.format is not Format.SPRT and not players <= bots <= MOST_BOTS:
            least = f"{players}, the players of {self.rules.preset},"
            raise SpecError("bots", f"must be {least} to {MOST_BOTS}, not {bots}")
        first: dict[str, int] = {}
        for i, bot in enumerate(self.bots):
            _check_text(f"bots[{i}].name", bot.name)
            if first.setdefault(bot.name, i) != i:
                raise SpecError(f"bots[{i}].name", f"{bot.name!r} is the name of bots[{first[bot.name]}] already")

    def _check_challengers(self) -> None:
        names = [bot.name for bot in self.bots]
        for i, name in enumerate(self.challengers):
            if name not in names:
                raise SpecError(f"challengers[{i}]", f"no bot of the field is named {name!r}")
            if name in self.challengers[:i]:
                raise SpecError(f"challengers[{i}]", f"{name!r} is named twice")
        if self.format is Format.GAUNTLET and not self.challengers:
            raise SpecError("format", "a gauntlet needs challengers, a list of names of bots")
        if self.format is Format.GAUNTLET and len(self.challengers) == len(names):
            raise SpecError("challengers", "are the whole field; without the others this is format = 'balanced'")
        if self.format is not Format.GAUNTLET and self.challengers:
            raise SpecError("challengers", f"are for a gauntlet; format is {self.format.value!r}")

    def _check_block(self) -> None:
        swap, sprt = self.block_kind is BlockKind.SWAP, self.format is Format.SPRT
        if swap and not sprt:
            raise SpecError("block", f"swap pairs are for format = 'sprt', not {self.format.value!r}")
        if sprt and not swap:
            raise SpecError("block", f"sprt plays swap pairs, not {self.block_kind.value!r}")
        if self.block_kind is BlockKind.PERMUTATION and not self.duplicate:
            raise SpecError("duplicate", "permutations are for hands of one deal; with false take block = 'rotation'")

    def _check_length(self) -> None:
        form = self.format
        if form is Format.SWISS:
            self._check_swiss()
        elif self.rounds is not None:
            raise SpecError("rounds", f"are for format = 'swiss', not {form.value!r}; give blocks")
        if self.blocks is not None and form in _OWN_LENGTH:
            raise SpecError("blocks", f"{form.value} has a length of its own: give {_OWN_LENGTH[form]} instead")
        if self.blocks is None and form not in (*_OWN_LENGTH, Format.LADDER):
            raise SpecError("blocks", "is missing: how many blocks to play")
        most = MOST_HANDS // self.hands_per_block
        _check_range("blocks", self.blocks, 1, most)
        if (self.planned_blocks or 0) > most:
            name = _OWN_LENGTH[form]
            raise SpecError(name, f"these are {self.planned_blocks} blocks, more than {most}")

    def _check_swiss(self) -> None:
        _check_range("rounds", self.rounds, 1, MOST_HANDS)
        if self.swiss_rounds < self._fewest_rounds:
            bots = len(self.bots)
            raise SpecError("rounds", f"a field of {bots} needs {self._fewest_rounds} or more, not {self.rounds}")

    def _check_options(self) -> None:
        for name in self.options.differing():
            if ONLY_IN.get(name, self.format.value) != self.format.value:
                raise SpecError(f"options.{name}", f"is for format = {ONLY_IN[name]!r}, not {self.format.value!r}")
        d0, d1 = self.margins
        if self.format is Format.SPRT and d1 <= d0:
            raise SpecError("options.d0", f"must be less than d1, which is {d1 * self.rules.base:g}")
        if self.format is Format.SPRT and d1 <= 0 and self.options.max_blocks is None:
            raise SpecError("options.max_blocks", "is to be given where d1 is not above 0")

    # For the store --------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """All of it but the seed, as a file would have it."""
        times = self.time_control.to_dict()
        strikes = times.pop("max_strikes")
        written = {
            "name": self.name,
            # Written even where it is as in the preset, since a file's own default is another.
            "rules": {**self.rules.to_dict(), "escape_settles": self.rules.escape_settles},
            "bots": [{"name": bot.name, bot.seat.kind.value: bot.seat.bot} for bot in self.bots],
            "format": self.format.value,
            "blocks": self.blocks,
            "rounds": self.rounds,
            "challengers": list(self.challengers) or None,
            "block": self.block and self.block.value,
            "duplicate": self.duplicate,
            "tables": self.tables,
            "window": self.window,
            "fault_policy": {"max_strikes": strikes, "max_escapes": self.max_escapes},
            "time_control": times,
            "options": self.options.to_dict(),
        }
        return {name: value for name, value in written.items() if value is not None}

    @classmethod
    def from_dict(cls, written: Mapping[str, Any], *, seed: bytes) -> "TournamentSpec":
        """The spec that `to_dict` wrote."""
        from wakeng.services.tournament.spec_file import read_spec  # It makes values of this class.

        return read_spec(written, seed=seed)


_OWN_LENGTH: Final = {Format.SWISS: "rounds", Format.SPRT: "options.max_blocks"}
"""Formats whose length is not given in blocks, and what gives it."""


def tournament_rules(preset: str, overrides: Mapping[str, object] | None = None) -> RuleSet:
    """A rule set as tournaments play it: leaving settles the hand unless it is said otherwise (docs/rules.md 4)."""
    return rule_set(preset, {"escape_settles": True, **(overrides or {})})


def _check_range(name: str, value: int | None, least: int, most: int) -> None:
    if value is not None and not least <= value <= most:
        raise SpecError(name, f"must be {least} to {most}, not {value}")


def _check_text(name: str, text: str) -> None:
    if not 1 <= len(text) <= MOST_NAME or not text.isprintable() or text != text.strip():
        raise SpecError(name, f"must be 1 to {MOST_NAME} printable characters without spaces around them")
