"""Parameter types of command lines that speak of rule sets, seeds and addresses: click and the engine, no more."""

import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import wraps
from typing import Any, Final

import click

from wakeng.engine import PRESETS, RuleError, RuleSet, parse_seed, rule_set
from wakeng.engine.rules import FIELD_TYPES

Command = Callable[..., Any]
_HOST: Final = re.compile(r"[^:\[\]\s/]+|\[[0-9a-fA-F:.%]+\]")


def nearest(word: str, words: Iterable[str]) -> str:
    """`did you mean …?` or `there are …`, the end of a message about a word that is not one of these."""
    known = list(words)
    near = get_close_matches(word, known, 1)
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"


class PresetType(click.ParamType):  # type: ignore[type-arg]
    """The name of a rule set."""

    name = "preset"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name itself."""
        if value not in PRESETS:
            self.fail(f"{value[:80]!r} is no rule set; {nearest(value, PRESETS)}", param, ctx)
        return str(value)


class FieldType(click.ParamType):  # type: ignore[type-arg]
    """FIELD=VALUE, a field of a rule set to override; gives the pair, its value still as text."""

    name = "field=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """The pair."""
        if isinstance(value, tuple):
            return value
        field, equals, text = value.partition("=")
        if not equals:
            self.fail(f"{value[:80]!r} is not FIELD=VALUE, as in bombs=on", param, ctx)
        if field not in FIELD_TYPES:
            self.fail(f"{field[:80]!r} is no field of a rule set; {nearest(field, FIELD_TYPES)}", param, ctx)
        return field, text


class SeedType(click.ParamType):  # type: ignore[type-arg]
    """A seed of 64 hex digits, as 32 bytes."""

    name = "hex"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> bytes:
        """The bytes."""
        if isinstance(value, bytes):
            return value
        try:
            return parse_seed(value)
        except ValueError as problem:
            self.fail(str(problem), param, ctx)


class AddressType(click.ParamType):  # type: ignore[type-arg]
    """HOST:PORT (IPv6 hosts in brackets) or unix:PATH, as gRPC takes them."""

    name = "address"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The address itself."""
        host, _, port = value.rpartition(":")
        is_path = value.startswith("unix:") and value != "unix:"
        is_port = port.isascii() and port.isdecimal() and len(port) <= 5 and int(port) < 1 << 16
        is_host = bool(_HOST.fullmatch(host))
        if not (is_path or (is_host and is_port)):
            self.fail(f"{value[:80]!r} is no address; HOST:PORT (as in 127.0.0.1:50051) or unix:PATH", param, ctx)
        return str(value)


PRESET: Final = PresetType()
FIELD: Final = FieldType()
SEED: Final = SeedType()
ADDRESS: Final = AddressType()

SET_OPTION: Final = click.option(
    "--set", "overrides", metavar="FIELD=VALUE", type=FIELD, multiple=True, help="Override a field of the rule set."
)
"""`--set FIELD=VALUE`, any number of times, as the argument `overrides` for `read_rules`."""


def read_rules(preset: str, overrides: Iterable[tuple[str, str]]) -> RuleSet:
    """The rule set of a preset and `--set` options; BadParameter names the field that does not fit."""
    chosen: dict[str, str] = {}
    for field, text in overrides:
        if field in chosen:
            raise click.BadParameter(f"{field} is set twice", param_hint="'--set'")
        chosen[field] = text
    try:
        return rule_set(preset, chosen)
    except RuleError as problem:
        raise click.BadParameter(str(problem), param_hint="'--set'") from None


def rule_options(command: Command) -> Command:
    """`--rules PRESET` and `--set FIELD=VALUE`, given to the command as one argument `rules`, a RuleSet."""

    @click.option("--rules", "preset", type=PRESET, required=True, metavar="PRESET", help="One of `wakeng rules`.")
    @SET_OPTION
    @wraps(command)
    def with_rules(preset: str, overrides: tuple[tuple[str, str], ...], **others: Any) -> Any:
        return command(rules=read_rules(preset, overrides), **others)

    return with_rules
