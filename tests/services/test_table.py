"""The table: what time and faults do to a hand (docs/protocol.md 7), told without a clock or a socket."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.services.tables import play_on, table, until
from wakeng.engine import PRESETS, Fault, Phase, Winner, encode, verify
from wakeng.engine.record import MOST_NOTE_BYTES, MOST_OFFERED_BYTES
from wakeng.services.table import Name, Table, cut, escape

OF_A_DECISION = [fault for fault in Fault if fault is not Fault.ARENA_ERROR]


def true(table: Table) -> dict[str, Any]:
    """The record of a finished hand, found true by the engine."""
    return verify(encode(table.record()))


def turn_of(table: Table, seat: int) -> Table:
    """Everybody else plays on until the seat is asked."""
    while table.seat != seat:
        play_on(table, decisions=1)
    return table


# Answers -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_a_hand_of_good_answers_ends_in_a_true_record(preset: str) -> None:
    record = true(play_on(table(preset), latency_us=7, note="sure"))
    assert record["seats"] == [{"bot": bot, "version": "1"} for bot in "abcd"[: PRESETS[preset].players]]
    assert all(said["latency_us"] == 7 and said["note"] == "sure" for said in record["decisions"])
    assert "faults" not in record


def test_an_answer_tells_what_was_decided() -> None:
    hand = table()
    seat, phase, token = hand.seat, hand.hand.phase, hand.hand.legal_tokens()[0]
    decided = hand.answer(token, latency_us=5, note="why not")
    assert decided is not None
    assert (decided.seat, decided.phase, decided.action) == (seat, phase, token)
    assert (decided.latency_us, decided.note, decided.fault, decided.offered) == (5, "why not", None, None)
    assert hand.last[seat] == (5, None)
    assert hand.last[hand.seat] is None


@pytest.mark.parametrize(
    ("token", "fault"),
    [
        ("3333", Fault.ILLEGAL_ACTION),
        ("yes", Fault.ILLEGAL_ACTION),
        ("bid9", Fault.MALFORMED),
        ("", Fault.MALFORMED),
        ("4 ", Fault.MALFORMED),
        ("\ud800", Fault.MALFORMED),
    ],
)
def test_a_word_of_the_vocabulary_that_is_not_legal_is_illegal_and_any_other_is_malformed(
    token: str, fault: Fault
) -> None:
    hand = until(table("xian"), "PLAY")
    decided = hand.answer(token, latency_us=1)
    assert decided is not None and decided.fault is fault
    assert decided.offered == escape(token)


# Faults --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("fault", OF_A_DECISION)
def test_on_a_fault_the_default_action_is_played_and_recorded(preset: str, fault: Fault) -> None:
    hand = table(preset, times={"max_strikes": 1000})
    while not hand.over:
        default = hand.hand.legal_tokens()[hand.hand.legal.index(hand.hand.default_action())]
        decided = hand.fault(fault, latency_us=3)
        assert decided is not None
        assert (decided.action, decided.fault) == (default, fault)
    record = true(hand)
    assert {said["fault"] for said in record["decisions"]} == {fault.value}
    assert "faults" not in record


def test_at_its_last_strike_nothing_is_played_and_the_seat_escapes() -> None:
    hand = table(times={"max_strikes": 3})
    leaver = hand.seat
    faults = [Fault.DEADLINE, Fault.MALFORMED, Fault.DISCONNECTED]
    while not hand.over:
        if hand.seat == leaver:
            decided = hand.fault(faults.pop(0), latency_us=0)
        else:
            play_on(hand, decisions=1)
    assert decided is None and not faults
    record = true(hand)
    assert record["result"]["winner"] == Winner.ESCAPED.value
    assert record["result"]["escaped_seat"] == leaver
    struck = [said["fault"] for said in record["decisions"] if said["seat"] == leaver and "fault" in said]
    assert struck == ["DEADLINE", "MALFORMED"]
    assert record["faults"] == [{"seat": leaver, "fault": "DISCONNECTED", "count": 1}]
    assert hand.parting_fault is Fault.DISCONNECTED


def test_strikes_are_counted_by_seat() -> None:
    hand = table(times={"max_strikes": 2})
    while not hand.over and not all(hand.last):
        assert hand.fault(Fault.DEADLINE, latency_us=0), "the first of its seat"
    assert hand.fault(Fault.DEADLINE, latency_us=0) is None
    assert hand.over


def test_a_bad_last_answer_is_a_strike_like_any_other() -> None:
    hand = table(times={"max_strikes": 1})
    seat = hand.seat
    assert hand.answer("nonsense", latency_us=0) is None
    assert hand.hand.result is not None and hand.hand.result.escaped_seat == seat
    assert true(hand)["faults"] == [{"seat": seat, "fault": "MALFORMED", "count": 1}]


def test_a_seat_that_was_never_there_forfeits_the_hand_before_its_first_question() -> None:
    hand = table()
    hand.forfeit(2, Fault.NOT_READY)
    record = true(hand)
    assert "decisions" not in record
    assert record["faults"] == [{"seat": 2, "fault": "NOT_READY", "count": 1}]


def test_faults_beside_a_decision_are_counted_and_cost_nothing() -> None:
    hand = table()
    for _ in range(10):
        hand.note_fault(1, Fault.STALE)
    record = true(play_on(hand))
    assert record["faults"] == [{"seat": 1, "fault": "STALE", "count": 10}]
    assert record["result"]["winner"] != Winner.ESCAPED.value


def test_a_fault_of_the_arena_stands_in_no_record() -> None:
    with pytest.raises(ValueError, match="ARENA_ERROR is the arena's own"):
        table().note_fault(0, Fault.ARENA_ERROR)


# Time ----------------------------------------------------------------------------------------------------------------


def test_the_bank_pays_what_goes_beyond_the_move_and_no_more() -> None:
    hand = table(times={"move_ms": 100, "bank_ms": 50})
    seat = hand.seat
    assert hand.budget_us == 150_000
    hand.answer(hand.hand.legal_tokens()[0], latency_us=100_000)
    assert hand.bank_us[seat] == 50_000, "the move's own time is free"
    turn_of(hand, seat).answer(hand.hand.legal_tokens()[0], latency_us=120_000)
    assert hand.bank_us[seat] == 30_000


def test_the_share_of_the_network_is_recorded_but_not_charged() -> None:
    hand = table(times={"move_ms": 100, "bank_ms": 50})
    seat = hand.seat
    decided = hand.answer(hand.hand.legal_tokens()[0], latency_us=180_000, network_us=60_000)
    assert decided is not None and decided.latency_us == 180_000
    assert hand.bank_us[seat] == 30_000


def test_a_missed_deadline_empties_the_bank_and_not_more() -> None:
    hand = table(times={"move_ms": 100, "bank_ms": 50})
    seat = hand.seat
    hand.fault(Fault.DEADLINE, latency_us=10_000_000)
    assert hand.bank_us[seat] == 0
    assert turn_of(hand, seat).budget_us == 100_000


def test_a_latency_fits_the_record_however_long_it_was() -> None:
    decided = table().fault(Fault.DEADLINE, latency_us=1 << 60)
    assert decided is not None and decided.latency_us == 2**31 - 1


def test_the_reconnect_budget_is_spent_by_seat_and_ends_at_zero() -> None:
    hand = table(times={"reconnect_ms": 100})
    hand.spend_reconnect(1, 30_000)
    hand.spend_reconnect(1, 90_000)
    assert hand.reconnect_us == [100_000, 0, 100_000]


# What is written -----------------------------------------------------------------------------------------------------


def test_no_record_can_be_had_before_the_end() -> None:
    with pytest.raises(ValueError, match="not over"):
        table().record()


@pytest.mark.parametrize(
    ("offered", "shown"),
    [
        ("KK", "KK"),
        ("a'b\"c", "a\\'b\"c"),
        ("4\n5\x1b[2J", "4\\n5\\x1b[2J"),
        ("\u202epass", "\\u202epass"),
        (b"\xff\x00ok", "\\xff\\x00ok"),
        ("x" * 64, "x" * 64),
        ("x" * 65, "x" * 61 + "..."),
        (b"\xff" * 100, "\\xff" * 15 + "\\..."),
    ],
)
def test_a_rejected_answer_is_shown_in_printable_ascii_of_64_bytes(offered: str | bytes, shown: str) -> None:
    assert escape(offered) == shown


@given(st.text() | st.binary())
def test_whatever_was_offered_stands_escaped_in_a_true_record(offered: str | bytes) -> None:
    shown = escape(offered)
    assert shown.isascii() and shown.isprintable() and len(shown) <= MOST_OFFERED_BYTES
    hand = table()
    hand.fault(Fault.MALFORMED, latency_us=0, offered=shown)
    true(play_on(hand))


@given(st.text(st.characters(exclude_categories=())))
def test_a_note_is_cut_between_characters_and_stands_in_a_true_record(note: str) -> None:
    kept = cut(note)
    assert len(kept.encode()) <= MOST_NOTE_BYTES
    assert note.encode("utf-8", "replace").decode().startswith(kept)
    hand = table()
    hand.answer(hand.hand.legal_tokens()[0], latency_us=0, note=note)
    true(play_on(hand))


def test_a_note_of_200_bytes_is_whole_and_a_longer_one_ends_before_the_character_that_is_too_much() -> None:
    assert cut("x" * 200) == "x" * 200
    assert cut("x" * 199 + "挖坑") == "x" * 199


def test_a_bot_that_never_described_itself_has_no_version_in_the_record() -> None:
    hand = table(names=(Name("a"), Name("b", ""), Name("c", "2")))
    hand.forfeit(0, Fault.NOT_READY)
    assert true(hand)["seats"] == [{"bot": "a"}, {"bot": "b", "version": ""}, {"bot": "c", "version": "2"}]


def test_what_applies_only_to_some_rule_sets_stands_only_there() -> None:
    blind = true(play_on(table("xian", blind_first_seat=2)))
    assert blind["blind_first_seat"] == 2
    assigned = table("xian", overrides={"bidding": "assigned"}, assigned_digger=1, blind_first_seat=None)
    record = true(play_on(assigned))
    assert record["assigned_digger"] == 1
    plain = true(play_on(table("three_traditional")))
    assert not {"assigned_digger", "match_commitment", "schedule"} & plain.keys()
    assert true(play_on(table(match_commitment="0" * 64)))["match_commitment"] == "0" * 64


def test_the_table_stands_at_a_question_or_is_over() -> None:
    hand = table()
    assert not hand.over and hand.seat in range(3)
    play_on(hand)
    assert hand.over and hand.hand.phase is Phase.END
