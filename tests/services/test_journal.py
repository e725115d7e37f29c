"""The journal tells every decision and fault in a line of its own, whatever is in it, and drops none (protocol 8)."""

import errno
import os
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.services.tables import table
from wakeng.engine import TOKENS, Fault, Phase
from wakeng.services.errors import LineFileError
from wakeng.services.journal import Journal, which_hand, who
from wakeng.services.plaintext import json_line, plain_text
from wakeng.services.table import Decided, Name, Table

NOON = int(datetime(2026, 1, 2, 12, 0, 0, 250_000, UTC).timestamp() * 1_000_000)
DECISION: dict[str, Any] = {
    "match_id": "m1",
    "hand_index": 7,
    "attempt": 0,
    "seat": 2,
    "bot": "greedy",
    "phase": "PLAY",
    "action": "456",
    "latency_us": 812,
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def open_journal(path: Path, **options: Any) -> Journal:
    return Journal.open(path, clock=lambda: NOON, **options)


def lines(path: Path) -> list[dict[str, Any]]:
    text = path.read_bytes()
    assert text.endswith(b"\n")
    return [orjson.loads(line) for line in text.split(b"\n")[:-1]]


def whose(hand: Table) -> dict[Table, list[bytes]]:
    """What the lines on a table's decisions say, by seat."""
    spec = hand.spec
    of = which_hand(match_id=spec.match_id, hand_index=spec.hand_index, attempt=spec.attempt)
    return {hand: [of + who(seat, name.bot) for seat, name in enumerate(spec.names)]}


def test_a_decision_is_told_with_the_names_of_the_record(path: Path) -> None:
    with open_journal(path) as journal:
        journal.decision(**DECISION)
        journal.decision(**DECISION, fault="ILLEGAL_ACTION", offered="KK", note="hm")
    plain = {"at": "2026-01-02T12:00:00.250000Z", "event": "decision", **DECISION}
    assert lines(path) == [plain, {**plain, "fault": "ILLEGAL_ACTION", "offered": "KK", "note": "hm"}]


def test_a_fault_and_any_other_event_are_told(path: Path) -> None:
    with open_journal(path) as journal:
        journal.fault(match_id="m1", hand_index=7, attempt=1, seat=0, bot="b", fault="NOT_READY", detail="asleep")
        journal.event("hand_voided", match_id="m1", event="no", hand_index=7)
    fault, event = lines(path)
    assert fault == {
        "at": "2026-01-02T12:00:00.250000Z",
        "event": "fault",
        "match_id": "m1",
        "hand_index": 7,
        "attempt": 1,
        "seat": 0,
        "bot": "b",
        "fault": "NOT_READY",
        "detail": "asleep",
    }
    assert (event["event"], event["hand_index"]) == ("hand_voided", 7)


def test_times_are_in_utc_to_the_microsecond(path: Path) -> None:
    clock = iter((NOON, NOON + 7, NOON + 750_000)).__next__
    with Journal.open(path, clock=clock) as journal:
        for _ in range(3):
            journal.event("noon")
    seconds = ["00.250000", "00.250007", "01.000000"]
    assert [line["at"] for line in lines(path)] == [f"2026-01-02T12:00:{second}Z" for second in seconds]


@pytest.mark.parametrize("bot", ["greedy", 'x"}\n{', "\x9b2J\u2028"])
def test_a_plain_decision_is_the_line_of_any_other(path: Path, bot: str) -> None:
    of: dict[str, Any] = {"match_id": bot, "hand_index": 7, "attempt": 0}
    hand = table(**of, names=(Name(bot),) * 3)
    told = [Decided(hand, 2, phase, token, 812) for phase, tokens in TOKENS.items() for token in tokens]
    with open_journal(path) as journal:
        journal.decisions(told, whose(hand))
        for _, seat, phase, token, latency_us, _, _, _ in told:
            journal.decision(**of, seat=seat, bot=bot, phase=phase.value, action=token, latency_us=latency_us)
    lines = path.read_bytes().split(b"\n")[:-1]
    assert lines[: len(told)] == lines[len(told) :]
    assert len(lines) == 2 * len(told)


def test_decisions_are_told_in_order_whatever_there_is_to_say_of_them(path: Path) -> None:
    hand = table()
    told = [
        Decided(hand, seat, Phase.BID, "pass", seat, note="hm" if seat == 1 else None, fault=fault)
        for seat, fault in ((0, None), (1, None), (2, None), (0, Fault.DEADLINE), (1, None))
    ]
    with open_journal(path) as journal:
        journal.decisions(told, whose(hand))
    assert [(line["seat"], line.get("note"), line.get("fault")) for line in lines(path)] == [
        (0, None, None),
        (1, "hm", None),
        (2, None, None),
        (0, None, "DEADLINE"),
        (1, "hm", None),
    ]


def test_more_decisions_than_the_buffer_holds_are_all_told(path: Path) -> None:
    hand = table()
    with open_journal(path, most_buffered=3) as journal:
        journal.decisions([Decided(hand, 0, Phase.BID, "pass", number) for number in range(11)], whose(hand))
    assert [line["latency_us"] for line in lines(path)] == list(range(11))


# Hostile text -------------------------------------------------------------------------------------

HOSTILE = {
    "a line": 'x"}\n{"event":"decision","bot":"forged"}\n',
    "a carriage return": "over\rwritten",
    "a terminal's escape": "\x1b[2J\x1b]0;title\x07",
    "a C1 control": "\x9b2J\x85",
    "line ends of Unicode": "a\u2028b\u2029c",
    "text that runs backwards": "\u202egnp.exe\u2066",
    "null and delete": "\x00\x7f",
    "a lone surrogate": "a\ud800b\udfff\n",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_no_note_can_make_a_line_or_move_a_cursor(path: Path, what: str) -> None:
    with open_journal(path) as journal:
        journal.decision(**DECISION, offered=HOSTILE[what], note=HOSTILE[what])
        journal.decision(**{**DECISION, "bot": HOSTILE[what]})
    text = path.read_bytes().decode()
    assert len(text.splitlines()) == 2
    assert all(character.isprintable() for character in text.replace("\n", ""))
    told = lines(path)[0]
    assert told["note"] == HOSTILE[what].encode("utf-8", "backslashreplace").decode()
    assert (told["event"], told["bot"]) == ("decision", "greedy")


@given(st.dictionaries(st.text(), st.text(alphabet=st.characters())))
def test_whatever_is_told_is_one_line_that_says_it(fields: dict[str, str]) -> None:
    line = json_line(None, "", fields)
    assert line.endswith(b"\n")
    assert len(line.decode().splitlines()) == 1
    if "\\ud" not in line.decode():
        assert orjson.loads(line) == fields


@given(st.text(alphabet=st.characters()))
def test_plain_text_is_one_line_for_people(text: str) -> None:
    assert len(plain_text(text).splitlines()) <= 1
    assert "\x1b" not in plain_text(text)


def test_a_log_does_not_fail_over_what_it_tells() -> None:
    loop: list[Any] = []
    loop.append(loop)
    fields = {"big": 2**80, "raw": b"\xff\n", "error": ValueError("\ud800"), "set": {1}, "loop": loop, "names": {1: 2}}
    told = orjson.loads(json_line(None, "", fields))
    assert told["big"] == str(2**80)
    assert told["raw"] == r"b'\xff\n'"
    assert "ValueError" in told["error"]
    assert (told["set"], told["names"]) == ([1], {"1": 2})


# Buffer and writer --------------------------------------------------------------------------------


def test_lines_are_in_the_file_after_a_flush_and_in_order(path: Path) -> None:
    with open_journal(path) as journal:
        for number in range(1000):
            journal.event("n", number=number)
        journal.flush()
        assert [line["number"] for line in lines(path)] == list(range(1000))


def test_lines_reach_the_file_without_being_asked(path: Path) -> None:
    written = threading.Event()
    with open_journal(path, on_lines=lambda _: written.set()) as journal:
        for number in range(2):
            journal.event("n", number=number)
            assert written.wait(10)
            written.clear()
        assert len(lines(path)) == 2


def test_a_full_buffer_is_written_by_whoever_fills_it(path: Path) -> None:
    writers = set()
    with open_journal(path, most_buffered=1, on_lines=lambda _: writers.add(threading.get_ident())) as journal:
        for _ in range(50):
            journal.event("n")
        assert threading.get_ident() in writers
    assert len(lines(path)) == 50


def test_many_threads_lose_no_line(path: Path) -> None:
    count = 0

    def add(more: int) -> None:
        nonlocal count
        count += more

    with open_journal(path, most_buffered=16, on_lines=add) as journal:

        def tell(thread: int) -> None:
            for number in range(500):
                journal.event("n", thread=thread, number=number)

        threads = [threading.Thread(target=tell, args=(thread,)) for thread in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    told = lines(path)
    for number in range(4):
        assert [line["number"] for line in told if line["thread"] == number] == list(range(500))
    assert count == 2000


def test_a_disk_that_fails_is_told_and_no_line_is_lost(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with open_journal(path) as journal:
        with monkeypatch.context() as patched:
            patched.setattr(os, "write", full)
            journal.event("first")
            with pytest.raises(LineFileError, match="No space left"):
                journal.flush()
        journal.event("second")
    assert [line["event"] for line in lines(path)] == ["first", "second"]


def test_a_closed_journal_takes_no_more(path: Path) -> None:
    journal = open_journal(path)
    journal.close()
    journal.close()
    with pytest.raises(LineFileError, match="closed"):
        journal.event("late")


# Files --------------------------------------------------------------------------------------------


def test_a_journal_is_continued(path: Path) -> None:
    for number in range(2):
        with open_journal(path) as journal:
            journal.event("n", number=number)
    assert [line["number"] for line in lines(path)] == [0, 1]


@pytest.mark.parametrize("most_buffered", [1, 1000])
def test_a_full_file_moves_on_and_the_oldest_go(path: Path, most_buffered: int) -> None:
    with open_journal(path, max_bytes=200, backups=2, most_buffered=most_buffered) as journal:
        for number in range(20):
            journal.event("n", number=number)
    parts = [path.with_name(path.name + suffix) for suffix in (".2", ".1", "")]
    assert sorted(path.parent.iterdir()) == sorted(parts)
    assert all(part.stat().st_size <= 200 for part in parts)
    told = [line["number"] for part in parts for line in lines(part)]
    assert told == list(range(20 - len(told), 20))


def test_without_backups_only_the_newest_part_is_kept(path: Path) -> None:
    with open_journal(path, max_bytes=100, backups=0) as journal:
        for number in range(9):
            journal.event("n", number=number)
    assert list(path.parent.iterdir()) == [path]
    assert lines(path)[-1]["number"] == 8


def test_a_line_longer_than_a_file_is_still_whole(path: Path) -> None:
    with open_journal(path, max_bytes=100) as journal:
        for size in (10, 500, 10):
            journal.event("n", text="x" * size)
    assert [len(lines(path.with_name(path.name + end))[0]["text"]) for end in (".2", ".1", "")] == [10, 500, 10]
