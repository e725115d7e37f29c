"""The options of a tournament's statistics with their defaults (docs/statistics.md 11), a value that checks itself."""

from dataclasses import MISSING, dataclass, fields
from typing import Any, Final

from wakeng.services.spec import SpecError

_TINY: Final = 1e-6
_MANY: Final = 10_000_000

RANGES: Final[dict[str, tuple[float, float]]] = {
    "interval": (0.5, 1 - _TINY),
    "provisional_below": (2, _MANY),
    "lambda_": (0, _MANY),
    "lambda_pairing": (_TINY, _MANY),
    "lambda_roles": (0, _MANY),
    "alpha": (_TINY, 0.49),
    "beta": (_TINY, 0.49),
    "d0": (-_MANY, _MANY),
    "d1": (-_MANY, _MANY),
    "gate_blocks": (0, _MANY),
    "gate_not_zero": (0, _MANY),
    "max_blocks": (1, _MANY),
    "look_every": (1, _MANY),
    "line_ups_all_below": (0, 1_000_000),
    "swiss_blocks": (1, 1_000),
    "ladder_blocks": (1, 100_000),
    "strike_off_after": (1, 1_000),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """All of them; those that are None by default follow from the rest of the tournament."""

    interval: float = 0.95
    """What share of its intervals shall hold the truth; the watched ones' a is 1 less this."""
    provisional_below: int = 10
    """Blocks below which a bot's mean stands without an interval."""
    lambda_: float = 0.0
    """Blocks of shrinkage in published ratings. `lambda` in a file, as the next two are `lambda_…`."""
    lambda_pairing: float = 8.0
    """Blocks of shrinkage in the ratings that pair bots, and in those of provisional bots."""
    lambda_roles: float = 5.0
    """Hands of shrinkage in role strengths."""
    alpha: float = 0.05
    """`sprt`: how often equal bots may be found unequal; with `two_sided` the two tests share it."""
    beta: float = 0.05
    """`sprt`: how often a difference of `d1` may be missed."""
    d0: float = 0.0
    """`sprt`: points a hand under the null hypothesis, as they are scored, `base` included."""
    d1: float | None = None
    """`sprt`: points a hand that are worth finding; 0.2 with auction, 0.4 assigned, times `base`."""
    two_sided: bool = False
    """`sprt`: whether the question is "who, if anyone" instead of "is the first the stronger one"."""
    gate_blocks: int = 50
    """`sprt`: nothing is decided before so many blocks ..."""
    gate_not_zero: int = 50
    """... nor, before block 1000, with fewer values than this that are not 0."""
    max_blocks: int | None = None
    """`sprt`: after so many blocks the answer is "open"; 35 (s/d1)^2 by default."""
    look_every: int = 1
    """`sprt`: the test is looked at after every so many blocks."""
    line_ups_all_below: int = 500
    """`all`: with more line-ups than this, the balanced rule chooses among them."""
    swiss_blocks: int = 2
    """`swiss`: blocks a table plays in a round."""
    ladder_blocks: int | None = None
    """`ladder`: blocks of a round, as many as there are bots by default."""
    strike_off_after: int = 3
    """A block is struck off once one of its hands was voided so often."""

    def __post_init__(self) -> None:
        for name, (least, most) in RANGES.items():
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise SpecError(key(name), f"must be {least} to {most}, not {value}")
        if self.d1 is not None and self.d1 <= self.d0:
            raise SpecError("d1", f"must be more than d0, which is {self.d0:g}, not {self.d1:g}")
        if self.max_blocks is not None and self.max_blocks < self.gate_blocks:
            raise SpecError("max_blocks", f"is {self.max_blocks}, but before {self.gate_blocks} gate_blocks holds")

    def differing(self) -> dict[str, Any]:
        """Those that are not at their default, by their names in a file."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {key(name): value for name, value in values.items() if value != DEFAULTS[name]}

    def to_dict(self) -> dict[str, Any]:
        """All that are set, by their names in a file."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {key(name): value for name, value in values.items() if value is not None}


def key(name: str) -> str:
    """An option's name in a file; Python's own word needs an underscore here."""
    return name.rstrip("_")


DEFAULTS: Final[dict[str, Any]] = {field.name: field.default for field in fields(Options)}
assert MISSING not in DEFAULTS.values()
_FLOATS: Final = {"interval", "lambda_", "lambda_pairing", "lambda_roles", "alpha", "beta", "d0", "d1"}
KINDS: Final[dict[str, type]] = {
    name: float if name in _FLOATS else bool if name == "two_sided" else int for name in DEFAULTS
}
"""By name, what a file gives."""

ONLY_IN: Final[dict[str, str]] = {
    **dict.fromkeys(
        ("alpha", "beta", "d0", "d1", "two_sided", "gate_blocks", "gate_not_zero", "max_blocks", "look_every"), "sprt"
    ),
    "line_ups_all_below": "all",
    "swiss_blocks": "swiss",
    "ladder_blocks": "ladder",
}
"""Options that are read in one format only; elsewhere another value than the default contradicts it."""
