"""Plays as ids, hands as packed bits, and the tables that find every legal play without a loop.

**The vocabulary.** Suits do not matter in play, there are no kickers, and A, 2 and 3 never stand in a run, so a
play is named by its ranks and there are only 150 of them (docs/rules.md 2): 13 ranks x 4 group sizes = 52 of equal
ranks; 8 + 7 + ... + 1 = 36 straights of 3 to 10 of the ten ranks 4..K; 36 pair runs likewise; 8 + 7 + 6 + 5 = 26
triple runs of 3 to 6, as a digger holds 20 cards at most. Their ids are fixed (docs/protocol.md 1): 0 the pass, 1..52
equal ranks by group size, then runs by group size, then length, then top rank. The 8 + 7 + 6 = 21 quad runs come
last, so that rule sets without them have one vocabulary.

**The hand** is one int of four *planes* of 13 bits, a thermometer per rank: plane j has bit r when the hand holds
more than j cards of rank r. k equal cards of rank r are held when plane k - 1 has bit r; a run of k-groups is a row
of neighbouring bits in plane k - 1.

    bits   39..51    26..38    13..25     0..12
           quads     triples   pairs      held at all

Taking k cards off ranks M moves their thermometers down k planes: `hand & ~M4 | hand >> 13k & M4`, where M4 is M
repeated in all four planes. Where the hand holds the cards, `hand - t + (t >> 13k)` with t = `hand & M4` is the same
with less work.

**The tables.** What can be led from a plane depends on its 13 bits alone, so it is one row of a table of 8,192 tuples
of ids, made once. What beats a play is the same kind of row, looked up with the plane cut down to the ranks above it:

    follows of play p  =  row[hand >> 13(k - 1) & above]        with (13(k - 1), above, row) = FOLLOWS[p]

where the row of an equal-rank play is the table of its group size and the row of a run holds the runs of just its
length: a run with a higher top is a run all of whose ranks lie above the old bottom. Every row of FOLLOWS starts with
the pass. Bombs are added by the caller, since they are a matter of the rule set.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Final

from wakeng.engine.cards import RANKS, card_set, count_ranks

RUN_RANKS: Final = 10
"""Runs use the ranks 4..K, indices 0..9."""
RUN_MINIMUM: Final = 3
"""No rule set lets a run be shorter than this."""
_LONGEST_RUN: Final = (10, 10, 6, 5)
"""By group size: a hand holds at most 20 cards (docs/protocol.md 1)."""
_RUN_PLANE: Final = (1 << RUN_RANKS) - 1


class Kind(Enum):
    """The kinds of docs/rules.md 2, and the pass."""

    PASS = "PASS"
    SINGLE = "SINGLE"
    PAIR = "PAIR"
    TRIPLE = "TRIPLE"
    QUAD = "QUAD"
    STRAIGHT = "STRAIGHT"
    PAIR_RUN = "PAIR_RUN"
    TRIPLE_RUN = "TRIPLE_RUN"
    QUAD_RUN = "QUAD_RUN"


_GROUP_KINDS: Final = (Kind.SINGLE, Kind.PAIR, Kind.TRIPLE, Kind.QUAD)
RUN_KINDS: Final = (Kind.STRAIGHT, Kind.PAIR_RUN, Kind.TRIPLE_RUN, Kind.QUAD_RUN)


@dataclass(frozen=True, slots=True)
class Play:
    """One word of the vocabulary: `groups` neighbouring ranks from `bottom` to `top`, `size` cards of each."""

    id: int
    kind: Kind
    size: int
    groups: int
    top: int

    @property
    def bottom(self) -> int:
        """Index of the lowest rank."""
        return self.top - self.groups + 1

    @property
    def cards(self) -> int:
        """How many cards it puts on the table."""
        return self.size * self.groups

    @property
    def token(self) -> str:
        """The word for it on the wire: `pass`, or its ranks in ascending order."""
        if self.kind is Kind.PASS:
            return "pass"
        return "".join(rank * self.size for rank in RANKS[self.bottom : self.top + 1])


def _vocabulary() -> tuple[Play, ...]:
    shapes = [(kind, size, 1, top) for size, kind in enumerate(_GROUP_KINDS, 1) for top in range(13)]
    shapes += [
        (kind, size, groups, top)
        for size, kind in enumerate(RUN_KINDS, 1)
        for groups in range(RUN_MINIMUM, _LONGEST_RUN[size - 1] + 1)
        for top in range(groups - 1, RUN_RANKS)
    ]
    return (Play(0, Kind.PASS, 0, 0, -1), *(Play(i, *shape) for i, shape in enumerate(shapes, 1)))


PLAYS: Final = _vocabulary()
"""Every play by id; PLAYS[0] is the pass."""
PLAY_TOKENS: Final = tuple(play.token for play in PLAYS)
PLAY_ID: Final = {token: i for i, token in enumerate(PLAY_TOKENS)}
FIRST_QUAD: Final = PLAY_ID["4444"]
FIRST_RUN: Final = PLAY_ID["456"]
FIRST_QUAD_RUN: Final = PLAY_ID["444455556666"]

_BY_SHAPE: Final = {(play.size, play.groups, play.top): play for play in PLAYS}


def classify(cards: Iterable[int]) -> Play | None:
    """The play that these card ids are, whatever the rule set, or None: reading one is never ambiguous."""
    counts = count_ranks(cards)
    ranks = [rank for rank, count in enumerate(counts) if count]
    if not ranks:
        return None
    bottom, top = ranks[0], ranks[-1]
    if set(counts[bottom : top + 1]) != {counts[top]}:
        return None
    return _BY_SHAPE.get((counts[top], len(ranks), top))


# Hands -----------------------------------------------------------------------------------------------------------


_PLANE: Final = (1 << 13) - 1
_TWO_PLANES: Final = (1 << 26) - 1


def _planes(bits: int) -> int:
    """Rank bits repeated in all four planes."""
    return bits * (1 | 1 << 13 | 1 << 26 | 1 << 39)


def pack(cards: Iterable[int]) -> int:
    """The packed hand of different card ids."""
    return pack_set(card_set(cards))


def pack_set(cards: int) -> int:
    """The packed hand of a set of cards, whose planes are suits: the four bits of each rank are sorted.

    This is a sorting network on all ranks at once: of two bits a | b is the greater and a & b the lesser. The halves
    are joined last, since ints above 30 bits are slower.
    """
    low, high = cards & _TWO_PLANES, cards >> 26
    greater, lesser = low | high, low & high
    a, b = greater & _PLANE, greater >> 13
    c, d = lesser & _PLANE, lesser >> 13
    e, f = a & b, c | d
    return a | b | (e | f) << 13 | (e & f | (c & d) << 13) << 26


def rank_count(hand: int, rank: int) -> int:
    """How many cards of a rank index the packed hand holds, 0..4."""
    return (hand >> rank & _planes(1)).bit_count()


def _removal(play: Play) -> tuple[int, int, int]:
    mask = _planes(sum(1 << rank for rank in range(play.bottom, play.top + 1)))
    return ~mask, 13 * play.size, mask


REMOVALS: Final = tuple(map(_removal, PLAYS))
"""By play: (ranks it leaves alone, how far the others' thermometers fall, the ranks it takes from)."""


def remove(hand: int, play: int) -> int:
    """The packed hand after a play it holds (unchecked)."""
    rest, shift, mask = REMOVALS[play]
    return hand & rest | hand >> shift & mask


# Tables ----------------------------------------------------------------------------------------------------------

Row = tuple[tuple[int, ...], ...]
"""One tuple of ascending play ids for every value of a plane."""


def _row(size: int, groups: int) -> Row:
    """For every plane value, the plays of `groups` ranks it holds; each builds on the one without its lowest bit."""
    top_rank = 13 if groups == 1 else RUN_RANKS
    rows: list[tuple[int, ...]] = [()]
    for plane in range(1, 1 << top_rank):
        lowest = (plane & -plane).bit_length() - 1
        needed = (1 << groups) - 1 << lowest
        rest = rows[plane & plane - 1]
        if plane & needed == needed:
            rest = (_BY_SHAPE[size, groups, lowest + groups - 1].id, *rest)
        rows.append(rest)
    return tuple(rows)


_GROUP_ROWS: Final = tuple(_row(size, 1) for size in (1, 2, 3, 4))
_RUN_ROWS: Final = {
    (size, groups): _row(size, groups)
    for size in (1, 2, 3, 4)
    for groups in range(RUN_MINIMUM, _LONGEST_RUN[size - 1] + 1)
}
SINGLES, PAIRS, TRIPLES, QUADS = _GROUP_ROWS


def _follows() -> tuple[tuple[int, int, Row], ...]:
    with_pass = {
        shape: tuple((0, *row) for row in rows)
        for shape, rows in [*(((k, 1), rows) for k, rows in enumerate(_GROUP_ROWS, 1)), *_RUN_ROWS.items()]
    }
    table: list[tuple[int, int, Row]] = [(0, 0, ((),))]
    for play in PLAYS[1:]:
        ranks = (1 << 13) - 1 if play.groups == 1 else _RUN_PLANE
        above = ranks & -(2 << play.bottom)
        table.append((13 * (play.size - 1), above, with_pass[play.size, play.groups]))
    return tuple(table)


FOLLOWS: Final = _follows()
"""By the id of the play to beat: (shift, ranks above, row) as in the module's theory; each row begins with the pass."""


EFFECTS: Final = tuple((mask, shift, follows) for (_, shift, mask), follows in zip(REMOVALS, FOLLOWS, strict=True))
"""By play: (ranks it takes from, how far their thermometers fall, its FOLLOWS), all that playing it needs."""
QUAD_FALL: Final = 13 * 4
"""How far thermometers fall for four of a rank."""


@cache
def run_leads(size: int, shortest: int) -> Row:
    """For every value of plane size - 1, the runs of at least `shortest` ranks that can be led."""
    lengths = [_RUN_ROWS[size, n] for n in range(shortest, _LONGEST_RUN[size - 1] + 1)]
    runs = tuple(sum(rows, ()) for rows in zip(*lengths, strict=True))
    return runs * (1 << 13 - RUN_RANKS) if runs else NO_RUNS  # A, 2 and 3 are the high bits, and change nothing.


NO_RUNS: Final[Row] = ((),) * (1 << 13)
"""The row of a kind of run that a rule set does not know."""
