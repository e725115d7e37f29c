"""`wakeng show`: the whole story of a hand, in 80 columns, without letting what bots wrote rule the terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.records import HOSTILE, played, write
from tests.cli.test_main import run
from wakeng.cli.settlement import spelled_out
from wakeng.cli.story import tell
from wakeng.engine import PRESETS, encode, rule_set
from wakeng.engine.record import rules_of


def shown(tmp_path: Path, *records: dict[str, Any], args: tuple[str, ...] = ()) -> str:
    """The page of a file of these records."""
    result = run("show", str(write(tmp_path / "r.jsonl", *records)), *args)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("escapes", [False, True])
@pytest.mark.parametrize("preset", PRESETS)
def test_a_page_is_readable_in_80_columns_without_colour(tmp_path: Path, preset: str, *, escapes: bool) -> None:
    text = shown(tmp_path, played(preset, escapes=escapes))
    assert max(map(len, text.splitlines())) <= 80
    assert text.replace("\n", "").isprintable()


def words(chapter_text: str) -> list[str]:
    return re.findall(r"[^\s,]+", chapter_text)


@pytest.mark.parametrize("index", range(5))
@pytest.mark.parametrize("preset", PRESETS)
def test_every_decision_is_told(preset: str, index: int) -> None:
    record = played(preset, index)
    tricks = [chapter.text for chapter in tell(record) if chapter.title.isdecimal()]
    plays = [decision["action"] for decision in record["decisions"] if decision["phase"] == "PLAY"]
    cards = [play for play in plays if play != "pass"]
    told = [re.search(r"(?:leads|beats it with|bombs) (\S+)", deed) for deed in ", ".join(tricks).split(", ")]
    assert [found[1] for found in told if found] == cards
    assert sum(text.count(" leads ") for text in tricks) <= len(tricks)
    assert tricks[-1].endswith(" and is out")


def test_the_deal_is_shown_by_seat_with_bots_and_the_digger_starred(tmp_path: Path) -> None:
    record = played("xian")
    text = shown(tmp_path, record)
    for seat, cards in enumerate(record["deal"]["hands"]):
        star = "*" if seat == record["result"]["digger"] else ""
        row = " ".join(re.findall("..", cards))
        assert re.search(rf"^{seat}{re.escape(star)} +bot{seat} 1\.0 +{row}$", text, re.MULTILINE)
    assert re.search(rf"^kitty +{' '.join(re.findall('..', record['deal']['kitty']))} *$", text, re.MULTILINE)


def test_faults_offers_and_notes_are_told_and_harmless(tmp_path: Path) -> None:
    record = played("xian", escapes=True)
    record["seats"][1] = {"bot": HOSTILE, "version": HOSTILE}
    record["decisions"][-1]["note"] = HOSTILE
    record["match_id"] = HOSTILE
    text = shown(tmp_path, record)
    assert text.replace("\n", "").isprintable()
    flat = " ".join(text.split())
    harmless = r"[red]\x1b[31m\u202eevil[/red] :smile:"
    assert f"of match {harmless}" in flat
    assert re.search(rf'! \d\*? MALFORMED, offered "{re.escape(harmless)}"; \w+ was played by default', flat)
    assert re.search(rf'> \d\*? at \w+: "{re.escape(harmless)}"', flat)
    assert re.search(r"faults +\d\*? DEADLINE", text)


def test_a_page_begins_with_the_first_hand_or_the_one_asked_for(tmp_path: Path) -> None:
    records = [played("xian", index) for index in range(3)]
    assert shown(tmp_path, *records).startswith("Hand 0 of match m1\n")
    assert shown(tmp_path, *records, args=("--hand", "2")).startswith("Hand 2 of match m1\n")


def test_hands_of_several_matches_are_told_apart(tmp_path: Path) -> None:
    records = [played("xian") | {"match_id": name} for name in ("a", "b")]
    assert shown(tmp_path, *records, args=("--match", "b", "--hand", "0")).startswith("Hand 0 of match b\n")


@pytest.mark.parametrize("args", [("--hand", "7"), ("--match", "x"), ("--hand", "0", "--match", "x")], ids=str)
def test_a_hand_that_is_not_there_is_said(tmp_path: Path, args: tuple[str, ...]) -> None:
    result = run("show", str(write(tmp_path / "r.jsonl", played())), *args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no hand with hand_index 7" in result.stderr or "match x" in result.stderr


def test_a_hand_is_found_among_lines_that_are_no_records() -> None:
    junk = b'garbage\n[]\n{"hand_index": null}\n\n' + b"x" * 3_000_000 + b"\n"
    result = run("show", "-", "--hand", "1", input=junk + encode(played("xian", 1)))
    assert result.exit_code == 0
    assert result.stdout.startswith("Hand 1 of match m1\n")


@pytest.mark.parametrize("line", [b"garbage\n", b"\n", encode(played()).replace(b'"m1"', b'"m2"')], ids=["a", "b", "c"])
def test_a_false_record_is_not_shown(line: bytes) -> None:
    result = run("show", "-", input=line)
    assert (result.exit_code, result.stdout) == (1, "")
    assert re.fullmatch(r"-: line 1: .+; no true record to show\n", result.stderr)


def test_an_empty_file_has_no_hand() -> None:
    assert run("show", "-", input=b"").exit_code == 2


def test_json_is_the_line_of_the_file(tmp_path: Path) -> None:
    record = played("three_blind", 3)
    text = shown(tmp_path, played("xian"), record, args=("--hand", "3", "--json"))
    assert text.encode() == encode(record) + b"\n"


# The settlement -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", range(12))
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("escapes", [False, True])
def test_the_factors_that_are_named_make_the_stake(preset: str, index: int, *, escapes: bool) -> None:
    record = played(preset, index, {"base": 3, "bombs": True, "bomb_cap": 2}, escapes=escapes)
    told = " ".join(spelled_out(rules_of(record), record["result"]))
    stake, factors = re.search(r"Stake (\d+) = ((?:[a-z ]+ \d+(?: \([^)]+\))?(?: x )?)+)", told).groups()  # type: ignore[union-attr]
    product = 1
    for factor in factors.split(" x "):
        product *= int(re.search(r"\d+", factor)[0])  # type: ignore[index]
    assert product == int(stake) == record["result"]["stake"]


def test_the_settlement_reads_as_the_rules_say() -> None:
    result = {"winner": "DIGGER", "bid": 3, "stake": 96, "bombs": 3, "grabs": 1, "opened": True, "blind": True}
    rules = rule_set("three_blind", {"bombs": True})
    assert list(spelled_out(rules, result)) == [
        "The digger wins. Stake 96 = base 1 x bid 3 x bombs 4 (3 played) x grabs 2 (1 grab) x open 2 x blind 2"
    ]


def test_an_escape_before_there_is_a_digger_is_the_plain_penalty() -> None:
    told = list(spelled_out(rule_set("xian"), {"winner": "ESCAPED", "escaped_seat": 2}))
    assert told == ["Seat 2 escaped before there was a digger and pays 10 x base 1."]


def test_the_bonus_column_is_there_only_where_a_task_was(tmp_path: Path) -> None:
    task = next(record for i in range(50) if any((record := played("three_feature", i))["result"]["task_bonus"]))
    assert json.loads(encode(task))["deal"]["task"] in shown(tmp_path, task)
    assert "bonus" in shown(tmp_path, task).splitlines()[-4]
    assert "bonus" not in shown(tmp_path, played("xian"))
