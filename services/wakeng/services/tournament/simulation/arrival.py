"""What happens if blocks are counted as they arrive instead of by prefix: a slow bot wins without being stronger.

Two equal bots play swap pairs. A needs ten times as long as B, and in a hand that it loses longer still (or less long).
The blocks that are unfinished at any moment are therefore those that A loses, and among the others A is ahead. Blocks
start in schedule order, each on the first table that is free.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from wakeng.services.tournament.simulation.models import RMS, stakes
from wakeng.services.tournament.statistics.ratings import Floats
from wakeng.services.tournament.statistics.sprt import SprtOptions, Verdict, sprt

TABLES: Final = (64, 256, 1024)
SLOWNESS: Final = ((1.5, 1.0), (3.0, 1.0), (1.0, 3.0))
"""How much longer A thinks in a hand that it loses, and in one that it wins."""
A_PER_B: Final = 10.0
SPREAD: Final = 2.4
OPTIONS: Final = SprtOptions()


@dataclass(frozen=True, slots=True, eq=False)
class Played:
    """Swap pairs with the moments at which they were over."""

    values: Floats
    finished: Floats


def arrival(rng: np.random.Generator, runs: int) -> list[dict[str, Any]]:
    """How often A is called stronger by either way of counting, and how much later the prefix decides."""
    return [_cell(rng, runs, tables, losing, winning) for losing, winning in SLOWNESS for tables in TABLES]


def _cell(rng: np.random.Generator, runs: int, tables: int, losing: float, winning: float) -> dict[str, Any]:
    by_arrival = by_prefix = 0
    later = []
    for _ in range(runs):
        played = play(rng, OPTIONS.max_blocks, tables=tables, losing=losing, winning=winning)
        order = np.argsort(played.finished, kind="stable")
        by_arrival += sprt(played.values[order].tolist(), OPTIONS).verdict is Verdict.STRONGER
        test = sprt(played.values.tolist(), OPTIONS)
        by_prefix += test.verdict is Verdict.STRONGER
        later.append(played.finished[: test.blocks].max() / played.finished[order[test.blocks - 1]])
    return {
        "slower_when_losing": losing,
        "slower_when_winning": winning,
        "tables": tables,
        "stronger_by_arrival": by_arrival / runs,
        "stronger_by_prefix": by_prefix / runs,
        "prefix_later": float(np.median(later)),
    }


def play(rng: np.random.Generator, blocks: int, *, tables: int, losing: float, winning: float) -> Played:
    """Equal bots; times in units of what B needs for a hand on average."""
    sums = np.zeros(blocks)
    lengths = np.zeros(blocks)
    for _ in range(2):  # The hand with A alone, and the one with B alone.
        score = np.where(rng.random(blocks) < 0.5, 1.0, -1.0) * stakes(rng, blocks)
        pace = np.where(score < 0, losing, winning)
        lengths += rng.lognormal(0.0, 0.3, blocks) * (1 + A_PER_B * pace)
        sums += score
    return Played(SPREAD / math.sqrt(2) / RMS * sums, _finished(lengths.tolist(), tables))


def _finished(lengths: list[float], tables: int) -> Floats:
    free = [0.0] * tables
    found = []
    for length in lengths:
        over = free[0] + length
        heapq.heapreplace(free, over)
        found.append(over)
    return np.array(found)
