"""Line-ups that follow from the seed alone: vectors of docs/statistics.md 10.7, and what section 9 claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wakeng.engine import derive
from wakeng.services.tournament.line_ups import History, LineUp, all_line_ups, balanced, gauntlet, pair

ZERO = bytes(32)
SEEDS = st.binary(min_size=32, max_size=32)
PLAYERS = st.sampled_from([3, 4])


def text(line_ups: Iterator[LineUp], blocks: int) -> str:
    return " ".join("".join(map(str, line_up)) for line_up in islice(line_ups, blocks))


# Balanced -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bots", "players", "expected"),
    [
        (5, 3, "134 023 012 234 014 123 034 012 124 034"),
        (7, 3, "345 016 246 025 123 156 034"),
        (6, 4, "1345 0124 0235 0134 2345 0125"),
    ],
)
def test_the_balanced_rule_gives_the_vectors(bots: int, players: int, expected: str) -> None:
    assert text(balanced(ZERO, bots=bots, players=players), expected.count(" ") + 1) == expected


def blocks_for(meetings: int, bots: int, players: int) -> int:
    """How many blocks it takes until two bots have met so often on average."""
    return -(-meetings * comb(bots, 2) // comb(players, 2))


def check_levels(bots: int, players: int, *, meetings: int, seed: bytes = ZERO) -> list[int]:
    """Games differ by at most 1, meetings by at most 4, at every moment; the latter, block by block."""
    games, counts, widths = [0] * bots, [0] * bots**2, []
    pairs = [i * bots + j for i, j in combinations(range(bots), 2)]
    for line_up in islice(balanced(seed, bots=bots, players=players), blocks_for(meetings, bots, players)):
        assert line_up == tuple(sorted(set(line_up))) and len(line_up) == players
        for bot in line_up:
            games[bot] += 1
        for i, j in combinations(line_up, 2):
            counts[i * bots + j] += 1
        met = [counts[pair_] for pair_ in pairs]
        widths.append(max(met) - min(met))
        assert max(games) - min(games) <= 1 and widths[-1] <= 4
    return widths


@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize("bots", [4, 5, 6, 7, 8, 9, 10, 13, 17])
def test_games_and_meetings_stay_level_at_every_moment(bots: int, players: int) -> None:
    check_levels(bots, players, meetings=4)


@pytest.mark.slow
@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize("bots", range(4, 41))
def test_games_and_meetings_stay_level_in_every_field_up_to_40(bots: int, players: int) -> None:
    for n in range(3):
        widths = check_levels(bots, players, meetings=10, seed=derive(ZERO, "test", n))
        settled = widths[blocks_for(2, bots, players) :]
        assert sum(width > 3 for width in settled) <= 0.2 * len(settled)


@given(SEEDS, st.integers(4, 9), PLAYERS)
def test_they_stay_level_whatever_the_seed(seed: bytes, bots: int, players: int) -> None:
    check_levels(bots, players, meetings=2, seed=seed)


def inverse(matrix: list[list[float]]) -> list[list[float]]:
    """By Gauss and Jordan; the matrices here are well-conditioned."""
    size = len(matrix)
    rows = [[*row, *(float(i == j) for j in range(size))] for i, row in enumerate(matrix)]
    for i in range(size):
        pivot = max(range(i, size), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for r in range(size):
            if r != i and rows[r][i]:
                factor = rows[r][i]
                rows[r] = [value - factor * own for value, own in zip(rows[r], rows[i], strict=True)]
    return [row[size:] for row in rows]


def quality(line_ups: Sequence[LineUp], bots: int) -> tuple[float, float]:
    """Efficiency against a perfect design of as many blocks, and the worst pair's variance as a multiple of ideal.

    With A of docs/statistics.md 5 the variance of theta_i - theta_j is proportional to A+_ii + A+_jj - 2 A+_ij. A
    perfect design has A = c (I - J/N), and thus 2/c for every pair.
    """
    players = len(line_ups[0])
    matrix = [[1 / bots] * bots for _ in range(bots)]  # A + J/N, whose inverse is A+ + J/N.
    for line_up in line_ups:
        for i in line_up:
            for j in line_up:
                matrix[i][j] += (i == j) - 1 / players
    c = sum(matrix[i][i] - 1 / bots for i in range(bots)) / (bots - 1)
    inverted = inverse(matrix)
    variances = [inverted[i][i] + inverted[j][j] - 2 * inverted[i][j] for i, j in combinations(range(bots), 2)]
    return 2 / c / (sum(variances) / len(variances)), max(variances) * c / 2


# By mean meetings: least efficiency, worst pair. Small fields have so few blocks by then that nothing is near ideal.
SMALL = {2: (0.96, 1.25), 4: (0.985, 1.18)}
LARGE = {2: (0.98, 1.12), 4: (0.997, 1.05)}


def check_quality(bots: int, players: int) -> None:
    for meetings, (efficiency, worst) in (LARGE if bots > 20 else SMALL).items():
        line_ups = list(islice(balanced(ZERO, bots=bots, players=players), blocks_for(meetings, bots, players)))
        found = quality(line_ups, bots)
        assert found[0] >= efficiency and found[1] <= worst, (bots, players, meetings, found)


@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize("bots", [6, 9, 13, 21])
def test_the_design_is_nearly_perfect(bots: int, players: int) -> None:
    check_quality(bots, players)


@pytest.mark.slow
@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize("bots", range(5, 41))
def test_the_design_is_nearly_perfect_in_every_field_up_to_40(bots: int, players: int) -> None:
    check_quality(bots, players)


# All ----------------------------------------------------------------------------------------------


@given(SEEDS, st.integers(3, 8), PLAYERS, st.integers(1, 3))
def test_every_cycle_has_every_line_up_once(seed: bytes, bots: int, players: int, cycles: int) -> None:
    bots = max(bots, players)
    size = comb(bots, players)
    line_ups = list(islice(all_line_ups(seed, bots=bots, players=players), cycles * size))
    for first in range(0, len(line_ups), size):
        assert sorted(line_ups[first : first + size]) == list(combinations(range(bots), players))


def test_a_cycle_is_in_the_order_of_its_derived_lots() -> None:
    ranked = list(combinations(range(5), 3))
    second = list(islice(all_line_ups(ZERO, bots=5, players=3), 10, 20))
    assert second == [ranked[rank] for rank in sorted(range(10), key=lambda rank: derive(ZERO, "line-up", 10 + rank))]
    assert second != list(islice(all_line_ups(ZERO, bots=5, players=3), 10))


# Gauntlet, pair -----------------------------------------------------------------------------------


def test_in_a_gauntlet_challengers_take_the_first_place_in_turn() -> None:
    line_ups = list(islice(gauntlet(ZERO, bots=8, players=3, challengers=(6, 1)), 40))
    assert all((6, 1)[block % 2] in line_up for block, line_up in enumerate(line_ups))


def test_a_single_challenger_meets_everybody_alike_and_the_others_play_alike() -> None:
    history, others = History(9), [1, 2, 3, 4, 5, 6, 7, 8]
    for line_up in islice(gauntlet(ZERO, bots=9, players=3, challengers=(0,)), 4 * 7):
        history.add(line_up)
        games = [history.games[bot] for bot in others]
        assert max(games) - min(games) <= 1
    assert history.meetings(0, others) == [7] * 8
    # Among themselves the others make 28 pairs in 28 blocks.
    assert max(history.uses.values()) == 2 and len(history.uses) >= 24


def test_a_pair_meets_for_ever() -> None:
    assert set(islice(pair(), 5)) == {(0, 1)}
