"""`expert`: each idea of its judgement at work, what it counts as seen, the same choice whatever the circumstances."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest
from hypothesis import given

from tests.engine.strategies import Pair, Player, examples, pairs, play_out
from wakeng.bots import create
from wakeng.bots.judge import Judge, Position
from wakeng.bots.seen import pack_words, position_of, unseen_by
from wakeng.bots.self_play import seen
from wakeng.bots.turns import TurnTable
from wakeng.bots.unbeaten import allowed_plays, held_plays, runs_out, unbeaten_plays
from wakeng.engine import PLAY_ID, PLAYS, PRESETS, TOKENS, Hand, Phase, RuleSet, derive, rule_set
from wakeng.engine.plays import FOLLOWS, pack, rank_count
from wakeng.sdk import Decision
from wakeng.sdk.legal import leads
from wakeng.sdk.testing import decision_for

SEED = bytes(range(32))
XIAN = Judge(PRESETS["xian"])
LOTS = pack_words("4c5c6c7c8c9cTcJcQcKcAc2c3c" + "5d6d7d8d9dTdJdQdKdAd2d3d")
"""Others hold two of nearly everything."""


def chosen(hand: str, table: str = "", *, judge: Judge = XIAN, **about: int | bool) -> str:
    """What is played from a hand where the others hold LOTS, and everybody many cards unless it is said otherwise."""
    facts: dict[str, int | bool] = {"unseen": LOTS, "fewest": 12, "most": 14, "holder_cards": 12, **about}
    position = Position(hand=pack_words(hand), table=PLAY_ID[table] if table else 0, **facts)  # type: ignore[arg-type]
    return TOKENS[Phase.PLAY][judge.choose(position)]


# One idea after the other --------------------------------------------------------------------------------------------


def test_it_goes_out_when_it_can() -> None:
    assert chosen("4c5c6c7c8c") == "45678"
    assert chosen("9c9d", "66") == "99"
    assert chosen("4c4d4h4s", "3") == "4444"


def test_it_leads_the_play_that_leaves_fewest_turns() -> None:
    assert chosen("4c5c6c8c8dJcJdKc") == "456"
    assert chosen("4c5c6c7c7d8c9cKcKd") == "4567"


def test_it_leads_low_ones_first_and_keeps_controls_back() -> None:
    assert chosen("5c8cJcAc2c3c") == "5"
    assert chosen("4c9c2c2d3c3d") == "4"


def test_it_follows_low_and_passes_rather_than_break_a_run_or_spend_a_3() -> None:
    assert chosen("6c9cJc3c", "5") == "6"
    assert chosen("4c5c6cJcJdQcQd", "5") == "pass"
    assert chosen("4c4d8c8dTcTd3c3d", "A") == "pass"


def test_a_bomb_is_kept_unless_hardly_anything_is_left() -> None:
    assert chosen("4c6c6d8c9c9dJcQcQdQhQs", "A") == "pass"
    assert chosen("4cQcQdQhQs", "A") == "QQQQ"


def test_where_a_quad_is_no_bomb_it_is_led_like_any_play() -> None:
    hand = "4c4d4h4s6c8cTcQc"
    assert chosen(hand) != "4444"
    assert chosen(hand, judge=Judge(PRESETS["three_traditional"])) == "4444"


def test_it_leads_no_beatable_play_of_as_many_cards_as_an_enemy_has_left() -> None:
    assert chosen("4c6c6d9c9dJcJd", fewest=1) == "66"
    assert chosen("4c6c9c9dJcJd", fewest=2) == "4"


def test_with_nothing_but_singles_and_an_enemy_at_one_card_it_leads_from_the_top() -> None:
    assert chosen("5c8cTcQc", fewest=1) == "Q"


def test_a_follower_blocks_high_when_the_next_enemy_could_go_out() -> None:
    assert chosen("7c9cQc", "5", fewest=1, holder_cards=5) == "Q"
    assert chosen("7c9cQc", "5", fewest=1, holder_cards=5, partner_next=True) == "7"


def test_a_partners_trick_stands_and_an_enemys_is_stopped_when_he_is_close_to_out() -> None:
    hand = "4c5c7c8cTcTdJcJd3c3d"
    assert chosen(hand, "K", partner_holds=True, holder_cards=2) == "pass"
    assert chosen(hand, "K", holder_cards=9) == "pass"
    assert chosen(hand, "K", holder_cards=1, last_to_stop=True) == "3"


def test_who_is_last_to_stop_an_enemy_is_readier_to_pay() -> None:
    hand = "4c5c7c8cTcTdJcJd2c"
    assert chosen(hand, "K") == "2"
    two = "4c4d7c7dTcTd2c2d"
    assert chosen(two, "K") == "pass"
    assert chosen(two, "K", last_to_stop=True) == "2"


def test_a_run_out_is_taken_before_anything_else() -> None:
    few = pack_words("4d5d6d7d8d9d")
    assert chosen("4c3c3dKcKd", unseen=few, fewest=3, most=9) in ("KK", "33")
    # Without it the low card would go first.
    assert chosen("4c3c3dKcKd") == "4"


# What the judgement rests on -----------------------------------------------------------------------------------------


def test_unbeaten_is_what_nothing_unseen_beats_in_kind_or_no_enemy_has_the_cards_for() -> None:
    rng, allowed = random.Random(1), allowed_plays(PRESETS["xian"])
    for _ in range(200):
        unseen, most = pack(rng.sample(range(52), rng.randint(1, 36))), rng.randint(1, 20)
        found = unbeaten_plays(unseen, most) & allowed
        for play in PLAYS[1:]:
            shift, above, row = FOLLOWS[play.id]
            beaten = len(row[unseen >> shift & above]) > 1 and play.cards <= most
            assert bool(found >> play.id & 1) == (PRESETS["xian"].allows(play) and not beaten)


@pytest.mark.parametrize("preset", ["xian", "three_feature"])
def test_the_set_of_held_plays_is_that_of_legal_leads(preset: str) -> None:
    rules, rng = PRESETS[preset], random.Random(2)
    for _ in range(300):
        hand = pack(rng.sample(range(52), rng.randint(1, 20)))
        held = held_plays(hand) & allowed_plays(rules)
        assert [play.id for play in PLAYS if held >> play.id & 1] == sorted(leads(rules, hand))


@pytest.mark.parametrize(
    ("hand", "unseen", "most", "runs"),
    [
        ("3c3d", "4c4d", 9, True),
        ("4c3c3d", "2c2d", 9, True),
        ("4c5d3c", "2c2d", 9, False),
        ("4c4dKcKd", "QcQdAc", 9, True),
        ("4c4dKcKd", "QcQdAcAd", 9, False),
        ("4c5c6c7c9d9h3c", "2cAcKc", 3, True),
    ],
)
def test_a_run_out_needs_an_unbeaten_play_at_every_step_but_the_last(
    hand: str, unseen: str, most: int, *, runs: bool
) -> None:
    plays = unbeaten_plays(pack_words(unseen), most)
    table = TurnTable((3, 3, 3, None), use_numpy=False)
    assert runs_out(table, pack_words(hand), plays) is runs


@given(pairs())
@examples(150)
def test_what_it_does_not_see_is_what_others_and_the_kitty_hold(played: tuple[Pair, Player]) -> None:
    for pair in play_out(*played):
        hand = pair.hand
        if hand.phase is not Phase.PLAY:
            continue
        decision, seat = decision_for(hand), hand.turn
        assert pack_words(decision.cards) == hand.planes[seat]
        others = [hand.planes[other] for other in range(hand.rules.players) if other != seat]
        if hand.opened and seat != hand.digger:
            others = [hand.planes[hand.digger]]
        found = unseen_by(decision)
        assert [rank_count(found, rank) for rank in range(13)] == [
            sum(rank_count(other, rank) for other in others) for rank in range(13)
        ]
        assert position_of(decision) == seen(hand)


def test_a_defender_of_four_has_partners_and_the_digger_enemies_alone() -> None:
    hand = Hand.from_seed(rule_set("four_traditional", {"bidding": "assigned"}), SEED, assigned_digger=1)
    hand.apply(0)
    asked = dict[int, Position]()
    while len(asked) < 4:
        # Everybody plays what he must and passes where he may, so the leader's play stands.
        asked.setdefault(hand.turn, position_of(decision_for(hand)))
        hand.apply(hand.legal[0])
    leader = hand.holder
    for seat, found in asked.items():
        most = 16 if seat != 1 else 12
        assert found.most in (most, most - 1)
        if seat != leader:
            assert found.partner_holds is (1 not in (seat, leader))
            assert found.partner_next is (1 not in (seat, (seat + 1) % 4))
    assert asked[1].last_to_stop is (leader != 1)


# The same choice in any circumstances --------------------------------------------------------------------------------


def questions(rules: RuleSet, count: int) -> list[Decision]:
    """So many questions of hands that `expert` plays with itself."""
    bot, found, number = create("expert"), list[Decision](), 0
    while len(found) < count:
        hand = Hand.from_seed(rules, derive(SEED, "hand", number))
        while hand.phase is not Phase.END:
            found.append(decision_for(hand))
            hand.apply_token(str(bot.choose(found[-1])))
        number += 1
    return found[:count]


@pytest.mark.parametrize(("preset", "count"), [("xian", 10_000), ("four_blind", 3_000), ("baoji_blind", 3_000)])
def test_order_and_company_change_none_of_10_000_choices(preset: str, count: int) -> None:
    asked = questions(PRESETS[preset], count)
    alone = [create("expert", SEED).choose(decision) for decision in asked]
    order = random.Random(3).sample(range(count), count)
    bot = create("expert", b"another seed")
    assert [bot.choose(asked[at]) for at in order] == [alone[at] for at in order]
    assert bot.choose_batch(asked) == alone


@pytest.mark.parametrize("overrides", [{"must_beat": True}, {"quad_runs": True}, {"straight_min": 5}, {"max_bid": 1}])
def test_it_plays_rule_sets_of_ones_own_against_itself(overrides: dict[str, object]) -> None:
    assert len(questions(rule_set("xian", overrides), 500)) == 500


def test_it_chooses_the_same_without_numpy() -> None:
    """In plain Python the turns are found one by one; the plays must not know."""
    lazy = Judge(PRESETS["xian"])
    lazy.table = TurnTable((3, 3, 3, None), use_numpy=False)
    for decision in questions(PRESETS["xian"], 1_000):
        if decision.phase == "PLAY":
            assert lazy.choose(position_of(decision)) == XIAN.choose(position_of(decision))


def test_importing_expert_builds_no_table_and_loads_neither_numpy_nor_numba() -> None:
    code = (
        "import sys, wakeng.bots.expert, wakeng.bots.turns as t; from wakeng.bots import create; create('expert');"
        "print(t._table.cache_info().currsize, *({'numpy', 'numba'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "0\n"
