"""`wakeng train bids`: measures the bars of the phases that the rules have, and the same from the same seed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.test_main import run


def measured(*args: str) -> dict[str, Any]:
    result = run("train", "bids", "--deals", "30", "--json", *args)
    assert (result.exit_code, result.stderr) == (0, "")
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.mark.parametrize(
    ("preset", "phases"),
    [("xian", "BID"), ("four_traditional", "BID BURY"), ("baoji_blind", "BID GRAB GRAB_BLIND OPEN LIE_DOWN")],
)
def test_it_measures_the_phases_that_a_rule_set_has(preset: str, phases: str) -> None:
    assert set(measured("--rules", preset)["phases"]) == set(phases.split())


def test_json_has_every_bar_the_best_and_the_one_in_use_with_their_errors() -> None:
    found = measured("--rules", "three_feature", "--phase", "OPEN")
    assert (found["rules"], found["deals"], found["seed"]) == ({"preset": "three_feature"}, 30, "0" * 64)
    fit = found["phases"]["OPEN"]
    assert fit["questions"] == 30
    assert fit["best"] in fit["tried"]
    assert fit["best"]["points"] == max(tried["points"] for tried in fit["tried"])
    assert fit["in_use"]["open"] == fit["in_use_on_fresh_deals"]["open"] == 200
    assert fit["best_on_fresh_deals"]["open"] == fit["best"]["open"]
    assert all(set(tried) == {"open", "points", "error", "share"} for tried in fit["tried"])


def test_the_seed_fixes_the_figures() -> None:
    one, again, other = (
        measured("--rules", "xian", "--seed", seed * 64)["phases"]["BID"]["tried"] for seed in ("1", "1", "2")
    )
    assert one == again != other


def test_for_people_the_best_bar_and_the_one_in_use_come_first() -> None:
    result = run("train", "bids", "--rules", "four_feature", "--phase", "BURY", "--deals", "30")
    assert result.exit_code == 0
    assert "BURY: " in result.stdout and "bury_below" in result.stdout
    marks = [line[0] for line in result.stdout.splitlines() if line[:1] in ("*", "=")]
    assert marks == ["*", "="]
    assert max(map(len, result.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--rules", "xian", "--phase", "GRAB"], "GRAB is no choice under these rules"),
        (["--rules", "xian", "--set", "bidding=assigned", "--phase", "BID"], "BID is no choice"),
        (["--rules", "xian", "--deals", "1"], "--deals"),
        (["--rules", "xian", "--seed", "12"], "64"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_a_line(args: list[str], says: str) -> None:
    result = run("train", "bids", *args)
    assert result.exit_code == 2
    assert says in result.stderr and result.stderr.count("\n") == 1
