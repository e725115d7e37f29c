"""What a seat is sent: all that it may know, nothing that it may not, and the same bytes for the same knowledge."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.engine.strategies import Choice, Player, begin, play_out
from tests.engine.test_properties import HIDDEN, _replayed, _twin_deal
from tests.services.tables import play_on, table, until
from wakeng.engine import PRESETS, Fault, Hand, Phase, derive
from wakeng.sdk.wire import observation_message
from wakeng.services.encoding import RequestWriter
from wakeng.services.requests import decide_request
from wakeng.services.table import Table
from wakeng.v1 import bot_pb2


def request(at: Table, *, left_s: float = 2.0, legal: bool = True) -> bot_pb2.DecideRequest:
    return decide_request(at, 7, left_s=left_s, legal_actions=legal)


# What stands in it ---------------------------------------------------------------------------------------------------


def test_it_says_which_question_of_which_hand_it_is() -> None:
    at = table(match_id="m9", hand_index=4, attempt=2)
    asked = request(at)
    assert (asked.decision_id, asked.match_id, asked.hand_index, asked.attempt) == (7, "m9", 4, 2)
    assert asked.phase == at.hand.phase.value
    assert list(asked.legal_actions) == at.hand.legal_tokens()
    assert asked.observation == observation_message(at.hand.observe(at.seat))


def test_legal_actions_are_left_out_for_bots_that_do_not_want_them() -> None:
    assert not request(table(), legal=False).legal_actions


def test_time_left_is_that_of_the_move_and_the_bank_stands_beside_it() -> None:
    at = table(times={"move_ms": 300, "bank_ms": 700})
    asked = request(at, left_s=1.0)
    assert (asked.time_left_ms, asked.bank_left_ms) == (300, 700)
    asked = request(at, left_s=0.8)
    assert (asked.time_left_ms, asked.bank_left_ms) == (100, 700)
    assert request(at, left_s=0.5).time_left_ms == 0, "asked again when only the bank is left"
    assert request(at, left_s=1.1).time_left_ms == 300, "what the network is given is nothing to think in"


def test_a_seat_learns_how_its_own_last_decision_went_and_nobody_elses() -> None:
    at = table(times={"max_strikes": 100})
    first = at.seat
    assert not request(at).HasField("last_latency_us")
    at.fault(Fault.DEADLINE, latency_us=1234)
    while at.seat != first:
        assert not request(at).HasField("last_latency_us")
        play_on(at, decisions=1, latency_us=5)
    asked = request(at)
    assert (asked.last_latency_us, asked.last_fault) == (1234, "DEADLINE")
    play_on(at, decisions=1, latency_us=9)
    while at.seat != first:
        play_on(at, decisions=1)
    asked = request(at)
    assert asked.last_latency_us == 9 and not asked.HasField("last_fault")


def test_no_seed_and_no_other_hand_is_in_it() -> None:
    at = until(table("four_feature"), "PLAY")
    sent = str(request(at))
    assert at.spec.seed.hex() not in sent
    for seat, _ in enumerate(at.spec.names):
        if seat not in (at.seat, at.hand.digger):
            assert observation_message(at.hand.observe(seat)).cards not in sent


# What does not (docs/rules.md 8) -------------------------------------------------------------------------------------


def sent(hand: Hand) -> tuple[bytes, bytes]:
    """The bytes of the hand's question, made in both ways."""
    at = table(hand.rules.preset)
    at.hand = hand
    plain = request(at).SerializeToString(deterministic=True)
    return plain, RequestWriter(at).request(7, left_s=2.0, legal_actions=True)


@pytest.mark.parametrize("preset", PRESETS)
def test_deals_that_differ_only_in_what_a_seat_may_not_know_give_it_the_same_bytes(preset: str) -> None:
    chance, found, asked = random.Random(7), Counter[Phase](), Counter[Phase]()
    for number in range(60):
        pair = begin(Choice(preset), derive(bytes(32), "deal", number), number)
        for _ in play_out(pair, Player(number)):
            phase = pair.hand.phase
            if chance.random() > 0.15 and phase is Phase.PLAY:
                continue
            asked[phase] += 1
            for _ in range(16 if phase in HIDDEN else 1):
                deal = _twin_deal(pair.hand, pair.hand.turn, chance)
                twin = _replayed(pair, deal, pair.hand.turn)
                if twin is not None and deal != pair.hand.deal:
                    found[phase] += 1
                    assert sent(twin) == sent(pair.hand)
    assert set(found) == set(asked), "twins were found in every phase"
