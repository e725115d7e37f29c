"""The standings of a tournament from a file of its records, by arithmetic of its own (docs/statistics.md 5 and 6).

    python tests/arena/recompute.py RECORDS.jsonl

A second opinion: it imports nothing of the arena, works in fractions as far as roots and quantiles let it, and reads
the definitions as they stand. For tournaments of rotation blocks whose length was fixed beforehand.
"""

import json
import math
import sys
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

Matrix = list[list[Fraction]]
PROVISIONAL_BELOW = 10


def recompute(lines: Sequence[str]) -> dict[str, dict[str, Any]]:
    """By bot: F, its standard error and interval, blocks, escapes and what they cost."""
    blocks = prefix_of([json.loads(line) for line in lines])
    bots = sorted({seat["bot"] for hands in blocks for hand in hands for seat in hand["seats"]})
    clean = [points(hands) for hands in blocks if not leavers(hands)]
    dirty = [(points(hands), leavers(hands)) for hands in blocks if leavers(hands)]
    theta, variance = model(clean, bots)
    return {bot: row(bot, bots, clean, dirty, theta, variance) | conduct(bot, blocks) for bot in bots}


def prefix_of(records: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Blocks 0, 1, ... as long as they are complete: a rotation block has as many hands as the table has seats."""
    by_block = defaultdict(list)
    for record in records:
        by_block[record["schedule"]["block"]].append(record)
    found: list[list[dict[str, Any]]] = []
    for number in count():
        hands = by_block.get(number, [])
        if not hands or len(hands) < len(hands[0]["seats"]):
            return found
        found.append(hands)
    raise AssertionError


def points(hands: list[dict[str, Any]]) -> dict[str, Fraction]:
    """y: each bot's mean score per hand of a block."""
    sums: dict[str, Fraction] = defaultdict(Fraction)
    for hand in hands:
        for seat, score in zip(hand["seats"], hand["result"]["scores"], strict=True):
            sums[seat["bot"]] += Fraction(score)
    return {bot: total / len(hands) for bot, total in sums.items()}


def leavers(hands: list[dict[str, Any]]) -> set[str]:
    """Who left a hand of the block."""
    gone = [(hand, hand["result"]["escaped_seat"]) for hand in hands if "escaped_seat" in hand["result"]]
    return {hand["seats"][seat]["bot"] for hand, seat in gone}


# The model -----------------------------------------------------------------------------------------------------------


def model(clean: list[dict[str, Fraction]], bots: list[str]) -> tuple[dict[str, Fraction], Matrix]:
    """theta, centred, and V, the variance of F. The field must be linked by tables."""
    size = len(bots)
    place = {bot: i for i, bot in enumerate(bots)}
    normal = [[Fraction(0)] * size for _ in bots]
    right = [Fraction(0)] * size
    for block in clean:
        n = len(block)
        for bot, y in block.items():
            right[place[bot]] += Fraction(n - 1, n) * y
            for other in block:
                normal[place[bot]][place[other]] += Fraction(n - 1, n) if bot == other else Fraction(-1, n)
    # The normal matrix has the vector of ones for its kernel, so adding J/N makes it regular and changes nothing else.
    flat = Fraction(1, size)
    regular = inverse([[value + flat for value in line] for line in normal])
    pseudo = [[value - flat for value in line] for line in regular]
    solved = [sum((a * b for a, b in zip(line, right, strict=True)), Fraction(0)) for line in pseudo]
    theta = {bot: solved[place[bot]] for bot in bots}
    meat = [[Fraction(0)] * size for _ in bots]
    for block in clean:
        u = residuals(block, theta)
        for bot, value in u.items():
            for other, with_value in u.items():
                meat[place[bot]][place[other]] += value * with_value
    centre = [[Fraction(size, size - 1) * ((i == j) - flat) for j in range(size)] for i in range(size)]
    half = product(centre, pseudo)
    spread = product(product(half, meat), transposed(half))
    scale = Fraction(len(clean), len(clean) - size + 1)
    return theta, [[scale * value for value in line] for line in spread]


def residuals(block: dict[str, Fraction], theta: dict[str, Fraction]) -> dict[str, Fraction]:
    n = len(block)
    level = sum((theta[bot] for bot in block), Fraction(0)) / n
    return {bot: Fraction(n - 1, n) * y - (theta[bot] - level) for bot, y in block.items()}


def inverse(matrix: Matrix) -> Matrix:
    """By Gauss and Jordan."""
    size = len(matrix)
    work = [[*line, *(Fraction(i == j) for j in range(size))] for i, line in enumerate(matrix)]
    for column in range(size):
        pivot = next(i for i in range(column, size) if work[i][column])
        work[column], work[pivot] = work[pivot], work[column]
        head = work[column][column]
        work[column] = [value / head for value in work[column]]
        for i in range(size):
            if i != column and work[i][column]:
                factor = work[i][column]
                work[i] = [value - factor * above for value, above in zip(work[i], work[column], strict=True)]
    return [line[size:] for line in work]


def product(left: Matrix, right: Matrix) -> Matrix:
    columns = transposed(right)
    return [
        [sum((a * b for a, b in zip(line, column, strict=True)), Fraction(0)) for column in columns] for line in left
    ]


def transposed(matrix: Matrix) -> Matrix:
    return [list(column) for column in zip(*matrix, strict=True)]


# A row of the standings ----------------------------------------------------------------------------------------------


def row(
    bot: str,
    bots: list[str],
    clean: list[dict[str, Fraction]],
    dirty: list[tuple[dict[str, Fraction], set[str]]],
    theta: dict[str, Fraction],
    variance: Matrix,
) -> dict[str, Any]:
    """F with the blocks that the bot left, and its interval."""
    size, games = len(bots), sum(bot in block for block in clean)
    number = theta[bot] * Fraction(size, size - 1)
    square = variance[bots.index(bot)][bots.index(bot)]
    left = [escaped(bot, block, theta) for block, gone in dirty if bot in gone]
    if left:
        mean = sum(left, Fraction(0)) / len(left)
        weight = Fraction(games, games + len(left))
        spread = sum(((a - mean) ** 2 for a in left), Fraction(0)) / (len(left) - 1) if len(left) > 1 else Fraction(0)
        square = (
            weight**2 * square
            + (1 - weight) ** 2 * spread / len(left)
            + weight * (1 - weight) * (number - mean) ** 2 / (games + len(left))
        )
        number = weight * number + (1 - weight) * mean
    error = math.sqrt(square)
    sure = games >= PROVISIONAL_BELOW and len(clean) >= 2 * size
    half = quantile(0.975, games - 1) * error if sure else math.nan
    return {
        "f": float(number),
        "se": error,
        "low": float(number) - half if sure else None,
        "high": float(number) + half if sure else None,
        "blocks": games,
        "dirty_blocks": len(left),
    }


def escaped(bot: str, block: dict[str, Fraction], theta: dict[str, Fraction]) -> Fraction:
    """What a block that the bot left says of it: its points, for the table it sat at against the whole field."""
    table = [theta[other] for other in block if other != bot]
    field = [value for other, value in theta.items() if other != bot]
    return block[bot] + sum(table, Fraction(0)) / len(table) - sum(field, Fraction(0)) / len(field)


def conduct(bot: str, blocks: list[list[dict[str, Any]]]) -> dict[str, Any]:
    """Escapes, what they cost, faults."""
    escapes, lost, faults = 0, 0, dict[str, int]()
    for hand in (hand for hands in blocks for hand in hands):
        for seat, who in enumerate(hand["seats"]):
            if who["bot"] != bot:
                continue
            if hand["result"].get("escaped_seat") == seat:
                escapes += 1
                lost -= hand["result"]["scores"][seat]
            told = [(decision["fault"], 1) for decision in hand.get("decisions", ()) if is_fault(decision, seat)]
            told += [(fault["fault"], fault["count"]) for fault in hand.get("faults", ()) if fault["seat"] == seat]
            for fault, times in told:
                faults[fault] = faults.get(fault, 0) + times
    return {"escapes": escapes, "points_lost_by_escapes": lost, "faults": faults}


def is_fault(decision: dict[str, Any], seat: int) -> bool:
    return decision["seat"] == seat and "fault" in decision


@cache
def quantile(share: float, freedom: int) -> float:
    """Of Student's t: bisection on its distribution, which Simpson's rule gives from its density."""
    low, high = 0.0, 1000.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if 0.5 + upper_half(middle, freedom) < share else (low, middle)
    return (low + high) / 2


def upper_half(x: float, freedom: int, steps: int = 2000) -> float:
    """The probability of 0 to x; in the angle of x the density is a power of the cosine, smooth and on a short way."""
    top = math.atan(x / math.sqrt(freedom))
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
    width = top / steps
    total = 0.0
    for i in range(steps + 1):
        weight = 1 if i in (0, steps) else 4 if i % 2 else 2
        total += weight * math.cos(i * width) ** (freedom - 1)
    return scale * total * width / 3


if __name__ == "__main__":
    json.dump(recompute(Path(sys.argv[1]).read_text("utf-8").splitlines()), sys.stdout)
