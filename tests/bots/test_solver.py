"""The open-card solver: right by plain minimax, open where its limit ends it, and only for what it is made for."""

from __future__ import annotations

import random

import pytest

from tests.bots.endings import minimax, random_ending
from tests.engine.scenes import begin, say
from wakeng.bots.extras import MissingExtra
from wakeng.bots.solver import Ending, Solver, Unsolvable, ending_of
from wakeng.engine import PLAY_ID, PRESETS, Hand, rule_set
from wakeng.engine.cards import parse_cards
from wakeng.engine.plays import pack


@pytest.mark.parametrize(
    ("preset", "overrides", "count"),
    [
        ("xian", {}, 700),
        ("three_feature", {}, 300),
        ("four_traditional", {}, 250),
        ("xian", {"quad_runs": True, "straight_min": 4}, 150),
        ("four_feature", {"bombs": True}, 100),
    ],
)
def test_it_agrees_with_minimax_on_1500_random_endings(preset: str, overrides: dict[str, object], count: int) -> None:
    rules, rng = rule_set(preset, overrides), random.Random(f"{preset}{overrides}")
    solver, digger_wins = Solver(rules), 0
    for _ in range(count):
        ending = random_ending(rules, rng, 15)
        expected = minimax(rules, ending)
        assert solver.digger_wins(ending) is expected, ending
        digger_wins += expected
    assert count // 10 < digger_wins < count * 9 // 10


def ending(*hands: str, digger: int = 0, turn: int = 0, table: str = "", holder: int = 0) -> Ending:
    packed = tuple(pack(parse_cards(hand)) for hand in hands)
    return Ending(hands=packed, digger=digger, turn=turn, table=PLAY_ID[table] if table else 0, holder=holder)


@pytest.mark.parametrize(
    ("asked", "digger_wins"),
    [
        (ending("4c5d", "6c6d", "7c7d"), False),
        (ending("3c4d", "6c6d", "7c7d"), True),
        (ending("3c4d", "6c6d6h6s8c", "7c7d"), False),
        (ending("3c", "6c7d", "8c8d", turn=1), True),
        (ending("8c9d", "4c5d", "6c6d", turn=1, table="7", holder=0), True),
        (ending("7c4d", "5c", "8c8d", turn=1, table="6", holder=2), False),
    ],
)
def test_small_endings_are_won_as_one_sees(asked: Ending, *, digger_wins: bool) -> None:
    rules = PRESETS["xian"]
    assert minimax(rules, asked) is digger_wins
    assert Solver(rules).digger_wins(asked) is digger_wins


def test_a_whole_hand_is_too_much_and_says_so_by_none() -> None:
    rules = rule_set("xian", {"bidding": "assigned"})
    hand = Hand.from_seed(rules, bytes(32), assigned_digger=0)
    solver = Solver(rules, node_limit=2_000)
    assert solver.digger_wins(ending_of(hand)) is None
    assert solver.nodes == 2_001


def test_the_moment_of_a_hand_is_taken_as_it_is() -> None:
    hand = say(begin("xian", "4h5c3c", "6c6d2c", "7c7d2d", digger=0), "4")
    found = ending_of(hand)
    assert (found.digger, found.turn, found.table, found.holder, found.lying) == (0, 1, PLAY_ID["4"], 0, None)
    assert found.cards == 8


def test_cards_are_not_solved_before_they_are_played_nor_where_nobody_may_pass() -> None:
    with pytest.raises(Unsolvable, match="not in BLIND"):
        ending_of(begin("xian", "4h5c3c", "6c6d2c", "7c7d2d"))
    with pytest.raises(Unsolvable, match="must_beat"):
        Solver(rule_set("xian", {"must_beat": True}))


def test_without_numba_it_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wakeng.bots.extras.find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"wakeng\[search\]"):
        Solver(PRESETS["xian"])
