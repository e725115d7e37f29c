"""The number F with its errors, and what escapes do to it (docs/statistics.md 5 and 6)."""

from __future__ import annotations

import math
import random
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.services.tournament.statistics.scenes import FOUR_LINES, block, blocks, hand, tournaments
from wakeng.services.tournament.simulation.models import Field, all_line_ups
from wakeng.services.tournament.statistics import Block, block_of, bootstrap_numbers, fit, rater, with_escapes
from wakeng.services.tournament.statistics.means import multiplier
from wakeng.services.tournament.statistics.ratings import Floats, fit_sheet

FOUR = "0123"
FIVE = "01234"


def close(*figures: float, digits: int = 6) -> object:
    return pytest.approx(list(figures), abs=0.51 * 10**-digits)


# Vectors 3 and 4 ----------------------------------------------------------------------------------


def test_where_all_pairs_met_equally_often_the_number_is_the_plain_mean() -> None:
    fitted = fit(blocks(*FOUR_LINES), FOUR)
    assert fitted.numbers.tolist() == close(1, 2 / 3, -1 / 3, -4 / 3)


def test_elsewhere_it_is_what_the_model_says() -> None:
    fitted = fit(blocks(*FOUR_LINES, "012 -1 0 1"), FOUR)
    assert fitted.theta.tolist() == close(0.454545, 0.454545, 0.090909, -1)
    assert fitted.numbers.tolist() == close(0.606061, 0.606061, 0.121212, -1.333333)
    assert list(fitted.errors) == close(0.910863, 0.999985, 0.790230, 0.474317)
    assert fitted.difference_error(0, 1) == pytest.approx(1.542700, abs=5e-7)
    assert fitted.games == (4, 4, 4, 3)
    assert fitted.blocks == (5, 5, 5, 5)


def test_for_pairing_it_is_shrunk() -> None:
    fitted = fit(blocks(*FOUR_LINES, "012 -1 0 1"), FOUR, ridge=8)
    assert fitted.numbers.tolist() == close(0.161905, 0.161905, 0.009524, -0.333333)


def test_a_block_that_was_escaped_counts_for_the_leaver_alone() -> None:
    hands = [
        hand("012", s, 0, 0, block=4, rotation=r, escaped_seat=None if r else 0) for r, s in enumerate((-10, 1, 2))
    ]
    found = [*blocks(*FOUR_LINES), block_of(hands)]
    fitted = with_escapes(fit(found, FOUR), found)
    assert fitted.theta.tolist() == close(0.75, 0.5, -0.25, -1)
    assert (fitted.numbers[0] - 0.75 * 1) / 0.25 == pytest.approx(-1.958333, abs=2e-6)
    assert fitted.numbers.tolist() == close(0.260417, 2 / 3, -1 / 3, -4 / 3)


# What must be so ----------------------------------------------------------------------------------


@settings(max_examples=50)
@given(tournaments(), st.randoms(use_true_random=False))
def test_the_order_of_results_does_not_matter(found: list[Block], rng: random.Random) -> None:
    shuffled = rng.sample(found, len(found))
    one, other = fit(found, FIVE), fit(shuffled, FIVE)
    assert other.numbers.tolist() == pytest.approx(one.numbers.tolist(), abs=1e-9)
    assert other.errors == pytest.approx(one.errors, abs=1e-9)


@settings(max_examples=50)
@given(tournaments())
def test_numbers_sum_to_zero_and_the_names_of_bots_do_not_matter(found: list[Block]) -> None:
    fitted = fit(found, FIVE)
    assert fitted.numbers.sum() == pytest.approx(0, abs=1e-9)
    backwards = fit(found, FIVE[::-1])
    assert backwards.numbers.tolist()[::-1] == pytest.approx(fitted.numbers.tolist(), abs=1e-9)


@settings(max_examples=50)
@given(tournaments(cycles=2))
def test_in_all_line_ups_the_number_is_the_plain_mean_of_y(found: list[Block]) -> None:
    fitted = fit(found, FIVE)
    for i, bot in enumerate(FIVE):
        own = [b.values[bot] for b in found if bot in b.values]
        assert fitted.numbers[i] == pytest.approx(math.fsum(own) / len(own), abs=1e-9)


@settings(max_examples=50)
@given(tournaments())
def test_it_is_the_least_squares_solution_of_the_model(found: list[Block]) -> None:
    rows, scores = [], []
    for b in found:
        for bot, value in b.values.items():
            others = [1 / 2 if other in b.values and other != bot else 0 for other in FIVE]
            rows.append([(other == bot) - share for other, share in zip(FIVE, others, strict=True)])
            scores.append(value)
    theta = np.linalg.lstsq(np.array(rows), np.array(scores), rcond=None)[0]
    assert fit(found, FIVE).theta.tolist() == pytest.approx(theta.tolist(), abs=1e-9)


@settings(max_examples=30)
@given(tournaments(), st.sampled_from(FIVE), st.integers(1, 5))
def test_an_escape_moves_nobody_but_the_leaver(found: list[Block], bot: str, penalty: int) -> None:
    others = "".join(other for other in next(b for b in found if bot in b.line_up).line_up if other != bot)
    left = block(bot + others, -10 * penalty, 3, 0, number=len(found), leaver=bot)
    before, after = fit(found, FIVE), with_escapes(fit([*found, left], FIVE), [*found, left])
    for i, name in enumerate(FIVE):
        moved = abs(float(after.numbers[i] - before.numbers[i])) > 1e-9
        assert moved <= (name == bot)
        assert after.dirty[i] == (name == bot)
        assert after.games[i] == before.games[i]


def test_the_error_of_a_leaver_has_three_parts() -> None:
    dirty = [block("012", -10, 5, 5, number=4, leaver="0"), block("013", -4, 2, 2, number=5, leaver="0")]
    found = [*blocks(*FOUR_LINES), *dirty]
    clean, fitted = fit(found, FOUR), with_escapes(fit(found, FOUR), found)
    # theta 0.75, 0.5, -0.25, -1 (vector 4): what the leaver met, against what the field is.
    a = [-10 + (0.5 - 0.25) / 2 + 0.25, -4 + (0.5 - 1) / 2 + 0.25]
    mean, w, m, g = sum(a) / 2, 3 / 5, 2, 3
    variance = sum((value - mean) ** 2 for value in a) / (m - 1)
    square = w**2 * clean.errors[0] ** 2 + (1 - w) ** 2 * variance / m + w * (1 - w) * (1 - mean) ** 2 / (g + m)
    assert fitted.numbers[0] == pytest.approx(w * 1 + (1 - w) * mean)
    assert fitted.errors[0] == pytest.approx(math.sqrt(square))
    assert fitted.errors[1:] == pytest.approx(clean.errors[1:])


def test_a_bot_that_escaped_all_its_blocks_stands_with_those_whom_it_left() -> None:
    found = [*blocks("012 2 -1 -1", "012 1 0 -1"), block("301", -10, 5, 5, number=2, leaver="3")]
    fitted = with_escapes(fit(found, FOUR), found)
    assert fitted.groups == ((0, 1, 2, 3),)
    assert (fitted.games[3], fitted.dirty[3]) == (0, 1)
    met = (fitted.theta[0] + fitted.theta[1]) / 2
    assert fitted.numbers[3] == pytest.approx(-10 + met)


def test_bots_that_no_table_links_get_numbers_of_their_own() -> None:
    found = [*blocks(*FOUR_LINES), block("456", 2, 0, -2, number=4), block("456", 1, 0, -1, number=5)]
    fitted = fit(found, "01234567")
    assert fitted.groups == ((0, 1, 2, 3), (4, 5, 6), (7,))
    assert fitted.numbers[:4].tolist() == fit(found[:4], FOUR).numbers.tolist()
    assert fitted.numbers[4:7].tolist() == close(1.5, 0, -1.5)
    assert fitted.blocks == (4, 4, 4, 4, 2, 2, 2, 0)
    assert fitted.errors[7] == math.inf
    assert fitted.difference_error(0, 4) == math.inf


def test_with_fewer_blocks_than_bots_no_error_is_known() -> None:
    found = blocks("012 2 -1 -1", "234 1 0 -1")
    assert set(fit(found, FIVE).errors) == {math.inf}
    assert set(fit(found, FIVE, ridge=8).errors) == {math.inf}
    assert fit([], FIVE, ridge=8).numbers.tolist() == [0] * 5


def test_copies_at_a_table_are_one_bot() -> None:
    tables = [("abb", 2, -1, -1), ("abb", 1, -0.5, -0.5), ("aab", 0.5, 0.5, -1)]
    found = []
    for number, (bots, *scores) in enumerate(tables):
        hands = block(bots, *scores, number=number).hands
        found.append(block_of(hands))
    fitted = fit(found, "ab")
    # Least squares over the nine seats: theta_a - theta_b weighs with what each line-up tells of it.
    rows = [(1, 2), (1, 1), (0.5, 0.5), *[(-0.5, -1)] * 2, *[(-0.5, -0.5)] * 2, (0.5, 0.5), (-1, -1)]
    apart = sum(x * y for x, y in rows) / sum(x * x for x, _ in rows)
    assert fitted.numbers[0] == pytest.approx(apart)


def test_schedules_are_given_shrunk_ratings_by_the_bots_numbers() -> None:
    found = blocks(*FOUR_LINES, "012 -1 0 1")
    ratings = rater(list(FOUR))(found)
    shrunk = fit(found, FOUR, ridge=8)
    assert list(ratings.f) == shrunk.numbers.tolist()
    assert list(ratings.theta) == shrunk.theta.tolist()
    assert list(ratings.errors) == list(shrunk.errors)


# Do the errors hold? ------------------------------------------------------------------------------


def simulated(seed: int, *, bots: int = 5, count: int = 100) -> list[Block]:
    rng = np.random.default_rng(seed)
    field = Field.graded(rng, bots, spread=0.4)
    data = field.play(rng, all_line_ups(rng, bots, count))
    found = []
    for number, row in enumerate(data.values):
        line_up = np.flatnonzero(data.copies[number]).tolist()
        found.append(block("".join(map(str, line_up)), *row[line_up], number=number))
    return found


def test_the_bootstrap_over_blocks_agrees_with_the_sandwich() -> None:
    found = simulated(4, count=200)
    fitted = fit(found, FIVE)
    for i, (low, high) in enumerate(bootstrap_numbers(found, FIVE, bytes(32), resamples=400).values()):
        assert (low + high) / 2 == pytest.approx(fitted.numbers[i], abs=0.4 * fitted.errors[i])
        assert (high - low) / 3.92 == pytest.approx(fitted.errors[i], rel=0.2)


def coverage(*, bots: int, count: int, runs: int) -> Floats:
    """How often the intervals of numbers and of a difference held the truth."""
    rng = np.random.default_rng(count)
    held = []
    for _ in range(runs):
        field = Field.graded(rng, bots, spread=0.4)
        fitted = fit_sheet(field.play(rng, all_line_ups(rng, bots, count)), [str(i) for i in range(bots)])
        half = multiplier(fitted.games[0]) * np.array(fitted.errors)
        apart = field.numbers[0] - field.numbers[1]
        wrong = abs(fitted.numbers[0] - fitted.numbers[1] - apart)
        difference = float(wrong <= multiplier(fitted.games[0]) * fitted.difference_error(0, 1))
        held.append([float((np.abs(fitted.numbers - field.numbers) <= half).mean()), difference])
    return np.asarray(np.mean(held, axis=0))


@pytest.mark.parametrize("count", [20, 60])
def test_intervals_hold_the_truth_nineteen_times_in_twenty(count: int) -> None:
    held, difference = coverage(bots=5, count=count, runs=600)
    assert 0.93 <= held <= 0.985
    assert 0.925 <= difference <= 0.985


@pytest.mark.slow
@pytest.mark.parametrize(("bots", "count"), [(5, 200), (5, 1000), (12, 880)])
def test_intervals_hold_in_long_tournaments(bots: int, count: int) -> None:
    held, difference = coverage(bots=bots, count=count, runs=4000)
    assert 0.94 <= held <= 0.96
    assert 0.935 <= difference <= 0.965


def test_every_line_up_of_the_design_is_played_equally_often() -> None:
    line_ups = all_line_ups(np.random.default_rng(1), 5, 20).tolist()
    assert sorted(map(tuple, line_ups)) == sorted(2 * list(combinations(range(5), 3)))
