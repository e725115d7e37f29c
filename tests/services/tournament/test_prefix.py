"""Which hands may start and which blocks count: the same whatever finishes first, and after a crash as before it."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.services.tournament.worlds import Scores, fold, play, run, spec_of, world
from wakeng.services.tournament.blocks import Block, BlockKind
from wakeng.services.tournament.prefix import Recorded
from wakeng.services.tournament.spec import Format, TournamentSpec, tournament_rules

SPECS = {
    "all": spec_of(5, blocks=23),
    "balanced": spec_of(6, blocks=15, format=Format.BALANCED, rules=tournament_rules("four_blind")),
    "permutations": spec_of(4, blocks=6, block=BlockKind.PERMUTATION),
    "independent": spec_of(5, blocks=12, duplicate=False),
    "gauntlet": spec_of(7, blocks=20, format=Format.GAUNTLET, challengers=("bot-2",)),
    "swiss": spec_of(8, format=Format.SWISS),
    "ladder": spec_of(6, blocks=30, format=Format.LADDER),
    "sprt": spec_of(2, format=Format.SPRT),
}


def undisturbed(spec: TournamentSpec) -> list[tuple[Block, Scores | None]]:
    """Hand by hand, at one table."""
    progress = world(spec)
    run(progress, tables=1)
    assert progress.over
    return progress.results


EXPECTED = {name: undisturbed(spec) for name, spec in SPECS.items()}
NAMES = st.sampled_from(sorted(SPECS))


def resized(name: str, **changes: Any) -> TournamentSpec:
    return replace(SPECS[name], **changes)


# The same whatever finishes first -----------------------------------------------------------------


@given(NAMES, st.integers(1, 40), st.integers(1, 50), st.randoms(use_true_random=False))
def test_neither_tables_nor_window_nor_the_order_of_finishing_change_anything(
    name: str, tables: int, window: int, order: random.Random
) -> None:
    progress = world(resized(name, window=window))
    run(progress, tables=tables, choice=order.randrange)
    assert progress.over
    assert progress.results == EXPECTED[name]


@settings(max_examples=40)
@given(NAMES, st.randoms(use_true_random=False), st.lists(st.integers(0, 60), max_size=4))
def test_nor_do_crashes(name: str, order: random.Random, kills: list[int]) -> None:
    records: dict[int, dict[int, Scores]] = {}
    for most in (*kills, None):
        # After each crash some of the newest records may be missing, of any block.
        for hands in records.values():
            for place in [place for place in hands if order.random() < 0.1]:
                del hands[place]
        progress = world(resized(name, window=order.randint(1, 20)), Recorded(hands=records))
        for block, hands in run(progress, tables=8, choice=order.randrange, most=most).items():
            for place, outcome in hands.items():
                assert place not in records.get(block, {}), "nothing is played twice"
                records.setdefault(block, {})[place] = outcome
    assert progress.results == EXPECTED[name]


def test_thousands_of_recorded_blocks_are_taken_up_at_once() -> None:
    spec = spec_of(5, blocks=3_000)
    first = world(spec)
    records = run(first, tables=1)
    progress = world(spec, Recorded(hands=records))
    assert progress.over
    assert progress.results == first.results


# Prefix and window --------------------------------------------------------------------------------


@given(NAMES, st.integers(1, 30), st.integers(1, 30), st.randoms(use_true_random=False))
def test_no_block_begins_more_than_the_window_beyond_the_prefix(
    name: str, tables: int, window: int, order: random.Random
) -> None:
    progress = world(resized(name, window=window))
    seated: list[int] = []
    while not progress.over:
        for turn in progress.ready():
            assert progress.prefix <= turn.block.index < progress.prefix + window
            if len(seated) < tables:
                progress.started(turn.block.index)
                seated.append(turn.block.index)
        assert len(set(seated)) == len(seated), "one hand of a block at a time"
        block = seated.pop(order.randrange(len(seated)))
        before = progress.prefix
        progress.hand_ended(block, dict.fromkeys(range(10), 0.5))
        assert block == before or progress.prefix == before, "only the oldest block moves the prefix"


def turns(progress: Any) -> list[tuple[int, int]]:
    return [(turn.block.index, turn.hand.place) for turn in progress.ready()]


def test_the_oldest_incomplete_block_goes_first() -> None:
    progress = world(spec_of(5, blocks=50, window=4))
    assert turns(progress) == [(0, 0), (1, 0), (2, 0), (3, 0)]
    for block in (0, 1, 2):
        progress.started(block)
    assert turns(progress) == [(3, 0)]
    progress.hand_ended(1, dict.fromkeys(range(5), 0.0))
    assert turns(progress) == [(1, 1), (3, 0)]
    progress.hand_ended(0, dict.fromkeys(range(5), 0.0))
    assert turns(progress) == [(0, 1), (1, 1), (3, 0)]
    assert progress.prefix == 0
    oldest = progress.oldest
    assert oldest is not None and oldest.index == 0


def test_complete_blocks_wait_for_the_oldest_before_they_count() -> None:
    spec = spec_of(5, blocks=50, window=3)
    progress = world(spec)
    for block in (2, 1):
        for turn in range(3):
            progress.started(block)
            progress.hand_ended(block, {bot: float(turn) for bot in range(5)})
    assert (progress.prefix, progress.results, turns(progress)) == (0, [], [(0, 0)])
    for _ in range(3):
        progress.started(0)
        progress.hand_ended(0, dict.fromkeys(range(5), 7.0))
    assert progress.prefix == 3
    assert [block.index for block, _ in progress.results] == [0, 1, 2]
    assert turns(progress) == [(3, 0), (4, 0), (5, 0)]


def test_a_block_is_folded_by_turns_and_not_by_the_order_of_play() -> None:
    spec = spec_of(5, blocks=12)
    progress = world(spec)
    run(progress, tables=5)
    for block, result in progress.results:
        by_turn = sorted(spec.dealer.hands(block), key=lambda hand: hand.turn)
        assert result == fold(block, [play(hand) for hand in by_turn])


def test_a_hand_that_was_dropped_is_played_again() -> None:
    progress = world(spec_of(5, blocks=50, window=2))
    progress.started(0)
    progress.put_back(0)
    assert turns(progress) == [(0, 0), (1, 0)]
    assert [turn.attempt for turn in progress.ready()] == [0, 0]


def test_only_a_hand_in_play_can_end() -> None:
    progress = world(spec_of(5, blocks=50, window=2))
    for end in (lambda: progress.hand_ended(0, {}), lambda: progress.hand_voided(0), lambda: progress.put_back(9)):
        with pytest.raises(ValueError, match=r"no hand of block . is in play"):
            end()


# Voids --------------------------------------------------------------------------------------------


def test_a_voided_hand_is_played_again_on_the_same_deal_and_the_third_time_strikes_its_block_off() -> None:
    progress = world(spec_of(5, blocks=50, window=2))
    hands = []
    for attempt in range(3):
        turn = next(progress.ready())
        assert (turn.block.index, turn.attempt) == (0, attempt)
        hands.append(turn.hand)
        progress.started(0)
        assert progress.hand_voided(0) is (attempt == 2)
    assert hands[0] == hands[1] == hands[2]
    assert [(block.index, result) for block, result in progress.results] == [(0, None)]
    assert turns(progress) == [(1, 0), (2, 0)]


def test_voids_are_counted_hand_by_hand() -> None:
    progress = world(spec_of(5, blocks=50))
    for place in range(3):
        for _ in range(2):
            progress.started(0)
            assert not progress.hand_voided(0)
        progress.started(0)
        progress.hand_ended(0, dict.fromkeys(range(5), float(place)))
    assert progress.prefix == 1
    assert progress.results[0][1] is not None


def test_voids_are_remembered_over_a_crash() -> None:
    spec = spec_of(5, blocks=50, window=2)
    progress = world(spec, Recorded(hands={0: {0: {0: 1.0}}}, voids={(0, 1): 2, (1, 0): 3}))
    assert turns(progress) == [(0, 1)]
    assert next(progress.ready()).attempt == 2
    progress.started(0)
    assert progress.hand_voided(0)
    assert [(block.index, result) for block, result in progress.results] == [(0, None), (1, None)]


@settings(max_examples=40)
@given(NAMES, st.randoms(use_true_random=False), st.integers(0, 2**32))
def test_struck_off_blocks_leave_a_schedule_that_the_order_cannot_change_either(
    name: str, order: random.Random, luck: int
) -> None:
    fates = random.Random(luck)
    voids = [(block, fates.randrange(2)) for block in range(60) if fates.random() < 0.2]
    results = []
    for choice in (order.randrange, lambda n: 0):
        progress = world(SPECS[name])
        run(progress, tables=7, choice=choice, voids=voids)
        assert progress.over
        results.append(progress.results)
    assert results[0] == results[1]
    struck_off = {block.index for block, result in results[0] if result is None}
    assert struck_off == {block for block, _ in voids if block < len(results[0])}


# The end ------------------------------------------------------------------------------------------


@settings(max_examples=20)
@given(st.integers(1, 60), st.randoms(use_true_random=False))
def test_a_test_ends_with_the_block_that_decides_it_whatever_was_begun_beyond(
    tables: int, order: random.Random
) -> None:
    progress = world(resized("sprt", tables=tables))
    run(progress, tables=tables, choice=order.randrange)
    assert progress.prefix == len(EXPECTED["sprt"])
    assert turns(progress) == []


def test_what_is_still_in_play_at_the_end_counts_for_nothing() -> None:
    progress = world(SPECS["sprt"])
    progress.started(9)
    while not progress.over:
        turn = next(progress.ready())
        progress.started(turn.block.index)
        progress.hand_ended(turn.block.index, {0: -50.0, 1: 50.0})
    assert progress.prefix == 1
    progress.hand_ended(9, {0: 0.0, 1: 0.0})
    assert progress.prefix == 1
    assert turns(progress) == []
