"""Hands out of records, blocks out of hands, swap pairs, and the prefix that counts (docs/statistics.md 1, 2, 6, 8)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.services.records import played
from tests.services.tournament.statistics.scenes import hand
from wakeng.services.tournament.statistics import Block, HandResult, Ledger, block_of, hand_result, swap_value

ROTATIONS = [
    hand("abc", 6, -3, -3, rotation=0),
    hand("cab", -2, -2, 4, rotation=1),
    hand("bca", -1, 2, -1, rotation=2),
]


# Vector 1 -----------------------------------------------------------------------------------------


def test_y_is_the_mean_score_per_hand() -> None:
    assert block_of(ROTATIONS).values == {"a": 1, "b": 0, "c": -1}


@given(st.permutations(ROTATIONS))
def test_the_order_in_which_hands_come_does_not_matter(hands: list[HandResult]) -> None:
    assert block_of(hands) == block_of(ROTATIONS)


def pair(x: float, y: float, *, number: int = 0, left: tuple[int | None, int | None] = (None, None)) -> Block:
    """A swap pair of a and b about chair `number` mod 3: a alone scores x, b alone scores y."""
    chair = number % 3
    hands = []
    for rotation, (alone, others, score) in enumerate((("a", "b", x), ("b", "a", y))):
        bots = "".join(alone if seat == chair else others for seat in range(3))
        scores = [score if seat == chair else -score / 2 for seat in range(3)]
        if (seat := left[rotation]) is not None:
            scores = [-10.0 if s == seat else 3.0 for s in range(3)]
        hands.append(hand(bots, *scores, block=number, rotation=rotation, escaped_seat=seat))
    return block_of(hands)


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize(("x", "y", "d"), [(6, -3, 4.5), (4, 4, 0), (-2, 2, -2)])
def test_a_swap_pair_is_worth_half_the_difference(number: int, x: float, y: float, d: float) -> None:
    assert swap_value(pair(x, y, number=number), "a", "b") == d
    assert swap_value(pair(x, y, number=number), "b", "a") == -d


def test_one_bot_against_itself_has_pairs_too() -> None:
    found = block_of([hand("aaa", 6, -3, -3), hand("aaa", 6, -3, -3, rotation=1)])
    assert swap_value(found, "a", "a") == 0


def test_what_is_no_swap_pair_is_refused() -> None:
    wrong_chair = block_of([hand("bab", 0, 0, 0), hand("aba", 0, 0, 0, rotation=1)])
    with pytest.raises(ValueError, match="no swap pair of a and b about chair 0"):
        swap_value(wrong_chair, "a", "b")


# Who is counted how -------------------------------------------------------------------------------


def test_copies_of_a_bot_are_averaged() -> None:
    hands = [hand("abb", 6, -3, -3), hand("bab", -1, 2, -1, rotation=1), hand("bba", 4, -2, -2, rotation=2)]
    found = block_of(hands)
    assert found.line_up == {"a": 1, "b": 2}
    assert found.values == {"a": 2, "b": -1}


def test_a_block_is_dirty_when_somebody_escaped_a_hand_of_it() -> None:
    assert block_of(ROTATIONS).clean
    left = hand("cab", -10, 0, 0, rotation=1, escaped_seat=0)
    found = block_of([ROTATIONS[0], left, ROTATIONS[2]])
    assert not found.clean
    assert found.leavers == {"c"}
    assert left.leaver == "c"
    assert left.penalty == 10


# In `sprt` nothing is dropped: where A sits alone X = -penalty if A left, +penalty if a B left, and so on.
@pytest.mark.parametrize(
    ("left", "d"),
    [
        ((0, None), (-10 - 2) / 2),  # a, alone, left; b alone scored 2
        ((1, None), (10 - 2) / 2),  # a copy of b left a
        ((None, 0), (4 + 10) / 2),  # b, alone, left; a alone scored 4
        ((None, 2), (4 - 10) / 2),  # a copy of a left b
        ((0, 0), 0),
        ((0, 2), -10),
    ],
)
def test_in_a_swap_pair_an_escape_costs_its_penalty(left: tuple[int | None, int | None], d: float) -> None:
    assert swap_value(pair(4, 2, left=left), "a", "b") == d


# Records ------------------------------------------------------------------------------------------


def record(**more: Any) -> dict[str, Any]:
    schedule = {"tournament_id": "t1", "block": 7, "deal": 7, "rotation": 2, "line_up": 0}
    return {**played(), "schedule": schedule, **more}


def test_a_record_tells_all_that_statistics_need() -> None:
    told = record()
    found = hand_result(told)
    assert (found.block, found.rotation) == (7, 2)
    assert found.bots == ("greedy", "lowest", "random")
    assert found.scores == tuple(told["result"]["scores"])
    assert found.digger == told["result"]["digger"]
    assert found.digger_won == (told["result"]["winner"] == "DIGGER")
    bidders = {d["seat"] for d in told["decisions"] if d["phase"] == "BID" and d["action"] != "pass"}
    assert {seat for seat, bid in enumerate(found.bids) if bid} == bidders


def test_the_schedule_may_know_better_who_sat_there() -> None:
    assert hand_result(record(), bots=["one", "two", "three"]).bots == ("one", "two", "three")


def test_the_base_is_divided_out() -> None:
    told = record()
    doubled = {**told, "rules": {**told["rules"], "base": 4}}
    assert hand_result(doubled).scores == tuple(score / 4 for score in told["result"]["scores"])


def test_faults_in_decisions_and_beside_them_are_added_up() -> None:
    told = record()
    told["decisions"][0]["fault"] = "DEADLINE"
    told["faults"] = [{"seat": told["decisions"][0]["seat"], "fault": "DEADLINE", "count": 2}]
    seat = told["decisions"][0]["seat"]
    assert hand_result(told).faults[seat] == {"DEADLINE": 3}


def test_an_escape_before_there_is_a_digger() -> None:
    schedule = record()["schedule"]
    found = hand_result({**played(escaped_seat=1), "schedule": schedule})
    assert found.leaver == "lowest"
    assert found.digger is None
    assert found.scores == (0, -10, 0)


def test_a_hand_of_a_plain_match_is_refused() -> None:
    with pytest.raises(ValueError, match="belongs to no tournament"):
        hand_result(played())


# The prefix ---------------------------------------------------------------------------------------


def hands_of(numbers: range) -> list[HandResult]:
    return [hand("abc", b, -b, 0, block=b, rotation=r) for b in numbers for r in range(3)]


@given(st.permutations(hands_of(range(5))))
def test_blocks_come_in_schedule_order_whatever_arrived_first(arrived: list[HandResult]) -> None:
    ledger = Ledger.of(arrived, 3)
    assert [block.number for block in ledger.blocks] == list(range(5))
    assert ledger.prefix == 5
    assert ledger.blocks == Ledger.of(hands_of(range(5)), 3).blocks


def test_nothing_counts_beyond_the_first_unfinished_block() -> None:
    ledger = Ledger(3)
    for one in hands_of(range(1, 4)):
        ledger.add(one)
    assert (ledger.prefix, ledger.waiting, len(ledger.blocks)) == (0, 3, 0)
    first, second, third = hands_of(range(1))
    assert ledger.add(first) is None
    assert ledger.add(second) is None
    done = ledger.add(third)
    assert done is not None
    assert done.number == 0
    assert (ledger.prefix, ledger.waiting, len(ledger.blocks)) == (4, 0, 4)


def test_a_block_that_is_struck_off_is_over_but_does_not_count() -> None:
    ledger = Ledger.of(hands_of(range(4)), 3, struck_off=[1])
    assert ledger.prefix == 4
    assert [block.number for block in ledger.blocks] == [0, 2, 3]


def test_a_hand_told_twice_counts_once() -> None:
    once, twice = Ledger(3), Ledger(3)
    for one in hands_of(range(2)):
        once.add(one)
        twice.add(one)
        twice.add(one)
    assert once.blocks == twice.blocks


def test_a_hand_told_in_two_ways_is_refused() -> None:
    ledger = Ledger.of([hand("abc", 1, 0, -1)], 3)
    with pytest.raises(ValueError, match="told twice"):
        ledger.add(hand("abc", 2, 0, -2))


def test_a_rotation_that_a_block_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="no rotation 3"):
        Ledger(3).add(hand("abc", 0, 0, 0, rotation=3))
