"""Does the test of `sprt` keep its error rates, and what becomes of tests that are not made for being watched?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from wakeng.services.tournament.simulation.models import Pairs
from wakeng.services.tournament.statistics.ratings import Floats
from wakeng.services.tournament.statistics.sprt import SprtOptions, SprtResult, Verdict, sprt

POPULATIONS: Final = (
    Pairs("noisy equals", 2.4),
    Pairs("near copies", 1.5, zeros=0.83),
    Pairs("unlike bots", 3.0, zeros=0.1),
)
TRUTHS: Final = (-0.1, 0.0, 0.1, 0.2, 0.4)
OPTIONS: Final = SprtOptions()


def one_sided(rng: np.random.Generator, runs: int) -> list[dict[str, Any]]:
    """Verdicts, blocks, and the coverage of the interval after the stop; at 0 "stronger" is the type I error."""
    return [_cell(rng, runs, pairs, truth, OPTIONS) for pairs in POPULATIONS for truth in TRUTHS]


def two_sided(rng: np.random.Generator, runs: int) -> list[dict[str, Any]]:
    """The same for "who is stronger, if anyone"."""
    options = replace(OPTIONS, two_sided=True)
    return [_cell(rng, runs, POPULATIONS[0], truth, options) for truth in (-0.2, 0.0, 0.2)]


def _cell(rng: np.random.Generator, runs: int, pairs: Pairs, truth: float, options: SprtOptions) -> dict[str, Any]:
    results = [sprt(pairs.draw(rng, options.max_blocks, mean=truth).tolist(), options) for _ in range(runs)]
    shares = {verdict: sum(result.verdict is verdict for result in results) / runs for verdict in Verdict}
    return {
        "population": pairs.name,
        "truth": truth,
        "stronger": shares[Verdict.STRONGER],
        "weaker": shares[Verdict.WEAKER],
        "not_stronger": shares[Verdict.NOT_STRONGER] + shares[Verdict.NO_DIFFERENCE],
        "open": shares[Verdict.OPEN],
        "mean_blocks": sum(result.blocks for result in results) / runs,
        "held": sum(_held(result, truth, None) for result in results) / runs,
        "plain_held": sum(_held(result, truth, 1.96) for result in results) / runs,
        "overshoot": sum(result.mean for result in results) / runs - truth,
    }


def _held(result: SprtResult, truth: float, factor: float | None) -> bool:
    if factor is not None:
        return abs(result.mean - truth) <= factor * (result.se or 0.0)
    return result.low is not None and result.high is not None and result.low <= truth <= result.high


def peeking(rng: np.random.Generator, runs: int) -> list[dict[str, Any]]:
    """Equal bots, and a plain 95 % interval that is looked at after every block until it leaves out 0."""
    found = []
    for pairs in POPULATIONS:
        fooled = sum(_fooled(pairs.draw(rng, OPTIONS.max_blocks, mean=0.0)) for _ in range(runs))
        found.append({"population": pairs.name, "difference_found": fooled / runs})
    return found


def _fooled(values: Floats) -> bool:
    t = np.arange(1, values.size + 1)
    mean = np.cumsum(values) / t
    error = np.sqrt(np.maximum(0.0, np.cumsum(values**2) / t - mean**2) / t)
    outside = np.abs(mean) > 1.96 * error
    return bool(outside[OPTIONS.gate_blocks - 1 :].any())
