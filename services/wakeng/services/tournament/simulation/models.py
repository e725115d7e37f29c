"""What simulated bots score. There are no cards: values are drawn from the models stated here, and the truth is known.

Points come as they do in the game, by stakes that are mostly small and sometimes twelve times as large: a magnitude M
of 1, 2, 3, 6 or 12 with a sign. All spreads are standard deviations, in points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wakeng.services.tournament.statistics.ratings import Floats, Sheet

Ints: TypeAlias = NDArray[np.int64]

MAGNITUDES: Final = np.array([1.0, 2.0, 3.0, 6.0, 12.0])
SHARES: Final = np.array([0.3, 0.3, 0.25, 0.1, 0.05])
_MEAN: Final = float(MAGNITUDES @ SHARES)
RMS: Final = math.sqrt(float(MAGNITUDES**2 @ SHARES))
"""The root of the mean square of a magnitude."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """A population of swap pairs: d is 0 in a share of them, else a stake whose sign leans as the truth demands."""

    name: str
    spread: float
    """Of d where neither bot is stronger."""
    zeros: float = 0.0

    def draw(self, rng: np.random.Generator, size: int, *, mean: float) -> Floats:
        """Values d of this true mean."""
        scale = self.spread / (math.sqrt(1 - self.zeros) * RMS)
        lean = mean / (2 * (1 - self.zeros) * _MEAN * scale)
        found: Floats = stakes(rng, size) * scale * np.where(rng.random(size) < 0.5 + lean, 1.0, -1.0)
        found[rng.random(size) < self.zeros] = 0.0
        return found


def stakes(rng: np.random.Generator, size: int | tuple[int, ...]) -> Floats:
    """Magnitudes."""
    return np.asarray(rng.choice(MAGNITUDES, size, p=SHARES), dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """Bots whose block scores have an expectation by the model of ratings, and noise that it knows nothing of."""

    theta: Floats
    spreads: Floats
    """Each bot's own noise, before that of its table is balanced to a sum of 0: unequal from bot to bot."""

    @classmethod
    def graded(cls, rng: np.random.Generator, bots: int, *, spread: float, noise: float = 2.0) -> Field:
        """Strengths drawn with a spread; the noise of bots differs by up to a factor of 3."""
        theta = rng.normal(0.0, spread, bots)
        return cls(theta - theta.mean(), noise * np.linspace(0.5, 1.5, bots)[rng.permutation(bots)])

    @property
    def numbers(self) -> Floats:
        """The true F."""
        return np.asarray(self.theta * len(self.theta) / (len(self.theta) - 1))

    def play(self, rng: np.random.Generator, line_ups: Ints) -> Sheet:
        """One block for each of these line-ups, rows of bots' numbers."""
        blocks, seats = line_ups.shape
        theta = self.theta[line_ups]
        expected = (seats * theta - theta.sum(axis=1, keepdims=True)) / (seats - 1)
        signs = np.where(rng.random(line_ups.shape) < 0.5, 1.0, -1.0)
        noise = self.spreads[line_ups] * signs * stakes(rng, line_ups.shape) / RMS
        noise -= noise.mean(axis=1, keepdims=True)
        copies, values = np.zeros((blocks, len(self.theta))), np.zeros((blocks, len(self.theta)))
        np.put_along_axis(copies, line_ups, 1.0, axis=1)
        np.put_along_axis(values, line_ups, expected + noise, axis=1)
        return Sheet(seats, copies, values)


def all_line_ups(rng: np.random.Generator, bots: int, blocks: int, *, seats: int = 3) -> Ints:
    """Every line-up once a cycle, each cycle in an order of its own; the last one may be cut short."""
    line_ups = np.array(list(combinations(range(bots), seats)))
    cycles = [rng.permutation(line_ups) for _ in range(-(-blocks // len(line_ups)))]
    return np.concatenate(cycles)[:blocks]


def near_equals(rng: np.random.Generator, theta: Floats, blocks: int, *, seats: int = 3) -> Ints:
    """A bot drawn evenly and others out of the four nearest to it in true strength: what pairing by rank tends to."""
    rank = np.argsort(-theta)
    found = []
    for first in rng.integers(0, len(theta), blocks):
        near = np.argsort(np.abs(np.arange(len(theta)) - first), kind="stable")[1:5]
        found.append([first, *rng.permutation(near)[: seats - 1]])
    return np.asarray(rank[np.array(found)])
