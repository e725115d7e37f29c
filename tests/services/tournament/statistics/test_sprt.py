"""Is A stronger than B? (docs/statistics.md 7)"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.services.tournament.statistics.scenes import hand
from wakeng.services.tournament.simulation.models import Pairs
from wakeng.services.tournament.simulation.sequential import POPULATIONS
from wakeng.services.tournament.statistics import (
    Block,
    SprtOptions,
    SwapTest,
    Verdict,
    block_of,
    log_likelihood_ratio,
    sprt,
    watched_multiplier,
)

PLAIN = SprtOptions()
BOTH = SprtOptions(two_sided=True)


# Vector 6 -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("t", "m", "v", "llr"),
    [
        (400, 0.25, 4, 2.975876),
        (400, 0, 4, -1.990066),
        (900, 0.1, 5.5, 0),
        (1200, 0.17, 5.5, 3.047679),
        (1000, 0, 0, -896.712374),
    ],
)
def test_the_log_likelihood_ratio(t: int, m: float, v: float, llr: float) -> None:
    assert log_likelihood_ratio(t, m, v) == pytest.approx(llr, abs=5.1e-7)


def test_the_bounds_are_log_19_on_either_side() -> None:
    assert list(PLAIN.bounds) == pytest.approx([-2.944439, 2.944439], abs=5e-7)


# The test, step by step as the document has it, against the arrays ------------------------------


def by_hand(values: list[float], options: SprtOptions) -> tuple[str, int]:
    total = squares = 0.0
    nonzero = 0
    lower, upper = options.bounds
    for t, d in enumerate(values, 1):
        total, squares, nonzero = total + d, squares + d * d, nonzero + (d != 0)
        m = total / t
        llr = log_likelihood_ratio(t, m, squares / t - m * m, d0=options.d0, d1=options.d1)
        gate = t >= options.gate_blocks and (nonzero >= options.gate_not_zero or t >= options.gate_open)
        if gate and llr >= upper:
            return "A stronger", t
        if gate and llr <= lower:
            return "not stronger by d1", t
        if t == options.max_blocks:
            return "open", t
    return "running", len(values)


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.sampled_from([-0.5, 0.0, 0.1, 0.3, 1.0]), st.sampled_from(POPULATIONS))
def test_it_stops_where_the_document_says(seed: int, mean: float, pairs: Pairs) -> None:
    values = pairs.draw(np.random.default_rng(seed), 1200, mean=min(mean, 0.4)).tolist()
    options = replace(PLAIN, max_blocks=1100)
    result = sprt(values, options)
    assert (result.verdict.value, result.blocks) == by_hand(values, options)


def test_values_after_the_decision_do_not_matter() -> None:
    values = [1.0, 0.5] * 100
    result = sprt(values)
    assert result.verdict is Verdict.STRONGER
    assert sprt(values[: result.blocks]) == result
    assert sprt([*values[: result.blocks], -50.0, -50.0]) == result


# The gate -----------------------------------------------------------------------------------------


def test_nothing_is_decided_before_fifty_blocks() -> None:
    assert sprt([3.0] * 49).verdict is Verdict.RUNNING
    assert (sprt([3.0] * 50).verdict, sprt([3.0] * 80).blocks) == (Verdict.STRONGER, 50)


def test_nor_before_fifty_values_that_are_not_zero() -> None:
    mostly_zeros = [0.0, 0.0, 0.0, 3.0] * 60
    result = sprt(mostly_zeros)
    assert (result.verdict, result.blocks) == (Verdict.STRONGER, 200)


def test_but_a_thousand_blocks_are_enough_in_any_case() -> None:
    assert sprt([0.0] * 999, BOTH).verdict is Verdict.RUNNING
    result = sprt([0.0] * 1200, BOTH)
    assert (result.verdict, result.blocks) == (Verdict.NO_DIFFERENCE, 1000)
    assert result.alike
    assert result.mean == 0
    assert result.text == "no difference in 1000 deals"


def test_it_may_be_looked_at_less_often() -> None:
    assert sprt([3.0] * 100, replace(PLAIN, look_every=8)).blocks == 56


def test_a_question_that_nothing_decides_stays_open() -> None:
    swaying = [8.0, -7.8] * 400
    result = sprt(swaying, replace(PLAIN, max_blocks=500))
    assert (result.verdict, result.blocks, result.over) == (Verdict.OPEN, 500, True)


# Both sides ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "verdict"), [(1.0, Verdict.STRONGER), (-1.0, Verdict.WEAKER)])
def test_two_sided_it_says_who_is_stronger(value: float, verdict: Verdict) -> None:
    assert sprt([value, 0.5 * value] * 200, BOTH).verdict is verdict


def test_two_sided_each_side_gets_half_of_alpha() -> None:
    assert BOTH.bounds[1] == pytest.approx(math.log(0.95 / 0.025))
    assert BOTH.bounds[0] == pytest.approx(math.log(0.05 / 0.975))


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.sampled_from([-0.3, 0.0, 0.3]))
def test_two_sided_it_does_not_matter_who_is_called_a(seed: int, mean: float) -> None:
    values = POPULATIONS[0].draw(np.random.default_rng(seed), 1500, mean=mean)
    one, other = sprt(values.tolist(), BOTH), sprt((-values).tolist(), BOTH)
    mirrored = {Verdict.STRONGER: Verdict.WEAKER, Verdict.WEAKER: Verdict.STRONGER}
    assert other.verdict is mirrored.get(one.verdict, one.verdict)
    assert (other.blocks, other.mean) == (one.blocks, -one.mean)


# Afterwards ---------------------------------------------------------------------------------------


def test_the_interval_is_one_that_holds_at_the_stop() -> None:
    values = [2.0, -1.0, 1.0, 0.0] * 60
    result = sprt(values)
    t = result.blocks
    m = math.fsum(values[:t]) / t
    v = math.fsum(d * d for d in values[:t]) / t - m * m
    half = math.sqrt((t * v + 8) / (t + 2) / t) * watched_multiplier(t, planned=500)
    assert [result.low, result.high] == [pytest.approx(m - half), pytest.approx(m + half)]
    assert result.text == f"A stronger: {m:+.3f} [{m - half:+.3f}, {m + half:+.3f}], {t} deals"


def test_a_verdict_names_the_difference_it_is_about() -> None:
    result = sprt([-1.0, 0.5] * 200, replace(PLAIN, d1=0.4))
    assert result.text.startswith("not stronger by 0.4: ")
    assert result.to_dict()["verdict"] == "not stronger by d1"


def test_of_nothing_nothing_is_said() -> None:
    assert (sprt([]).verdict, sprt([]).text, sprt([]).low) == (Verdict.RUNNING, "no blocks", None)


@pytest.mark.parametrize("wrong", [{"d1": 0.0}, {"alpha": 0.5}, {"beta": 0.0}, {"max_blocks": 0}])
def test_options_that_make_no_test_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must"):
        replace(PLAIN, **wrong)  # type: ignore[arg-type]


def test_a_schedule_is_told_when_to_stop() -> None:
    def pair(number: int) -> Block:
        bots = ["".join(alone if seat == number % 3 else others for seat in range(3)) for alone, others in ("ab", "ba")]
        scores = [[6.0 if seat == number % 3 else -3.0 for seat in range(3)], [0.0] * 3]
        return block_of([hand(bots[r], *scores[r], block=number, rotation=r) for r in range(2)])

    test = SwapTest("a", "b", PLAIN)
    assert [test.add(pair(number)) for number in range(60)] == [False] * 49 + [True] * 11
    assert (test.result.verdict, test.result.blocks, test.result.mean) == (Verdict.STRONGER, 50, 3)


# Does it keep its promises? -----------------------------------------------------------------------


def share(verdict: Verdict, *, mean: float, runs: int, population: int, options: SprtOptions = PLAIN) -> float:
    rng = np.random.default_rng(population)
    pairs = POPULATIONS[population]
    results = [sprt(pairs.draw(rng, options.max_blocks, mean=mean).tolist(), options) for _ in range(runs)]
    return sum(result.verdict is verdict for result in results) / runs


@pytest.mark.parametrize("population", range(3))
def test_equal_bots_are_seldom_told_apart_and_unequal_ones_mostly(population: int) -> None:
    assert share(Verdict.STRONGER, mean=0.0, runs=400, population=population) <= 0.09
    assert share(Verdict.STRONGER, mean=0.2, runs=400, population=population) >= 0.89


@pytest.mark.slow
@pytest.mark.parametrize("population", range(3))
def test_error_rates_over_many_tests(population: int) -> None:
    assert share(Verdict.STRONGER, mean=0.0, runs=8000, population=population) <= 0.06
    assert share(Verdict.STRONGER, mean=0.2, runs=8000, population=population) >= 0.925
    both = [
        share(verdict, mean=0.0, runs=4000, population=population, options=BOTH)
        for verdict in (Verdict.STRONGER, Verdict.WEAKER)
    ]
    assert sum(both) <= 0.065
