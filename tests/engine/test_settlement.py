"""The corners of docs/rules.md 4 and 6, each as a small hand: bombs, the stake, tasks and escapes."""

from typing import Any

import pytest

from tests.engine.scenes import alone, at, begin, say, scores
from wakeng.engine.hand import Hand
from wakeng.engine.rules import rule_set
from wakeng.engine.settle import Terms, settle
from wakeng.engine.tasks import Task

# Bombs ---------------------------------------------------------------------------------------------------------------

QUADS = ("4c4d4h4s5c5d5h5s8c8d", "6c6d6h6s7c7d7h7s8h8s", "9c9d9h9sTcTdThTsJcJd")


def _bombed(plays: list[tuple[int, str]], **overrides: Any) -> Hand:
    """Seat 0 digs at 3 on a deck full of quads; everyone plays what is listed and passes otherwise."""
    hand = begin("xian", *QUADS, digger=0, **overrides)
    for seat, play in plays:
        alone(hand, seat, play)
    return hand


@pytest.mark.parametrize(
    ("plays", "bombs", "stake"),
    [
        ([(0, "4 4 4 4 5 5 5 5 8 8")], 0, 3),  # Quads that are split, or not played, do not count.
        ([(0, "4444 5 5 5 5 8 8")], 1, 6),  # Led.
        ([(0, "8"), (2, "9999"), (2, "TTTT JJ")], 2, 12),  # Following, and leading.
        ([(0, "8"), (1, "6666"), (2, "9999 TTTT JJ")], 3, 12),  # By anyone; a third adds nothing to the cap of 4.
        ([(0, "4444 5555 88")], 2, 12),
    ],
)  # fmt: skip
def test_a_bomb_counts_when_it_is_played(plays: list[tuple[int, str]], bombs: int, stake: int) -> None:
    hand = _bombed(plays)
    assert hand.result is not None
    assert (hand.result.bombs, hand.result.stake) == (bombs, stake)
    sign = 1 if hand.result.winner.value == "DIGGER" else -1
    assert scores(hand) == [2 * sign * stake, -sign * stake, -sign * stake]


@pytest.mark.parametrize(("cap", "stake"), [(1, 3), (2, 6), (4, 12), (8, 24), (16, 24)])
def test_the_cap_bounds_what_bombs_multiply(cap: int, stake: int) -> None:
    hand = _bombed([(0, "8"), (1, "6666"), (2, "9999 TTTT JJ")], bomb_cap=cap)
    assert scores(hand) == [-2 * stake, stake, stake]


def test_without_bombs_a_quad_is_a_kind_of_its_own_and_counts_nothing() -> None:
    hand = _bombed([(0, "8")], bombs=False)
    assert "6666" not in hand.legal_tokens()
    hand = _bombed([(0, "4444 5 5 5 5"), (0, "8 8")], bombs=False)
    assert scores(hand) == [6, -3, -3]
    hand = _bombed([(0, "4444")], bombs=False)
    assert hand.legal_tokens() == ["pass", "6666", "7777"]


def test_a_bomb_beats_everything_but_a_higher_bomb() -> None:
    hand = _bombed([(0, "5555"), (1, "6666")])
    assert hand.legal_tokens() == ["pass", "9999", "TTTT"]
    hand = _bombed([(0, "55"), (1, "77")])
    assert hand.legal_tokens() == ["pass", "99", "TT", "JJ", "9999", "TTTT"]


def test_a_run_of_quads_is_no_bomb_and_a_bomb_beats_it() -> None:
    run = ("4c4d4h4s5c5d5h5s6c6d6h6s", "7c7d7h7s8c8d8h8s9c9d9h9s", "TcTdThTsJcJdJhJsQcQdQhKc")
    hand = begin("xian", *run, digger=1, quad_runs=True)
    say(hand, "444455556666")
    assert scores(hand) == [3, -6, 3]
    more = (run[0] + "Kd", run[1] + "Kh", run[2] + "Ks")
    hand = begin("xian", *more, digger=1, quad_runs=True)
    say(hand, "444455556666")
    assert hand.legal_tokens() == ["pass", "7777", "8888", "9999", "777788889999"]
    say(hand, "7777")
    assert hand.legal_tokens() == ["pass", "TTTT", "JJJJ"]
    hand = begin("xian", *more, digger=1, quad_runs=True, bombs=False)
    say(hand, "444455556666")
    assert hand.legal_tokens() == ["pass", "777788889999"]


# The stake -----------------------------------------------------------------------------------------------------------


def test_the_examples_of_the_rules() -> None:
    xian = rule_set("xian")
    assert settle(xian, Terms(digger=0, bid=3), digger_wins=True).scores == (6, -3, -3)
    assert settle(xian, Terms(digger=0, bid=2, bombs=1), digger_wins=False).scores == (-8, 4, 4)
    assert settle(xian, Terms(digger=0, bid=1, bombs=3), digger_wins=True).stake == 4


def test_all_factors_multiply() -> None:
    rules = rule_set("three_blind", {"bombs": True, "base": 5, "bomb_cap": 16})
    terms = Terms(digger=2, bid=3, bombs=3, opened=True, lying_seat=1, blind=True)
    # 5 x 3 x 8 x open 2 x lying 2 x blind won 2
    assert settle(rules, terms, digger_wins=True).scores == (-960, -960, 1920)
    assert settle(rules, terms, digger_wins=False).scores == (480, 480, -960)
    grabbed = Terms(digger=2, bid=3, grabs=2)
    assert settle(rules, grabbed, digger_wins=False).scores == (60, 60, -120)


def test_the_result_tells_every_factor() -> None:
    hand = begin("xian", *QUADS, digger=0, open=True)
    alone(say(hand, "yes"), 0, "4444 5555 88")
    result = hand.result
    assert result is not None
    assert (result.winner.value, result.digger, result.bid, result.stake) == ("DIGGER", 0, 3, 24)
    assert (result.bombs, result.grabs, result.opened, result.blind) == (2, 0, True, False)
    assert (result.lying_seat, result.task_bonus, result.escaped_seat) == (None, None, None)


# Tasks ---------------------------------------------------------------------------------------------------------------


def _task(task: str, hands: tuple[str, ...], plays: list[tuple[int, str]], digger: int, **overrides: Any) -> list[int]:
    """The bonus of a hand played out that way."""
    hand = begin("three_traditional", *hands, digger=digger, task=task, tasks=True, **overrides)
    for seat, words in plays:
        alone(hand, seat, words)
    assert hand.result is not None
    assert hand.result.task_bonus is not None
    assert sum(scores(hand)) == 0
    return list(hand.result.task_bonus)


FOUR_FIVES = ("4h5c5d", "6c6d7c", "8c9d3s")
STRAIGHTS = ("4h5c6c7c8cKc", "5d6d7d8d9dKd", "9cTcJcQcKh3s")
PAIR_RUNS = ("4c4h5c5d6c6d7c7d8c8d9c9d", "4d4s5h5s6h6s7h7s8h8sTcTd", "9h9sThTsJcJdJhJsQcQdQh3s")
FOURS = ("4c4d4h4s6c", "7c7d8c8d9d", "9cTcJcQc3s")

# task, hands, plays, the bonus when the player of them digs, and when seat 1 does.
TASKS: list[tuple[str, tuple[str, ...], list[tuple[int, str]], list[int], list[int]]] = [
    ("WIN_AS_DIGGER", FOUR_FIVES, [(0, "4 55")], [1, 0, 0], [0, 0, 0]),
    ("WIN_AS_DEFENDER", FOUR_FIVES, [(0, "4 55")], [0, 0, 0], [1, 0, 1]),
    ("OUT_WITH_PAIR", FOUR_FIVES, [(0, "4 55")], [2, 0, 0], [2, 0, 0]),
    ("OUT_WITH_PAIR", FOUR_FIVES, [(0, "4 5 5")], [0, 0, 0], [0, 0, 0]),
    ("OUT_WITH_PAIR", FOUR_FIVES, [(0, "55 4")], [0, 0, 0], [0, 0, 0]),
    ("OUT_WITH_STRAIGHT", STRAIGHTS, [(0, "K 45678")], [3, 0, 0], [3, 0, 0]),
    ("OUT_WITH_STRAIGHT", STRAIGHTS, [(0, "45678 K")], [0, 0, 0], [0, 0, 0]),
    ("OUT_WITH_SINGLE_4", FOUR_FIVES, [(0, "55 4")], [5, 0, 0], [5, 0, 0]),
    ("OUT_WITH_SINGLE_4", FOUR_FIVES, [(0, "4 55")], [0, 0, 0], [0, 0, 0]),
    ("OUT_WITH_SINGLE_4", FOURS, [(0, "6 4444")], [0, 0, 0], [0, 0, 0]),
    ("TWO_PAIR_RUNS", PAIR_RUNS, [(0, "445566 778899")], [4, 0, 0], [4, 0, 0]),
    ("TWO_PAIR_RUNS", PAIR_RUNS, [(0, "445566778899")], [0, 0, 0], [0, 0, 0]),
    ("STRAIGHT_OF_FIVE", STRAIGHTS, [(0, "45678 K")], [2, 0, 0], [2, 0, 0]),
    ("STRAIGHT_OF_FIVE", STRAIGHTS, [(0, "4567 8 K")], [0, 0, 0], [0, 0, 0]),
    ("WIN_WITHOUT_3", FOUR_FIVES, [(0, "4 55")], [3, 0, 0], [3, 0, 3]),
    ("PLAY_QUAD", FOURS, [(0, "4444 6")], [4, 0, 0], [4, 0, 0]),
    ("PLAY_QUAD", FOURS, [(0, "6 4 4 4 4")], [0, 0, 0], [0, 0, 0]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("task", "hands", "plays", "digging", "defending"),
    TASKS,
    ids=[f"{task}-{plays[0][1]}" for task, _, plays, _, _ in TASKS],
)
def test_a_task_pays_the_winners_who_completed_it(
    task: str, hands: tuple[str, ...], plays: list[tuple[int, str]], digging: list[int], defending: list[int]
) -> None:
    assert _task(task, hands, plays, digger=0) == digging
    assert _task(task, hands, plays, digger=1) == defending


def test_a_partner_of_the_winner_earns_what_he_completed_himself() -> None:
    # Seat 1 digs. Seat 2 makes the straight of five and seat 0 goes out: both won, only seat 2 completed it.
    hands = ("4h5c6c7c8cQd", "5d6d7d8d9dTd", "9cTcJcQcKc3s")
    assert _task("STRAIGHT_OF_FIVE", hands, [(0, "4567"), (0, "8"), (2, "3 9TJQK")], digger=1) == [0, 0, 2]


def test_a_partner_who_played_a_3_does_not_win_without_it() -> None:
    hands = ("4h2c2d", "6c6d7c", "8c9d3s")
    assert _task("WIN_WITHOUT_3", hands, [(0, "4"), (2, "3 8"), (0, "2 2")], digger=1) == [3, 0, 0]
    # A 3 that is held to the end was not played.
    assert _task("WIN_WITHOUT_3", hands, [(0, "4 22")], digger=1) == [3, 0, 3]


def test_a_loser_earns_nothing_for_what_he_completed() -> None:
    # Seat 0 plays its quad, but seat 1 goes out.
    hands = ("4c4d4h4s6c6d", "7c7d8c8d9dTd", "9cTcJcQcKc3s")
    plays = [(0, "4444 6"), (1, "9 T 77 88")]
    assert _task("PLAY_QUAD", hands, plays, digger=0) == [0, 0, 0]
    assert _task("PLAY_QUAD", hands, plays, digger=1) == [0, 0, 0]
    assert _task("WIN_WITHOUT_3", hands, plays, digger=0) == [0, 3, 3]


def test_who_ends_the_hand_is_one_seat_only() -> None:
    # Seat 2's last play was a pair too, but seat 0 ended the hand.
    hands = ("4h5cTdTh", "6c6d7c7d", "8c8d9c9d")
    assert _task("OUT_WITH_PAIR", hands, [(0, "4 5"), (2, "9 88"), (0, "TT")], digger=1) == [2, 0, 0]


def test_a_lying_seat_earns_nothing() -> None:
    hands = ("4cKcKdAcAdAh2c", "3c3d3h5c5d5h6c", "4h3s2d6d6h7c7d")
    for task, expected in (("WIN_AS_DEFENDER", (0, 1, 0)), ("WIN_WITHOUT_3", (0, 0, 0))):
        hand = begin("three_traditional", *hands, digger=0, task=task, tasks=True, lie_down=True)
        say(hand, "yes yes 4")
        alone(hand, 1, "6 555 333")
        assert hand.result is not None
        assert hand.result.task_bonus == expected


def test_the_bonus_is_paid_in_units_of_base_and_outside_the_scores() -> None:
    hand = begin("three_traditional", *FOUR_FIVES, digger=0, task="OUT_WITH_PAIR", tasks=True, base=7)
    alone(hand, 0, "4 55")
    assert hand.result is not None
    assert hand.result.task_bonus == (14, 0, 0)
    assert scores(hand) == [42, -21, -21]


def test_without_tasks_there_is_no_bonus_column() -> None:
    hand = alone(begin("three_traditional", *FOUR_FIVES, digger=0), 0, "4 55")
    assert hand.result is not None
    assert hand.result.task_bonus is None


def test_nobody_earns_a_task_in_a_hand_that_is_left() -> None:
    hand = begin("three_traditional", *FOURS, digger=0, task="PLAY_QUAD", tasks=True, escape_settles=True)
    say(hand, "4444")
    hand.escape(1)
    assert hand.result is not None
    assert hand.result.task_bonus is None


def test_the_catalogue_has_its_order_and_its_bonuses() -> None:
    assert [(task.value, task.bonus) for task in Task] == [
        ("WIN_AS_DEFENDER", 1),
        ("WIN_AS_DIGGER", 1),
        ("OUT_WITH_PAIR", 2),
        ("OUT_WITH_STRAIGHT", 3),
        ("OUT_WITH_SINGLE_4", 5),
        ("TWO_PAIR_RUNS", 4),
        ("STRAIGHT_OF_FIVE", 2),
        ("WIN_WITHOUT_3", 3),
        ("PLAY_QUAD", 4),
    ]


# Escapes -------------------------------------------------------------------------------------------------------------

# Seat 0 asks first and digs blind at 3; seat 1 qualifies to ask seat 2 to lie down; seat 2 was dealt the lowest heart.
STRONG = ("4cKcKdAcAdAh2c", "3c3d3h5c5d5h6c", "4h3s2d6d6h7c7d")
BEFORE = [
    ("BLIND", ""),
    ("BLIND", "no"),
    ("BID", "no no no"),
    ("GRAB", "yes"),
    ("GRAB", "no no no bid3"),
    ("GRAB", "yes yes"),
]
# Words up to the question, the stake when seat 0, the digger, leaves, and when a defender does (his blind dig wins).
AFTER = [
    ("OPEN", "yes no no", 3, 6),
    ("BURY", "yes no no yes", 6, 12),
    ("BURY", "yes no no no", 3, 6),
    ("LIE_DOWN_ASK", "yes no no no pass", 3, 6),
    ("LIE_DOWN_CONSENT", "yes no no no pass yes", 3, 6),
    ("PLAY", "yes no no no pass yes yes", 6, 12),
    ("PLAY", "yes no no yes pass yes yes", 12, 24),
    ("PLAY", "yes no no no pass no", 3, 6),
    ("PLAY", "no no no bid3 yes yes no pass yes no", 12, 12),
]


def _stopped(words: str, **overrides: Any) -> Hand:
    hand = begin("three_blind", *STRONG, kitty="7h", marked="4c", task="WIN_AS_DIGGER", asked_first=0, bury=True,
                 **overrides)  # fmt: skip
    return say(hand, words)


@pytest.mark.parametrize("settles", [False, True])
@pytest.mark.parametrize(("phase", "words"), BEFORE)
def test_before_there_is_a_digger_leaving_costs_the_plain_penalty(phase: str, words: str, *, settles: bool) -> None:
    for seat in range(3):
        hand = _stopped(words, escape_settles=settles, base=2)
        assert at(hand)[0] == phase
        hand.escape(seat)
        assert at(hand) == ("END", -1)
        assert scores(hand) == [-20 if other == seat else 0 for other in range(3)]
        result = hand.result
        assert result is not None
        assert (result.winner.value, result.escaped_seat) == ("ESCAPED", seat)
        assert (result.digger, result.bid, result.stake, result.bombs) == (None, None, None, None)
        assert (result.grabs, result.opened, result.blind, result.lying_seat) == (None, None, None, None)


@pytest.mark.parametrize(("phase", "words", "digger_leaves", "defender_leaves"), AFTER)
def test_without_settling_leaving_costs_the_plain_penalty_in_every_phase(
    phase: str, words: str, digger_leaves: int, defender_leaves: int
) -> None:
    for seat in range(3):
        hand = _stopped(words)
        assert at(hand)[0] == phase
        stake = digger_leaves if seat == hand.digger else defender_leaves
        hand.escape(seat)
        assert scores(hand) == [-10 if other == seat else 0 for other in range(3)]
        assert hand.result is not None
        assert (hand.result.digger, hand.result.bid, hand.result.stake) == (hand.digger, 3, stake)
        assert (hand.result.bombs, hand.result.task_bonus) == (0, None)


@pytest.mark.parametrize("factor", [0, 10, 1_000])
@pytest.mark.parametrize(("phase", "words", "digger_leaves", "defender_leaves"), AFTER)
def test_with_settling_the_leaver_pays_for_his_side_in_every_phase(
    phase: str, words: str, digger_leaves: int, defender_leaves: int, factor: int
) -> None:
    for seat in range(3):
        hand = _stopped(words, escape_settles=True, escape_factor=factor)
        assert at(hand)[0] == phase
        digger = hand.digger
        stake = digger_leaves if seat == digger else defender_leaves
        hand.escape(seat)
        expected = [0, 0, 0]
        for other in range(3):
            if seat == digger:
                expected[other] = stake
            elif other == digger:
                expected[other] = 2 * stake
        expected[seat] = -max(factor, 2 * stake)
        assert scores(hand) == expected


def test_an_escape_settles_at_the_present_stake_bombs_included() -> None:
    hand = _bombed([(0, "8"), (1, "6666"), (2, "9999")], escape_settles=True)
    hand.escape(1)
    # 3 x 4 = 12: the leaver pays the digger's 24 alone, his ally nothing.
    assert scores(hand) == [24, -24, 0]
    hand = _bombed([(0, "8"), (1, "6666")], escape_settles=True)
    hand.escape(0)
    assert scores(hand) == [-12, 6, 6]


def test_the_penalty_beyond_the_stake_goes_to_nobody() -> None:
    hand = begin("four_traditional", "4h4c", "5c5d", "6c6d", "7c7d", digger=2, bury=False, escape_settles=True)
    hand.escape(2)
    assert scores(hand) == [3, 3, -10, 3]
    hand = begin("four_traditional", "4h4c", "5c5d", "6c6d", "7c7d", digger=2, bury=False, escape_settles=True)
    hand.escape(0)
    assert scores(hand) == [-10, 0, 9, 0]


def test_a_seat_that_lies_down_may_leave_too() -> None:
    hand = _stopped("yes no no no pass yes yes", escape_settles=True)
    assert hand.lying == 2
    hand.escape(2)
    assert scores(hand) == [24, 0, -24]
    assert hand.result is not None
    assert hand.result.lying_seat == 2


def test_a_blind_dig_that_was_grabbed_is_no_blind_dig_in_an_escape() -> None:
    hand = _stopped("yes yes no no pass", escape_settles=True, escape_factor=0)
    assert (hand.digger, hand.blind) == (1, False)
    hand.escape(0)
    # 3 x grab 2 = 6.
    assert scores(hand) == [-12, 12, 0]
