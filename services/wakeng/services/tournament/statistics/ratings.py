"""The number F of every bot, in points per hand against the field, with the errors of all numbers and differences.

F of a bot is what it would score at a table whose other seats are drawn from the rest of the field. The model, for a
bot i in a clean block b of the line-up L (docs/statistics.md 5):

    E y_bi = theta_i - mean of theta over L without i

Least squares give the normal equations A theta = r. Their sums do not depend on the order of the results:

    A_ii = g_i (n-1)/n      A_ij = -c_ij/n      r_i = (n-1)/n x sum of y_bi over blocks
    theta = (A + lambda I)^-1 r, centred         F_i = theta_i - mean of the other thetas = theta_i N/(N-1)

g_i counts the blocks of i, c_ij those of both i and j. A has the vector of ones in its kernel, and nothing else where
tables link all bots; pieces that no table links get separate numbers. With lambda = 0 the inverse is the
pseudo-inverse, (A + J/N)^-1 - J/N, and F is the plain mean of y wherever every pair of bots met equally often
(regularised adjusted plus-minus, Sill 2010). Errors are those of a sandwich with blocks as clusters, which asks neither
for equal variances nor for independent bots in a block (Liang & Zeger 1986; Cameron & Miller 2015; MacKinnon, Nielsen &
Webb, arXiv 2301.04527):

    u_bi = (n-1)/n y_bi - (theta_i - mean of theta over L), 0 for bots not in b      B = sum over b of u_b u_b^T
    C = N/(N-1) (I - J/N)      V = G/(G-N+1) C P B P C^T, P = (A + lambda I)^-1 or pseudo-inverse

Where a bot has m_i copies in a line-up, all this is weighted with m: A = sum over b of diag(m) - m m^T/n, and so on.

An escape costs nobody but the leaver: the block leaves the model, and enters for each leaver as
a_b = y_bi + mean of theta over L without i - mean of theta over the field without i (docs/statistics.md 6):

    w = g_i/(g_i + m)      F_i' = w F_i + (1-w) mean(a)
    SE^2 = w^2 V_ii + (1-w)^2 var(a)/m + w (1-w) (F_i - mean(a))^2/(g_i + m)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from wakeng.engine import derive
from wakeng.services.tournament.pairing import Rate, Ratings
from wakeng.services.tournament.statistics.means import RESAMPLES
from wakeng.services.tournament.statistics.results import Block

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """Block values as arrays of shape blocks x bots."""

    seats: int
    copies: Floats
    """How many seats a bot has in the line-up of a block, 0 where it sits out."""
    values: Floats
    """y, 0 where the bot sits out."""


def sheet(blocks: Iterable[Block], bots: Sequence[str]) -> Sheet:
    """The clean ones of these blocks."""
    clean = [block for block in blocks if block.clean]
    column = {bot: i for i, bot in enumerate(bots)}
    copies, values = np.zeros((len(clean), len(bots))), np.zeros((len(clean), len(bots)))
    for row, block in enumerate(clean):
        for bot, seats in block.line_up.items():
            copies[row, column[bot]] = seats
            values[row, column[bot]] = block.values[bot]
    return Sheet(clean[0].players if clean else 2, copies, values)


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """What the model says. Arrays go by the order of `bots`."""

    bots: tuple[str, ...]
    groups: tuple[tuple[int, ...], ...]
    """The pieces of the field that tables link, bots by their places; one piece with lambda > 0."""
    blocks: tuple[int, ...]
    """G by bot: the clean blocks of its group."""
    games: tuple[int, ...]
    """g: clean blocks of each bot."""
    dirty: tuple[int, ...]
    """Blocks of each bot which it escaped, as far as the numbers contain them."""
    theta: Floats
    numbers: Floats
    """F. Within a group without escapes they sum to zero."""
    variance: Floats
    """V. Infinite on the diagonal where there are too few blocks for an error."""

    @property
    def errors(self) -> tuple[float, ...]:
        """The standard errors of F; infinite where nothing can be said yet."""
        return tuple(math.sqrt(max(0.0, value)) for value in self.variance.diagonal().tolist())

    def difference_error(self, i: int, j: int) -> float:
        """The standard error of the difference of two numbers; infinite where nothing can be said yet."""
        both = float(self.variance[i, i] + self.variance[j, j])
        return math.sqrt(max(0.0, both - 2 * float(self.variance[i, j])))


def fit(blocks: Iterable[Block], bots: Sequence[str], *, ridge: float = 0.0) -> Fit:
    """theta, F and errors from the clean blocks; `ridge` is lambda, in blocks.

    A lambda above 0 shrinks all thetas towards each other and serves pairing alone: its intervals cover too little.
    """
    return fit_sheet(sheet(blocks, bots), bots, ridge=ridge)


def rater(bots: Sequence[str], *, ridge: float = 8.0) -> Rate[Block]:
    """What Swiss and ladder schedules ask: the shrunk ratings after some blocks, by the bots' numbers."""

    def rate(blocks: Sequence[Block]) -> Ratings:
        fitted = fit(blocks, bots, ridge=ridge)
        return Ratings(fitted.theta.tolist(), fitted.numbers.tolist(), fitted.errors)

    return rate


def fit_sheet(data: Sheet, bots: Sequence[str], *, ridge: float = 0.0) -> Fit:
    """The same from arrays."""
    groups = (tuple(range(len(bots))),) if ridge else linked(data.copies)
    theta, numbers = np.zeros(len(bots)), np.zeros(len(bots))
    variance = np.diag(np.full(len(bots), math.inf))
    blocks = np.zeros(len(bots), dtype=np.int64)
    for group in groups:
        place = np.array(group)
        rows = np.flatnonzero(data.copies[:, place].any(axis=1))
        blocks[place] = rows.size
        if place.size > 1 and rows.size:
            part = Sheet(data.seats, data.copies[np.ix_(rows, place)], data.values[np.ix_(rows, place)])
            theta[place], numbers[place], variance[np.ix_(place, place)] = _solve(part, ridge)
    games = (data.copies > 0).sum(axis=0)
    return Fit(
        bots=tuple(bots),
        groups=groups,
        blocks=tuple(blocks.tolist()),
        games=tuple(games.tolist()),
        dirty=(0,) * len(bots),
        theta=theta,
        numbers=numbers,
        variance=variance,
    )


def _solve(data: Sheet, ridge: float) -> tuple[Floats, Floats, Floats]:
    """theta, F and V of bots that tables link."""
    blocks, size = data.copies.shape
    share = (data.seats - 1) / data.seats
    matrix = np.diag(data.copies.sum(axis=0)) - data.copies.T @ data.copies / data.seats
    inverse = _inverse(matrix, ridge)
    theta = inverse @ (share * (data.copies * data.values).sum(axis=0))
    theta -= theta.mean()
    spread = size / (size - 1)
    if blocks < size:
        return theta, spread * theta, np.diag(np.full(size, math.inf))
    centre = spread * (np.eye(size) - 1 / size)
    table = (data.copies @ theta / data.seats)[:, None]
    scores = data.copies * (share * data.values - theta + table)
    half = scores @ inverse @ centre
    return theta, spread * theta, blocks / (blocks - size + 1) * (half.T @ half)


def _inverse(matrix: Floats, ridge: float) -> Floats:
    size = len(matrix)
    found = np.linalg.inv(matrix + (ridge * np.eye(size) if ridge else 1 / size))
    return np.asarray(found if ridge else found - 1 / size, dtype=np.float64)


def linked(copies: Floats) -> tuple[tuple[int, ...], ...]:
    """The pieces of the field: bots belong together that sat at one table, and whoever sat with one of them."""
    together = (copies.T @ copies) > 0
    left, pieces = list(range(copies.shape[1])), []
    while left:
        piece, fresh = {left[0]}, {left[0]}
        while fresh:
            fresh = {j for i in fresh for j in left if together[i, j]} - piece
            piece |= fresh
        pieces.append(tuple(sorted(piece)))
        left = [i for i in left if i not in piece]
    return tuple(pieces)


def with_escapes(fitted: Fit, blocks: Sequence[Block]) -> Fit:
    """The numbers with the escapes counted for those who escaped, and for nobody else."""
    entered = _entries(fitted, blocks)
    numbers, variance = fitted.numbers.copy(), fitted.variance.copy()
    for i, values in entered.items():
        games, m = fitted.games[i], len(values)
        w = games / (games + m)
        mean = math.fsum(values) / m
        own = math.fsum((a - mean) ** 2 for a in values) / (m - 1) / m if m > 1 else 0.0
        gap = w * (1 - w) * (numbers[i] - mean) ** 2 / (games + m)
        if not games:
            variance[i, i] = 0.0
        variance[i, :] *= w
        variance[:, i] *= w
        variance[i, i] += (1 - w) ** 2 * own + gap
        numbers[i] = w * numbers[i] + (1 - w) * mean
    dirty = tuple(len(entered.get(i, ())) for i in range(len(numbers)))
    groups = _joined(fitted, blocks)
    return replace(fitted, groups=groups, dirty=dirty, numbers=numbers, variance=variance)


def _entries(fitted: Fit, blocks: Sequence[Block]) -> dict[int, list[float]]:
    """a by leaver: what it would have scored, had it met the average of the field."""
    column = {bot: i for i, bot in enumerate(fitted.bots)}
    field = {i: len(group) for group in fitted.groups for i in group}
    theta = fitted.theta.tolist()
    entered: dict[int, list[float]] = {}
    for block in blocks:
        table = math.fsum(seats * theta[column[bot]] for bot, seats in block.line_up.items())
        for i in sorted(column[bot] for bot in block.leavers):
            others = (table - theta[i]) / (block.players - 1)
            rest = -theta[i] / max(1, field[i] - 1)  # The thetas of a group sum to zero.
            entered.setdefault(i, []).append(block.values[fitted.bots[i]] + others - rest)
    return entered


def _joined(fitted: Fit, blocks: Sequence[Block]) -> tuple[tuple[int, ...], ...]:
    """The groups; a bot without one clean block stands with those whom it left."""
    column = {bot: i for i, bot in enumerate(fitted.bots)}
    home = {i: place for place, group in enumerate(fitted.groups) for i in group}
    for block in blocks:
        others = [column[bot] for bot in block.line_up if fitted.games[column[bot]]]
        for i in (column[bot] for bot in block.leavers):
            if others and not fitted.games[i]:
                home[i] = home[others[0]]
    return tuple(tuple(sorted(i for i in home if home[i] == place)) for place in sorted(set(home.values())))


def bootstrap_numbers(
    blocks: Iterable[Block],
    bots: Sequence[str],
    seed: bytes,
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> dict[str, tuple[float, float]]:
    """Percentile intervals of F over resampled blocks: a check of the sandwich that shares none of its algebra.

    Samples in which the tables do not link all bots are left out.
    """
    data = sheet(blocks, bots)
    rng = np.random.default_rng(int.from_bytes(derive(seed, "bootstrap", 1)))
    drawn = []
    for _ in range(resamples):
        rows = rng.integers(0, len(data.copies), len(data.copies))
        sample = Sheet(data.seats, data.copies[rows], data.values[rows])
        if len(linked(sample.copies)) == 1:
            drawn.append(fit_sheet(sample, bots).numbers)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return {bot: (float(low[i]), float(high[i])) for i, bot in enumerate(bots)}
