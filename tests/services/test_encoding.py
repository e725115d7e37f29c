"""The spliced request is the object's own encoding, byte for byte, at every question of hands of any rule set."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.strategies import Choice, choices
from wakeng.engine import PRESETS, Bidding, Fault, RuleSet, derive, rule_set
from wakeng.sdk.wire import rules_message
from wakeng.services.encoding import RequestWriter, hand_ended, hand_started
from wakeng.services.requests import decide_request
from wakeng.services.spec import TimeControl
from wakeng.services.table import HandSpec, Name, Table
from wakeng.v1 import bot_pb2


def a_hand(rules: RuleSet, seed: bytes, dice: random.Random) -> HandSpec:
    return HandSpec(
        match_id="m",
        hand_index=dice.choice((0, 1, 127, 128, 70_000)),
        attempt=dice.choice((0, 2)),
        rules=rules,
        seed=seed,
        time_control=TimeControl(move_ms=dice.choice((1, 127, 1000)), bank_ms=dice.choice((0, 5000))),
        names=(Name("a"),) * rules.players,
        assigned_digger=2 if rules.bidding is Bidding.ASSIGNED else None,
    )


def check_a_hand(rules: RuleSet, seed: bytes, dice: random.Random) -> None:
    table = Table(a_hand(rules, seed, dice))
    writer = RequestWriter(table)
    asked = 1 << 60
    while not table.over:
        asked += 1
        if dice.random() < 0.8:  # Not every question needs to be sent.
            left = dice.choice((0.0, 0.5, 3.2))
            with_legal = dice.random() < 0.7
            expected = decide_request(table, asked, left_s=left, legal_actions=with_legal)
            found = writer.request(asked, left_s=left, legal_actions=with_legal)
            assert found == expected.SerializeToString(deterministic=True)
        if dice.random() < 0.02:
            table.fault(Fault.DEADLINE, latency_us=dice.randrange(3_000_000))
        else:
            table.answer(dice.choice(table.hand.legal_tokens()), latency_us=dice.randrange(1_000_000))


def test_notices_of_a_hand_are_the_objects_own_encoding() -> None:
    table = Table(a_hand(PRESETS["xian"], derive(bytes(32), "notice", 1), random.Random(7)))
    for seat in range(3):
        told = bot_pb2.ArenaMessage.FromString(hand_started(table.spec, seat) + hand_ended(table.spec, seat, None))
        of: dict[str, Any] = {
            "match_id": "m",
            "hand_index": table.spec.hand_index,
            "attempt": table.spec.attempt,
            "seat": seat,
        }
        started = bot_pb2.HandStarted(rules=rules_message(table.spec.rules), **of)
        assert told == bot_pb2.ArenaMessage(hands_started=[started], hands_ended=[bot_pb2.HandEnded(**of)])
    table.forfeit(1, Fault.NOT_READY)
    result = table.hand.result
    assert result is not None
    told = bot_pb2.ArenaMessage.FromString(hand_ended(table.spec, 2, result))
    of["seat"] = 2
    ended = bot_pb2.HandEnded(winner="ESCAPED", scores=result.scores, escaped_seat=1, **of)
    assert told.hands_ended == [ended]


@pytest.mark.parametrize("preset", PRESETS)
def test_presets(preset: str) -> None:
    for n in range(40):
        check_a_hand(PRESETS[preset], derive(bytes(32), preset, n), random.Random(n))


def test_quad_runs_and_a_rule_set_with_many_overrides() -> None:
    rules = rule_set("three_blind", {"quad_runs": "on", "bombs": "on", "bury": "on", "base": 300, "must_beat": "on"})
    for n in range(40):
        check_a_hand(rules, derive(bytes(32), "overrides", n), random.Random(n))


@given(choices(), st.binary(min_size=32, max_size=32), st.randoms(use_true_random=False))
def test_any_rule_set(choice: Choice, seed: bytes, dice: random.Random) -> None:
    check_a_hand(choice.engine, seed, dice)
