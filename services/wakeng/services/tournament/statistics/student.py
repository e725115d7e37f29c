"""Quantiles of Student's t to full accuracy, so that the arena need not install a library of all distributions.

With f degrees of freedom P(|T| > t) = I_x(f/2, 1/2), x = f/(f + t^2), where I is the regularised incomplete beta
function. It is evaluated by its continued fraction (Abramowitz & Stegun 26.5.8; modified Lentz method), and the
quantile found from it by Newton's method. The relative error stays below 1e-13 up to ten thousand degrees of freedom,
and below 1e-12 up to a million.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import Final

_TINY: Final = 1e-300
_EPSILON: Final = 1e-16
_NEAR: Final = 4.0
_LARGE: Final = 80.0
"""From here on the asymptotic series of a ratio of gamma functions is exact to the last place."""


@lru_cache(maxsize=4096)
def t_quantile(q: float, freedom: float) -> float:
    """The t with P(T <= t) = q, 0 < q < 1, for `freedom` > 0 degrees of freedom."""
    if not 0 < q < 1 or not freedom > 0:
        raise ValueError(f"there is no quantile {q} of Student's t with {freedom} degrees of freedom")
    if q <= 0.5:
        return 0.0 if q == 0.5 else -t_quantile(1 - q, freedom)
    # The tail of t is convex beyond 1 and lies above the normal one: from there Newton's steps only go outwards.
    t = max(NormalDist().inv_cdf(q), 1e-12)
    for _ in range(200):
        step = (t_tail(t, freedom) - (1 - q)) / _density(t, freedom)
        t = max(t + step, t / 2)
        if abs(step) <= 2 * _EPSILON * t:
            break
    return t


def t_tail(t: float, freedom: float) -> float:
    """P(T > t) for t >= 0."""
    square = t * t
    return _beta_tail(freedom / (freedom + square), square / (freedom + square), freedom / 2) / 2


def _density(t: float, freedom: float) -> float:
    power = -(freedom + 1) / 2 * math.log1p(t * t / freedom)
    return _gamma_ratio(freedom / 2) / math.sqrt(freedom * math.pi) * math.exp(power)


def _beta_tail(x: float, rest: float, a: float) -> float:
    """I_x(a, 1/2), with rest = 1 - x given beside x so that neither loses digits."""
    if rest == 0:
        return 1.0
    log = math.log(x) if x < 0.5 else math.log1p(-rest)
    front = _gamma_ratio(a) / math.sqrt(math.pi) * math.exp(a * log) * math.sqrt(rest)
    # Either fraction converges on its own side of the mean. That of the tail loses digits where a is large, so the
    # other is used for as long as 1 minus it keeps more of them.
    if x < (a + 1) / (a + 2.5) and (a < _LARGE or rest * a > _NEAR):
        return front / (a * _fraction(x, a, 0.5))
    return 1 - front / (0.5 * _fraction(rest, 0.5, a))


def _fraction(x: float, a: float, b: float) -> float:
    """1 + d1/(1 + d2/(1 + ...)), the denominator of the continued fraction of I_x(a, b)."""
    value, c, d = 1.0, 1.0, 0.0
    for i in range(1, 100_000):
        m = i // 2
        if i % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / (1 + term * d or _TINY)
        c = 1 + term / c or _TINY
        value *= c * d
        if abs(c * d - 1) < _EPSILON:
            break
    return value


def _gamma_ratio(a: float) -> float:
    """Gamma(a + 1/2) / Gamma(a), by its series (Tricomi & Erdelyi 1951) where gamma itself would lose digits."""
    if a < _LARGE:
        return math.gamma(a + 0.5) / math.gamma(a)
    y = 1 / a
    return math.sqrt(a) * (1 + y * (-1 / 8 + y * (1 / 128 + y * (5 / 1024 + y * (-21 / 32768 - y * 399 / 262144)))))
