"""Is A stronger than B? A sequential test that stops as soon as the answer is known (docs/statistics.md 7).

H0 says that the mean of the values d of swap pairs is d0, H1 that it is d1. The likelihood ratio of two normal means
with the variance profiled out (generalised SPRT, Li, Liu & Ying 2014; bounds of Wald 1945) is, after t values of mean m
and variance v = mean of d^2 - m^2,

    w = (t v + 8)/(t + 2)          LLR = t/2 log( (w + (m - d0)^2) / (w + (m - d1)^2) )

The 8 and the 2 are two pseudo-blocks of 2 points, which keep w above 0. The test is looked at only once there are 50
values, and 50 of them are not 0 or there are 1000: near copies give mostly zeros, and the first few others are no
sample. Where |LLR| has reached neither bound after `max_blocks` the question stays open.

A mean at the moment of stopping leans towards the decision, and its plain interval covers too little; the interval
reported is that of the confidence sequence, m +- sqrt(w/t) K(t).

The two-sided question, who is stronger if anyone, is two tests, of d and of -d, each with alpha / 2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

import numpy as np

from wakeng.services.tournament.spec import TournamentSpec
from wakeng.services.tournament.statistics.means import (
    WATCHED_BLOCKS,
    no_difference,
    rounded,
    watched_multiplier,
)
from wakeng.services.tournament.statistics.ratings import Floats
from wakeng.services.tournament.statistics.results import Block, swap_value

PSEUDO_BLOCKS: Final = 2
PSEUDO_SQUARES: Final = 8.0


@dataclass(frozen=True, slots=True)
class SprtOptions:
    """A test's parameters; points are in units of the rule set's base."""

    d0: float = 0.0
    d1: float = 0.2
    """0.2 with an auction, 0.4 with an assigned digger."""
    alpha: float = 0.05
    beta: float = 0.05
    gate_blocks: int = 50
    gate_not_zero: int = 50
    gate_open: int = 1000
    """From so many blocks on it does not matter how many values are 0."""
    max_blocks: int = 5040
    """ceil(35 (s/d1)^2)."""
    look_every: int = 1
    level: float = 0.95
    two_sided: bool = False

    def __post_init__(self) -> None:
        if not self.d1 > self.d0:
            raise ValueError(f"d1 must be above d0, not {self.d1} and {self.d0}")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise ValueError(f"alpha and beta must lie between 0 and 0.5, not {self.alpha} and {self.beta}")
        if min(self.max_blocks, self.look_every) < 1:
            raise ValueError("max_blocks and look_every must be 1 or more")

    @property
    def bounds(self) -> tuple[float, float]:
        """The LLR at which H0 and at which H1 is taken."""
        alpha = self.alpha / 2 if self.two_sided else self.alpha
        return math.log(self.beta / (1 - alpha)), math.log((1 - self.beta) / alpha)


def sprt_options(spec: TournamentSpec) -> SprtOptions:
    """The test of a tournament, with the base divided out of its points."""
    d0, d1 = spec.margins
    options = spec.options
    return SprtOptions(
        d0=d0,
        d1=d1,
        alpha=options.alpha,
        beta=options.beta,
        gate_blocks=options.gate_blocks,
        gate_not_zero=options.gate_not_zero,
        max_blocks=spec.max_blocks,
        look_every=options.look_every,
        level=options.interval,
        two_sided=options.two_sided,
    )


class Verdict(Enum):
    """What a test says."""

    STRONGER = "A stronger"
    WEAKER = "B stronger"
    NOT_STRONGER = "not stronger by d1"
    NO_DIFFERENCE = "no difference"
    OPEN = "open"
    """Truncated."""
    RUNNING = "running"


@dataclass(frozen=True, slots=True)
class SprtResult:
    """A test as it stands after some blocks."""

    verdict: Verdict
    blocks: int
    """t: up to the decision, where there is one."""
    mean: float
    variance: float
    """w / t of the mean is its square error."""
    llr: float
    reverse_llr: float | None
    """That of -d, in a two-sided test."""
    low: float | None
    high: float | None
    alike: bool
    """All values are 0."""
    options: SprtOptions

    @property
    def over(self) -> bool:
        """No more blocks are needed."""
        return self.verdict is not Verdict.RUNNING

    @property
    def se(self) -> float | None:
        """sqrt(w/t)."""
        return math.sqrt(self.variance / self.blocks) if self.blocks else None

    @property
    def text(self) -> str:
        """For people."""
        if not self.blocks:
            return "no blocks"
        if self.alike:
            return no_difference(self.blocks)
        said = self.verdict.value.replace("d1", f"{self.options.d1:g}")
        return f"{said}: {self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}], {self.blocks} deals"

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        lower, upper = self.options.bounds
        return {
            "verdict": self.verdict.value,
            "blocks": self.blocks,
            "mean": rounded(self.mean),
            "se": rounded(self.se),
            "low": rounded(self.low),
            "high": rounded(self.high),
            "llr": rounded(self.llr),
            "reverse_llr": rounded(self.reverse_llr),
            "lower_bound": rounded(lower),
            "upper_bound": rounded(upper),
            "alike": self.alike,
        }


def log_likelihood_ratio(t: float, mean: float, variance: float, *, d0: float = 0.0, d1: float = 0.2) -> float:
    """LLR after t values of this mean and variance."""
    w = (t * max(0.0, variance) + PSEUDO_SQUARES) / (t + PSEUDO_BLOCKS)
    return t / 2 * math.log((w + (mean - d0) ** 2) / (w + (mean - d1) ** 2))


def sprt(values: Sequence[float], options: SprtOptions | None = None) -> SprtResult:
    """The test of the values of swap pairs in schedule order; those after the decision do not matter."""
    options = options or SprtOptions()
    path = _Path(np.asarray(values[: options.max_blocks], dtype=np.float64), options)
    verdict, t = path.decision()
    return path.result(verdict, t)


class SwapTest:
    """The test of two bots as a fold over their swap pairs in schedule order; `add` is a schedule's `stop`."""

    def __init__(self, bot: str, other: str, options: SprtOptions) -> None:
        self._pair = bot, other
        self._options = options
        self._values: list[float] = []
        self.result = sprt((), options)

    def add(self, block: Block) -> bool:
        """Count a block; whether the test is over. Blocks after that are not counted."""
        if not self.result.over:
            self._values.append(swap_value(block, *self._pair))
            self.result = sprt(self._values, self._options)
        return self.result.over


class _Path:
    """The running sums of a test, one place per block."""

    def __init__(self, values: Floats, options: SprtOptions) -> None:
        self._options = options
        self._t = np.arange(1, values.size + 1, dtype=np.float64)
        self._mean = np.cumsum(values) / self._t
        variance = np.maximum(0.0, np.cumsum(values**2) / self._t - self._mean**2)
        self._w = (self._t * variance + PSEUDO_SQUARES) / (self._t + PSEUDO_BLOCKS)
        self._not_zero = np.cumsum(values != 0)
        self._llr = self._ratio(self._mean)
        self._reverse = self._ratio(-self._mean) if options.two_sided else None

    def _ratio(self, mean: Floats) -> Floats:
        up, down = (mean - self._options.d0) ** 2, (mean - self._options.d1) ** 2
        found: Floats = self._t / 2 * np.log((self._w + up) / (self._w + down))
        return found

    def decision(self) -> tuple[Verdict, int]:
        """The verdict and the number of blocks it took."""
        stronger, t = self._side(self._llr)
        if self._reverse is None:
            word = Verdict.STRONGER if stronger else Verdict.NOT_STRONGER
            return (word, t) if t else self._undecided()
        weaker, u = self._side(self._reverse)
        # The first side to say "stronger" is right; "no difference" needs both.
        said = [(at, word) for says, at, word in ((stronger, t, Verdict.STRONGER), (weaker, u, Verdict.WEAKER)) if says]
        if said:
            at, word = min(said, key=lambda one: one[0])
            return word, at
        return (Verdict.NO_DIFFERENCE, max(t, u)) if t and u else self._undecided()

    def _side(self, llr: Floats) -> tuple[bool, int]:
        """Whether one test says "stronger", and when it decided; 0 for not yet."""
        options = self._options
        lower, upper = options.bounds
        enough = (self._not_zero >= options.gate_not_zero) | (self._t >= options.gate_open)
        look = (self._t % options.look_every == 0) | (self._t == options.max_blocks)
        crossed = np.flatnonzero(enough & look & (self._t >= options.gate_blocks) & ((llr >= upper) | (llr <= lower)))
        return (bool(llr[crossed[0]] >= upper), int(crossed[0]) + 1) if crossed.size else (False, 0)

    def _undecided(self) -> tuple[Verdict, int]:
        t = self._t.size
        return (Verdict.OPEN if t >= self._options.max_blocks else Verdict.RUNNING), t

    def result(self, verdict: Verdict, t: int) -> SprtResult:
        """The test as it stood after t blocks."""
        if not t:
            return SprtResult(verdict, 0, 0.0, 0.0, 0.0, None, None, None, alike=False, options=self._options)
        mean, w = float(self._mean[t - 1]), float(self._w[t - 1])
        error = 1 - self._options.level
        half = math.sqrt(w / t) * watched_multiplier(t, planned=WATCHED_BLOCKS, error=error)
        return SprtResult(
            verdict=verdict,
            blocks=t,
            mean=mean,
            variance=w,
            llr=float(self._llr[t - 1]),
            reverse_llr=None if self._reverse is None else float(self._reverse[t - 1]),
            low=mean - half,
            high=mean + half,
            alike=not self._not_zero[t - 1],
            options=self._options,
        )
