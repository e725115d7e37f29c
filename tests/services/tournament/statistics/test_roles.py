"""What describes bots without ranking them: role strengths, means, cross-table, conduct (docs/statistics.md 5)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.services.tournament.statistics.scenes import FOUR_LINES, blocks, hand
from wakeng.services.tournament.statistics import Block, block_of, cross_table, estimate, role_strengths
from wakeng.services.tournament.statistics.roles import Habit, conduct

VECTOR_5 = "0|12 6, 1|02 -4, 2|01 -2, 0|13 2, 1|03 6, 3|01 -6, 3|12 -12, 2|13 4, 1|23 6"


def dug(text: str, number: int) -> Block:
    """`0|12 6`: bot 0 digs against 1 and 2, and scores 6."""
    who, score = text.split()
    digger, defenders = who.split("|")
    points = float(score)
    bots = digger + defenders
    return block_of([hand(bots, points, -points / 2, -points / 2, block=number, digger=0, digger_won=points > 0)])


HANDS = [dug(text, number) for number, text in enumerate(VECTOR_5.split(", "))]


# Vector 5 -----------------------------------------------------------------------------------------


def test_role_strengths() -> None:
    found = role_strengths(HANDS, "0123")
    close = 5.1e-7
    assert found.mu == pytest.approx(-0.026667, abs=close)
    assert [one.digger for one in found.bots.values()] == pytest.approx(
        [0.579583, 0.48, 0.154583, -1.214167], abs=close
    )
    assert [one.defender for one in found.bots.values()] == pytest.approx([0.2325, 0.24, 0.1825, -0.655], abs=close)


@given(st.permutations(HANDS))
def test_the_order_of_results_does_not_matter(found: list[Block]) -> None:
    one, other = role_strengths(HANDS, "0123"), role_strengths(found, "0123")
    for bot in "0123":
        assert other.bots[bot].digger == pytest.approx(one.bots[bot].digger)
        assert other.bots[bot].defender_se == pytest.approx(one.bots[bot].defender_se)


@settings(max_examples=30)
@given(st.lists(st.integers(-12, 12), min_size=9, max_size=9), st.sampled_from([0.0, 5.0]))
def test_strengths_of_either_role_sum_to_zero(points: list[int], ridge: float) -> None:
    lines = [text.split()[0] for text in VECTOR_5.split(", ")]
    found = role_strengths(
        [dug(f"{line} {p}", i) for i, (line, p) in enumerate(zip(lines, points, strict=True))], "0123", ridge=ridge
    )
    assert sum(one.digger for one in found.bots.values()) == pytest.approx(0, abs=1e-8)
    assert sum(one.defender for one in found.bots.values()) == pytest.approx(0, abs=1e-8)


def test_without_shrinkage_they_fit_what_can_be_fitted() -> None:
    # Bots whose stake is what they bring to the hand, and nothing else.
    digs, defends = {"0": 3.0, "1": 1.0, "2": -1.0, "3": -3.0}, {"0": 1.0, "1": -1.0, "2": 2.0, "3": -2.0}
    lines = [f"{d}|{a}{b}" for d in "0123" for a in "0123" for b in "0123" if len({d, a, b}) == 3]
    stakes = [
        0.5 + digs[d] - (defends[a] + defends[b]) / 2 for d, a, b in ((line[0], line[2], line[3]) for line in lines)
    ]
    found = role_strengths(
        [dug(f"{line} {2 * s}", i) for i, (line, s) in enumerate(zip(lines, stakes, strict=True))], "0123", ridge=0
    )
    assert found.mu == pytest.approx(0.5)
    for bot in "0123":
        assert found.bots[bot].digger == pytest.approx(digs[bot])
        assert found.bots[bot].defender == pytest.approx(defends[bot])
        assert found.bots[bot].digger_se == pytest.approx(0, abs=1e-6)


def test_errors_need_two_blocks_a_bot_and_hands_a_digger() -> None:
    assert role_strengths(HANDS[:7], "0123").bots["0"].digger_se is None
    assert role_strengths(HANDS[:8], "0123").bots["0"].digger_se is not None
    undug = [block_of([hand("012", 0, 0, 0)])]
    assert role_strengths(undug, "0123").bots["0"].digger == 0


def test_a_dirty_block_says_nothing_of_roles() -> None:
    left = block_of([hand("012", -20, 10, 10, block=9, digger=0, escaped_seat=0)])
    assert role_strengths([*HANDS, left], "0123") == role_strengths(HANDS, "0123")


# Means --------------------------------------------------------------------------------------------


def test_means_by_role_and_bids() -> None:
    bids = (True, False, True)
    first = block_of(
        [
            hand("abc", 6, -3, -3, digger=0, digger_won=True, bids=bids),
            hand("cab", -2, 1, 1, rotation=1, digger=0, bids=bids),
            hand("bca", -4, 2, 2, rotation=2, digger=0, bids=bids),
        ]
    )
    second = block_of([hand("abc", -4, 2, 2, block=1, rotation=r, digger=0, bids=bids) for r in range(3)])
    habit = Habit()
    for one in (first, second):
        habit.add(one, "a")
    found = habit.estimates(estimate)
    assert (found.as_digger.mean, found.as_digger.blocks) == ((6 + -4) / 2, 2)
    assert (found.as_defender.mean, found.as_defender.blocks) == (1.5, 1)
    assert found.digs.mean == pytest.approx((1 / 3 + 1) / 2)
    assert found.bids.mean == pytest.approx((2 / 3 + 1) / 2)
    assert found.won.mean == (1 + 0) / 2


def test_the_cross_table_tells_how_one_did_in_blocks_with_another() -> None:
    found = cross_table(blocks(*FOUR_LINES, "012! -10 1 2"), estimate)
    assert found["0"]["1"].mean == (2 + 1) / 2
    assert found["1"]["0"].mean == (-1 + 0) / 2
    assert found["3"]["2"].blocks == 2
    assert "0" not in found["0"]


def test_hands_escapes_and_faults_are_counted_in_dirty_blocks_too() -> None:
    faults: tuple[dict[str, int], ...] = ({}, {"DEADLINE": 2, "STALE": 1}, {})
    found = block_of(
        [
            hand("abc", 6, -3, -3, faults=faults),
            hand("cab", 0, 0, -12, rotation=1, escaped_seat=2),
            hand("bca", -10, 0, 0, rotation=2, escaped_seat=0, faults=({"STALE": 1}, {}, {})),
        ]
    )
    counted = conduct([found], "abcd")
    assert counted["b"].hands == 3
    assert (counted["b"].escapes, counted["b"].points_lost) == (2, 22)
    assert counted["b"].faults == {"DEADLINE": 2, "STALE": 2}
    assert (counted["a"].escapes, counted["a"].faults) == (0, {})
    assert counted["d"].hands == 0
