"""Which hands may start: those of the blocks that were handed over, the oldest first, one of a block at a time.

An executor keeps one. Whoever hands blocks over says what of them is recorded already, so that going on after a crash
is the same as playing. Every call is an event; nothing here waits or knows the time.
"""

from bisect import insort
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from wakeng.services.tournament.blocks import Block, BlockHand

_NOTHING: Final[Mapping[int, int]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Work:
    """A block to be played, without the hands that are recorded."""

    block: Block
    hands: tuple[BlockHand, ...]
    """All of them, in the order of play."""
    done: frozenset[int] = frozenset()
    """Places of those that are recorded."""
    voids: Mapping[int, int] = field(default_factory=lambda: _NOTHING)
    """By place, how often the arena failed at a hand."""

    def struck_off(self, after: int) -> bool:
        """Whether a hand of it was voided so often that the block is given up for all."""
        return any(count >= after for count in self.voids.values())

    def over(self, strike_off_after: int) -> bool:
        """Whether nothing of it is left to play."""
        return len(self.done) == len(self.hands) or self.struck_off(strike_off_after)


@dataclass(frozen=True, slots=True)
class Turn:
    """A hand that may start now. `attempt` counts the times it was voided."""

    block: Block
    hand: BlockHand
    attempt: int


class _Open:
    """A block that is not over."""

    __slots__ = ("done", "playing", "voids", "work")

    def __init__(self, work: Work) -> None:
        self.work = work
        self.done = set(work.done)
        self.voids = dict(work.voids)
        self.playing = False

    def turn(self) -> Turn:
        hand = next(hand for hand in self.work.hands if hand.place not in self.done)
        return Turn(self.work.block, hand, self.voids.get(hand.place, 0))


class Docket:
    """The blocks that an executor has to play."""

    def __init__(self, strike_off_after: int) -> None:
        self._strike_off_after = strike_off_after
        self._open: dict[int, _Open] = {}
        self._waiting: list[int] = []
        """Blocks with no hand in play, oldest first."""

    def __len__(self) -> int:
        return len(self._open)

    def __contains__(self, block: int) -> bool:
        return block in self._open

    def add(self, work: Work) -> None:
        """A block to be played; of one that is over, or here already, nothing comes."""
        index = work.block.index
        if index not in self._open and not work.over(self._strike_off_after):
            self._open[index] = _Open(work)
            insort(self._waiting, index)

    def remove(self, block: int) -> None:
        """Somebody else plays it, or nobody; a hand of it that is in play ends without being missed."""
        if self._open.pop(block, None) is not None and block in self._waiting:
            self._waiting.remove(block)

    def ready(self) -> Iterator[Turn]:
        """The hands that may start, that of the oldest block first."""
        for index in list(self._waiting):
            yield self._open[index].turn()

    def started(self, block: int) -> None:
        """The block's next hand is in play."""
        self._waiting.remove(block)
        self._open[block].playing = True

    def put_back(self, block: int) -> None:
        """The block's hand in play was dropped without being played, for no fault of anybody's."""
        self._leave_table(block)

    def finished(self, block: int) -> bool:
        """The block's hand in play is over; whether the block is."""
        open_ = self._leave_table(block)
        open_.done.add(open_.turn().hand.place)
        return self._settle(open_)

    def voided(self, block: int) -> bool:
        """The arena failed at the block's hand in play: it is played again, or, if True, the block is struck off."""
        open_ = self._leave_table(block)
        place = open_.turn().hand.place
        open_.voids[place] = open_.voids.get(place, 0) + 1
        return self._settle(open_)

    def _leave_table(self, block: int) -> _Open:
        open_ = self._open.get(block)
        if open_ is None or not open_.playing:
            raise ValueError(f"no hand of block {block} is in play")
        open_.playing = False
        insort(self._waiting, block)
        return open_

    def _settle(self, open_: _Open) -> bool:
        """Close the block if nothing is left to play in it."""
        struck_off = any(count >= self._strike_off_after for count in open_.voids.values())
        over = struck_off or len(open_.done) == len(open_.work.hands)
        if over:
            self.remove(open_.work.block.index)
        return over
