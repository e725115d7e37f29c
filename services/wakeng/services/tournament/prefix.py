"""Which blocks count, and which may begin: the completed prefix of a schedule (docs/statistics.md 8).

Whatever finishes first is the short and the easy, so nothing may be concluded from it: standings and pairings are
folds over blocks 0..k-1, all complete, in the order of the schedule. To keep k growing, the oldest incomplete block
goes first, and no block is begun more than `window` beyond the prefix.

    executor ──outcomes of hands──> Progress ──results in schedule order──> Schedule
       ^                               │                                       │
       └──────blocks to be played──────┘ <──────────────── blocks ─────────────┘

`H` is what a hand comes to, `R` what a block comes to. What was recorded before a crash is given at the beginning and
taken up block by block, so that resuming is the same code as playing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar

from wakeng.services.tournament.blocks import Block, BlockHand, Dealer
from wakeng.services.tournament.docket import Work
from wakeng.services.tournament.schedule import Schedule

H = TypeVar("H")
R = TypeVar("R")

_NOTHING: Final[Mapping[Any, Any]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded(Generic[H]):
    """What a former process left behind."""

    hands: Mapping[int, Mapping[int, H]] = field(default_factory=lambda: _NOTHING)
    """By block and place in its order of play."""
    voids: Mapping[tuple[int, int], int] = field(default_factory=lambda: _NOTHING)
    """By block and place, how often the hand was voided."""


@dataclass(slots=True)
class _Open(Generic[H]):
    """A block that has begun and is not complete."""

    block: Block
    hands: tuple[BlockHand, ...]
    outcomes: dict[int, H]
    voids: dict[int, int]

    def work(self) -> Work:
        return Work(self.block, self.hands, frozenset(self.outcomes), dict(self.voids))


class Progress(Generic[H, R]):
    """One tournament as it is played. Every call is an event; nothing here waits or knows the time."""

    def __init__(
        self,
        schedule: Schedule[R],
        dealer: Dealer,
        *,
        fold: Callable[[Block, Sequence[H]], R],
        window: int,
        strike_off_after: int = 3,
        recorded: Recorded[H] | None = None,
    ) -> None:
        """`schedule` is at its beginning. `fold` gets a block's outcomes by `turn`, not by the order of play."""
        self.results: list[tuple[Block, R | None]] = []
        """The prefix, in schedule order; None for blocks struck off."""
        self._schedule = schedule
        self._dealer = dealer
        self._fold = fold
        self._window = window
        self._strike_off_after = strike_off_after
        self._recorded: Recorded[H] = recorded or Recorded()
        self._open: dict[int, _Open[H]] = {}
        self._fresh: list[int] = []
        """Open blocks that nobody was told of yet."""
        self._done: dict[int, tuple[Block, R | None]] = {}
        """Complete blocks beyond the prefix, and those struck off there."""
        self._advance()

    @property
    def prefix(self) -> int:
        """Blocks 0..prefix-1 are complete or struck off; no later block counts for anything yet."""
        return len(self.results)

    @property
    def over(self) -> bool:
        """Whether the tournament has ended: what is still in play will not count."""
        return self._schedule.over

    @property
    def oldest(self) -> Block | None:
        """The block that holds the prefix up."""
        return self._open[self.prefix].block if self.prefix in self._open else None

    def begun(self) -> list[Work]:
        """The blocks that may be played since this was last asked, in schedule order."""
        fresh, self._fresh = self._fresh, []
        return [] if self.over else [self._open[index].work() for index in fresh if index in self._open]

    def finished(self, block: int, place: int, outcome: H) -> None:
        """A hand of an open block is over."""
        open_ = self._missing(block, place)
        open_.outcomes[place] = outcome
        self._settle(open_)
        self._advance()

    def voided(self, block: int, place: int, voids: int) -> bool:
        """The arena failed at a hand for the `voids`-th time; whether its block is struck off for that."""
        open_ = self._missing(block, place)
        open_.voids[place] = voids
        self._settle(open_)
        self._advance()
        return block not in self._open

    # ----------------------------------------------------------------------------------------------------------------

    def _missing(self, block: int, place: int) -> _Open[H]:
        open_ = self._open.get(block)
        if open_ is None or place in open_.outcomes or place >= len(open_.hands):
            raise ValueError(f"hand {place} of block {block} is not to be played")
        return open_

    def _settle(self, open_: _Open[H]) -> None:
        """Close the block if nothing is left to play in it."""
        work = open_.work()
        if not work.over(self._strike_off_after):
            return
        index, result = open_.block.index, None
        if not work.struck_off(self._strike_off_after):
            by_turn = sorted(open_.hands, key=lambda hand: hand.turn)
            result = self._fold(open_.block, [open_.outcomes[hand.place] for hand in by_turn])
        self._done[index] = (open_.block, result)
        del self._open[index]

    def _advance(self) -> None:
        """Count what is complete, and open blocks as far as the window and the schedule let."""
        while not self.over:
            if self.prefix in self._done:
                block, result = self._done.pop(self.prefix)
                self.results.append((block, result))
                self._schedule.completed(block.index, result)
            elif self._schedule.issued < self.prefix + self._window and (following := self._schedule.next()):
                self._begin(following)
            else:
                return

    def _begin(self, block: Block) -> None:
        hands = self._dealer.hands(block)
        # What was recorded may make it complete, or strike it off, at once.
        outcomes = dict(self._recorded.hands.get(block.index, _NOTHING))
        voids = {hand.place: self._recorded.voids.get((block.index, hand.place), 0) for hand in hands}
        self._open[block.index] = _Open(block, hands, outcomes, voids)
        self._fresh.append(block.index)
        self._settle(self._open[block.index])
