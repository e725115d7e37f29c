"""What is compiled says the same as what is not: the game as the engine, `expert` as the bot, the network as numpy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.bots.positions import XIAN, played
from wakeng.bots import create
from wakeng.bots.compiled import chance, dealing, expert, judge, legal, playout, state, value
from wakeng.bots.compiled.asking import kernels, position
from wakeng.bots.compiled.cards import VOCABULARY, Ints, others
from wakeng.bots.net import trained
from wakeng.bots.network.judging import role_of
from wakeng.bots.network.question import question_of, question_of_hand
from wakeng.bots.turns import turn_table
from wakeng.engine import PLAYS, TOKENS, Hand, Phase, Stream, deal_cards, derive
from wakeng.engine.plays import pack, rank_count
from wakeng.sdk.legal import follows, leads
from wakeng.sdk.testing import decision_for

SEED = bytes(32)
TABLE = judge.table()
FOUND, SCRATCH = np.zeros(VOCABULARY, np.int64), np.zeros(VOCABULARY, np.int64)
PLAY_TOKENS = TOKENS[Phase.PLAY]


def begun(number: int) -> tuple[Hand, Ints]:
    """A hand at its first lead, in the engine and in an array."""
    hand = Hand.from_seed(XIAN, derive(SEED, "hand", number))
    while hand.phase is not Phase.PLAY:
        hand.apply(hand.legal[(number % 3) * (hand.phase is Phase.BID) % len(hand.legal)])
    dealt, s = dealing.packed(hand.deal), state.empty()
    s[:3] = dealt[:3]
    state.begin(s, hand.digger, hand.bid, dealt[dealing.KITTY], dealt[dealing.FIRST])
    return hand, s


def test_400_hands_go_as_in_the_engine_to_the_last_point() -> None:
    for number in range(400):
        hand, s = begun(number)
        chooses, over = Stream(derive(SEED, "chance", number)), False
        while not over:
            seat = hand.turn
            assert (s[state.TURN], s[state.TABLE]) == (seat, hand.table)
            assert s[state.HAND : state.HAND + 3].tolist() == hand.planes
            assert s[state.COUNT : state.COUNT + 3].tolist() == [hand.count(other) for other in range(3)]
            count = legal.legal(hand.planes[seat], hand.table, FOUND)
            assert tuple(FOUND[:count]) == hand.legal
            play = hand.legal[chooses.below(len(hand.legal))]
            hand.apply(play)
            over = state.step(s, play)
        assert hand.result is not None
        assert 2 * hand.bid * state.units(s, seat) == hand.result.scores[hand.digger]


def test_the_turns_of_a_hand_are_those_of_the_table() -> None:
    for number in range(300):
        hand = Hand.from_seed(XIAN, derive(SEED, "hand", number))
        for packed in hand.planes:
            assert judge.turns(TABLE, packed) == turn_table(XIAN).turns(packed)


def test_expert_chooses_and_bids_as_the_plain_bot_at_some_5000_questions() -> None:
    bot, asked = create("expert"), 0
    for number in range(110):
        for hand in played(number):
            decision = decision_for(hand)
            if hand.phase is Phase.BID:
                first = not any(":BID:" in event for event in hand.history)
                choice = TOKENS[Phase.BID][expert.bid(TABLE, hand.planes[hand.turn], hand.bid, first)]
            else:
                choice = PLAY_TOKENS[expert.choose(TABLE, position(question_of(decision)), FOUND, SCRATCH)]
            assert bot.choose(decision) == choice, decision.message
            asked += 1
    assert asked > 4_000


def test_a_question_says_what_the_hand_says_and_both_what_the_rules_of_play_say() -> None:
    for number in range(60):
        hand, s = begun(number)
        chooses, over = Stream(derive(SEED, "chance", number)), False
        while not over:
            asked = question_of(decision_for(hand))
            assert asked == question_of_hand(hand)
            own = s.copy()
            for seat in range(3):
                own[state.HAND + seat] *= seat == hand.turn
            own[state.HOLDER] = own[state.HOLDER] if hand.table else -1
            assert position(asked).tolist() == own.tolist()
            play = hand.legal[chooses.below(len(hand.legal))]
            hand.apply(play)
            over = state.step(s, play)


def test_the_network_has_the_same_values_as_with_numpy_bit_by_bit() -> None:
    known, judging, room, compared = kernels(), trained().judging, value.room(), 0
    for number in range(40):
        for hand in played(number):
            if hand.phase is not Phase.PLAY or len(hand.legal) < 2:
                continue
            asked = question_of_hand(hand)
            plays = follows(XIAN, asked.hand, asked.table) if asked.table else leads(XIAN, asked.hand)
            s = position(asked)
            count = legal.legal(asked.hand, asked.table, room.plays)
            value.judge(known.net, known.table, s, count, room)
            values = judging.values(role_of(asked), [asked], [plays])
            assert room.values[:count].tolist() == values.tolist()
            compared += count
    assert compared > 5_000


def test_a_world_deals_what_is_hidden_and_leaves_the_digger_the_kitty() -> None:
    cards, source = np.zeros(52, np.int64), chance.source(1)
    for number in range(25):
        for hand in played(number):
            if hand.phase is not Phase.PLAY:
                continue
            asked = question_of_hand(hand)
            s = position(asked)
            playout.deal_world(s, asked.seat, source, cards)
            hands = s[state.HAND : state.HAND + 3].tolist()
            assert [held.bit_count() for held in hands] == asked.counts
            assert hands[asked.seat] == asked.hand
            for rank in range(13):
                held = sum(rank_count(packed, rank) for packed in (*hands, asked.gone))
                assert held == 4
                assert rank_count(hands[asked.digger], rank) >= rank_count(asked.kitty, rank)


def test_a_deal_of_the_engine_keeps_its_hands_kitty_and_caller() -> None:
    for number in range(100):
        deal = deal_cards(XIAN, derive(SEED, "deal", number))
        packed = dealing.packed(deal)
        assert packed.tolist() == [*map(pack, deal.hands), pack(deal.kitty), deal.first_caller]


def test_dealing_by_chance_deals_the_whole_deck() -> None:
    source, deck, dealt = chance.source(2), np.arange(52), np.zeros(dealing.LENGTH, np.int64)
    callers = set()
    for _ in range(50):
        dealing.deal(source, deck, dealt)
        assert [held.bit_count() for held in dealt[:4].tolist()] == [16, 16, 16, 4]
        left = others(others(others(0, dealt[0]), 0), dealt[1])
        assert others(left, 0).bit_count() == 32
        callers.add(int(dealt[dealing.FIRST]))
    assert callers == {0, 1, 2}


@pytest.mark.parametrize("play", [play for play in PLAYS[1:VOCABULARY] if play.top in (4, 12)])
def test_adding_a_play_to_a_pile_and_taking_it_off_a_hand_are_opposites(play: object) -> None:
    from wakeng.bots.compiled.cards import add, remove
    from wakeng.engine import Play

    assert isinstance(play, Play)
    assert remove(add(0, play.id), play.id) == 0
    assert others(0, add(0, play.id)) == remove(others(0, 0), play.id)
