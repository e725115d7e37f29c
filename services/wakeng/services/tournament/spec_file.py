"""Tournaments read from TOML; whatever is wrong is refused before anything starts, naming field and line.

    name = "three against three"        # the tournament's name
    rules = "xian"                      # a preset, or a table [rules] with `preset` and what differs from it
    format = "all"                      # all, balanced, gauntlet, swiss, ladder, sprt
    blocks = 200
    bots = ["greedy", "random", {name = "mine", bot = "localhost:50051"}]

A bot is its name, or a table: `bot` (as `wakeng match` takes it: a built-in bot, HOST:PORT or unix:PATH), or one of
`builtin`, `address`, `registered`; `name` where it shall be called otherwise. Beside these: `seed`, `bidding`,
`block`, `duplicate`, `rounds`, `challengers`, `tables`, `window`, and the tables [time_control], [fault_policy] and
[options]. The store keeps tournaments in the same form.
"""

import re
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from enum import Enum
from typing import Any, Final, TypeVar

from wakeng.engine import Bidding, RuleError, RuleSet, parse_seed
from wakeng.engine.rules import FIELD_TYPES
from wakeng.services.spec import SeatKind, SeatSpec, SpecError, TimeControl
from wakeng.services.tournament.blocks import BlockKind
from wakeng.services.tournament.options import KINDS, Options, key
from wakeng.services.tournament.spec import Entrant, Format, TournamentSpec, tournament_rules
from wakeng.services.tournament.toml_lines import Path, key_lines

E = TypeVar("E", bound=Enum)
CheckBot = Callable[[SeatSpec], str | None]
"""Says what is wrong with a bot, None if nothing is."""

_TIMES: Final = [field.name for field in fields(TimeControl) if field.name != "max_strikes"]
_TOP: Final[dict[str, type]] = {
    "name": str,
    "seed": str,
    "rules": object,
    "bidding": str,
    "bots": list,
    "format": str,
    "blocks": int,
    "rounds": int,
    "challengers": list,
    "block": str,
    "duplicate": bool,
    "tables": int,
    "window": int,
    "time_control": dict,
    "fault_policy": dict,
    "options": dict,
}
_TABLES: Final[dict[str, Collection[str]]] = {
    "": _TOP,
    "time_control": _TIMES,
    "fault_policy": ("max_strikes", "max_escapes"),
    "options": [key(name) for name in KINDS],
    "rules": ("preset", *FIELD_TYPES),
    "bots": ("name", "bot", *(kind.value for kind in SeatKind)),
}
"""The keys of each table of a file."""
_WORDS: Final = {
    str: "text",
    int: "a whole number",
    bool: "true or false",
    float: "a number",
    list: "a list",
    dict: "a table",
}


class BadSpec(SpecError):
    """A file that is no tournament. The message begins with the field and, where it stands in the file, its line."""

    def __init__(self, field: str, problem: str, line: int | None) -> None:
        super().__init__(field if line is None else f"{field} (line {line})", problem)
        self.field = field
        self.line = line


def _any_bot(seat: SeatSpec) -> str | None:
    return None


def parse_spec(text: str, *, drawn_seed: bytes, check_bot: CheckBot = _any_bot) -> TournamentSpec:
    """The tournament of a TOML text, on the drawn seed where the text gives none. BadSpec says what is wrong."""
    try:
        tree = tomllib.loads(text)
    except (ValueError, RecursionError) as problem:  # Not only its own: a number of 5,000 digits is Python's affair.
        raise _bad_toml(text, problem) from None
    lines = key_lines(text.replace("\r\n", "\n"))
    try:
        return read_spec(tree, seed=drawn_seed, check_bot=check_bot)
    except SpecError as problem:
        said = str(problem).removeprefix(f"{problem.field}: ")
        raise BadSpec(problem.field, said, _line(lines, problem.field)) from None


def read_spec(tree: Mapping[str, Any], *, seed: bytes, check_bot: CheckBot = _any_bot) -> TournamentSpec:
    """The tournament of a tree of plain values; SpecError names the field by its path."""
    _check_keys(tree, "")
    for name in ("name", "rules", "bots"):
        if name not in tree:
            raise SpecError(name, "is missing")
    given = {name: _typed(name, value, _TOP[name]) for name, value in tree.items()}
    faults = _table(given.get("fault_policy", {}), "fault_policy", dict.fromkeys(_TABLES["fault_policy"], int))
    plain = ("name", "blocks", "rounds", "duplicate", "tables", "window")
    return TournamentSpec(
        rules=_rules(given["rules"], given.get("bidding")),
        bots=tuple(_entrant(f"bots[{i}]", bot, check_bot) for i, bot in enumerate(given["bots"])),
        seed=_seed(given["seed"]) if "seed" in given else seed,
        format=_word("format", given.get("format", Format.ALL.value), Format),
        challengers=_texts("challengers", given.get("challengers", ())),
        block=_word("block", given["block"], BlockKind) if "block" in given else None,
        time_control=_time_control(given.get("time_control", {}), faults),
        options=_options(given.get("options", {})),
        **{name: given[name] for name in plain if name in given},
        **{name: faults[name] for name in ("max_escapes",) if name in faults},
    )


def _line(lines: Mapping[Path, int], field: str) -> int | None:
    """The line of a field, or of the innermost table around it that stands in the file."""
    named = {_named(path): line for path, line in lines.items()}
    while field and field not in named:
        field = field[: max(field.rfind("."), field.rfind("["), 0)]
    return named.get(field)


def _named(path: Path) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


# Parts ----------------------------------------------------------------------------------------------------------------


def _rules(value: object, bidding: str | None) -> RuleSet:
    if isinstance(value, str):
        field, preset, overrides = "rules", value, dict[str, Any]()
    elif isinstance(value, Mapping):
        _check_keys(value, "rules")
        field, overrides = "rules.preset", dict(value)
        if "preset" not in overrides:
            raise SpecError("rules.preset", "is missing")
        preset = _typed("rules.preset", overrides.pop("preset"), str)
    else:
        raise SpecError("rules", "must be the name of a rule set, or a table with its preset and what differs from it")
    if bidding is not None:
        _word("bidding", bidding, Bidding)
        if overrides.setdefault("bidding", bidding) != bidding:
            raise SpecError(
                "bidding", f"is {bidding!r}, but rules.bidding is {overrides['bidding']!r}; give one of them"
            )
    try:
        return tournament_rules(preset, overrides)
    except RuleError as problem:
        said = str(problem).removeprefix(f"{problem.field}: ")
        raise SpecError(field if problem.field == "preset" else f"rules.{problem.field}", said) from None


def _entrant(field: str, value: object, check_bot: CheckBot) -> Entrant:
    if isinstance(value, str):
        return Entrant(value, _seat(field, "bot", value, check_bot))
    if not isinstance(value, Mapping):
        raise SpecError(field, "must be a bot's name, or a table with bot, or builtin, address or registered")
    _check_keys(value, "bots", field)
    texts = {name: _typed(f"{field}.{name}", text, str) for name, text in value.items()}
    name = texts.pop("name", None)
    if len(texts) != 1:
        raise SpecError(field, "needs one of bot, builtin, address, registered, and no second")
    ((kind, bot),) = texts.items()
    return Entrant(bot if name is None else name, _seat(f"{field}.{kind}", kind, bot, check_bot))


def _seat(field: str, kind: str, bot: str, check_bot: CheckBot) -> SeatSpec:
    try:
        seat = SeatSpec.parse(bot) if kind in ("bot", "address") else SeatSpec(SeatKind(kind), bot)
    except SpecError as problem:
        raise SpecError(field, str(problem).removeprefix(f"{problem.field}: ")) from None
    if kind == "address" and seat.kind is not SeatKind.ADDRESS:
        raise SpecError(field, f"{bot[:80]!r} is no address, which is HOST:PORT or unix:PATH")
    if (wrong := check_bot(seat)) is not None:
        raise SpecError(field, wrong)
    return seat


def _time_control(value: Mapping[str, Any], faults: Mapping[str, int]) -> TimeControl:
    given = _table(value, "time_control", dict.fromkeys(_TIMES, int))
    if "max_strikes" in faults:
        given["max_strikes"] = faults["max_strikes"]
    try:
        return TimeControl(**given)
    except SpecError as problem:
        table = "fault_policy" if problem.field == "max_strikes" else "time_control"
        raise _in_table(table, problem) from None


def _options(value: Mapping[str, Any]) -> Options:
    names = {key(name): name for name in KINDS}
    given = _table(value, "options", {key(name): kind for name, kind in KINDS.items()})
    try:
        return Options(**{names[name]: value for name, value in given.items()})
    except SpecError as problem:
        raise _in_table("options", problem) from None


def _in_table(table: str, problem: SpecError) -> SpecError:
    return SpecError(f"{table}.{problem.field}", str(problem).removeprefix(f"{problem.field}: "))


def _seed(text: str) -> bytes:
    try:
        return parse_seed(text)
    except ValueError as problem:
        raise SpecError("seed", str(problem)) from None


# Values ---------------------------------------------------------------------------------------------------------------


def _table(value: Mapping[str, Any], name: str, kinds: Mapping[str, type]) -> dict[str, Any]:
    _check_keys(value, name)
    return {key: _typed(f"{name}.{key}", item, kinds[key]) for key, item in value.items()}


def _typed(field: str, value: Any, kind: type) -> Any:
    """The value if it is of its kind; a whole number will do for any number, but true and false are none."""
    if kind is float and type(value) is int:
        return float(value)
    if kind is not object and (not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool)):
        raise SpecError(field, f"must be {_WORDS[kind]}, not {str(value)[:80]!r}")
    return value


def _texts(field: str, values: Sequence[object]) -> tuple[str, ...]:
    return tuple(_typed(f"{field}[{i}]", value, str) for i, value in enumerate(values))


def _word(field: str, text: str, words: type[E]) -> E:
    try:
        return words(text)
    except ValueError:
        known = [str(word.value) for word in words]
        raise SpecError(field, f"{text[:80]!r} is none of {', '.join(known)}{_meant(text, known)}") from None


def _check_keys(table: Mapping[str, object], name: str, field: str | None = None) -> None:
    """Refuse a key that the table does not have, and say where it may belong."""
    for found in table:
        if found not in _TABLES[name]:
            prefix = field or name
            path = f"{prefix}.{found}" if prefix else found
            raise SpecError(path[:120], f"is unknown{_meant(found, _TABLES[name]) or _elsewhere(found)}")


def _meant(text: str, known: Collection[str]) -> str:
    close = get_close_matches(text[:80], known, n=1)
    return f"; did you mean {close[0]}?" if close else ""


def _elsewhere(found: str) -> str:
    for name, keys in _TABLES.items():
        if found in keys:
            return f"; it belongs in [{name}]" if name else "; it belongs at the top, before the first [table]"
    return ""


def _bad_toml(text: str, problem: Exception) -> BadSpec:
    said = "is nested too deeply" if isinstance(problem, RecursionError) else f"is no TOML: {problem}"
    found = re.search(r"\(at line (\d+)", said)
    at_end = text.rstrip().count("\n") + 1
    return BadSpec("file", said, int(found[1]) if found else at_end)
