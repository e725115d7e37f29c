"""Kernels asked from Python: a network, a turn table and room to work in, for one thread at a time.

Positions come from questions, or from hands of the engine with all cards open.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from wakeng.bots.compiled import chance, judge, searching, state, value
from wakeng.bots.compiled.cards import VOCABULARY, Ints
from wakeng.bots.network import weights
from wakeng.bots.network.exact import exact
from wakeng.bots.network.question import Question

WIDTH: Final = 4
MARGIN: Final = 0.4
"""Units."""
PRIOR: Final = 16.0
"""The worlds that the network's own value counts as."""


class Kernels:
    """A network ready to search with."""

    def __init__(self, path: Path = weights.BUILT_IN) -> None:
        self.weights = weights.read(path, preset="xian")
        self.net = value.value_of(exact(self.weights))
        self.table = judge.table()
        self._room = value.room()
        self._kept = np.zeros(searching.MOST_WIDTH, np.int64)
        self._scores = np.zeros(searching.MOST_WIDTH)
        self._cards = np.zeros(52, np.int64)
        self._plays = np.zeros(VOCABULARY, np.int64)
        self._results = np.zeros((VOCABULARY, 2), np.int64)

    def warm_up(self) -> None:
        """Compile now, or read what was compiled before: some half a minute the first time, a second later on."""
        asked = Question(
            seat=0, hand=0b111, played=[0, 0, 0], gone=0, kitty=0, passed=[0, 0, 0], counts=[3, 24, 25], digger=0,
            bid=1, bombs=0, table=0, holder=-1,
        )  # fmt: skip
        self.search(asked, worlds=1, seed=0)

    def search(self, asked: Question, *, worlds: int, seed: int) -> int:
        """The play for a question, by so many worlds that follow from a seed of 64 bits."""
        return int(
            searching.pick(
                self.net, self.table, position(asked), worlds, WIDTH, MARGIN, PRIOR, chance.source(seed), self._room,
                self._kept, self._scores, self._cards,
            )
        )  # fmt: skip

    def outcomes(self, asked: Question, hands: Sequence[int]) -> dict[int, tuple[int, int]]:
        """With open cards: by legal play the units of the side to move, when `expert` or the network plays on."""
        s = position(asked)
        s[state.HAND : state.HAND + 3] = hands
        count = searching.weigh(self.net, self.table, s, self._room, self._plays, self._results)
        return {int(self._plays[at]): (int(self._results[at, 0]), int(self._results[at, 1])) for at in range(count)}


@lru_cache(maxsize=2)
def kernels(path: Path = weights.BUILT_IN) -> Kernels:
    """The kernels with a file's network."""
    return Kernels(path)


def position(asked: Question) -> Ints:
    """A question as an array; of the hands only the own one is filled in."""
    s = state.empty()
    s[state.HAND + asked.seat] = asked.hand
    s[state.PLAYED : state.PLAYED + 3] = asked.played
    s[state.COUNT : state.COUNT + 3] = asked.counts
    s[state.PASSED : state.PASSED + 3] = asked.passed
    s[state.KITTY], s[state.GONE], s[state.DIGGER] = asked.kitty, asked.gone, asked.digger
    s[state.BID], s[state.BOMBS], s[state.TABLE] = asked.bid, asked.bombs, asked.table
    s[state.HOLDER], s[state.TURN] = asked.holder, asked.seat
    return s
