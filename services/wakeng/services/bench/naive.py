"""Xi'an Wakeng as one would write it first: counts per rank and loops over them, a baseline for the real engine.

It knows the preset `xian` and no other rule set, keeps no history for spectators and says nothing about why a choice is
illegal; but it asks in all phases, checks what it is told, and settles (docs/rules.md 3, 4). A play is a tuple of group
size, number of ranks and top rank; the pass is the empty one.
"""

from collections.abc import Sequence
from typing import Final

PASS: Final[tuple[int, ...]] = ()
_RUN_RANKS: Final = 10
_BLACK_DIG: Final = 4
_MOST_BOMBS: Final = 2
"""Further ones no longer double the stake."""

Action = tuple[int, ...]


class NaiveHand:
    """A hand that stands at a question of `phase` for `turn`, with `legal` its answers; `scores` once it is over."""

    def __init__(self, hands: Sequence[Sequence[int]], kitty: Sequence[int], *, first_dealt_seat: int) -> None:
        self.counts = [_counts(cards) for cards in hands]
        self.kitty = kitty
        self.leader = _lowest_heart_seat(hands)
        self.phase = "BLIND"
        self.turn = first_dealt_seat
        self.asked = 0
        self.bid = 0
        self.digger = -1
        self.bombs = 0
        self.table = PASS
        self.holder = -1
        self.decisions: list[tuple[int, str, Action]] = []
        self.scores: list[int] | None = None
        self.legal: list[Action] = [(0,), (1,)]

    def apply(self, action: Action) -> None:
        """Answer the question; ValueError if the answer is not legal."""
        if action not in self.legal:
            raise ValueError(f"{action} is not legal here")
        self.decisions.append((self.turn, self.phase, action))
        if self.phase == "BLIND":
            self._blind(action)
        elif self.phase == "BID":
            self._bid(action)
        else:
            self._play(action)

    def _blind(self, action: Action) -> None:
        self.asked += 1
        if action == (1,):
            self._dig(self.turn, _BLACK_DIG)
        elif self.asked == 3:
            self._ask("BID", self.leader)
        else:
            self.turn = (self.turn + 1) % 3

    def _bid(self, action: Action) -> None:
        self.asked += 1
        if action != (0,):
            self.bid, self.digger = action[0], self.turn
        if self.bid == 3:
            self._dig(self.turn, 3)
        elif self.asked == 3:
            self._dig(self.digger if self.bid else self.leader, self.bid or 1)
        else:
            self._ask("BID", (self.turn + 1) % 3, asked=self.asked)

    def _ask(self, phase: str, seat: int, *, asked: int = 0) -> None:
        self.phase, self.turn, self.asked = phase, seat, asked
        self.legal = [(0,), *((bid,) for bid in range(self.bid + 1, 4))]

    def _dig(self, digger: int, bid: int) -> None:
        self.digger, self.bid = digger, bid
        for card in self.kitty:
            self.counts[digger][card // 4] += 1
        self.phase, self.turn = "PLAY", self.leader
        self.legal = leads(self.counts[self.turn])

    def _play(self, action: Action) -> None:
        counts = self.counts[self.turn]
        if action:
            size, groups, top = action
            for rank in range(top - groups + 1, top + 1):
                counts[rank] -= size
            self.table, self.holder = action, self.turn
            self.bombs += size == 4
            if not any(counts):
                self._settle()
                return
        self.turn = (self.turn + 1) % 3
        if self.turn == self.holder:
            self.table = PASS
        counts = self.counts[self.turn]
        self.legal = follows(counts, self.table) if self.table else leads(counts)

    def _settle(self) -> None:
        stake = self.bid * 2 ** min(self.bombs, _MOST_BOMBS)
        won = self.turn == self.digger
        self.scores = [-stake if won else stake] * 3
        self.scores[self.digger] = 2 * stake if won else -2 * stake
        self.phase, self.legal = "END", []


def _counts(cards: Sequence[int]) -> list[int]:
    counts = [0] * 13
    for card in cards:
        counts[card // 4] += 1
    return counts


def _lowest_heart_seat(hands: Sequence[Sequence[int]]) -> int:
    for heart in range(2, 52, 4):
        for seat, cards in enumerate(hands):
            if heart in cards:
                return seat
    raise ValueError("no hand holds a heart")


def leads(counts: Sequence[int]) -> list[Action]:
    """Every combination that the counts hold."""
    found: list[Action] = [(size, 1, rank) for size in (1, 2, 3, 4) for rank in range(13) if counts[rank] >= size]
    for size in (1, 2, 3):
        for groups in range(3, _RUN_RANKS + 1):
            found += _runs(counts, size, groups, lowest_top=groups - 1)
    return found


def follows(counts: Sequence[int], table: Action) -> list[Action]:
    """The pass, what beats the table in its own kind, and bombs."""
    size, groups, top = table
    if groups == 1:
        found = [PASS, *((size, 1, rank) for rank in range(top + 1, 13) if counts[rank] >= size)]
    else:
        found = [PASS, *_runs(counts, size, groups, lowest_top=top + 1)]
    if size < 4:
        bombs: list[Action] = [(4, 1, rank) for rank in range(13) if counts[rank] == 4]
        found = found + bombs if groups == 1 else found[:1] + bombs + found[1:]
    return found


def _runs(counts: Sequence[int], size: int, groups: int, *, lowest_top: int) -> list[Action]:
    found: list[Action] = []
    for top in range(lowest_top, _RUN_RANKS):
        for rank in range(top, top - groups, -1):
            if counts[rank] < size:
                break
        else:
            found.append((size, groups, top))
    return found
