"""`wakeng verify`: true files pass, every kind of untrue line is named, and no input is too large or too strange."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.records import HOSTILE, MATCH_SEED, played, write
from tests.cli.test_main import run
from wakeng.engine import PRESETS, encode

RECORDS = [played(preset, index) for preset in PRESETS for index in range(2)]
LINES = [encode(record) + b"\n" for record in RECORDS]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A true file."""
    return write(tmp_path / "r.jsonl", *RECORDS)


def changed(path: Path, number: int, line: bytes) -> Path:
    """The true file with one line (from 1) replaced."""
    path.write_bytes(b"".join([*LINES[: number - 1], line, *LINES[number:]]))
    return path


def test_a_true_file_passes_and_is_summed_up(file: Path) -> None:
    result = run("verify", str(file))
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith(f"{file}: 20 hands of 1 match verified\n")
    for preset in PRESETS:
        assert f"\n  {preset}: 2\n" in result.stdout


def test_overridden_rules_are_counted_on_their_own(tmp_path: Path) -> None:
    records = [played("xian", index, {"base": 5, "bombs": False}) for index in range(3)]
    file = write(tmp_path / "r.jsonl", *records)
    assert "\n  xian with bombs=off base=5: 3\n" in run("verify", str(file)).stdout


def test_escapes_faults_and_notes_pass(tmp_path: Path) -> None:
    records = [played(preset, escapes=True) for preset in PRESETS]
    records[0]["decisions"][0]["note"] = HOSTILE
    assert run("verify", str(write(tmp_path / "r.jsonl", *records))).exit_code == 0


def test_standard_input_will_do_and_so_will_a_last_line_without_newline() -> None:
    result = run("verify", "-", input=b"".join(LINES).rstrip(b"\n"))
    assert result.exit_code == 0
    assert "20 hands" in result.stdout


def test_several_files_are_summed_up_one_by_one(file: Path) -> None:
    result = run("verify", str(file), "-", input=LINES[0])
    assert result.exit_code == 0
    assert "20 hands" in result.stdout
    assert "standard input: 1 hand of 1 match verified" in result.stdout


@pytest.mark.parametrize("round_", range(5))
def test_a_flipped_byte_anywhere_is_found(file: Path, round_: int) -> None:
    dice = random.Random(round_)
    line = bytearray(LINES[6])
    line[dice.randrange(len(line) - 1)] ^= 1 << dice.randrange(8)
    result = run("verify", str(changed(file, 7, bytes(line))))
    assert result.exit_code == 1
    assert f"{file}: line 7: " in result.stderr
    assert "6 hands of 1 match verified, 1 line failed; stopped there" in result.stdout


def test_the_field_that_differs_is_named_though_the_checksum_fits(file: Path) -> None:
    record = json.loads(LINES[2])
    record["result"]["stake"] += 1
    result = run("verify", str(changed(file, 3, encode(record) + b"\n")))
    assert result.exit_code == 1
    assert "line 3: result.stake: should be " in result.stderr


STRANGE: dict[str, tuple[bytes, str]] = {
    "garbage": (b"garbage\n", "is no JSON"),
    "empty": (b"\n", "is empty; each line is one record"),
    "windows": (LINES[1].replace(b"\n", b"\r\n"), "is not in canonical form"),
    "array": (b"[1]\n", "must be an object"),
    "deep": (b"[" * 100_000 + b"\n", "is no JSON"),
    "long": (b"x" * 10_000_000 + b"\n", "is longer than the 1,048,576 bytes a record may have"),
    "escapes": (b'{"\x1b[31m": 1}\n', "line 2"),
    "hidden": (b'{"\\u001b[31m\\u202e": 1}\n', "line 2"),
    "binary": (bytes(range(256)) * 40 + b"\n", "line 2"),
    "cut": (LINES[1][:200] + b"\n", "is no JSON"),
    "two in one": (LINES[1].strip() + LINES[1], "is no JSON"),
    "numbers": (b'{"hand_index": 1e999, "attempt": ' + b"9" * 5000 + b"}\n", "line 2"),
}


@pytest.mark.parametrize(("line", "problem"), STRANGE.values(), ids=STRANGE)
def test_a_strange_line_is_named_and_the_rest_still_read(file: Path, line: bytes, problem: str) -> None:
    result = run("verify", str(changed(file, 2, line)), "--keep-going")
    assert result.exit_code == 1
    first = result.stderr.splitlines()[0]
    assert first.startswith(f"{file}: line 2: ")
    assert problem in first
    assert result.stderr.isprintable() or set(filter(lambda c: not c.isprintable(), result.stderr)) == {"\n"}
    if line.count(b"\n") == 1:
        assert len(result.stderr.splitlines()) == 1
        assert "19 hands of 1 match verified, 1 line failed\n" in result.stdout


def test_keep_going_names_every_line_that_fails(file: Path) -> None:
    file.write_bytes(b"".join([LINES[0], b"a\n", LINES[1], b"b\n", LINES[2]]))
    result = run("verify", str(file), "--keep-going")
    assert [line.split(": ")[1] for line in result.stderr.splitlines()] == ["line 2", "line 4"]
    assert "3 hands of 1 match verified, 2 lines failed\n" in result.stdout


def test_without_it_nothing_behind_the_first_failure_is_read(file: Path) -> None:
    file.write_bytes(b"a\nb\n")
    result = run("verify", str(file), str(file))
    assert len(result.stderr.splitlines()) == 1
    assert "line 1: " in result.stderr


def test_an_empty_file_is_no_proof_of_anything(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    result = run("verify", str(tmp_path / "empty.jsonl"))
    assert result.exit_code == 1
    assert "is empty" in result.stderr


def test_json_holds_what_was_found(file: Path) -> None:
    found = json.loads(run("verify", str(file), "--json").stdout)
    assert found["ok"] is True
    (only,) = found["files"]
    assert (only["hands"], only["failed"], only["matches"], only["rules"]["xian"]) == (20, 0, 1, 2)
    result = run("verify", str(changed(file, 4, b"{}\n")), "--json", "--keep-going")
    (only,) = json.loads(result.stdout)["files"]
    assert (result.exit_code, result.stderr, only["hands"]) == (1, "", 19)
    (failure,) = only["failures"]
    assert failure["line"] == 4
    assert failure["field"]
    assert failure["problem"].startswith(failure["field"])


# The match seed -----------------------------------------------------------------------------------------------------


def test_the_match_seed_proves_commitment_seeds_and_who_was_asked_first(file: Path) -> None:
    assert run("verify", str(file), "--match-seed", MATCH_SEED.hex()).exit_code == 0


def test_another_match_seed_does_not_fit(file: Path) -> None:
    result = run("verify", str(file), "--match-seed", "ff" * 32)
    assert result.exit_code == 1
    assert "line 1: match_commitment: should be " in result.stderr


def without_commitment(record: dict[str, Any]) -> None:
    del record["match_commitment"]


def hand_of_another_place(record: dict[str, Any]) -> None:
    record["hand_index"] += 1


CHEATS = {"match_commitment": without_commitment, "seed": hand_of_another_place}


@pytest.mark.parametrize("field", CHEATS)
def test_what_the_match_seed_does_not_give_is_named(tmp_path: Path, field: str) -> None:
    record = played("three_traditional")
    CHEATS[field](record)
    file = str(write(tmp_path / "r.jsonl", record))
    assert run("verify", file).exit_code == 0, "true as a hand by itself"
    result = run("verify", file, "--match-seed", MATCH_SEED.hex())
    assert result.exit_code == 1
    assert f"line 1: {field}: should be " in result.stderr


def test_a_wrong_seat_asked_first_is_named(tmp_path: Path) -> None:
    fair = played("xian", 1)
    # Everybody waits for the cards, so that any order of asking is a true hand.
    for first in range(3):
        record = asked_from(fair, first)
        if first == fair["blind_first_seat"]:
            continue
        file = str(write(tmp_path / "r.jsonl", record))
        assert run("verify", file).exit_code == 0
        result = run("verify", file, "--match-seed", MATCH_SEED.hex())
        assert "blind_first_seat: should be " in result.stderr


def asked_from(record: dict[str, Any], first: int) -> dict[str, Any]:
    """The same hand with the black dig refused by all, beginning with another seat, and left by whoever leads."""
    from wakeng.engine import Hand, result_members, rule_set

    hand = Hand.from_seed(rule_set("xian"), bytes.fromhex(record["seed"]), blind_first_seat=first)
    decisions = []
    while hand.result is None:
        token = hand.legal_tokens()[0]
        decisions.append({"seat": hand.turn, "phase": hand.phase.value, "action": token, "latency_us": 0})
        hand.apply_token(token)
    return record | {"blind_first_seat": first, "decisions": decisions, "result": result_members(hand.result)}


# Size ---------------------------------------------------------------------------------------------------------------


def test_a_huge_line_is_never_held_whole() -> None:
    """300 MB without a newline, in a process that may not grow by that much."""
    held = "import resource; resource.setrlimit(resource.RLIMIT_DATA, (1 << 28, 1 << 28))"
    command_line = "from wakeng.cli.main import main; main()"
    command = [sys.executable, "-c", f"{held}; {command_line}", "verify", "-", "--keep-going"]
    verify = subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1)
    assert verify.stdin is not None
    for _ in range(300):
        verify.stdin.write(b"x" * 1_000_000)
    verify.stdin.write(b"\n" + LINES[0])
    out, err = verify.communicate(timeout=120)
    assert verify.returncode == 1
    assert b"line 1: is longer than" in err
    assert b"1 hand of 1 match verified, 1 line failed" in out
