"""Means over blocks with their intervals (docs/statistics.md 3)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wakeng.services.tournament.statistics import bootstrap, estimate, t_quantile, watched_multiplier
from wakeng.services.tournament.statistics.means import multiplier, rounded, watched_rho2

EIGHT = [1, -2 / 3, 0, 7 / 3, -1, 4 / 3, 1 / 3, 0]
values = st.lists(st.integers(-48, 48).map(lambda n: n / 3), min_size=2, max_size=40)


# Vector 2 -----------------------------------------------------------------------------------------


def test_a_mean_with_its_interval() -> None:
    found = estimate(EIGHT, provisional_below=0)
    assert found.mean == pytest.approx(0.416667, abs=5e-7)
    assert found.se == pytest.approx(0.387042, abs=5e-7)
    assert t_quantile(0.975, 7) == pytest.approx(2.364624, abs=7e-7)
    assert found.low == pytest.approx(-0.498542, abs=5e-7)
    assert found.high == pytest.approx(1.331876, abs=5e-7)


@pytest.mark.parametrize(("t", "k"), [(100, 3.363888), (500, 3.035209), (2000, 3.127114)])
def test_an_interval_that_is_watched_is_wider(t: int, k: float) -> None:
    assert watched_rho2(500) == pytest.approx(0.01587231, abs=5e-9)
    assert watched_multiplier(t, planned=500) == pytest.approx(k, abs=5e-7)
    assert multiplier(t, watched=500) == pytest.approx(watched_multiplier(t, planned=500))


# Around it ----------------------------------------------------------------------------------------


@given(values)
def test_the_order_of_blocks_does_not_matter(found: list[float]) -> None:
    assert estimate(found) == estimate(found[::-1]) == estimate(sorted(found))


@given(values, st.integers(-5, 5))
def test_a_shift_of_all_blocks_shifts_the_mean_and_nothing_else(found: list[float], shift: int) -> None:
    before, after = estimate(found), estimate([value + shift for value in found])
    assert before.mean is not None
    assert after.mean == pytest.approx(before.mean + shift)
    assert after.se == pytest.approx(before.se, abs=1e-9)


def test_below_ten_blocks_a_mean_is_provisional() -> None:
    nine, ten = estimate([*EIGHT, 1.0]), estimate([*EIGHT, 1.0, 2.0])
    assert (nine.low, nine.high) == (None, None)
    assert nine.se is not None
    assert ten.low is not None
    assert nine.text == "+0.481"
    assert ten.text == "+0.633 [-0.149, +1.416]"


def test_blocks_that_are_all_alike_give_no_interval_of_no_width() -> None:
    found = estimate([0.0] * 20)
    assert (found.mean, found.low, found.alike) == (0, None, True)
    assert found.text == "no difference in 20 deals"


def test_of_no_block_or_one_little_can_be_said() -> None:
    assert (estimate([]).mean, estimate([]).text) == (None, "no blocks")
    assert (estimate([3.0]).mean, estimate([3.0]).se, estimate([3.0]).alike) == (3, None, False)


def test_figures_are_published_without_their_last_bits() -> None:
    assert rounded(0.1 + 0.2) == 0.3
    assert rounded(math.inf) is None
    assert str(rounded(-1e-12)) == "0.0"


@given(st.integers(1, 10_000), st.floats(1, 10_000))
def test_a_watched_interval_depends_on_the_share_of_the_plan_alone(t: int, planned: float) -> None:
    assert watched_multiplier(t, planned=planned) == pytest.approx(watched_multiplier(10 * t, planned=10 * planned))
    assert watched_multiplier(t, planned=planned) > 1.96


# Do they hold? ------------------------------------------------------------------------------------


def normal(seed: int, *shape: int) -> np.typing.NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=shape)


def test_the_bootstrap_agrees_with_the_interval_and_is_the_same_for_the_same_seed() -> None:
    found = (normal(1, 200) * 2 + 0.3).tolist()
    plain = estimate(found)
    low, high = bootstrap(found, bytes(32))
    assert plain.low is not None
    assert plain.high is not None
    width = plain.high - plain.low
    assert low == pytest.approx(plain.low, abs=0.06 * width)
    assert high == pytest.approx(plain.high, abs=0.06 * width)
    assert bootstrap(found, bytes(32)) == (low, high)
    assert bootstrap(found, bytes(31) + b"\1") != (low, high)


@pytest.mark.parametrize("k", [5, 10, 40])
def test_an_interval_holds_the_truth_nineteen_times_in_twenty(k: int) -> None:
    data = normal(k, 4000, k)
    half = multiplier(k) * data.std(axis=1, ddof=1) / math.sqrt(k)
    held = (np.abs(data.mean(axis=1)) <= half).mean()
    assert 0.935 <= held <= 0.965  # Four standard errors about 0.95.


def test_a_watched_interval_holds_at_all_times_and_a_plain_one_does_not() -> None:
    t = np.arange(1, 1001)
    mean = np.cumsum(normal(3, 400, t.size), axis=1) / t
    error = 1 / np.sqrt(t)
    factor = np.array([watched_multiplier(float(i), planned=500) for i in t])
    watched = (np.abs(mean) <= factor * error)[:, 49:].all(axis=1).mean()
    plain = (np.abs(mean) <= 1.96 * error)[:, 49:].all(axis=1).mean()
    assert watched >= 0.95
    assert plain < 0.75
