"""A question as a bot reads it: every field as the engine has it, and the legal tokens worked out where none came."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from tests.engine.strategies import Pair, Player, pairs, play_out
from tests.sdk.asking import question, questions
from wakeng.engine import PRESETS, Hand, format_cards
from wakeng.sdk import Decision, Event
from wakeng.sdk.decision import parse_event
from wakeng.sdk.testing import decision_for
from wakeng.v1 import bot_pb2


def sent(decision: Decision) -> Decision:
    """The decision after a trip over the wire."""
    return Decision(bot_pb2.DecideRequest.FromString(decision.message.SerializeToString()))


def written(event: Event) -> str:
    """The event in the words of the wire."""
    return f"{'-' if event.seat is None else event.seat}:{event.phase}:{event.token}"


def seen(hand: Hand, decision: Decision) -> dict[str, tuple[Any, Any]]:
    """By field, what the engine says the seat sees and what the decision says."""
    observed = hand.observe(hand.turn)
    same = "seat bid bombs grabs opened blind lying_seat digger marked_seat table_seat rules".split()
    told = {name: (getattr(observed, name), getattr(decision, name)) for name in same}
    cards = {name: getattr(observed, name) for name in ("cards", "kitty", "opened_cards")}
    told |= {name: (None if ids is None else format_cards(ids), getattr(decision, name)) for name, ids in cards.items()}
    return told | {
        "phase": (observed.phase.value, decision.phase),
        "card_ids": (observed.cards, decision.card_ids),
        "cards_left": (list(observed.cards_left), list(decision.cards_left)),
        "task": (observed.task and observed.task.value, decision.task),
        "history": (observed.history, tuple(map(written, decision.history))),
        "legal": (hand.legal_tokens(), list(decision.legal)),
    }  # fmt: skip


@given(pairs())
def test_a_decision_says_what_the_seat_sees_at_every_question_of_any_rule_set(played: tuple[Pair, Player]) -> None:
    for pair in play_out(*played):
        decision = sent(decision_for(pair.hand))
        differing = {name: both for name, both in seen(pair.hand, decision).items() if both[0] != both[1]}
        assert differing == {}


@given(pairs())
def test_legal_tokens_are_worked_out_where_the_arena_sent_none(played: tuple[Pair, Player]) -> None:
    for pair in play_out(*played):
        decision = decision_for(pair.hand)
        del decision.message.legal_actions[:]
        assert list(sent(decision).legal) == pair.hand.legal_tokens()


def test_sides_are_known_once_there_is_a_digger() -> None:
    hand = Hand.from_seed(PRESETS["four_traditional"], bytes(32))
    first = decision_for(hand)
    assert (first.is_digger, first.partners, first.leads) == (False, (), False)
    hand.apply_token("bid3")
    digger = decision_for(hand)
    assert (digger.phase, digger.is_digger, digger.partners) == ("BURY", True, ())
    hand.apply_token("pass")
    while decision_for(hand).is_digger:
        hand.apply(hand.legal[-1])
    defender = decision_for(hand)
    assert set(defender.partners) == set(range(4)) - {defender.seat, digger.seat}


def test_the_leader_is_the_one_who_finds_the_table_empty() -> None:
    asked = [Decision(message) for message in questions(200)]
    assert {decision.phase for decision in asked if decision.leads} == {"PLAY"}
    assert all(("pass" in decision.legal) is not decision.leads for decision in asked if decision.phase == "PLAY")


def test_events_are_parsed_with_their_seat_or_without_one() -> None:
    assert parse_event("1:BID:bid2") == Event(1, "BID", "bid2")
    assert parse_event("-:LIE_DOWN:refused") == Event(None, "LIE_DOWN", "refused")


def test_what_the_request_tells_of_the_call_itself_and_what_it_may_leave_out() -> None:
    first = Decision(question(12))
    assert (first.id, first.last_latency_us, first.last_fault) == (12, None, None)
    later = decision_for(
        Hand.from_seed(PRESETS["xian"], bytes(32)),
        match_id="m",
        hand_index=3,
        attempt=1,
        time_left_ms=900,
        bank_left_ms=0,
        last_latency_us=0,
        last_fault="DEADLINE",
    )
    assert (later.match_id, later.hand_index, later.attempt, later.time_left_ms) == ("m", 3, 1, 900)
    assert (later.last_latency_us, later.last_fault) == (0, "DEADLINE")


def test_a_decision_shows_itself_in_a_line() -> None:
    assert repr(Decision(question(7))).startswith("<Decision 7: seat ")


def test_a_phase_that_is_not_known_is_answered_from_the_list() -> None:
    strange = question()
    strange.phase = "ENCORE"
    assert Decision(strange).legal[0] == strange.legal_actions[0]
    del strange.legal_actions[:]
    with pytest.raises(ValueError, match="ENCORE"):
        _ = Decision(strange).legal
