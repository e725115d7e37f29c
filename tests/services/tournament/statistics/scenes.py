"""Blocks written down in a line, for tests of what is concluded from them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from hypothesis import strategies as st

from wakeng.services.tournament.statistics import Block, HandResult, block_of


def hand(bots: str, *scores: float, block: int = 0, rotation: int = 0, **more: object) -> HandResult:
    """A hand of bots with one letter each, by seat."""
    return HandResult(block, rotation, tuple(bots), tuple(map(float, scores)), **more)  # type: ignore[arg-type]


def block(bots: str, *scores: float, number: int = 0, leaver: str = "") -> Block:
    """A block whose y are these: hands alike, one for each bot; the leaver escapes the first of them."""
    seat = bots.index(leaver) if leaver else None
    hands = [hand(bots, *scores, block=number, rotation=r, escaped_seat=None if r else seat) for r in range(len(bots))]
    return block_of(hands)


def blocks(*lines: str) -> list[Block]:
    """`012 2 -1 -1` is a block of bots 0, 1, 2 with these y; `012! -10 1 2` one which its first bot escaped."""
    found = []
    for number, line in enumerate(lines):
        bots, *scores = line.split()
        leaver = bots[0] if bots.endswith("!") else ""
        found.append(block(bots.rstrip("!"), *map(float, scores), number=number, leaver=leaver))
    return found


FOUR_LINES = ("012 2 -1 -1", "013 1 0 -1", "023 0 1 -1", "123 3 -1 -2")
"""Four bots, all line-ups of three once: vector 3 of docs/statistics.md 10."""


def zero_sum(seats: int) -> st.SearchStrategy[tuple[float, ...]]:
    """Scores in whole points."""
    points = st.integers(-24, 24)
    return st.lists(points, min_size=seats - 1, max_size=seats - 1).map(
        lambda own: (*map(float, own), -float(sum(own)))
    )


@st.composite
def tournaments(draw: st.DrawFn, *, bots: str = "01234", seats: int = 3, cycles: int | None = None) -> list[Block]:
    """Blocks of any line-ups, in at least one of which each bot sits; with `cycles`, every line-up so often."""
    line_ups: Sequence[tuple[str, ...]] = list(combinations(bots, seats)) * (cycles or 1)
    if cycles is None:
        line_ups = [*line_ups, *draw(st.lists(st.sampled_from(line_ups), max_size=20))]
    return [block("".join(line_up), *draw(zero_sum(seats)), number=i) for i, line_up in enumerate(line_ups)]
