"""`wakeng rules`, `wakeng deal` and `wakeng bots`: what they print is what the engine says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from tests.cli.test_main import run
from tests.engine.strategies import Choice, choices
from wakeng.bots import BUILTIN_BOTS
from wakeng.cli.rule_words import words
from wakeng.engine import PLAYS, PRESETS, deal_cards, parse_seed, rule_set
from wakeng.engine.rules import FIELD_TYPES

DEALS = json.loads((Path(__file__).parents[1] / "vectors" / "deals.json").read_text("utf-8"))["deals"]


def printed(*args: str) -> Any:
    """The JSON of a command."""
    result = run(*args, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


# rules --------------------------------------------------------------------------------------------------------------


def test_rules_lists_the_ten_presets_one_a_line_in_80_columns() -> None:
    lines = run("rules").output.splitlines()
    assert [line.split()[0] for line in lines[1:11]] == list(PRESETS)
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("preset", PRESETS)
def test_rules_of_a_preset_shows_every_field(preset: str) -> None:
    text = run("rules", preset).output
    for field in FIELD_TYPES:
        assert re.search(rf"^{field} +\S+ *$", text, re.MULTILINE)
    assert max(map(len, text.splitlines())) <= 80


def test_an_override_is_marked_with_what_the_preset_has() -> None:
    text = run("rules", "xian", "--set", "bombs=off", "--set", "base=5").output
    assert text.startswith("xian with bombs=off base=5\n")
    assert re.search(r"^bombs +off +\* xian has on *$", text, re.MULTILINE)
    assert re.search(r"^base +5 +\* xian has 1 *$", text, re.MULTILINE)
    assert text.count("*") == 2


def test_an_override_that_says_what_the_preset_says_is_none() -> None:
    assert "*" not in run("rules", "xian", "--set", "bombs=on").output


@pytest.mark.parametrize("preset", PRESETS)
def test_rules_as_json_can_be_read_back(preset: str) -> None:
    found = printed("rules", preset, "--set", "base=7")
    assert rule_set(found["preset"], found["overrides"]) == rule_set(preset, {"base": 7})
    assert found["overrides"] == {"base": 7}
    assert list(found["fields"]) == list(FIELD_TYPES)
    assert found["fields"] | {"base": 1} in [rules["fields"] for rules in printed("rules")]


@given(choices())
def test_words_tell_of_the_phases_that_occur_and_of_no_others(choice: Choice) -> None:
    rules = choice.engine
    told = dict(words(rules))
    assert ("grab" in told) == (rules.grab and rules.bidding.value == "auction")
    assert ("black dig" in told or "blind dig" in told) == rules.has_blind
    assert ("bid" in told) != ("digger" in told)
    assert ("open" in told, "bury" in told, "lie down" in told) == (rules.open, rules.bury, rules.lie_down)
    assert ("task" in told) == rules.tasks
    assert ("bomb" in told["follow"], "triple runs" in told["plays"]) == (rules.bombs, rules.triple_runs)


# rules --ids --------------------------------------------------------------------------------------------------------


def test_ids_are_those_of_the_vocabulary_without_quad_runs() -> None:
    found = printed("rules", "--ids")
    assert [play["id"] for play in found] == list(range(151))
    assert [play["token"] for play in found] == [play.token for play in PLAYS[:151]]
    assert found[150] == {"id": 150, "token": "888999TTTJJJQQQKKK", "kind": "TRIPLE_RUN", "cards": 18}


def test_ids_of_quad_runs_are_there_where_they_are_switched_on() -> None:
    assert len(printed("rules", "xian", "--ids")) == 151
    found = printed("rules", "xian", "--ids", "--set", "quad_runs=on")
    assert [play["token"] for play in found] == [play.token for play in PLAYS]


def test_ids_as_text_say_the_same() -> None:
    rows = [line.split() for line in run("rules", "--ids").output.splitlines()]
    assert rows == [[str(play.id), play.token, play.kind.value] for play in PLAYS[:151]]


# deal ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("vector", DEALS, ids=lambda vector: f"{vector['rules']} {vector['seed'][-2:]}")
def test_deal_gives_the_published_cards(vector: dict[str, Any]) -> None:
    fields = vector.get("override", {})
    found = printed(
        "deal", "--rules", vector["rules"], "--seed", vector["seed"], *(f"--set={k}={v}" for k, v in fields.items())
    )
    expected = {name: value for name, value in vector.items() if name not in ("rules", "override")}
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize("preset", PRESETS)
def test_deal_says_who_calls_and_leads(preset: str) -> None:
    seed = "00" * 31 + "07"
    deal = deal_cards(PRESETS[preset], parse_seed(seed))
    found = printed("deal", "--rules", preset, "--seed", seed)
    assert found["first_caller"] == deal.first_caller
    assert found["first_leader"] == deal.lowest_heart_seat
    assert ("blind_first_seat" in found) == PRESETS[preset].has_blind
    assert ("marked_seat" in found) == ("marked_card" in found)


@pytest.mark.parametrize("preset", PRESETS)
def test_deal_for_people_shows_every_card_in_80_columns(preset: str) -> None:
    text = run("deal", "--rules", preset, "--seed", "00" * 32).output
    assert max(map(len, text.splitlines())) <= 80
    rows = re.findall(r"^(?:\d|kitty) +((?:[4-9TJQKA23][cdhs] ?)+)", text, re.MULTILINE)
    assert sum(len(row.split()) for row in rows) == len(PRESETS[preset].deck)


def test_where_the_digger_is_assigned_nobody_calls() -> None:
    args = ("deal", "--rules", "xian", "--seed", "00" * 32, "--set", "bidding=assigned")
    assert "first_caller" not in printed(*args)
    assert "first caller" not in run(*args).output


# bots ---------------------------------------------------------------------------------------------------------------


def test_bots_lists_the_built_in_bots() -> None:
    assert [bot["name"] for bot in printed("bots")] == list(BUILTIN_BOTS)
    text = run("bots").output
    for name in BUILTIN_BOTS:
        assert re.search(rf"^{name} ", text, re.MULTILINE)
