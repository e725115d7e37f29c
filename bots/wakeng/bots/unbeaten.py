"""Which plays nobody can beat, and whether a hand goes out on such plays alone.

**Unbeaten.** U is what a seat does not see and others may hold. A play is unbeaten when nothing in U beats it in kind,
or when it has more cards than any enemy holds. Bombs are left out on purpose: counting each quad that somebody might
still hold would leave nothing unbeaten until late.

**Run-out.** A hand that leads, and at every step has an unbeaten play that brings it one turn nearer, is won unless a
bomb falls. The first such play of the vocabulary is taken, and no choice is taken back.

**Sets.** The plays that a plane of a hand holds, and those of a group size that a plane of U leaves unbeaten, are the
bits of one int by play id, found once for each plane; so the unbeaten plays of a hand are three ORs and an AND.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Final

from wakeng.bots.turns import TurnTable
from wakeng.engine import PLAYS, Play, RuleSet
from wakeng.engine.plays import FOLLOWS, remove

_RANKS: Final = (1 << 13) - 1


def _bits(plays: Iterable[Play]) -> int:
    return sum(1 << play.id for play in plays)


_BY_SIZE: Final = tuple(tuple(play for play in PLAYS if play.size == size) for size in (1, 2, 3, 4))
_MORE_CARDS: Final = tuple(_bits(play for play in PLAYS if play.cards > cards) for cards in range(53))
"""By a number of cards: the plays that have more."""


def allowed_plays(rules: RuleSet) -> int:
    """The set of the combinations of a rule set."""
    return _bits(play for play in PLAYS if rules.allows(play))


def held_plays(hand: int) -> int:
    """The set of plays that a packed hand holds, of any rule set."""
    return _over_planes(_held, hand)


def unbeaten_plays(unseen: int, most: int) -> int:
    """The set of plays that cannot be beaten by `unseen`, packed, where no enemy holds more than `most` cards."""
    return _over_planes(_unbeaten, unseen) | _MORE_CARDS[most]


def runs_out(table: TurnTable, hand: int, plays: int) -> bool:
    """Whether a packed hand that leads goes out on plays of a set, which are unbeaten, alone."""
    turns = table.turns(hand)
    while turns > 1:
        left = held_plays(hand) & plays
        while left:
            first = left & -left
            rest = remove(hand, first.bit_length() - 1)
            if table.turns(rest) < turns:
                break
            left ^= first
        else:
            return False
        hand = rest
        turns -= 1
    return True


def _over_planes(of: Callable[[int, int], int], hand: int) -> int:
    lower = of(1, hand & _RANKS) | of(2, hand >> 13 & _RANKS)
    return lower | of(3, hand >> 26 & _RANKS) | of(4, hand >> 39)


@cache
def _held(size: int, plane: int) -> int:
    return _bits(play for play in _BY_SIZE[size - 1] if not _ranks(play) & ~plane)


@cache
def _unbeaten(size: int, plane: int) -> int:
    return _bits(play for play in _BY_SIZE[size - 1] if _stands(play, plane))


def _ranks(play: Play) -> int:
    return (2 << play.top) - (1 << play.bottom)


def _stands(play: Play, plane: int) -> bool:
    """Whether the row of what may follow the play from a plane is the pass alone."""
    _, above, row = FOLLOWS[play.id]
    return len(row[plane & above]) == 1
