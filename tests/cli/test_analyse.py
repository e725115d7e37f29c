"""`wakeng analyse`: endings solved backwards, slips laid to seat and bot, and refusals in a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.bots.endings import minimax
from tests.cli.records import played, write
from tests.cli.test_main import run
from wakeng.bots.analysis import analyse
from wakeng.bots.solver import Solver, ending_of
from wakeng.engine import PRESETS, replay
from wakeng.engine.record import rules_of

RECORDS = [played("xian", index) for index in range(12)]


def analysed(path: Path, *args: str) -> dict[str, Any]:
    result = run("analyse", str(path), "--json", *args)
    assert (result.exit_code, result.stderr) == (0, "")
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Twelve hands played at random."""
    return write(tmp_path / "r.jsonl", *RECORDS)


@pytest.mark.parametrize("preset", ["xian", "three_blind", "four_feature"])
def test_every_moment_is_what_minimax_says_and_every_slip_turns_the_hand(preset: str) -> None:
    slips = 0
    for index in range(12):
        record = played(preset, index)
        found = analyse(record, Solver(PRESETS[preset]), most_cards=13)
        after = record["result"]["winner"] == "DIGGER"
        for moment in reversed(found.moments):
            hand = replay({**record, "result": {}}, upto=moment.decision)
            assert moment.digger_wins is minimax(rules_of(record), ending_of(hand))
            assert (hand.turn, ending_of(hand).cards) == (moment.seat, moment.cards)
            assert moment.slip is (after is not moment.digger_wins)
            assert not moment.slip or moment.digger_wins is (moment.seat == found.digger)
            after, slips = moment.digger_wins, slips + moment.slip
    assert slips


def test_a_hand_is_settled_from_its_last_slip_on() -> None:
    for record in RECORDS:
        found = analyse(record, Solver(PRESETS["xian"]), most_cards=20)
        if found.settled and found.slips:
            assert found.settled.decision > found.slips[-1].decision
            assert found.settled.digger_wins is (record["result"]["winner"] == "DIGGER")


def test_an_escaped_hand_has_no_winner_to_compare_with() -> None:
    record = played("xian", escapes=True)
    found = analyse(record, Solver(PRESETS["xian"]))
    assert found.digger_won is None
    assert not any(moment.slip for moment in found.moments[-1:])


def test_json_tells_each_hand_its_moments_and_the_bots(file: Path) -> None:
    found = analysed(file, "--cards", "16")
    assert [hand["hand_index"] for hand in found["hands"]] == list(range(12))
    moments = [moment for hand in found["hands"] for moment in hand["moments"]]
    assert all(moment["cards"] <= 16 and moment["wins"] in ("DIGGER", "DEFENDERS") for moment in moments)
    faults = sum(moment["slip"] and moment["fault"] for moment in moments)
    slips = sum(moment["slip"] for moment in moments)
    assert slips - faults == sum(bot["slips"] for bot in found["bots"])
    assert {bot["role"] for bot in found["bots"]} <= {"digger", "defender"}


def test_one_hand_can_be_asked_for(file: Path) -> None:
    assert [hand["hand_index"] for hand in analysed(file, "--hand", "7")["hands"]] == [7]


def test_for_people_each_hand_has_a_line_and_the_caveat_stands_below(file: Path) -> None:
    result = run("analyse", str(file), "--cards", "16")
    assert result.exit_code == 0
    assert result.stdout.count("hand ") >= 12
    text = " ".join(result.stdout.split())
    assert "gave away a won ending" in text
    assert "A slip need not be a mistake" in text


def test_rules_with_must_beat_are_left_out_and_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", played("xian", 0, {"must_beat": True}), played("xian", 1))
    found = analysed(path)
    assert (found["left_out"], len(found["hands"])) == (1, 1)


def test_an_untrue_record_is_named_and_nothing_is_made_of_it(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b'"hand_index":0', b'"hand_index":99', 1))
    result = run("analyse", str(file))
    assert result.exit_code == 1
    assert "line 1: checksum" in result.stderr


def test_a_file_without_the_hand_and_an_install_without_numba_are_refused(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run("analyse", str(file), "--hand", "99")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "no hand with hand_index 99" in result.stderr
    monkeypatch.setattr("wakeng.bots.extras.find_spec", lambda _: None)
    result = run("analyse", str(file))
    assert result.exit_code == 2
    assert "wakeng analyse needs numba, which is not installed; try: pip install 'wakeng[search]'" in result.stderr
