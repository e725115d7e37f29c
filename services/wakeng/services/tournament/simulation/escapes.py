"""Does leaving pay, and does it move those who stay? Four rules for escaped hands on the same simulated tournaments.

Five bots play hands with a digger drawn by lot, who wins or loses a stake of each defender, more often the stronger he
is. Bot 0 leaves half of the hands which it is about to lose by four points or more; leaving settles the hand as
docs/rules.md 4 says. Each rule is compared with the tournament in which nobody left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from wakeng.services.tournament.simulation.models import all_line_ups, stakes
from wakeng.services.tournament.statistics.ratings import Floats, fit, with_escapes
from wakeng.services.tournament.statistics.results import Block, HandResult, block_of

THETA: Final = (0.0, 0.6, 0.2, -0.2, -0.6)
BOTS: Final = tuple(str(i) for i in range(len(THETA)))
BLOCKS: Final = 400
PENALTY: Final = 10.0
LEAVES_FROM: Final = 4.0
LEAVES: Final = 0.5

Hands = list[list[HandResult]]


def escapes(rng: np.random.Generator, runs: int) -> list[dict[str, Any]]:
    """By rule, what the leaver gains by leaving, and how far innocents are moved against each other."""
    shifts: dict[str, list[Floats]] = {rule: [] for rule in RULES}
    for _ in range(runs):
        honest = _play(rng)
        leaves = (rng.random((BLOCKS, 3)) < LEAVES).tolist()
        left = [[_left(hands[r], leaves=leaves[b][r]) for r in range(3)] for b, hands in enumerate(honest)]
        truth = _numbers([block_of(hands) for hands in honest])
        for rule, numbers in RULES.items():
            shifts[rule].append(numbers(left) - truth)
    return [_row(rule, np.array(found)) for rule, found in shifts.items()]


def _row(rule: str, shifts: Floats) -> dict[str, Any]:
    innocents = shifts[:, 1:] - shifts[:, 1:].mean(axis=1, keepdims=True)
    moved = np.abs(innocents.mean(axis=0))
    most = int(moved.argmax())
    return {
        "rule": rule,
        "leaver_gains": float(shifts[:, 0].mean()),
        "leaver_gains_se": _error(shifts[:, 0]),
        "innocents_moved": float(moved[most]),
        "innocents_moved_se": _error(innocents[:, most]),
    }


def _error(values: Floats) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def _play(rng: np.random.Generator) -> Hands:
    shape = (BLOCKS, 3)
    diggers, stake = rng.integers(0, 3, shape).tolist(), stakes(rng, shape).tolist()
    luck = rng.random(shape).tolist()
    found = []
    for b, line_up in enumerate(all_line_ups(rng, len(BOTS), BLOCKS).tolist()):
        seated = [[line_up[(seat - turn) % 3] for seat in range(3)] for turn in range(3)]
        found.append([_hand(b, r, seated[r], diggers[b][r], stake[b][r], luck[b][r]) for r in range(3)])
    return found


def _hand(block: int, turn: int, bots: list[int], digger: int, stake: float, luck: float) -> HandResult:
    others = sum(THETA[bot] for seat, bot in enumerate(bots) if seat != digger) / 2
    won = luck < 0.5 + (THETA[bots[digger]] - others) / 6
    signed = stake if won else -stake
    scores = tuple(2 * signed if seat == digger else -signed for seat in range(3))
    return HandResult(block, turn, tuple(BOTS[bot] for bot in bots), scores, digger=digger, digger_won=won)


def _left(hand: HandResult, *, leaves: bool) -> HandResult:
    """The hand, or what becomes of it when bot 0 leaves it."""
    seats = hand.seats_of(BOTS[0])
    if not leaves or not seats or hand.scores[seats[0]] > -LEAVES_FROM or hand.digger is None:
        return hand
    leaver = seats[0]
    stake = abs(hand.scores[hand.digger]) / 2
    scores = [0.0] * 3
    for seat in range(3) if leaver == hand.digger else (hand.digger,):
        scores[seat] = 2 * stake if seat == hand.digger else stake
    scores[leaver] = -max(2 * stake, PENALTY)
    return replace(hand, scores=tuple(scores), escaped_seat=leaver)


def _numbers(blocks: list[Block]) -> Floats:
    return with_escapes(fit(blocks, BOTS), blocks).numbers


def _as_here(left: Hands) -> Floats:
    return _numbers([block_of(hands) for hands in left])


def _drop_hands(left: Hands) -> Floats:
    kept = [[hand for hand in hands if hand.leaver is None] for hands in left]
    return _numbers([block_of(hands) for hands in kept if hands])


def _drop_blocks(left: Hands) -> Floats:
    blocks = [block_of(hands) for hands in left]
    return _numbers([block for block in blocks if block.clean])


def _as_scored(left: Hands) -> Floats:
    return _numbers([block_of(replace(hand, escaped_seat=None) for hand in hands) for hands in left])


RULES: Final[Mapping[str, Callable[[Hands], Floats]]] = {
    "the block counts for the leaver alone": _as_here,
    "the hand is dropped": _drop_hands,
    "the block is dropped": _drop_blocks,
    "all count as scored": _as_scored,
}
