"""What is asked of the arena before a hand is dealt: matches, their seats, time and fault policy, as checked values."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from operator import attrgetter
from typing import Any, Final

from wakeng.engine import RuleSet, commitment, rule_set
from wakeng.engine.deal import SEED_BYTES

MOST_HANDS: Final = 10_000_000
MOST_TABLES: Final = 100_000
DEFAULT_TABLES: Final = 64
_LONGEST_MS: Final = 24 * 3600 * 1000


class SpecError(ValueError):
    """An impossible request. The message begins with `field`, the field at fault, and says what would do."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field


def _check(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise SpecError(name, f"must be {least} to {most}, not {value}")


@dataclass(frozen=True, slots=True)
class TimeControl:
    """Budgets in milliseconds, and how many strikes make a seat leave (docs/protocol.md 7)."""

    move_ms: int = 1_000
    bank_ms: int = 1_000
    ready_ms: int = 5_000
    reconnect_ms: int = 2_000
    max_strikes: int = 3

    def __post_init__(self) -> None:
        for name, least in (("move_ms", 1), ("bank_ms", 0), ("ready_ms", 1), ("reconnect_ms", 0)):
            _check(name, getattr(self, name), least, _LONGEST_MS)
        _check("max_strikes", self.max_strikes, 1, 1_000)

    def to_dict(self) -> dict[str, int]:
        """The form it has in records."""
        return dict(zip(_TIMES, _times(self), strict=True))


_TIMES: Final = tuple(one.name for one in fields(TimeControl))
_times: Final = attrgetter(*_TIMES)
"""Of a time control, for every record; the standard library's own `asdict` takes ten times as long."""


class SeatKind(Enum):
    """Where a seat's bot comes from."""

    BUILTIN = "builtin"
    ADDRESS = "address"
    REGISTERED = "registered"


@dataclass(frozen=True, slots=True)
class SeatSpec:
    """Who sits down: a built-in or registered bot by name, or whatever answers at `HOST:PORT` or `unix:PATH`."""

    kind: SeatKind
    bot: str

    def __post_init__(self) -> None:
        if not 1 <= len(self.bot.encode()) <= 200 or not self.bot.isprintable():
            raise SpecError("seats", "a seat is 1 to 200 printable bytes: a bot's name, HOST:PORT or unix:PATH")

    @classmethod
    def parse(cls, text: str) -> "SeatSpec":
        """A seat from its text: whatever has a port or a `unix:` path is an address, the rest a built-in bot."""
        if text.startswith("unix:"):
            return cls(SeatKind.ADDRESS, text)
        host, colon, port = text.rpartition(":")
        if colon and port.isdecimal():
            if not host or not 0 < int(port) < 65536:
                raise SpecError("seats", f"{text[:80]!r} is no address; HOST:PORT has a port of 1 to 65535")
            return cls(SeatKind.ADDRESS, text)
        return cls(SeatKind.BUILTIN, text)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchSpec:
    """A match: the same seats for `hands` hands, `tables` of them side by side."""

    match_id: str
    rules: RuleSet
    seats: tuple[SeatSpec, ...]
    hands: int
    seed: bytes = field(repr=False)
    time_control: TimeControl = TimeControl()
    max_escapes: int = 3
    tables: int = DEFAULT_TABLES
    owner: str = ""
    """Whose match it is, where callers have names."""
    by_admin: bool = True
    """Whether its addresses were named by an admin, who may have the arena dial its own machine."""

    def __post_init__(self) -> None:
        if len(self.seats) != self.rules.players:
            raise SpecError("seats", f"{self.rules.preset} is for {self.rules.players} players, not {len(self.seats)}")
        _check("hands", self.hands, 1, MOST_HANDS)
        _check("tables", self.tables, 1, MOST_TABLES)
        _check("max_escapes", self.max_escapes, 1, MOST_HANDS)
        if len(self.seed) != SEED_BYTES:
            raise SpecError("seed", f"is {SEED_BYTES} bytes, not {len(self.seed)}")

    def to_dict(self) -> dict[str, Any]:
        """All of it but the ids and the seed, for the store."""
        return {
            "rules": self.rules.to_dict(),
            "seats": [{seat.kind.value: seat.bot} for seat in self.seats],
            "hands": self.hands,
            "time_control": self.time_control.to_dict(),
            "max_escapes": self.max_escapes,
            "tables": self.tables,
            "owner": self.owner,
            "by_admin": self.by_admin,
        }

    @classmethod
    def from_dict(cls, written: Mapping[str, Any], *, match_id: str, seed: bytes) -> "MatchSpec":
        """The spec that `to_dict` wrote."""
        overrides = dict(written["rules"])
        return cls(
            match_id=match_id,
            rules=rule_set(overrides.pop("preset"), overrides),
            seats=tuple(SeatSpec(SeatKind(kind), bot) for seat in written["seats"] for kind, bot in seat.items()),
            hands=written["hands"],
            seed=seed,
            time_control=TimeControl(**written["time_control"]),
            max_escapes=written["max_escapes"],
            tables=written["tables"],
            owner=written["owner"],
            by_admin=written["by_admin"],
        )

    @property
    def commitment(self) -> str:
        """What is published before the first deal: SHA-256 of the seed."""
        return commitment(self.seed)
