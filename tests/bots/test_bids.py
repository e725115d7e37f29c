"""What `expert` answers before the play, and how the bars of these answers are measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.engine.scenes import begin, say
from wakeng.bots import create
from wakeng.bots.bids import BAOJI, FOUR, THREE, Bars, Bidder, bars_of, strength, sure_to_lead
from wakeng.bots.fitting import FITS, Sample, Tried, best, in_use, measure, sample, value
from wakeng.bots.judge import Judge
from wakeng.bots.seen import pack_words
from wakeng.bots.self_play import after, answer, play_out
from wakeng.engine import PRESETS, Hand, Phase, derive, parse_cards, rule_set
from wakeng.sdk.testing import decision_for

SEED = bytes(range(32))
XIAN = Judge(PRESETS["xian"])
HAND = "4c4d5d6h6s8h9cTdThJcQcKcAc2c3c3h"  # 44 5 66 8 9 TT J Q K A 2 33


def bidder(**bars: int) -> Bidder:
    return Bidder(XIAN, replace(Bars(), **bars))


# The answers ---------------------------------------------------------------------------------------------------------


def test_strength_is_the_sum_of_its_terms() -> None:
    """Turns 8: 456 4 6 89TJQK T... by the table; two 3, one 2, one A, one K, three ranks of 4 to 7."""
    turns = XIAN.table.turns(pack_words(HAND))
    expected = 40 - 145 * turns + 2 * 355 + 166 + 90 + 43 - 3 * 70
    assert strength(XIAN.table, pack_words(HAND), leads=False) == expected
    assert strength(XIAN.table, pack_words(HAND), leads=True) == expected + 290
    assert strength(XIAN.table, pack_words("4c4d4h4s"), leads=False) == 40 - 145 + 580 - 70


@pytest.mark.parametrize(
    ("bid3", "bid2", "standing", "bid"),
    [(-322, -400, 0, 3), (-321, -400, 0, 2), (-100, -321, 0, 0), (-100, -322, 2, 0), (-322, -400, 2, 3)],
)
def test_a_bid_needs_more_than_its_bar_and_more_than_what_stands(bid3: int, bid2: int, standing: int, bid: int) -> None:
    """The hand is worth -321."""
    assert bidder(bid3=bid3, bid2=bid2).bid(pack_words(HAND), leads=False, standing=standing) == bid


@pytest.mark.parametrize(("most", "bid"), [(1, 1), (2, 2), (3, 3)])
def test_a_bid_is_never_above_what_the_rules_allow(most: int, bid: int) -> None:
    judge = Judge(rule_set("xian", {"max_bid": most}))
    assert Bidder(judge, Bars(bid3=-9_999)).bid(pack_words(HAND), leads=False, standing=0) == bid


def test_a_blind_dig_is_grabbed_by_a_bar_of_its_own() -> None:
    mind, hand = bidder(grab=900, grab_blind=-400), pack_words(HAND)
    assert mind.grab(hand, leads=False, blind=True) == 1
    assert mind.grab(hand, leads=False, blind=False) == 0


def test_it_lays_open_what_runs_out_or_is_strong_enough() -> None:
    runs, unseen = pack_words("4c3c3dKcKd"), pack_words("4d5d6d7d8d9d")
    assert bidder(open=9_999).open(runs, unseen, 9, leads=False) == 1
    assert bidder(open=9_999).open(pack_words(HAND), pack_words("3d2d2h"), 9, leads=False) == 0
    assert bidder(open=-9_999).open(pack_words(HAND), pack_words("3d2d2h"), 9, leads=False) == 1


@pytest.mark.parametrize(
    ("hand", "below", "rank"),
    [("4c5c6c8cTcTd", 12, "8"), ("4c5c6cTcTd", 12, ""), ("4c4d3c", 12, ""), ("4c4d3c", 13, "3")],
)
def test_it_buries_the_lowest_lone_card_that_costs_a_turn(hand: str, below: int, rank: str) -> None:
    expected = "456789TJQKA23".index(rank) + 1 if rank else 0
    assert bidder(bury_below=below).bury(pack_words(hand)) == expected


def test_lying_down_is_asked_for_with_few_turns_and_consented_to_with_many() -> None:
    mind = bidder(ask_turns=3, ask_controls=2, consent_turns=4)
    assert mind.ask(pack_words("4c4d3c3d2c2d")) == 1
    assert mind.ask(pack_words("4c4d3cAcAd")) == 0
    assert mind.ask(pack_words("4c6c8c3c3d")) == 0
    assert mind.consent(pack_words("4c6c8cTc")) == 1
    assert mind.consent(pack_words("4c6c8c")) == 0


def test_each_kind_of_table_has_its_bars() -> None:
    assert {name: bars_of(rules) for name, rules in PRESETS.items()} == {
        name: FOUR if "four" in name else BAOJI if "baoji" in name else THREE for name in PRESETS
    }


@pytest.mark.parametrize(
    ("preset", "phase", "cards", "history", "leads"),
    [
        ("xian", "BID", "", [], True),
        ("xian", "BID", "4h", ["2:BID:pass"], False),
        ("xian", "OPEN", "", ["0:BLIND:no", "1:BID:pass", "2:BID:bid3"], True),
        ("xian", "PLAY", "4h", [], False),
        ("three_blind", "BID", "4h", ["2:BID:pass"], True),
        ("three_blind", "BID", "5h", [], False),
    ],
)
def test_a_seat_knows_that_it_will_lead_by_calling_first_or_by_the_lowest_heart(
    preset: str, phase: str, cards: str, history: Sequence[str], *, leads: bool
) -> None:
    assert sure_to_lead(PRESETS[preset], phase, 1, parse_cards(cards), history) is leads


@pytest.mark.parametrize("preset", PRESETS)
def test_self_play_on_the_engine_answers_as_the_bot_does(preset: str) -> None:
    rules, bot = PRESETS[preset], create("expert")
    mind = Bidder(Judge(rules), bars_of(rules))
    for number in range(15):
        hand = Hand.from_seed(rules, derive(SEED, preset, number))
        while hand.phase is not Phase.END:
            action = answer(mind, hand)
            assert bot.choose(decision_for(hand)) == hand.legal_tokens()[hand.legal.index(action)]
            hand.apply(action)


# The measurement -----------------------------------------------------------------------------------------------------


def samples(*gains: tuple[int, int, int]) -> list[Sample]:
    """Questions of GRAB as (deal, strength, what a yes wins)."""
    return [Sample(deal, (worth,), {1: won}) for deal, worth, won in gains]


def test_a_bar_is_worth_what_its_answers_win_a_hand_and_seat() -> None:
    asked = samples((0, 500, 6), (0, -500, -12), (1, 500, -3))
    found = value(FITS["GRAB"], {"grab": 0}, asked, deals=3, players=3)
    # Deals of +6, -3 and 0: mean 1, and a standard error of sqrt(((5)^2 + (-4)^2 + (-1)^2) / 2 / 3).
    assert found.points == pytest.approx(1 / 3)
    assert found.share == pytest.approx(2 / 3)
    assert found.error == pytest.approx((42 / 6) ** 0.5 / 3)


def test_the_best_bar_says_yes_where_yes_wins_and_no_more_often() -> None:
    asked = samples((0, 350, -4), (1, 450, 6), (2, 900, 2))
    found = best(measure(FITS["GRAB"], asked, deals=3, players=3))
    assert found.bar == {"grab": 400}
    never = samples((0, 350, -4), (1, 450, -6))
    assert best(measure(FITS["GRAB"], never, deals=3, players=3)).share == 0


def test_a_bid_that_stands_already_is_the_pass() -> None:
    asked = [Sample(0, (100, 0), {1: 2, 2: 4}), Sample(1, (100, 2), {1: 9, 2: 7})]
    worth = {bid3: value(FITS["BID"], {"bid3": bid3, "bid2": 0}, asked, deals=2, players=1).points for bid3 in (0, 200)}
    assert worth == {0: (4 + 7) / 2, 200: (2 + 0) / 2}


@pytest.mark.parametrize("name", FITS)
def test_samples_follow_from_the_seed_and_every_phase_gives_some(name: str) -> None:
    rules = rule_set(
        "xian", {"black_dig": False, "blind_dig": True, "grab": True, "open": True, "lie_down": True, "bury": True}
    )
    fit = FITS[name]
    assert fit.occurs(rules) and not fit.occurs(rule_set("xian", {"bidding": "assigned"}))
    found = [asked for deal in range(60) for asked in sample(fit, rules, SEED, deal)]
    assert found and found == [asked for deal in range(60) for asked in sample(fit, rules, SEED, deal)]
    assert set(in_use(fit, rules)) == set(fit.bars[0])
    assert isinstance(best(measure(fit, found, deals=60, players=3)), Tried)


def test_what_an_answer_wins_is_the_difference_to_the_first_one_from_the_same_cards() -> None:
    rules = PRESETS["three_feature"]
    mind = Bidder(Judge(rules), bars_of(rules))
    deal = next(deal for deal in range(50) if list(sample(FITS["OPEN"], rules, SEED, deal)))
    (asked,) = sample(FITS["OPEN"], rules, SEED, deal)
    hand = Hand.from_seed(rules, derive(SEED, "deal", deal))
    while hand.phase is not Phase.OPEN:
        hand.apply(answer(mind, hand))
    no, yes = (play_out(mind, after(hand, action))[hand.turn] for action in (0, 1))
    assert asked.gains == {1: yes - no}


def test_a_copy_of_a_hand_leaves_the_hand_alone() -> None:
    hand = say(begin("three_traditional", "4h4c", "5c5d", "6c6d"), "pass bid2")
    assert after(hand, 3).bid == 3
    assert (hand.bid, hand.phase) == (2, Phase.BID)
