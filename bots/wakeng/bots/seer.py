"""What a seat would play that saw all cards: `seer`, for tests and for the analysis of hands, never for a table.

It takes the hand itself, which no question holds, so it is no bot. Each choice is played out in the one world there is,
by `expert` and by the network; one choice is looked ahead, and what the others do after it is what those two would do.
"""

from collections.abc import Sequence
from pathlib import Path

from wakeng.bots.extras import demand

demand("seer", extra="search", modules=("numpy", "numba"))

from wakeng.bots.compiled.asking import kernels  # noqa: E402 - after the demand, which says what is missing
from wakeng.bots.network import weights  # noqa: E402
from wakeng.bots.network.question import question_of_hand  # noqa: E402
from wakeng.engine import Hand, Phase  # noqa: E402

EXPERT, NET = 0, 1
BOTH = (EXPERT, NET)


class NotForSeer(ValueError):
    """A hand that cannot be looked through; the message says why."""


def outcomes(hand: Hand, path: Path = weights.BUILT_IN) -> dict[int, tuple[int, int]]:
    """By legal play the units that it brings to the side to move, when `expert` and when the network plays on.

    NotForSeer unless the hand stands in PLAY, under the card play of `xian`.
    """
    known = kernels(path)
    if hand.phase is not Phase.PLAY:
        raise NotForSeer(f"the hand stands in {hand.phase.value}; seer looks at PLAY alone")
    if not known.weights.fits(hand.rules):
        raise NotForSeer(f"seer knows the card play of xian, not these rules of {hand.rules.preset}")
    return known.outcomes(question_of_hand(hand), hand.planes)


def choose(hand: Hand, policies: Sequence[int] = BOTH, path: Path = weights.BUILT_IN) -> int:
    """The play that brings most, summed over the policies that play on; the first of equals."""
    found = outcomes(hand, path)
    return max(found, key=lambda play: sum(found[play][policy] for policy in policies))
