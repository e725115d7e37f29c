"""The network asked with numpy: all choices of many questions at once.

Questions are taken role by role. Of the inputs the thermometers go through one matrix product; of the others one in
each group is on, so they are rows looked up, two groups at a time in tables of their sums. All numbers are whole
(`wakeng.bots.network.exact`), so how many questions come together changes no choice.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from wakeng.bots.network import layout
from wakeng.bots.network.exact import Exact, outputs, product
from wakeng.bots.network.question import Question
from wakeng.bots.seen import complement, joined
from wakeng.bots.turns import TurnTable, turn_index
from wakeng.bots.unbeaten import runs_out, unbeaten_plays
from wakeng.engine import PLAYS
from wakeng.engine.plays import REMOVALS, RUN_RANKS

Ints = NDArray[np.int64]
Singles = NDArray[np.float32]

_WORD: Final = np.dtype("<i8")
_BITS: Final = layout.HAND_BITS
_RANKS: Final = (1 << 13) - 1
_REST, _SHIFT, _MASK = (np.array(column, np.int64) for column in zip(*REMOVALS, strict=True))
_CARDS: Final[Ints] = np.array([play.cards for play in PLAYS], np.int64)
_COUNT: Final[Ints] = np.array([bits.bit_count() for bits in range(1 << 13)], np.int64)
"""By the bits of a plane: how many are set."""
_LOST: Final[Ints] = np.array(
    [play.size * sum(5**r for r in range(play.bottom, play.top + 1) if r < RUN_RANKS) for play in PLAYS], np.int64
)
"""What a play takes off the index of the turn table."""


def role_of(asked: Question) -> int:
    """Which network values the choices of a seat."""
    if asked.seat == asked.digger:
        return layout.DIGGER
    return layout.BEFORE if (asked.seat + 1) % 3 == asked.digger else layout.AFTER


class Judging:
    """A network and the turn table that its inputs need."""

    def __init__(self, net: Exact, table: TurnTable, allowed: int) -> None:
        """`allowed` are the plays of the rule set (wakeng.bots.unbeaten)."""
        assert table.complete
        self._allowed = allowed
        self._net = net
        self._table = table
        self._shared_rows = [_shared_rows(first) for first in net.first]
        for rows, bias in zip(self._shared_rows, net.first_bias, strict=True):
            rows[0] += bias
        self._choice_rows = [_choice_rows(first) for first in net.first]
        self._turns: NDArray[np.uint8] = np.frombuffer(table.values, np.uint8)

    def choose(self, asked: Sequence[tuple[Question, Sequence[int]]]) -> list[int]:
        """For each question and its legal plays the one with the highest value, the first of equals."""
        chosen = [0] * len(asked)
        for role, at in _by_role(asked).items():
            questions, legal = zip(*(asked[place] for place in at), strict=True)
            values = self.values(role, questions, legal)
            start = 0
            for place, plays in zip(at, legal, strict=True):
                chosen[place] = plays[int(values[start : start + len(plays)].argmax())]
                start += len(plays)
        return chosen

    def values(self, role: int, asked: Sequence[Question], legal: Sequence[Sequence[int]]) -> NDArray[np.float64]:
        """The outputs for all choices of some questions of one role, in a row."""
        unseen = [complement(joined(question.hand, question.gone)) for question in asked]
        lengths = [len(plays) for plays in legal]
        shared = self._shared(role, asked, unseen)
        sums = np.repeat(shared, lengths, axis=0) if len(asked) > 1 else shared
        return outputs(self._net, role, sums + self._choices(role, asked, legal, lengths, unseen))

    def bid(self, hand: int, *, place: int, best: int, offers: Sequence[int]) -> int:
        """The bid with the highest value of those that may be made; 0 is the pass."""
        first = self._net.first[layout.BIDDER]
        shared = _thermometers(np.array([[hand]], _WORD), first[: layout.HAND_BITS])[0]
        shared += first[layout.BID_TURNS + min(self._table.turns(hand), layout.MOST_TURNS)]
        shared += first[layout.BID_QUADS + (hand >> 39).bit_count()]
        calls = layout.BID_CALL + 12 * place + 4 * best + np.array(offers)
        sums = first[calls] + shared + self._net.first_bias[layout.BIDDER]
        return offers[int(outputs(self._net, layout.BIDDER, sums).argmax())]

    # What all choices share --------------------------------------------------------------------------------------

    def _shared(self, role: int, asked: Sequence[Question], unseen: Sequence[int]) -> Singles:
        bits, rows = [], []
        for question, hidden in zip(asked, unseen, strict=True):
            following, previous = (question.seat + 1) % 3, (question.seat + 2) % 3
            kitty = 0 if role == layout.DIGGER else question.kitty
            bits.append((hidden, question.played[following], question.played[previous], kitty))
            holder = 0 if question.holder < 0 else 1 if question.holder == following else 2
            rows.append(
                (
                    question.table * 3 + holder,
                    question.counts[following] * layout.SEAT_CARDS + question.counts[previous],
                    question.passed[following],
                    question.passed[previous],
                    min(question.bombs, layout.MOST_BOMBS) * 2 + (hidden >> 39 != 0),
                )
            )
        sums = _thermometers(np.array(bits, _WORD), self._net.first[role, layout.UNSEEN : layout.TABLE])
        return _looked_up(self._shared_rows[role], np.array(rows), sums)

    # What differs ------------------------------------------------------------------------------------------------

    def _choices(
        self, role: int, asked: Sequence[Question], legal: Sequence[Sequence[int]], lengths: Sequence[int],
        unseen: Sequence[int],
    ) -> Singles:  # fmt: skip
        plays = np.array([play for row in legal for play in row], np.int64)
        about = np.array([_about(question, hidden) for question, hidden in zip(asked, unseen, strict=True)], np.int64)
        hand, index, shift, count, fewest = np.repeat(about, lengths, axis=0).T if len(asked) > 1 else about[0]
        rest = hand & _REST[plays] | hand >> _SHIFT[plays] & _MASK[plays]
        turns = self._turns[index - _LOST[plays]] + _COUNT[rest >> RUN_RANKS & 7]
        tops = _COUNT[(rest & _RANKS) >> shift]
        excess = np.maximum(turns - tops, 0)
        cards = _CARDS[plays]
        sure = self._sure(asked, legal, unseen, rest, excess)
        flags = sure | ((cards == fewest) * _DANGER | (cards > fewest) * _SAFE) * _BEATABLE[sure] * (plays > 0)
        rows = np.empty((len(plays), 4), np.int64)
        rows[:, 0] = plays
        rows[:, 1] = np.minimum(turns, layout.MOST_TURNS) * 13 + np.minimum(excess, layout.MOST_EXCESS)
        rows[:, 2] = (count - cards) * 6 + _COUNT[rest >> 39]
        rows[:, 3] = np.minimum(tops, layout.MOST_TOPS) * _FLAGS + flags
        sums = _thermometers(rest[:, None], self._net.first[role, layout.REST : layout.PLAY])
        return _looked_up(self._choice_rows[role], rows, sums)

    def _sure(
        self, asked: Sequence[Question], legal: Sequence[Sequence[int]], unseen: Sequence[int], rest: Ints, excess: Ints
    ) -> Ints:
        """For each choice the flags of being unbeaten, of leaving what runs out, and of both."""
        flags = []
        rests, near = rest.tolist(), (excess <= layout.RUN_OUT_EXCESS).tolist()
        at = 0
        for question, plays, hidden in zip(asked, legal, unseen, strict=True):
            standing = unbeaten_plays(hidden, _enemies(question)[1]) & self._allowed
            for play in plays:
                flag = standing >> play & 1
                if near[at] and runs_out(self._table, rests[at], standing):
                    flag += _RUNS_OUT + flag * _WINS
                flags.append(flag)
                at += 1
        return np.array(flags, np.int64)


_RUNS_OUT, _WINS, _DANGER, _SAFE, _FLAGS = 2, 4, 8, 16, 32
"""A choice's flags in the order of `layout`; the lowest is for being unbeaten."""
_BEATABLE: Final = np.arange(_FLAGS) % 2 == 0


def _shared_rows(first: Singles) -> list[Singles]:
    """One table for each pair of inputs that are looked up together, with the sums of their rows."""
    nothing = np.zeros((1, layout.HIDDEN), np.float32)
    holders = np.concatenate([nothing, first[layout.HOLDER : layout.CARDS_NEXT]])
    possible = np.concatenate([nothing, first[layout.QUAD_POSSIBLE : layout.SHARED]])
    return [
        _paired(first[layout.TABLE : layout.HOLDER], holders),
        _paired(first[layout.CARDS_NEXT : layout.CARDS_PREVIOUS], first[layout.CARDS_PREVIOUS : layout.PASSED_NEXT]),
        first[layout.PASSED_NEXT : layout.PASSED_PREVIOUS],
        first[layout.PASSED_PREVIOUS : layout.BOMBS],
        _paired(first[layout.BOMBS : layout.QUAD_POSSIBLE], possible),
    ]


def _choice_rows(first: Singles) -> list[Singles]:
    bits = np.array([[number >> bit & 1 for bit in range(5)] for number in range(_FLAGS)], np.float32)
    return [
        first[layout.PLAY : layout.TURNS],
        _paired(first[layout.TURNS : layout.LEFT], first[layout.EXCESS : layout.INPUTS]),
        _paired(first[layout.LEFT : layout.TOPS], first[layout.QUADS : layout.UNBEATEN]),
        _paired(first[layout.TOPS : layout.QUADS], bits @ first[layout.UNBEATEN : layout.EXCESS]),
    ]


def _paired(one: Singles, other: Singles) -> Singles:
    return (one[:, None] + other[None]).reshape(-1, layout.HIDDEN)


def _looked_up(tables: Sequence[Singles], rows: Ints, sums: Singles) -> Singles:
    """Add a row of each table."""
    for table, at in zip(tables, rows.T, strict=True):
        sums += table.take(at, axis=0)
    return sums


def _about(asked: Question, hidden: int) -> tuple[int, int, int, int, int]:
    """The hand, its index in the turn table, the highest rank unseen, its cards, those of the enemy with fewest."""
    top = max((hidden & _RANKS).bit_length() - 1, 0)
    return asked.hand, turn_index(asked.hand), top, asked.counts[asked.seat], _enemies(asked)[0]


def _enemies(asked: Question) -> tuple[int, int]:
    """The fewest and the most cards that an enemy holds."""
    counts, digger = asked.counts, asked.digger
    if asked.seat != digger:
        return counts[digger], counts[digger]
    one, other = counts[digger - 2], counts[digger - 1]
    return (one, other) if one < other else (other, one)


def _by_role(asked: Sequence[tuple[Question, Any]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for place, (question, _) in enumerate(asked):
        found.setdefault(role_of(question), []).append(place)
    return found


def _thermometers(hands: Ints, rows: Singles) -> Singles:
    """For rows of packed hands the sums of the rows of their bits: `rows` has 52 for each hand of a row."""
    bits = np.unpackbits(hands.view(np.uint8), axis=1, bitorder="little").astype(np.float32)
    sums = product(bits[:, :_BITS], rows[:_BITS])
    for hand in range(1, hands.shape[1]):
        sums += product(bits[:, 64 * hand : 64 * hand + _BITS], rows[_BITS * hand : _BITS * (hand + 1)])
    return np.asarray(sums)
