"""`search` and `seer`: worlds that follow from seed and question, and open cards for analysis alone."""

from __future__ import annotations

import random
from itertools import islice
from statistics import fmean, stdev

import pytest

from tests.bots.positions import XIAN, decisions, played
from wakeng.bots import create, seer
from wakeng.bots.net import Net
from wakeng.bots.search import Search
from wakeng.engine import PRESETS, Hand, Phase, derive
from wakeng.sdk import Bot
from wakeng.sdk.testing import decision_for, play_hand

SEED = bytes(range(32))


@pytest.mark.parametrize("many", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_choices_are_the_same_alone_in_a_batch_and_in_any_order(many: int) -> None:
    asked, bot = decisions(many), Search(SEED)
    alone = [bot.choose(decision) for decision in asked]
    order = random.Random(1).sample(range(len(asked)), len(asked))
    fresh = Search(SEED)
    for start in range(0, len(order), 16):
        places = order[start : start + 16]
        assert fresh.choose_batch([asked[place] for place in places]) == [alone[place] for place in places]


def test_another_seed_deals_other_worlds() -> None:
    asked = decisions(500)
    chosen = {seed: Search(seed, worlds=4).choose_batch(asked) for seed in (b"1", b"2")}
    assert chosen[b"1"] != chosen[b"2"]
    assert Search(b"1", worlds=4).choose_batch(asked) == chosen[b"1"]


def test_it_chooses_what_is_legal_and_goes_out_when_it_can() -> None:
    bot = Search(SEED, worlds=8)
    for number in range(20):
        for hand in played(number):
            choice = bot.choose(decision_for(hand))
            assert choice in hand.legal_tokens()
            out = [token for token in hand.legal_tokens() if len(token) == hand.count(hand.turn) and token != "pass"]
            if hand.phase is Phase.PLAY and out:
                assert choice == out[0]


@pytest.mark.parametrize("preset", ["three_blind", "four_feature", "baoji_feature"])
def test_under_other_rules_it_plays_as_expert(preset: str) -> None:
    expert, bots = create("expert", SEED), [Search(SEED) for _ in range(PRESETS[preset].players)]
    for number in range(5):
        hand = play_hand(preset, derive(SEED, preset, number), bots)
        assert hand.decisions == play_hand(preset, derive(SEED, preset, number), [expert] * len(bots)).decisions


def test_it_says_how_many_worlds_it_deals() -> None:
    assert "64 worlds" in Search().version
    assert "16 worlds" in Search(worlds=16).version


# seer ----------------------------------------------------------------------------------------------------------------


def test_seer_tells_of_every_legal_play_what_it_brings() -> None:
    for number in range(6):
        for hand in played(number):
            if hand.phase is not Phase.PLAY:
                continue
            found = seer.outcomes(hand)
            assert tuple(found) == hand.legal
            assert all(abs(units) in (1, 2, 4) for both in found.values() for units in both)
            assert seer.choose(hand) in hand.legal


def test_seer_sees_what_expert_would_bring_to_its_end() -> None:
    """One choice ahead, the rest played by expert: the outcome is that of the hand played so."""
    expert = create("expert")
    for number in range(15):
        hand = next(hand for hand in played(number) if hand.phase is Phase.PLAY)
        told = dict(seer.outcomes(hand))
        decided = [action for _, _, action in hand.decisions]
        for play in hand.legal[:4]:
            again = Hand(XIAN, hand.deal)
            for action in (*decided, play):
                again.apply(action)
            seat = hand.turn
            while again.phase is not Phase.END:
                choice = expert.choose(decision_for(again))
                assert isinstance(choice, str)
                again.apply_token(choice)
            assert again.result is not None
            units = again.result.scores[again.digger] // (2 * again.bid)
            assert told[play][seer.EXPERT] == (units if seat == again.digger else -units)


def test_seer_looks_at_play_alone_and_at_rules_that_it_knows() -> None:
    with pytest.raises(seer.NotForSeer, match="stands in BLIND"):
        seer.choose(Hand.from_seed(XIAN, SEED))
    hand = Hand.from_seed(PRESETS["four_traditional"], SEED)
    while hand.phase is not Phase.PLAY:
        hand.apply(hand.legal[0])
    with pytest.raises(seer.NotForSeer, match="not these rules of four_traditional"):
        seer.outcomes(hand)


# Strength ------------------------------------------------------------------------------------------------------------


def gain(one: Bot, other: Bot, deal: int) -> float:
    """Points a hand that `one` gains on a deal with common bids: each digs once, the other defends."""
    hand = Hand.from_seed(XIAN, derive(SEED, "deal", deal))
    expert = create("expert")
    while hand.phase is not Phase.PLAY:
        choice = expert.choose(decision_for(hand))
        assert isinstance(choice, str)
        hand.apply_token(choice)
    begun = [action for _, _, action in hand.decisions]
    return (_digger(one, other, hand, begun) - _digger(other, one, hand, begun)) / 2


def _digger(digs: Bot, defends: Bot, hand: Hand, begun: list[int]) -> int:
    again = Hand(XIAN, hand.deal)
    for action in begun:
        again.apply(action)
    while again.phase is not Phase.END:
        choice = (digs if again.turn == again.digger else defends).choose(decision_for(again))
        assert isinstance(choice, str)
        again.apply_token(choice)
    assert again.result is not None
    return again.result.scores[again.digger]


@pytest.mark.slow
def test_search_gains_on_net_on_1000_deals() -> None:
    found = [gain(Search(SEED), Net(), deal) for deal in range(1_000)]
    mean, error = fmean(found), stdev(found) / len(found) ** 0.5
    assert mean > 2 * error, f"{mean:+.3f} +-{error:.3f}"


def test_the_same_bot_gains_nothing_on_itself() -> None:
    assert list(islice((gain(Net(), Net(), deal) for deal in range(3)), 3)) == [0, 0, 0]
