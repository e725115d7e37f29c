"""Tournaments in TOML: what a file may say, and that what it says wrongly is refused with its field and line."""

from __future__ import annotations

import tomllib

import pytest

from wakeng.engine import Bidding
from wakeng.services.spec import SeatKind, SeatSpec, SpecError
from wakeng.services.tournament.blocks import BlockKind
from wakeng.services.tournament.spec import Format, TournamentSpec
from wakeng.services.tournament.spec_file import BadSpec, parse_spec

DRAWN = bytes(range(32))

FULL = """\
name = "everything there is"
seed = "00000000000000000000000000000000000000000000000000000000000000ff"
format = "gauntlet"
challengers = ["mine"]
bidding = "assigned"
block = "permutation"
blocks = 30
duplicate = true
tables = 8
window = 12
bots = ["greedy", "localhost:50051", {name = "mine", bot = "unix:/run/mine"}, {registered = "theirs"},
        {name = "low", builtin = "lowest"}, {address = "far:1"}]

[rules]
preset = "four_feature"
base = 5
grab = false

[time_control]
move_ms = 200
bank_ms = 0
ready_ms = 900
reconnect_ms = 10

[fault_policy]
max_strikes = 2
max_escapes = 7

[options]
interval = 0.99
lambda = 1
"""


def parse(text: str) -> TournamentSpec:
    def check(seat: SeatSpec) -> str | None:
        known = seat.kind is not SeatKind.BUILTIN or seat.bot in ("greedy", "lowest", "random")
        return None if known else f"there is no built-in bot {seat.bot!r}"

    return parse_spec(text, drawn_seed=DRAWN, check_bot=check)


def test_a_short_file_will_do() -> None:
    spec = parse('name = "short"\nrules = "xian"\nblocks = 10\nbots = ["greedy", "lowest", "random"]\n')
    assert spec.format is Format.ALL
    assert spec.seed == DRAWN
    assert spec.rules.escape_settles
    assert [bot.name for bot in spec.bots] == ["greedy", "lowest", "random"]


def test_a_file_may_say_everything() -> None:
    spec = parse(FULL)
    assert spec.seed[-1] == 255
    assert (spec.format, spec.challengers, spec.challenger_numbers) == (Format.GAUNTLET, ("mine",), (2,))
    assert (spec.bidding, spec.block_kind, spec.blocks) == (Bidding.ASSIGNED, BlockKind.PERMUTATION, 30)
    assert (spec.tables, spec.window, spec.max_escapes) == (8, 12, 7)
    assert spec.rules.to_dict() == {
        "preset": "four_feature",
        "bidding": "assigned",
        "grab": False,
        "base": 5,
        "escape_settles": True,
    }
    assert spec.time_control.to_dict() == {
        "move_ms": 200,
        "bank_ms": 0,
        "ready_ms": 900,
        "reconnect_ms": 10,
        "max_strikes": 2,
    }
    assert (spec.options.interval, spec.options.lambda_) == (0.99, 1.0)
    assert [(bot.name, bot.seat.kind.value, bot.seat.bot) for bot in spec.bots] == [
        ("greedy", "builtin", "greedy"),
        ("localhost:50051", "address", "localhost:50051"),
        ("mine", "address", "unix:/run/mine"),
        ("theirs", "registered", "theirs"),
        ("low", "builtin", "lowest"),
        ("far:1", "address", "far:1"),
    ]


def test_the_store_keeps_a_tournament_in_the_form_of_a_file() -> None:
    spec = parse(FULL)
    assert TournamentSpec.from_dict(spec.to_dict(), seed=spec.seed) == spec
    assert set(spec.to_dict()) <= {*tomllib.loads(FULL), "rounds"}


GOOD = {
    "name": 'name = "test"',
    "format": 'format = "all"',
    "blocks": "blocks = 10",
    "rules": 'rules = "xian"',
    "bots": 'bots = ["greedy", "lowest", "random"]',
}


def refused(text: str) -> BadSpec:
    with pytest.raises(BadSpec) as found:
        parse(text)
    return found.value


def refused_with(**lines: str) -> BadSpec:
    """Of a file of five lines, some of them changed, others added from line 6 on; an empty one stays empty."""
    return refused("\n".join((GOOD | lines).values()))


def check(problem: BadSpec, field: str, line: int | None, said: str) -> None:
    where = field if line is None else f"{field} (line {line})"
    assert (problem.field, problem.line) == (field, line), str(problem)
    assert str(problem).startswith(f"{where}: ")
    assert said in str(problem)
    assert isinstance(problem, SpecError)


@pytest.mark.parametrize(
    ("key", "text", "field", "said"),
    [
        ("name", "name = 7", "name", "must be text, not '7'"),
        (
            "format",
            'format = "swis"',
            "format",
            "none of all, balanced, gauntlet, swiss, ladder, sprt; did you mean swiss?",
        ),
        ("format", 'format = "gauntlet"', "format", "a gauntlet needs challengers"),
        ("format", 'blok = "rotation"', "blok", "is unknown; did you mean block?"),
        ("format", 'block = "swap"', "block", "swap pairs are for format = 'sprt'"),
        ("format", "duplicate = 1", "duplicate", "must be true or false"),
        ("format", "alpha = 0.1", "alpha", "is unknown; it belongs in [options]"),
        ("format", "max_strikes = 1", "max_strikes", "is unknown; it belongs in [fault_policy]"),
        ("format", "options = 3", "options", "must be a table"),
        ("format", "options = {alpha = 0.1}", "options.alpha", "is for format = 'sprt'"),
        ("format", "options = {interval = 2}", "options.interval", "must be 0.5 to"),
        ("format", "options = {look_every = 1.5}", "options.look_every", "must be a whole number"),
        ("format", "options = {two_sided = 1}", "options.two_sided", "must be true or false"),
        ("format", "time_control = {move_ms = 0}", "time_control.move_ms", "must be 1 to"),
        ("format", "time_control = {max_strikes = 3}", "time_control.max_strikes", "it belongs in [fault_policy]"),
        ("format", "fault_policy.max_strikes = 0", "fault_policy.max_strikes", "must be 1 to"),
        ("format", "fault_policy.max_escapes = true", "fault_policy.max_escapes", "must be a whole number"),
        ("format", 'seed = "12"', "seed", "a seed is 64 hex digits"),
        ("format", "rounds = 9", "rounds", "are for format = 'swiss'"),
        ("format", 'bidding = "bid"', "bidding", "none of auction, assigned"),
        ("blocks", "blocks = 0", "blocks", "must be 1 to"),
        ("blocks", "blocks = 10.0", "blocks", "must be a whole number, not '10.0'"),
        ("blocks", "blocks = true", "blocks", "must be a whole number"),
        ("rules", 'rules = "xiam"', "rules", "is no rule set"),
        ("rules", "rules = 3", "rules", "must be the name of a rule set, or a table"),
        ("rules", "rules = {base = 2}", "rules.preset", "is missing"),
        ("rules", 'rules = {preset = "xian", base = 0}', "rules.base", "must be 1 to"),
        ("rules", 'rules = {preset = "xian", bass = 0}', "rules.bass", "is unknown; did you mean base?"),
        ("rules", 'rules = {preset = "xian", players = 4}', "rules.hand_size", "must be the deck"),
        ("rules", 'rules = "four_blind"', "bots", "must be 4, the players of four_blind"),
        ("bots", 'bots = "greedy"', "bots", "must be a list"),
        ("bots", 'bots = ["greedy", 2, "random"]', "bots[1]", "must be a bot's name, or a table"),
        ("bots", 'bots = ["greedy", "gredy", "random"]', "bots[1]", "there is no built-in bot 'gredy'"),
        ("bots", 'bots = ["greedy", "x:0", "random"]', "bots[1]", "is no address; HOST:PORT has a port of"),
        ("bots", 'bots = ["greedy", {address = "x"}, "random"]', "bots[1].address", "is no address"),
        ("bots", 'bots = ["greedy", {bot = "x", address = "x:1"}, "random"]', "bots[1]", "needs one of bot, builtin,"),
        ("bots", 'bots = ["greedy", {name = "x"}, "random"]', "bots[1]", "needs one of bot, builtin,"),
        ("bots", 'bots = ["greedy", {bott = "x"}, "random"]', "bots[1].bott", "is unknown; did you mean bot?"),
        ("bots", 'bots = ["greedy", "lowest", "greedy"]', "bots[2].name", "is the name of bots[0] already"),
    ],
)
def test_what_is_wrong_is_refused_with_its_field_and_line(key: str, text: str, field: str, said: str) -> None:
    line = list(GOOD).index("bots" if field.startswith("bots") else key) + 1
    bad = refused_with(**{key: text})
    # A field that is not there stands where the table around it does; the field at fault may be on another line.
    check(bad, field, bad.line if field == "bots" and key == "rules" else line, said)


def test_lines_are_found_in_tables_and_in_arrays_of_tables() -> None:
    top = 'name = "test"\nblocks = 9\nrules.preset = "xian"\n'
    bots = '[[bots]]\nbot = "greedy"\n\n[[bots]]\nname = "b"\nbot = "lowest"\n[[bots]]\n# Named like the other.\n'
    check(
        refused(top + bots + 'bot = "random"\nname = "b"\n'), "bots[2].name", 13, "'b' is the name of bots[1] already"
    )
    check(refused(top + bots + 'name = "c"\n'), "bots[2]", 10, "needs one of")
    check(refused(top + bots + 'name = "c"\nbot = "nobody"'), "bots[2].bot", 13, "no built-in bot 'nobody'")
    check(refused(top + bots + 'bot = "random"\n[options]\n\nd1 = 0.5\n'), "options.d1", 15, "is for format = 'sprt'")


def test_a_key_below_a_table_is_told_where_it_belongs() -> None:
    bots = "".join(f'[[bots]]\nbot = "{bot}"\n' for bot in ("greedy", "lowest", "random"))
    problem = refused(f'name = "test"\nrules = "xian"\n{bots}blocks = 10\n')
    check(problem, "bots[2].blocks", 9, "is unknown; it belongs at the top, before the first [table]")


@pytest.mark.parametrize("key", ["name", "rules", "bots", "blocks"])
def test_what_is_missing_stands_on_no_line(key: str) -> None:
    check(refused_with(**{key: ""}), key, None, "is missing")


def test_two_ways_to_say_how_to_bid_must_agree() -> None:
    rules = 'rules = {preset = "xian", bidding = "auction"}'
    said = "is 'assigned', but rules.bidding is 'auction'; give one of them"
    check(refused_with(rules=rules, bidding='bidding = "assigned"'), "bidding", 6, said)
    agreed = parse("\n".join((GOOD | {"rules": rules, "bidding": 'bidding = "auction"'}).values()))
    assert agreed.bidding is Bidding.AUCTION


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('name = "test"\nblocks = = 3\n', 2),
        ('name = "test"\nname = "again"\n', 2),
        ('name = "test"\n\n[options]\n[options]\n', 4),
        ('name = "test"\nbots = [\n"a",\n', 3),
    ],
)
def test_what_is_no_toml_is_refused_with_its_line(text: str, line: int) -> None:
    check(refused(text), "file", line, "is no TOML")


def test_what_is_nested_without_end_is_refused() -> None:
    assert refused("x = " + "[" * 100_000).field == "file"


def test_lines_count_alike_where_they_end_in_two_characters() -> None:
    assert refused("\r\n".join((GOOD | {"blocks": "blocks = 0"}).values())).line == 3


def test_an_odd_key_is_named_as_it_is() -> None:
    problem = refused_with(odd='"odd.key [1]" = 3')
    check(problem, "odd.key [1]", 6, "is unknown")
