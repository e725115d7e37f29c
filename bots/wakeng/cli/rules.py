"""`wakeng rules`: the presets side by side, one rule set in words and fields, and the ids of plays."""

from typing import Any

import click
from rich.table import Table
from rich.text import Text

from wakeng.cli.cards import Plain, rules_line, shown
from wakeng.cli.rule_words import words
from wakeng.cli.terminal import MARK, QUIET, console, grid, print_json
from wakeng.engine import PLAYS, PRESETS, FirstCaller, Play, RuleSet, format_cards
from wakeng.engine.plays import FIRST_QUAD_RUN
from wakeng.engine.rules import FIELD_TYPES
from wakeng.sdk.options import PRESET, SET_OPTION, read_rules

_SWITCHES = ("grab", "open", "tasks", "lie_down", "bury", "bombs", "triple_runs", "quad_runs", "must_beat")


@click.command("rules")
@click.argument("preset", type=PRESET, required=False)
@SET_OPTION
@click.option("--ids", is_flag=True, help="Print the ids of plays: an action space for bots.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(preset: str | None, overrides: tuple[tuple[str, str], ...], *, ids: bool, as_json: bool) -> None:
    """The ten rule sets; with PRESET that one, in words and fields.

    \b
    wakeng rules
    wakeng rules xian --set bombs=off --set base=5
    wakeng rules --ids --json
    """
    if overrides and preset is None:
        raise click.UsageError("--set needs a PRESET to override, as in wakeng rules xian --set bombs=off")
    rules = read_rules(preset, overrides) if preset else None
    if ids:
        _print_ids(rules, as_json=as_json)
    elif rules is None:
        _print_presets(as_json=as_json)
    else:
        _print_rules(rules, as_json=as_json)


def plain(rules: RuleSet) -> dict[str, Any]:
    """A rule set with every field, as JSON has it; `overrides` are those that differ from the preset."""
    values = {field: getattr(rules, field) for field in FIELD_TYPES}
    fields = {field: getattr(value, "value", value) for field, value in values.items()}
    fields["removed_cards"] = format_cards(rules.removed_cards)
    return {"preset": rules.preset, "overrides": rules.overrides(), "fields": fields}


# The presets side by side -----------------------------------------------------------------------------------------


def _print_presets(*, as_json: bool) -> None:
    if as_json:
        print_json([plain(rules) for rules in PRESETS.values()])
        return
    table = grid("preset", "deck", "calls first", "blind", "switched on")
    for rules in PRESETS.values():
        table.add_row(Text(rules.preset, MARK), _deck(rules), _caller(rules), _blind(rules), _switched_on(rules))
    out = console()
    out.print(table)
    out.print("\nMore about one: wakeng rules PRESET. Overridden: --set FIELD=VALUE.", style=QUIET)


def _deck(rules: RuleSet) -> str:
    return f"{rules.players} x {rules.hand_size} + {rules.kitty_size}"


def _caller(rules: RuleSet) -> str:
    return "lowest heart" if rules.first_caller is FirstCaller.LOWEST_HEART else "marked card"


def _blind(rules: RuleSet) -> str:
    return "black dig" if rules.black_dig else "blind dig" if rules.blind_dig else "-"


def _switched_on(rules: RuleSet) -> str:
    return " ".join(name for name in _SWITCHES if getattr(rules, name)) or "-"


# One rule set -------------------------------------------------------------------------------------------------------


def _print_rules(rules: RuleSet, *, as_json: bool) -> None:
    if as_json:
        print_json(plain(rules))
        return
    out = console()
    out.print(rules_line(rules))
    out.print()
    told = grid("", "")
    for topic, sentences in words(rules):
        told.add_row(Text(topic, MARK), sentences)
    out.print(told)
    out.print()
    out.print(_fields(rules))


def _fields(rules: RuleSet) -> Table:
    table = grid("field", "value", "")
    values, ordinary = plain(rules)["fields"], plain(PRESETS[rules.preset])["fields"]
    for field, value in values.items():
        changed = value != ordinary[field]
        note = Text(f"* {rules.preset} has {_cell(ordinary[field])}", MARK) if changed else Text("")
        table.add_row(field, Text(_cell(value), MARK if changed else ""), note)
    return table


def _cell(value: Plain) -> str:
    return shown(value) or "none"


# The ids of plays ---------------------------------------------------------------------------------------------------


def _print_ids(rules: RuleSet | None, *, as_json: bool) -> None:
    """Runs of quads have ids only where they are switched on (docs/protocol.md 1)."""
    plays = PLAYS if rules is not None and rules.quad_runs else PLAYS[:FIRST_QUAD_RUN]
    if as_json:
        print_json([_play(play) for play in plays])
        return
    for play in plays:
        click.echo(f"{play.id:>3}  {play.token:<20}  {play.kind.value}")


def _play(play: Play) -> dict[str, int | str]:
    return {"id": play.id, "token": play.token, "kind": play.kind.value, "cards": play.cards}
