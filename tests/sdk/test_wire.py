"""Engine values on the wire: rule sets survive, and equal observations are equal bytes."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.strategies import Pair, Player, choices, pairs, play_out
from wakeng.engine import PRESETS, Deal, Hand, Observation, Phase, RuleError, RuleSet
from wakeng.engine.deal import deal_cards
from wakeng.sdk import observation_message, rules_from_message, rules_message
from wakeng.v1 import observation_pb2, rules_pb2


def encoded(seen: Observation) -> bytes:
    return observation_message(seen).SerializeToString(deterministic=True)


@given(choices())
def test_a_rule_set_survives_the_wire(choice: object) -> None:
    rules: RuleSet = choice.engine  # type: ignore[attr-defined]
    sent = rules_pb2.RuleSet.FromString(rules_message(rules).SerializeToString())
    assert rules_from_message(sent) == rules


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_is_its_name_alone(preset: str) -> None:
    assert rules_message(PRESETS[preset]) == rules_pb2.RuleSet(preset=preset)


@pytest.mark.parametrize(
    ("message", "field"),
    [
        (rules_pb2.RuleSet(), "preset"),
        (rules_pb2.RuleSet(preset="chess"), "preset"),
        (rules_pb2.RuleSet(preset="xian", players=9), "players"),
        (rules_pb2.RuleSet(preset="xian", first_caller="me"), "first_caller"),
        (rules_pb2.RuleSet(preset="xian", blind_dig=True), "blind_dig"),
    ],
)
def test_an_impossible_rule_set_is_refused_by_its_field(message: rules_pb2.RuleSet, field: str) -> None:
    with pytest.raises(RuleError, match=f"^{field}: ") as refused:
        rules_from_message(message)
    assert refused.value.field == field


def test_an_observation_says_what_there_is_and_leaves_out_what_there_is_not() -> None:
    hand = Hand.from_seed(PRESETS["three_blind"], bytes(32))
    before = observation_message(hand.observe(hand.turn))
    assert (before.cards, list(before.cards_left), list(before.history)) == ("", [0, 0, 0], [])
    assert before.HasField("marked_card") and not before.HasField("marked_seat")
    for token in "no no no bid3 no no".split():
        hand.apply_token(token)
    seen = observation_message(hand.observe(hand.turn))
    assert hand.phase is Phase.OPEN
    assert (seen.digger, seen.bid, len(seen.kitty), len(seen.cards)) == (hand.turn, 3, 8, 40)
    assert seen.task and not seen.HasField("table_seat") and not seen.HasField("opened_cards")
    assert list(seen.history)[3] == f"{hand.turn}:BID:bid3"


@given(pairs(), st.data())
def test_equal_observations_are_equal_bytes(played: tuple[Pair, Player], data: st.DataObject) -> None:
    pair, player = played
    at = data.draw(st.integers(0, 40))
    for step, now in enumerate(play_out(pair, player)):
        if step == at:
            again = Hand(
                now.hand.rules,
                now.hand.deal,
                blind_first_seat=now.blind_first_seat,
                assigned_digger=now.assigned_digger,
            )
            for _, _, action in now.hand.decisions:
                again.apply(action)
            for seat in range(now.hand.rules.players):
                assert now.hand.observe(seat) == again.observe(seat)
                assert encoded(now.hand.observe(seat)) == encoded(again.observe(seat))


@pytest.mark.parametrize("preset", PRESETS)
def test_cards_that_a_seat_may_not_know_do_not_show_in_its_bytes(preset: str) -> None:
    """The others' cards and the kitty are dealt anew; the hearts stay, since who calls first is public."""
    rules, shuffler = PRESETS[preset], random.Random(1)
    for number in range(50):
        deal = deal_cards(rules, number.to_bytes(32, "big"))
        other = _dealt_anew(deal, seat=0, shuffler=shuffler)
        one, two = Hand(rules, deal), Hand(rules, other)
        while one.phase in (Phase.BLIND, Phase.BID):
            assert encoded(one.observe(0)) == encoded(two.observe(0))
            action = shuffler.choice(one.legal)
            if one.phase is Phase.BLIND:
                action = 0
            one.apply(action)
            two.apply(action)


def _dealt_anew(deal: Deal, *, seat: int, shuffler: random.Random) -> Deal:
    """The same deal to one seat, with the cards of the others and of the kitty exchanged, but for hearts."""
    places = [hand for other, hand in enumerate((*deal.hands, deal.kitty)) if other != seat]
    loose = [card for hand in places for card in hand if card % 4 != 2 and card != deal.marked_card]
    shuffler.shuffle(loose)
    held = [
        tuple(sorted(card if card % 4 == 2 or card == deal.marked_card else loose.pop() for card in hand))
        for hand in places
    ]
    held.insert(seat, deal.hands[seat])
    return Deal(deal.first_dealt_seat, tuple(held[:-1]), held[-1], deal.marked_card, deal.task)


def test_the_message_has_no_field_that_the_engine_does_not_fill() -> None:
    told = {field.name for field in observation_pb2.Observation.DESCRIPTOR.fields}
    assert told == set(Observation.__dataclass_fields__) - {"phase"}
