"""Does a bot remember the deal? A check for what would spoil blocks (docs/statistics.md 8).

The hands of a block have the same cards. A bot that remembers them, or is told of them, gains in the later hands.
Since they are played one after another in an order drawn by lot, D = its mean in hands 2..n minus its score in the
first has mean 0 for an honest bot; it is flagged where the mean of D exceeds three standard errors. First hands alone
remain unbiased.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from wakeng.services.tournament.statistics.means import Estimate, estimate, rounded
from wakeng.services.tournament.statistics.results import Block

SUSPICIOUS: Final = 3.0
"""Standard errors."""


@dataclass(frozen=True, slots=True)
class Leak:
    """One bot's gain from having seen a deal before, in points per hand."""

    gain: Estimate
    suspicious: bool

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "blocks": self.gain.blocks,
            "gain": rounded(self.gain.mean),
            "se": rounded(self.gain.se),
            "suspicious": self.suspicious,
        }


def leak_check(blocks: Iterable[Block], bots: Iterable[str], *, least_blocks: int = 10) -> dict[str, Leak]:
    """By bot, over the clean blocks whose order of play is known; below `least_blocks` nobody is suspected."""
    gains: dict[str, list[float]] = {bot: [] for bot in bots}
    for block in blocks:
        played = sorted(block.hands, key=lambda hand: hand.played)
        if block.clean and len({hand.played for hand in played}) == len(played) > 1:
            for bot in block.line_up:
                first, *later = [hand.mean_of(bot) for hand in played]
                gains[bot].append(math.fsum(later) / len(later) - first)
    return {bot: _leak(estimate(values), least_blocks) for bot, values in gains.items()}


def _leak(gain: Estimate, least_blocks: int) -> Leak:
    if gain.mean is None or gain.se is None or gain.blocks < least_blocks:
        return Leak(gain, suspicious=False)
    return Leak(gain, suspicious=gain.mean > SUSPICIOUS * gain.se)
