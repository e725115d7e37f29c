"""docs/tournaments.md and docs/examples are held to what spec files may say."""

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from wakeng.bots import REFERENCE_BOTS
from wakeng.services.commands import compare, tournament
from wakeng.services.spec import SeatKind, TimeControl
from wakeng.services.tournament.blocks import BlockKind
from wakeng.services.tournament.entry import unknown_builtin
from wakeng.services.tournament.options import DEFAULTS, ONLY_IN, key
from wakeng.services.tournament.spec import Format, TournamentSpec
from wakeng.services.tournament.spec_file import parse_spec

DOCS = Path(__file__).resolve().parents[2] / "docs"
TEXT = (DOCS / "tournaments.md").read_text("utf-8")
EXAMPLES = sorted((DOCS / "examples").glob("*.toml"))
ZERO = bytes(32)


def tables(heading: str) -> list[list[dict[str, str]]]:
    """The tables whose first column has this heading, as rows by heading, without code marks."""
    found = []
    for block in re.findall(r"(?:^\|.*\n)+", TEXT, re.MULTILINE):
        plain = block.replace("`", "")
        head, _, *rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in plain.splitlines()]
        if head[0] == heading:
            found.append([dict(zip(head, row, strict=True)) for row in rows])
    return found


def names(table: list[dict[str, str]]) -> list[str]:
    return [next(iter(row.values())) for row in table]


def defaults(table: list[dict[str, str]]) -> dict[str, str]:
    return {next(iter(row.values())): row["default"] for row in table}


def test_the_fields_of_a_file_are_told() -> None:
    file, times, faults = tables("field")
    known = {field.name for field in fields(TournamentSpec)} - {"max_escapes"} | {"bidding", "fault_policy"}
    assert set(names(file)) == known
    assert defaults(times) | defaults(faults) == {
        **{name: str(value) for name, value in TimeControl().to_dict().items()},
        "max_escapes": "3",
    }
    assert set(names(faults)) == {"max_strikes", "max_escapes"}


def test_the_fields_that_are_required_are_told() -> None:
    file, *_ = tables("field")
    good: dict[str, Any] = {"name": '"x"', "rules": '"xian"', "blocks": "1", "bots": '["greedy", "lowest", "random"]'}
    assert [name for name, default in defaults(file).items() if default == "required"] == [
        "name", "rules", "bots", "blocks",
    ]  # fmt: skip
    for name in good:
        text = "\n".join(f"{other} = {value}" for other, value in good.items() if other != name)
        with pytest.raises(ValueError, match=rf"^{name}: is missing"):
            parse_spec(text, drawn_seed=ZERO)


def test_the_options_are_told_with_their_defaults() -> None:
    (options,) = tables("option")
    assert set(names(options)) == {key(name) for name in DEFAULTS}
    told = defaults(options)
    for name, value in DEFAULTS.items():
        if value is not None:
            assert told[key(name)] == (str(value).lower() if isinstance(value, bool) else f"{value:g}")
    assert {row["option"]: row["only in"] for row in options if row["only in"]} == {
        key(name): form for name, form in ONLY_IN.items()
    }


def test_what_a_bot_is_told_by() -> None:
    (keys,) = tables("key")
    assert names(keys) == ["bot", *(kind.value for kind in SeatKind)]


def test_every_format_and_every_block_is_told() -> None:
    (formats,) = tables("format")
    assert names(formats) == [form.value for form in Format]
    for kind in BlockKind:
        assert f"`{kind.value}`" in TEXT


def test_every_command_is_told() -> None:
    (commands,) = tables("command")
    told = {" ".join(name.split()[1:3]) for name in names(commands)}
    assert told == {f"tournament {name}" for name in tournament.command.commands} | {"compare A"}
    options = {option for parameter in compare.command.params for option in parameter.opts}
    assert set(re.findall(r"--[a-z-]+", names(commands)[-1])) <= options


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_can_be_played_and_is_explained(path: Path) -> None:
    text = path.read_text("utf-8")
    spec = parse_spec(text, drawn_seed=ZERO, check_bot=unknown_builtin)
    assert text.startswith("# ")
    assert f"wakeng tournament run docs/examples/{path.name}" in text
    assert f"examples/{path.name}" in TEXT
    assert spec.format.value in (path.stem, "all")


def test_there_is_an_example_of_each_kind() -> None:
    kinds = {"round-robin", "gauntlet", "swiss", "ladder", "sprt"}
    assert {path.stem for path in EXAMPLES} == {*kinds, "ladder-of-opponents"}
    round_robin = parse_spec((DOCS / "examples" / "round-robin.toml").read_text("utf-8"), drawn_seed=ZERO)
    assert len(round_robin.bots) == 5
    assert {bot.seat.kind for bot in round_robin.bots} == {SeatKind.BUILTIN}
    assert {bot.seat.bot for bot in round_robin.bots} <= set(REFERENCE_BOTS)
