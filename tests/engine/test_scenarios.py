"""The corners of docs/rules.md 3, each as a small hand: who is asked what, and what everybody sees of it."""

from typing import Any

import pytest

from tests.engine.scenes import alone, at, begin, say, scores
from wakeng.engine.cards import format_cards
from wakeng.engine.hand import Hand, IllegalAction

# Seat 1 is dealt the lowest heart in these, and nobody has control cards.
PLAIN = ("5c6c7c5h", "4h8c9c9d", "TcJcQc6h")
KITTY = "KcKd"


def _refused(hand: Hand, word: str) -> None:
    with pytest.raises(IllegalAction):
        hand.apply_token(word)


# BLIND ---------------------------------------------------------------------------------------------------------------


def test_the_first_yes_to_a_black_dig_ends_the_asking_and_there_is_no_bidding() -> None:
    hand = begin("xian", *PLAIN, kitty=KITTY, asked_first=2)
    assert at(hand) == ("BLIND", 2)
    say(hand, "no yes")
    assert (hand.digger, hand.bid, hand.blind) == (0, 4, False)
    assert at(hand) == ("PLAY", 1)
    assert hand.history == ["2:BLIND:no", "0:BLIND:yes"]


def test_a_black_dig_cannot_be_grabbed() -> None:
    hand = say(begin("xian", *PLAIN, kitty=KITTY, asked_first=2, grab=True), "yes")
    assert (at(hand), hand.grabs) == (("PLAY", 1), 0)


def test_three_noes_to_a_black_dig_lead_to_bidding() -> None:
    hand = say(begin("xian", *PLAIN, kitty=KITTY, asked_first=2), "no no no")
    assert at(hand) == ("BID", 1)
    assert hand.bid == 0


def test_in_the_first_hand_of_a_match_the_seat_dealt_first_is_asked_first() -> None:
    assert at(begin("xian", *PLAIN, kitty=KITTY, first_dealt=1)) == ("BLIND", 1)


def test_nobody_sees_a_card_in_blind_but_the_marked_one() -> None:
    hand = begin("three_blind", *PLAIN, kitty=KITTY, marked="5c", task="PLAY_QUAD")
    for seat in range(3):
        seen = hand.observe(seat)
        assert (seen.cards, seen.cards_left, seen.kitty) == ((), (0, 0, 0), None)
        assert (format_cards([seen.marked_card or 0]), seen.marked_seat) == ("5c", None)
        assert seen.task is None


def test_a_blind_dig_that_stands_doubles_the_stake_of_a_win_only() -> None:
    won = begin("three_blind", *PLAIN, kitty=KITTY, marked="5c", asked_first=1, tasks=False)
    say(won, "yes no no no")
    assert (won.digger, won.bid, won.blind) == (1, 3, True)
    alone(won, 1, "4 99 8 KK")
    assert scores(won) == [-6, 12, -6]

    lost = begin("three_blind", *PLAIN, kitty=KITTY, marked="5c", asked_first=0, tasks=False)
    say(lost, "yes no no no")
    assert (lost.digger, lost.blind) == (0, True)
    alone(lost, 1, "4 99 8")
    assert scores(lost) == [-6, 3, 3]


def test_a_blind_dig_that_is_grabbed_loses_its_bonus_but_keeps_its_bid() -> None:
    hand = begin("three_blind", *PLAIN, kitty=KITTY, marked="5c", asked_first=0, tasks=False)
    say(hand, "yes")
    assert at(hand) == ("GRAB", 1)
    assert hand.observe(2).blind
    say(hand, "yes no")
    assert (hand.digger, hand.bid, hand.grabs, hand.blind) == (1, 3, 1, False)
    say(hand, "no")
    alone(hand, 1, "4 99 8 KK")
    assert scores(hand) == [-6, 12, -6]


@pytest.mark.parametrize("max_bid", [1, 2, 3])
def test_a_blind_dig_is_worth_three_whatever_the_highest_bid(max_bid: int) -> None:
    hand = begin("three_blind", *PLAIN, kitty=KITTY, marked="5c", asked_first=0, tasks=False, max_bid=max_bid)
    say(hand, "yes")
    assert (at(hand), hand.bid) == (("GRAB", 1), 3)


def test_a_blind_dig_stands_where_there_is_no_grab() -> None:
    hand = begin("three_traditional", *PLAIN, kitty=KITTY, asked_first=0, blind_dig=True)
    say(hand, "no yes")
    assert (at(hand), hand.digger, hand.bid, hand.blind) == (("PLAY", 1), 1, 3, True)


# BID -----------------------------------------------------------------------------------------------------------------


def test_the_lowest_dealt_heart_bids_first_even_if_a_lower_one_lies_in_the_kitty() -> None:
    hand = begin("three_traditional", "5c6c7c8h", "4c8c9c7h", "TcJcQc6h", kitty="4h5h")
    assert at(hand) == ("BID", 2)


def test_the_marked_card_bids_first_and_the_lowest_heart_leads() -> None:
    hand = begin("three_traditional", *PLAIN, kitty=KITTY, first_caller="marked_card", marked="Qc")
    assert at(hand) == ("BID", 2)
    assert hand.observe(0).marked_seat == 2
    say(hand, "bid3")
    assert at(hand) == ("PLAY", 1)


def test_a_marked_card_in_the_kitty_leaves_the_bidding_to_the_lowest_heart() -> None:
    hand = begin("three_traditional", *PLAIN, kitty=KITTY, first_caller="marked_card", marked="Kd")
    assert at(hand) == ("BID", 1)
    assert hand.observe(0).marked_seat == -1
    assert hand.observe(0).kitty is None


def test_each_seat_speaks_once_and_the_highest_digs() -> None:
    hand = begin("three_traditional", *PLAIN, kitty=KITTY)
    assert hand.legal_tokens() == ["pass", "bid1", "bid2", "bid3"]
    say(hand, "bid1")
    assert hand.legal_tokens() == ["pass", "bid2", "bid3"]
    say(hand, "bid2")
    assert hand.legal_tokens() == ["pass", "bid3"]
    say(hand, "pass")
    assert (hand.digger, hand.bid) == (2, 2)
    assert hand.history == ["1:BID:bid1", "2:BID:bid2", "0:BID:pass"]


def test_the_highest_bid_ends_the_bidding_at_once() -> None:
    hand = say(begin("three_traditional", *PLAIN, kitty=KITTY), "bid3")
    assert (at(hand), hand.digger) == (("PLAY", 1), 1)
    hand = say(begin("three_traditional", *PLAIN, kitty=KITTY, max_bid=2), "pass bid2")
    assert (at(hand), hand.digger, hand.bid) == (("PLAY", 1), 2, 2)


def test_when_nobody_bids_the_first_caller_digs_at_one() -> None:
    hand = begin("three_traditional", *PLAIN, kitty=KITTY, first_caller="marked_card", marked="Qc")
    say(hand, "pass pass pass")
    assert (hand.digger, hand.bid) == (2, 1)


@pytest.mark.parametrize("max_bid", [1, 2, 3])
def test_the_forced_dig_is_no_bid_and_cannot_be_grabbed(max_bid: int) -> None:
    hand = begin("three_traditional", *PLAIN, kitty=KITTY, grab=True, max_bid=max_bid)
    say(hand, "pass pass pass")
    assert (at(hand), hand.digger, hand.bid, hand.grabs) == (("PLAY", 1), 1, 1, 0)


def test_an_assigned_digger_digs_at_three_without_a_question() -> None:
    hand = begin("three_blind", *PLAIN, kitty=KITTY, marked="5c", digger=2, open=False, tasks=False, max_bid=1)
    assert (at(hand), hand.digger, hand.bid, hand.blind) == (("PLAY", 1), 2, 3, False)
    assert format_cards(hand.cards(2)) == "6hTcJcQcKcKd"
    assert hand.history == []


# GRAB ----------------------------------------------------------------------------------------------------------------


def test_everybody_but_the_bidder_may_grab_once_those_who_passed_included() -> None:
    hand = begin("three_traditional", *PLAIN, kitty=KITTY, grab=True)
    say(hand, "pass bid3")
    assert at(hand) == ("GRAB", 0)
    assert hand.observe(0).digger is None
    say(hand, "yes")
    assert (at(hand), hand.observe(1).grabs, hand.observe(1).digger) == (("GRAB", 1), 1, None)
    say(hand, "yes")
    # The last grabber digs, the bidder gets no second chance, the bid stays.
    assert (at(hand), hand.digger, hand.bid, hand.grabs) == (("PLAY", 1), 1, 3, 2)
    alone(hand, 1, "4 99 8 KK")
    assert scores(hand) == [-12, 24, -12]


def test_a_bid_below_the_highest_is_not_grabbed() -> None:
    hand = say(begin("three_traditional", *PLAIN, kitty=KITTY, grab=True), "bid1 bid2 pass")
    assert at(hand) == ("PLAY", 1)


@pytest.mark.parametrize("max_bid", [1, 2])
def test_a_highest_bid_below_three_is_grabbed_too(max_bid: int) -> None:
    hand = begin("three_traditional", *PLAIN, kitty=KITTY, grab=True, max_bid=max_bid)
    say(hand, f"bid{max_bid}")
    assert (at(hand), hand.bid) == (("GRAB", 2), max_bid)


# Kitty, task, OPEN ---------------------------------------------------------------------------------------------------


def test_kitty_and_task_are_shown_to_all_once_there_is_a_digger() -> None:
    hand = begin("three_feature", *PLAIN, kitty=KITTY, task="PLAY_QUAD", lie_down=False)
    say(hand, "bid3 no")
    assert all((hand.observe(s).kitty, hand.observe(s).task) == (None, None) for s in range(3))
    say(hand, "no")
    for word in "no", "4", "6":
        assert [format_cards(hand.observe(seat).kitty or ()) for seat in range(3)] == [KITTY] * 3
        assert {hand.observe(seat).task for seat in range(3)} == {hand.deal.task}
        say(hand, word)


def test_an_opened_hand_is_public_to_the_end_and_doubles_won_or_lost() -> None:
    for winner, expected in ((1, [-6, 12, -6]), (0, [6, -12, 6])):
        hand = begin("three_traditional", *PLAIN, kitty=KITTY, open=True, digger=1)
        assert at(hand) == ("OPEN", 1)
        assert hand.observe(0).opened_cards is None
        say(hand, "yes")
        assert format_cards(hand.observe(0).opened_cards or ()) == "4h8c9c9dKcKd"
        say(hand, "4")
        assert format_cards(hand.observe(2).opened_cards or ()) == "8c9c9dKcKd"
        alone(hand, winner, "99 8 KK" if winner else "7 6 55")
        assert scores(hand) == expected


# BURY ----------------------------------------------------------------------------------------------------------------

FOUR = ("5c5d7c7d", "4c4h4s8c", "TcTdThJc", "QcQdQhKc")


def test_the_digger_buries_at_most_one_card_by_rank_the_lowest_suited_goes() -> None:
    hand = begin("four_traditional", *FOUR, kitty="KdKs", digger=1)
    assert at(hand) == ("BURY", 1)
    assert hand.legal_tokens() == ["pass", "bury4", "bury8", "buryK"]
    say(hand, "bury4")
    assert format_cards(hand.cards(1)) == "4h4s8cKdKs"
    assert hand.observe(0).cards_left == (4, 5, 4, 4)
    assert hand.history == ["1:BURY:bury4"]
    assert at(hand) == ("PLAY", 1)


def test_burying_nothing_keeps_all_cards() -> None:
    hand = say(begin("four_traditional", *FOUR, kitty="KdKs", digger=1), "pass")
    assert hand.count(1) == 6


def test_an_opened_hand_shows_what_is_left_after_burying() -> None:
    hand = begin("four_traditional", *FOUR, kitty="KdKs", digger=1, open=True)
    say(hand, "yes bury8")
    assert format_cards(hand.observe(3).opened_cards or ()) == "4c4h4sKdKs"


def test_neither_the_kitty_nor_burying_moves_the_first_lead() -> None:
    # Seat 0 takes the 4h up from the kitty, but seat 1 was dealt the lowest heart.
    hand = begin("four_traditional", "5c5d7c7h", "4c6h4s8c", "TcTdThJc", "QcQdQhKc", kitty="4h", digger=0)
    assert at(say(hand, "pass")) == ("PLAY", 1)
    # Seat 1 buries the lowest heart, which was its own.
    hand = begin("four_traditional", "5c5d7c7h", "4h8d9s8c", "TcTdThJc", "QcQdQhKc", kitty="Kd", digger=1)
    assert at(say(hand, "bury4")) == ("PLAY", 1)


# LIE_DOWN ------------------------------------------------------------------------------------------------------------

# Seat 0 digs. Points: seat 1 has 9 (3, 3, 3), seat 2 has 5 (3, 2): the margin is exactly 4.
STRONG = ("4cKcKdAcAdAh2c", "3c3d3h5c5d5h6c", "4h3s2d6d6h7c7d")


def _strong(**overrides: Any) -> Hand:
    return begin("three_traditional", *STRONG, digger=0, lie_down=True, **overrides)


def test_a_defender_qualifies_at_nine_points_and_four_more_than_his_partner() -> None:
    assert at(_strong()) == ("LIE_DOWN_ASK", 1)
    assert at(_strong(lie_down_points=10)) == ("PLAY", 2)
    assert at(_strong(lie_down_margin=5)) == ("PLAY", 2)


def test_the_cards_of_digger_and_kitty_do_not_count() -> None:
    # Seat 1 and 2 have nothing: nobody qualifies, though the digger holds all control cards.
    hand = begin("three_feature", "3c3d2c2d", "4h5c5d6c", "6d7c7d8h", kitty="3h3s", digger=0, tasks=False)
    assert at(say(hand, "no")) == ("PLAY", 1)
    assert hand.history == ["0:OPEN:no"]


def test_the_weaker_defender_is_never_asked_first() -> None:
    hand = begin("three_traditional", STRONG[2], STRONG[1], STRONG[0], digger=2, lie_down=True)
    assert at(hand) == ("LIE_DOWN_ASK", 1)
    assert at(say(hand, "yes")) == ("LIE_DOWN_CONSENT", 0)


def test_two_yeses_lay_the_partner_down_and_the_lead_passes_on() -> None:
    hand = say(_strong(), "yes yes")
    assert hand.history == ["2:LIE_DOWN:lies"]
    assert [hand.observe(seat).lying_seat for seat in range(3)] == [2, 2, 2]
    # Seat 2 was dealt the lowest heart; it lies, so the next active seat leads.
    assert at(hand) == ("PLAY", 0)


def test_with_a_lying_seat_one_pass_clears_the_table_and_its_turn_is_skipped() -> None:
    hand = say(_strong(), "yes yes 4")
    assert at(hand) == ("PLAY", 1)
    say(hand, "5")
    assert at(hand) == ("PLAY", 0)
    say(hand, "pass")
    assert (at(hand), hand.table) == (("PLAY", 1), 0)
    _refused(hand, "pass")


def test_a_lying_seat_wins_and_loses_with_its_side_at_twice_the_stake() -> None:
    won = say(_strong(), "yes yes")
    say(won, "4")
    alone(won, 1, "6 555 333")
    assert scores(won) == [-12, 6, 6]
    lost = say(_strong(), "yes yes")
    alone(lost, 0, "4 KK AAA 2")
    assert scores(lost) == [12, -6, -6]


def test_either_refusal_looks_the_same() -> None:
    by_asker, by_partner = say(_strong(), "no"), say(_strong(), "yes no")
    assert by_asker.history == by_partner.history == ["-:LIE_DOWN:refused"]
    assert at(by_asker) == at(by_partner) == ("PLAY", 2)
    for seat in range(3):
        assert by_asker.observe(seat) == by_partner.observe(seat)
        assert by_asker.observe(seat).lying_seat is None


def test_while_they_are_asked_nothing_of_it_is_in_the_history() -> None:
    hand = _strong()
    assert hand.observe(0).history == ()
    say(hand, "yes")
    assert [hand.observe(seat).history for seat in range(3)] == [(), (), ()]


def test_the_hidden_answers_stand_in_the_decisions() -> None:
    hand = say(_strong(), "yes no")
    assert [(seat, phase.value, action) for seat, phase, action in hand.decisions] == [
        (1, "LIE_DOWN_ASK", 1),
        (2, "LIE_DOWN_CONSENT", 0),
    ]


def test_where_nobody_qualifies_nothing_is_said() -> None:
    hand = _strong(lie_down_points=12)
    assert (at(hand), hand.history) == (("PLAY", 2), [])


# PLAY ----------------------------------------------------------------------------------------------------------------


def test_the_first_lead_is_unrestricted_and_a_leader_must_play() -> None:
    hand = begin("three_traditional", *PLAIN, kitty=KITTY, digger=0)
    assert hand.legal_tokens() == ["4", "8", "9", "99"]
    _refused(hand, "pass")


def test_a_seat_that_passed_may_play_again_in_the_same_trick() -> None:
    hand = begin("three_traditional", *PLAIN, kitty=KITTY, digger=0)
    say(hand, "4 pass 5 pass 6")
    assert (at(hand), hand.table) == (("PLAY", 0), 3)


def test_the_table_is_cleared_when_all_others_have_passed_in_a_row() -> None:
    three = say(begin("three_traditional", *PLAIN, kitty=KITTY, digger=0), "4 6 pass pass")
    assert (at(three), three.table, three.observe(0).table_seat) == (("PLAY", 2), 0, None)
    four = begin("four_traditional", *FOUR, digger=0, bury=False)
    say(four, "4 pass pass")
    assert (four.table, at(four)) == (1, ("PLAY", 0))
    say(four, "pass")
    assert (four.table, at(four)) == (0, ("PLAY", 1))


def test_passes_before_a_play_do_not_count_towards_the_next_clearing() -> None:
    four = say(begin("four_traditional", *FOUR, digger=0, bury=False), "4 pass pass 5 pass pass")
    assert (at(four), four.table) == (("PLAY", 3), 2)


def test_the_lowest_suited_cards_are_the_ones_played() -> None:
    hand = begin("three_traditional", "4c4h4s5c", "6c6d6h7c", "8c8d8h9c", digger=1)
    say(hand, "4")
    assert format_cards(hand.cards(0)) == "4h4s5c"
    hand = begin("three_traditional", "4c4h4s5c", "6c6d6h7c", "8c8d8h9c", digger=1)
    say(hand, "44")
    assert format_cards(hand.cards(0)) == "4s5c"


def test_an_equal_rank_never_beats() -> None:
    hand = begin("three_traditional", "4h4c6c", "4d4s6d", "5c5d5s", digger=1)
    say(hand, "44")
    assert hand.legal_tokens() == ["pass"]


def test_the_hand_ends_when_a_seat_has_no_cards() -> None:
    hand = begin("three_traditional", "4h4c", "4d4s", "5c5d", digger=1)
    say(hand, "4 pass pass 4")
    assert (at(hand), hand.legal) == (("END", -1), ())
    assert scores(hand) == [3, -6, 3]
    _refused(hand, "pass")
    with pytest.raises(IllegalAction):
        hand.escape(0)


# must_beat -----------------------------------------------------------------------------------------------------------

FORCED = ("4h5c5dTc", "6c7c7d7h", "8c8d8h8s")


def test_must_beat_forbids_passing_while_a_play_beats() -> None:
    hand = begin("xian", *FORCED, digger=0, must_beat=True)
    say(hand, "4")
    assert hand.legal_tokens() == ["6", "7"]
    _refused(hand, "pass")
    say(hand, "7 8 T")
    assert hand.legal_tokens() == ["pass"]


def test_must_beat_reckons_with_bombs() -> None:
    hand = say(begin("xian", *FORCED, digger=0, must_beat=True), "55 77")
    assert hand.legal_tokens() == ["88", "8888"]
    hand = say(begin("xian", *FORCED, digger=0, must_beat=True), "T pass")
    assert hand.legal_tokens() == ["8888"]
    hand = say(begin("xian", *FORCED, digger=0, must_beat=True, bombs=False), "T pass")
    assert hand.legal_tokens() == ["pass"]


def test_must_beat_does_not_bind_a_leader() -> None:
    assert begin("xian", *FORCED, digger=0, must_beat=True).legal_tokens() == ["4", "5", "T", "55"]


def _default(hand: Hand) -> str:
    return dict(zip(hand.legal, hand.legal_tokens(), strict=True))[hand.default_action()]


def test_the_default_action_of_every_question() -> None:
    hand = begin("three_blind", *STRONG, marked="4c", kitty="7h", asked_first=0, bury=True, task="PLAY_QUAD")
    assert _default(hand) == "no"
    say(hand, "no no no")
    assert _default(hand) == "pass"
    say(hand, "bid3")
    assert (at(hand), _default(hand)) == (("GRAB", 1), "no")
    say(hand, "no no")
    assert (at(hand), _default(hand)) == (("OPEN", 0), "no")
    say(hand, "no")
    assert (at(hand), _default(hand)) == (("BURY", 0), "pass")
    say(hand, "pass")
    assert (at(hand), _default(hand)) == (("LIE_DOWN_ASK", 1), "no")
    say(hand, "yes")
    assert (at(hand), _default(hand)) == (("LIE_DOWN_CONSENT", 2), "no")
    say(hand, "no")
    assert (at(hand), _default(hand)) == (("PLAY", 2), "4")
    say(hand, "4")
    assert _default(hand) == "pass"


def test_the_default_under_must_beat_is_the_lowest_beating_play_of_the_same_kind() -> None:
    hand = begin("xian", *FORCED, digger=0, must_beat=True)
    say(hand, "55")
    assert _default(hand) == "77"
    say(hand, "77")
    assert (hand.legal_tokens(), _default(hand)) == (["88", "8888"], "88")


def test_the_default_under_must_beat_is_a_bomb_only_where_nothing_else_beats() -> None:
    hand = begin("xian", "5h6c7c8c", "9c9d9h9s", "4c4d6h4s", digger=0, must_beat=True)
    say(hand, "678")
    assert (hand.legal_tokens(), _default(hand)) == (["9999"], "9999")


def test_the_default_under_must_beat_prefers_the_kind_of_the_table_to_a_bomb_of_a_lower_id() -> None:
    hand = begin("xian", "5h6c7cJcJdJs", "8c8d8h8s9cTc", "QcQdQsKcKdKs", digger=0, must_beat=True)
    say(hand, "567")
    assert (hand.legal_tokens(), _default(hand)) == (["8888", "89T"], "89T")
