"""Blocks, and the hands a block is played in: who sits where, who digs, on which deal, in which order.

A block is the unit of every statistic: its hands are complete or worthless together. They are played one after
another; each counts as the first hand of a match, so `blind_first_seat` is None in all (docs/statistics.md 2).

  kind         hands  bots
  ROTATION     n      each bot plays every seat of the deal once, in the block's cyclic order
  PERMUTATION  n!     each order of the bots once
  SWAP         2      one of two bots alone in a seat against copies of the other, then the reverse

Where bidding is assigned, seat `block mod n` digs in every hand of a block, so in a rotation each bot digs once.

Without duplicate deals each hand has a deal of its own, numbered on through the tournament: a bot that remembers
cards gains nothing by it. Seats still change as above, so that blocks stay level and count in the same way; they only
tell less.
"""

from dataclasses import dataclass, field
from enum import Enum
from itertools import permutations
from math import factorial

from wakeng.engine.deal import Stream, derive
from wakeng.services.tournament.line_ups import LineUp


class BlockKind(Enum):
    """What a block's hands have in common."""

    ROTATION = "rotation"
    PERMUTATION = "permutation"
    SWAP = "swap"

    def hands(self, players: int) -> int:
        """How many hands a block has."""
        return {BlockKind.ROTATION: players, BlockKind.PERMUTATION: factorial(players), BlockKind.SWAP: 2}[self]


@dataclass(frozen=True, slots=True)
class Block:
    """Block `index` of the schedule: who plays (numbers in the field, ascending), and in which cyclic order."""

    index: int
    kind: BlockKind
    line_up: LineUp
    order: LineUp


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockHand:
    """One hand of a block, as it is to be dealt."""

    block: int
    place: int
    """From 0, in the order of play."""
    turn: int
    """Which rotation, permutation (lexicographic) or half of a swap pair (0: the line-up's first bot sits alone)."""
    number: int
    """From 0, unique in the tournament."""
    bots: tuple[int, ...]
    """By seat, numbers in the field."""
    deal: int
    seed: bytes = field(repr=False)
    assigned_digger: int | None = None


def cyclic_order(line_up: LineUp, j: int) -> LineUp:
    """How the j-th block of a line-up goes round: its first bot stays, the others take the j-th order of theirs."""
    first, *others = line_up
    orders = list(permutations(others))
    return (first, *orders[j % len(orders)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Dealer:
    """Turns blocks into hands; everything it needs but the block is the tournament's."""

    seed: bytes = field(repr=False)
    players: int
    assigned: bool = False
    duplicate: bool = True

    def hands(self, block: Block) -> tuple[BlockHand, ...]:
        """The hands of a block, in the order they are played."""
        tables = self._tables(block)
        digger = block.index % self.players if self.assigned else None
        hands = []
        for place, turn in enumerate(self._turns(block, len(tables))):
            number = block.index * len(tables) + place
            deal = block.index if self.duplicate else number
            hands.append(
                BlockHand(
                    block=block.index,
                    place=place,
                    turn=turn,
                    number=number,
                    bots=tables[turn],
                    deal=deal,
                    seed=derive(self.seed, "deal", deal),
                    assigned_digger=digger,
                )
            )
        return tuple(hands)

    def _tables(self, block: Block) -> list[tuple[int, ...]]:
        """The bots by seat, turn by turn."""
        if block.kind is BlockKind.SWAP:
            return [self._alone(block, bot, other) for bot, other in permutations(block.line_up, 2)]
        if block.kind is BlockKind.PERMUTATION:
            return list(permutations(block.line_up))
        order = block.order
        return [tuple(order[(seat - turn) % len(order)] for seat in range(len(order))) for turn in range(len(order))]

    def _alone(self, block: Block, bot: int, other: int) -> tuple[int, ...]:
        chair = block.index % self.players
        return tuple(bot if seat == chair else other for seat in range(self.players))

    def _turns(self, block: Block, size: int) -> list[int]:
        """The order of play: halves of swap pairs by turns, all others by lot, so that a memory shows itself."""
        turns = list(range(size))
        if block.kind is BlockKind.SWAP:
            return turns if block.index % 2 == 0 else turns[::-1]
        Stream(derive(self.seed, "rotation", block.index)).shuffle(turns)
        return turns
