"""Do intervals hold the truth as often as they say, at the end and at all times, and do ratings recover the order?"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from wakeng.services.tournament.simulation.models import Field, Pairs, all_line_ups, near_equals
from wakeng.services.tournament.statistics.means import multiplier, watched_multiplier
from wakeng.services.tournament.statistics.ratings import Floats, Sheet, fit_sheet

LENGTHS: Final = (5, 10, 30, 100, 1000)
WATCHED_FROM: Final = 50
WATCHED_UPTO: Final = 5000
POPULATION: Final = Pairs("heavy tails", 2.4)
TABLES: Final = (
    ("all line-ups", 5, 20),
    ("all line-ups", 5, 60),
    ("all line-ups", 5, 200),
    ("all line-ups", 12, 220),
    ("all line-ups", 12, 880),
    ("near-equals", 12, 880),
)
"""How tables are made up, bots, blocks."""


def means(rng: np.random.Generator, runs: int) -> list[dict[str, Any]]:
    """For several lengths fixed beforehand, how often m +- t SE held the true mean."""
    found = []
    for k in LENGTHS:
        values = POPULATION.draw(rng, runs * k, mean=0.1).reshape(runs, k)
        half = multiplier(k) * values.std(axis=1, ddof=1) / np.sqrt(k)
        held = np.abs(values.mean(axis=1) - 0.1) <= half
        found.append({"blocks": k, "held": _share(held), "half_width": float(half.mean())})
    return found


def watched(rng: np.random.Generator, runs: int) -> list[dict[str, Any]]:
    """How often an interval held at every moment from block 50 to 5000: the watched one, and the plain one."""
    t = np.arange(1, WATCHED_UPTO + 1)
    factors = {
        "watched": np.array([watched_multiplier(float(i), planned=500) for i in t]),
        "plain": np.full(t.size, 1.96),
    }
    held = dict.fromkeys(factors, 0)
    for _ in range(runs):
        values = POPULATION.draw(rng, t.size, mean=0.0)
        mean = np.cumsum(values) / t
        error = np.sqrt(np.maximum(1e-300, np.cumsum(values**2) / t - mean**2) / np.maximum(1, t - 1))
        for name, factor in factors.items():
            held[name] += bool((np.abs(mean) <= factor * error)[WATCHED_FROM - 1 :].all())
    return [{"interval": name, "held_throughout": count / runs} for name, count in held.items()]


def ratings(rng: np.random.Generator, runs: int) -> list[dict[str, Any]]:
    """Coverage of the intervals of F and of differences, and how well the ranking agrees with the true one."""
    found = []
    for tables, bots, blocks in TABLES:
        tournaments = runs if bots < 10 else max(1, runs // 4)
        rows = np.array([_tournament(rng, tables, bots, blocks) for _ in range(tournaments)])
        held, held_difference, half, model, plain, best = rows.mean(axis=0).tolist()
        found.append(
            {
                "tables": tables,
                "bots": bots,
                "blocks": blocks,
                "held": held,
                "held_difference": held_difference,
                "half_width": half,
                "rank_correlation": model,
                "rank_correlation_of_plain_means": plain,
                "best_named_first": best,
            }
        )
    return found


def _tournament(rng: np.random.Generator, tables: str, bots: int, blocks: int) -> list[float]:
    field = Field.graded(rng, bots, spread=0.35)
    near = tables == "near-equals"
    line_ups = near_equals(rng, field.theta, blocks) if near else all_line_ups(rng, bots, blocks)
    data = field.play(rng, line_ups)
    fitted = fit_sheet(data, [str(i) for i in range(bots)])
    truth = field.numbers
    half = np.array([multiplier(games) for games in fitted.games]) * np.array(fitted.errors)
    held = np.abs(fitted.numbers - truth) <= half
    apart = multiplier(min(fitted.games[:2])) * fitted.difference_error(0, 1)
    wrong = abs(float(fitted.numbers[0] - fitted.numbers[1] - truth[0] + truth[1]))
    return [
        _share(held),
        float(wrong <= apart),
        float(half.mean()),
        rank_correlation(fitted.numbers, truth),
        rank_correlation(_plain_means(data), truth),
        float(fitted.numbers.argmax() == truth.argmax()),
    ]


def _plain_means(data: Sheet) -> Floats:
    return np.asarray(data.values.sum(axis=0) / np.maximum(1, data.copies.sum(axis=0)))


def rank_correlation(a: Floats, b: Floats) -> float:
    """Spearman's."""
    ranks = np.array([np.argsort(np.argsort(values)) for values in (a, b)], dtype=np.float64)
    off = ranks - ranks.mean(axis=1, keepdims=True)
    return float(off[0] @ off[1] / np.sqrt((off[0] @ off[0]) * (off[1] @ off[1])))


def _share(held: NDArray[np.bool_]) -> float:
    return float(held.mean())
