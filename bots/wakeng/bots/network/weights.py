"""The weights file of `net`: a line of JSON that says what it is, then the numbers, compressed.

The first layer is kept as signed bytes with a scale for each unit of each role, the rest in single precision. Rows of
inputs that no position ever had on are zero: they are noise, and noise does not compress. A file for another rule set,
or for another meaning of the inputs, is refused.
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
from numpy.typing import NDArray

from wakeng.bots.network import layout
from wakeng.engine import RuleSet, rule_set
from wakeng.engine.rules import RuleError

FORMAT: Final = 1
BUILT_IN: Final = Path(__file__).parent / "xian.net"
MOST_BYTES: Final = 4 << 20
_MOST_BYTE: Final = 127

Floats = NDArray[np.float32]
Bytes = NDArray[np.int8]

_SHAPES: Final[Mapping[str, tuple[str, tuple[int, ...]]]] = {
    "first": ("i1", (layout.ROLES, layout.INPUTS, layout.HIDDEN)),
    "scale": ("<f4", (layout.ROLES, layout.HIDDEN)),
    "first_bias": ("<f4", (layout.ROLES, layout.HIDDEN)),
    "second": ("<f4", (layout.ROLES, layout.SECOND, layout.HIDDEN)),
    "second_bias": ("<f4", (layout.ROLES, layout.SECOND)),
    "last": ("<f4", (layout.ROLES, layout.SECOND)),
    "last_bias": ("<f4", (layout.ROLES,)),
}
"""The arrays in the order of the file."""

_PLAY_FIELDS: Final = (
    "players", "removed_cards", "hand_size", "kitty_size", "first_caller", "max_bid", "blind_dig", "grab", "open",
    "lie_down", "bury", "bombs", "triple_runs", "quad_runs", "straight_min", "pair_run_min", "triple_run_min",
    "must_beat", "bomb_cap",
)  # fmt: skip
"""The fields of a rule set that the card play or its worth hang on; the others may be as they like."""


class WeightsError(ValueError):
    """A file that is no weights file, or not one for this; the message says which."""


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """A trained network. `first` are whole multiples of `scale`; `training` is the record of its run."""

    rules: RuleSet
    training: Mapping[str, Any]
    first: Bytes
    scale: Floats
    first_bias: Floats
    second: Floats
    second_bias: Floats
    last: Floats
    last_bias: Floats

    def fits(self, rules: RuleSet) -> bool:
        """Whether the network was trained for the card play of these rules."""
        return all(getattr(self.rules, field) == getattr(rules, field) for field in _PLAY_FIELDS)


def quantised(first: Floats) -> tuple[Bytes, Floats]:
    """A first layer (role, input, unit) as bytes, and the scale of each role's units."""
    scale = np.abs(first).max(axis=1) / _MOST_BYTE
    scale[scale == 0] = 1
    return np.rint(first / scale[:, None]).astype(np.int8), scale.astype(np.float32)


def write(path: Path, weights: Weights) -> None:
    """Write a weights file. Equal weights give equal bytes."""
    header = {
        "format": FORMAT,
        "features": layout.VERSION,
        "rules": weights.rules.to_dict(),
        "training": weights.training,
    }
    arrays = b"".join(
        np.ascontiguousarray(getattr(weights, name), dtype).tobytes() for name, (dtype, _) in _SHAPES.items()
    )
    line = orjson.dumps(header, option=orjson.OPT_SORT_KEYS)
    beside = path.with_name(path.name + ".new")
    beside.write_bytes(line + b"\n" + zlib.compress(arrays, 9))
    beside.replace(path)


def read(path: Path = BUILT_IN, *, preset: str | None = None) -> Weights:
    """Read a weights file; WeightsError says why it cannot be used. `preset`: for the card play of which rule set."""
    try:
        with path.open("rb") as file:
            line, _, packed = file.read(MOST_BYTES).partition(b"\n")
    except OSError as problem:
        raise WeightsError(f"{path}: {problem.strerror}") from None
    try:
        header = orjson.loads(line)
        rules = _rules(path, header)
    except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError, RuleError) as problem:
        raise WeightsError(f"{path} is no weights file ({problem})") from None
    weights = Weights(rules, header["training"], **_arrays(path, packed))
    if preset is not None and not weights.fits(rule_set(preset)):
        raise WeightsError(f"{path} was trained for {rules.preset}, not for {preset}")
    return weights


def _rules(path: Path, header: Any) -> RuleSet:
    if (header["format"], header["features"]) != (FORMAT, layout.VERSION):
        raise WeightsError(
            f"{path} has format {header['format']} and inputs {header['features']};"
            f" this version reads format {FORMAT} and inputs {layout.VERSION}"
        )
    fields = dict(header["rules"])
    return rule_set(fields.pop("preset"), fields)


def _arrays(path: Path, packed: bytes) -> dict[str, Any]:
    sizes = {name: np.dtype(dtype).itemsize * int(np.prod(shape)) for name, (dtype, shape) in _SHAPES.items()}
    total = sum(sizes.values())
    try:
        unpacker = zlib.decompressobj()
        raw = unpacker.decompress(packed, total + 1)
    except zlib.error as problem:
        raise WeightsError(f"{path} is damaged ({problem})") from None
    if len(raw) != total:
        raise WeightsError(f"{path} is damaged: its numbers are not complete")
    found, at = {}, 0
    for name, (dtype, shape) in _SHAPES.items():
        found[name] = np.frombuffer(raw, dtype, int(np.prod(shape)), at).reshape(shape)
        at += sizes[name]
    return found
