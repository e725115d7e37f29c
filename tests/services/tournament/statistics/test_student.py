"""Quantiles of Student's t against printed tables, closed forms and each other."""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wakeng.services.tournament.statistics.student import t_quantile, t_tail

# Critical values as every table prints them.
TABLE = {
    0.975: {
        1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228,
        15: 2.131, 20: 2.086, 25: 2.060, 30: 2.042, 40: 2.021, 60: 2.000, 80: 1.990, 100: 1.984, 120: 1.980,
    },
    0.95: {1: 6.314, 2: 2.920, 3: 2.353, 5: 2.015, 10: 1.812, 20: 1.725, 30: 1.697, 60: 1.671, 100: 1.660},
    0.99: {1: 31.821, 2: 6.965, 3: 4.541, 5: 3.365, 10: 2.764, 20: 2.528, 30: 2.457, 60: 2.390, 100: 2.364},
    0.995: {1: 63.657, 2: 9.925, 3: 5.841, 5: 4.032, 10: 3.169, 20: 2.845, 30: 2.750, 60: 2.660, 100: 2.626},
    0.9995: {1: 636.619, 2: 31.599, 3: 12.924, 5: 6.869, 10: 4.587, 20: 3.850, 30: 3.646, 60: 3.460, 100: 3.390},
}  # fmt: skip


@pytest.mark.parametrize(("q", "f", "t"), [(q, f, t) for q, row in TABLE.items() for f, t in row.items()])
def test_quantiles_are_those_of_the_tables(q: float, f: int, t: float) -> None:
    assert t_quantile(q, f) == pytest.approx(t, abs=5.1e-4)


@pytest.mark.parametrize("q", [0.51, 0.6, 0.75, 0.9, 0.975, 0.999, 0.999999])
def test_where_there_is_a_closed_form_it_is_met_to_the_last_digits(q: float) -> None:
    p = 2 * q - 1
    close = 1e-15 / (1 - q) + 1e-13  # A double near 1 does not say more of what is left.
    alpha = 4 * q * (1 - q)
    four = math.cos(math.acos(math.sqrt(alpha)) / 3) / math.sqrt(alpha)
    assert t_quantile(q, 1) == pytest.approx(math.tan(math.pi * p / 2), rel=close)
    assert t_quantile(q, 2) == pytest.approx(p * math.sqrt(2 / alpha), rel=close)
    assert t_quantile(q, 4) == pytest.approx(2 * math.sqrt(four - 1), rel=10 * close)


@pytest.mark.parametrize("q", [0.6, 0.975, 0.9999])
def test_with_many_degrees_of_freedom_it_becomes_the_normal_one(q: float) -> None:
    z = NormalDist().inv_cdf(q)
    f = 1e6
    first = z + (z**3 + z) / (4 * f) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * f * f)
    assert t_quantile(q, f) == pytest.approx(first, rel=1e-14 if q < 0.99 else 1e-12)


def test_nothing_shows_where_the_way_of_computing_changes() -> None:
    around = [t_quantile(0.975, f) for f in (159.5, 159.999, 160.001, 160.5)]
    assert (around[0] + around[3]) / 2 == pytest.approx(t_quantile(0.975, 160), abs=2e-7)
    assert (around[1] + around[2]) / 2 == pytest.approx(t_quantile(0.975, 160), abs=2e-12)


@given(q=st.floats(0.501, 0.99999), f=st.floats(1, 1e5))
def test_a_quantile_leaves_so_much_beyond_it(q: float, f: float) -> None:
    assert t_tail(t_quantile(q, f), f) == pytest.approx(1 - q, rel=1e-9)


@given(q=st.floats(0.01, 0.99), f=st.integers(1, 1000))
def test_it_is_symmetric(q: float, f: int) -> None:
    assert t_quantile(1 - q, f) == pytest.approx(-t_quantile(q, f), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("q", "f"), [(0.0, 5), (1.0, 5), (0.975, 0)])
def test_there_is_none_outside(q: float, f: float) -> None:
    with pytest.raises(ValueError, match="no quantile"):
        t_quantile(q, f)
