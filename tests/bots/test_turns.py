"""The turn table: right by brute force, and the same byte for byte however it is built."""

from __future__ import annotations

import random
import subprocess
import sys
from functools import cache

import pytest

from wakeng.bots.turns import SIZE, Shortest, TurnTable, turn_index, turn_table
from wakeng.engine import PLAY_ID, PRESETS, parse_cards, rule_set
from wakeng.engine.plays import pack, remove
from wakeng.sdk.legal import leads

XIAN: Shortest = (3, 3, 3, None)
CHOICES: tuple[Shortest, ...] = (XIAN, (3, 3, None, None), (5, 4, 3, 3), (3, 3, 3, 3))


@pytest.mark.parametrize(
    ("cards", "turns"),
    [
        ("", 0),
        ("4c", 1),
        ("4c4d4h4s", 1),
        ("4c5c6c", 1),
        ("4c5c7c", 3),
        ("4c4d5c5d6c6d", 1),
        ("4c4d4h5c5d5h6c6d6h", 1),
        ("4c5c6c7c8c9cTcJcQcKc", 1),
        ("JcQcKcAc2c3c", 4),
        ("Ac2c2d2h2s3c3d", 3),
        ("4c5c6c6d7c8c", 2),
        ("4c4d5c6c7c7d8c9c", 3),
        ("4c5c6c7c7d8c8d9c9dTcTdJcQcKc", 2),
    ],
)
def test_known_hands_need_as_many_turns_as_one_counts_by_hand(cards: str, turns: int) -> None:
    for use_numpy in (False, True):
        assert TurnTable(XIAN, use_numpy=use_numpy).turns(pack(parse_cards(cards))) == turns


@pytest.mark.parametrize(
    "overrides", [{}, {"triple_runs": False}, {"straight_min": 5, "pair_run_min": 4}, {"quad_runs": True}]
)
def test_no_plan_of_legal_leads_is_shorter_nor_is_the_shortest_longer(overrides: dict[str, object]) -> None:
    """Every order of every lead is tried, for hands of up to nine cards."""
    rules = rule_set("xian", overrides)
    table, rng = TurnTable(shortest(overrides), use_numpy=False), random.Random(2)

    @cache
    def fewest(hand: int) -> int:
        return 1 + min(fewest(remove(hand, play)) for play in leads(rules, hand)) if hand else 0

    for _ in range(150):
        few_ranks = [rank * 4 + suit for rank in rng.sample(range(13), 5) for suit in range(4)]
        for deck in (range(52), range(16, 40), few_ranks):
            hand = pack(rng.sample(deck, rng.randint(1, 9)))
            assert table.turns(hand) == fewest(hand)


def shortest(overrides: dict[str, object]) -> Shortest:
    rules = rule_set("xian", overrides)
    return rules.shortest_run(1), rules.shortest_run(2), rules.shortest_run(3), rules.shortest_run(4)


@pytest.mark.parametrize("choice", CHOICES)
def test_the_two_builds_agree_on_50_000_bytes(choice: Shortest) -> None:
    whole, lazy = TurnTable(choice, use_numpy=True), TurnTable(choice, use_numpy=False)
    for index in random.Random(3).sample(range(SIZE), 50_000):
        assert lazy.fill(index) == whole.values[index]
    assert whole.complete and not lazy.complete


@pytest.mark.slow
@pytest.mark.parametrize("choice", CHOICES)
def test_the_two_builds_agree_on_every_byte(choice: Shortest) -> None:
    lazy = TurnTable(choice, use_numpy=False)
    for index in range(SIZE):
        lazy.fill(index)
    assert lazy.values == TurnTable(choice, use_numpy=True).values


def test_a_play_lowers_the_turns_by_one_at_most() -> None:
    rules, rng = PRESETS["xian"], random.Random(4)
    table = turn_table(rules)
    for _ in range(200):
        hand = pack(rng.sample(range(52), 16))
        assert min(table.turns(remove(hand, play)) for play in leads(rules, hand)) == table.turns(hand) - 1


def test_the_index_counts_in_fives() -> None:
    assert turn_index(pack(parse_cards("4c4d5cKcAc3c"))) == 2 + 5 + 5**9
    assert turn_index(pack(range(40))) == SIZE - 1
    assert remove(pack(range(40)), PLAY_ID["456"]) != pack(range(40))


def test_rule_sets_with_the_same_runs_share_a_table_and_few_are_kept() -> None:
    assert turn_table(PRESETS["three_feature"]) is turn_table(PRESETS["baoji_blind"])
    assert turn_table(PRESETS["xian"]) is not turn_table(PRESETS["three_feature"])
    first = turn_table(PRESETS["xian"])
    for least in range(3, 11):
        turn_table(rule_set("four_feature", {"straight_min": least}))
    assert turn_table(PRESETS["xian"]) is not first


def test_importing_it_builds_no_table_and_loads_no_numpy() -> None:
    code = (
        "import sys, wakeng.bots.turns as t; assert not t._table.cache_info().currsize; print('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
