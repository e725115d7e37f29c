"""A bot that remembers a deal gives itself away (docs/statistics.md 8)."""

from __future__ import annotations

import numpy as np

from tests.services.tournament.statistics.scenes import hand
from wakeng.services.tournament.statistics import Block, block_of, leak_check


def tournament(blocks: int, *, remembers: float, order_known: bool = True) -> list[Block]:
    """Blocks of a, b, c, in which a gains `remembers` points in hands after the first."""
    rng = np.random.default_rng(1)
    found = []
    for number in range(blocks):
        hands = []
        for place, rotation in enumerate(rng.permutation(3).tolist()):
            bots = "abc"[-rotation:] + "abc"[:-rotation] if rotation else "abc"
            gain = remembers if place else 0.0
            a, b = rng.normal(gain, 3), rng.normal(-gain / 2, 3)
            scores = {"a": a, "b": b, "c": -a - b}
            played = 3 * number + place if order_known else 0
            hands.append(hand(bots, *(scores[bot] for bot in bots), block=number, rotation=rotation, played=played))
        found.append(block_of(hands))
    return found


def test_a_memory_shows_itself() -> None:
    found = leak_check(tournament(200, remembers=2.0), "abc")
    assert found["a"].suspicious
    assert found["a"].gain.mean is not None
    assert found["a"].gain.mean > 1
    assert not found["b"].suspicious
    assert not found["c"].suspicious


def test_an_honest_field_is_not_suspected() -> None:
    assert not any(leak.suspicious for leak in leak_check(tournament(200, remembers=0.0), "abc").values())


def test_few_blocks_prove_nothing() -> None:
    assert not leak_check(tournament(9, remembers=50.0), "abc")["a"].suspicious
    assert leak_check(tournament(10, remembers=50.0), "abc")["a"].suspicious


def test_where_the_order_of_play_is_unknown_nothing_is_said() -> None:
    assert leak_check(tournament(20, remembers=9.0, order_known=False), "abc")["a"].gain.blocks == 0


def test_the_gain_is_the_later_hands_against_the_first() -> None:
    hands = [
        hand("abc", 1, 0, -1, rotation=0, played=5),
        hand("cab", -6, 6, 0, rotation=1, played=4),
        hand("bca", 0, -3, 3, rotation=2, played=6),
    ]
    found = leak_check([block_of(hands)], "abc")
    assert found["a"].gain.mean == (1 + 3) / 2 - 6
