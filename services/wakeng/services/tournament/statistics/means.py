"""Means over blocks with their intervals: for a length fixed beforehand, and for results that are watched.

A block is one deal played by every bot from every seat, and blocks are independent of each other; the hands of a block
are not. So k blocks are k observations, and nothing else is (docs/statistics.md 3).

    m = mean of y      s^2 = sum (y - m)^2 / (k - 1)      SE = s / sqrt(k)      m +- t(0.975, k - 1) SE

That holds for a k fixed beforehand. Who looks again and again, and stops when he likes what he sees, needs an interval
that holds at all times at once, an asymptotic confidence sequence (Robbins 1970; Waudby-Smith et al. 2024,
arXiv 2103.06476), tightest around t* observations:

    rho^2 = (-2 log a + log(1 - 2 log a)) / t*
    K(t)  = sqrt( 2 (t rho^2 + 1) / (t rho^2) log( sqrt(t rho^2 + 1) / a ) )          m +- K(t) SE
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from wakeng.engine import derive
from wakeng.services.tournament.statistics.student import t_quantile

RESAMPLES: Final = 2000
WATCHED_BLOCKS: Final = 500
"""t* where no number of blocks is planned."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over blocks, in points per hand. What cannot be said yet is None."""

    blocks: int
    mean: float | None
    se: float | None
    """The standard error; None below two blocks."""
    low: float | None
    high: float | None
    alike: bool
    """There are two blocks or more, and all have the same value."""

    @property
    def text(self) -> str:
        """For people: a mean with its interval, as far as there is one."""
        if self.mean is None:
            return "no blocks"
        if self.alike:
            return no_difference(self.blocks)
        if self.low is None or self.high is None:
            return f"{self.mean:+.3f}"
        return f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "blocks": self.blocks,
            "mean": rounded(self.mean),
            "se": rounded(self.se),
            "low": rounded(self.low),
            "high": rounded(self.high),
            "alike": self.alike,
        }


def no_difference(blocks: int) -> str:
    """What is said where every block has the same value, instead of an interval of no width."""
    return f"no difference in {blocks} deals"


def rounded(value: float | None) -> float | None:
    """A figure as it is published: what differs between two machines' libraries of linear algebra is rounded away."""
    return None if value is None or not math.isfinite(value) else round(value, 9) + 0.0


def estimate(
    values: Sequence[float], *, level: float = 0.95, provisional_below: int = 10, watched: float | None = None
) -> Estimate:
    """The mean of the values of blocks; with `watched`, the number of blocks planned, an interval for all times."""
    k = len(values)
    mean = math.fsum(values) / k if k else None
    if mean is None or k < 2:
        return Estimate(k, mean, None, None, None, alike=False)
    se = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (k - 1) / k)
    alike = all(value == values[0] for value in values)
    if alike or k < provisional_below:
        return Estimate(k, mean, 0.0 if alike else se, None, None, alike=alike)
    half = se * multiplier(k, level=level, watched=watched)
    return Estimate(k, mean, se, mean - half, mean + half, alike=False)


def multiplier(blocks: int, *, level: float = 0.95, watched: float | None = None) -> float:
    """How many standard errors an interval reaches to either side."""
    if watched is None:
        return t_quantile((1 + level) / 2, blocks - 1)
    return watched_multiplier(blocks, planned=watched, error=1 - level)


def watched_multiplier(blocks: float, *, planned: float, error: float = 0.05) -> float:
    """K(t) of the confidence sequence, t = `blocks`, t* = `planned`."""
    scaled = blocks * watched_rho2(planned, error=error)
    return math.sqrt(2 * (scaled + 1) / scaled * math.log(math.sqrt(scaled + 1) / error))


def watched_rho2(planned: float, *, error: float = 0.05) -> float:
    """rho^2, which makes the sequence tightest about `planned` blocks."""
    log = math.log(error)
    return (-2 * log + math.log(1 - 2 * log)) / planned


def bootstrap(
    values: Sequence[float], seed: bytes, *, level: float = 0.95, resamples: int = RESAMPLES
) -> tuple[float, float]:
    """The percentile interval of the mean over resampled blocks (Efron 1979): a check that assumes no distribution."""
    rng = np.random.default_rng(int.from_bytes(derive(seed, "bootstrap", 0)))
    data = np.asarray(values, dtype=np.float64)
    means = [data[rng.integers(0, data.size, data.size)].mean() for _ in range(resamples)]
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
