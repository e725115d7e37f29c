"""What a play is worth by rule of thumb: the judgement of `expert`, for every rule set.

A hand wins by being the first that is empty, so the plays that it still needs count most (wakeng.bots.turns). All else
is a small correction: control cards are kept back, low cards go first, a partner's trick stands, an enemy with few
cards left is stopped, and is not led what he could go out on. A play that goes out is made at once, and one that opens
a run-out (wakeng.bots.unbeaten) before all others.

Scores are whole hundredths of a point, so a tie is a tie on every machine and in the compiled twin of these rules; the
first of equal plays is taken. The weights are those of a hill climb in self-play, rounded. docs/opponents.md says what
each idea is worth.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

from wakeng.bots.turns import turn_index, turn_table
from wakeng.bots.unbeaten import allowed_plays, runs_out, unbeaten_plays
from wakeng.engine import PLAYS, Kind, Play, RuleSet
from wakeng.engine.plays import RUN_RANKS, rank_count, remove
from wakeng.sdk.legal import PASS, follows, leads

_KING, _ACE, _TWO, _THREE = 9, 10, 11, 12

# The weights, in hundredths. For a play: k its group size, n its cards, L its ranks, low the index of its lowest rank.
_TURN: Final = -1100
"""For each turn that is left after the play."""
_CONTROL: Final = {_THREE: -650, _TWO: -350, _ACE: -100, _KING: -100}
"""Times k, by the top rank; for the king only where n <= 2."""
_BOMB: Final = -5000
"""For a quad where it is a bomb, unless at most two turns are left."""
_LEAD_CARD, _LEAD_LOW, _LEAD_RANK = 15, -90, -90
"""Times n, low and L, on the lead: low ones first."""
_DANGER: Final = -10_000
"""For leading what can be beaten, with just the cards that an enemy has left."""
_TOO_LONG: Final = 1000
"""For leading more cards than the enemy with fewest holds."""
_LAST_CARD: Final = 200
"""Times low, for a single that can be beaten while an enemy has one card: then high ones first."""
_FOLLOW_LOW: Final = -15
"""Times low, when following."""
_BLOCK: Final = 50
"""Times low, when following with what can be beaten and the next seat is an enemy who could go out on it."""
_PASS: Final = -80
_PARTNERS_TRICK: Final = 500
"""For letting a partner's trick stand; twice that if he has two cards or fewer."""
_URGENT: Final = -2700
"""Times 4 - cards, for passing while an enemy with three cards or fewer holds the trick."""
_LAST_TO_STOP: Final = -800
"""For passing on an enemy's trick that no partner is left to stop."""
_RUN_OUT: Final = 10**8
_RUN_OUT_TURN: Final = -1000
_FIVES: Final[tuple[int, ...]] = tuple(5**rank for rank in range(RUN_RANKS))
_NEVER: Final = -(10**9)


class Position(NamedTuple):
    """A question in PLAY, as far as the judgement looks at it."""

    hand: int
    """Packed (wakeng.engine.plays); so is `unseen`."""
    unseen: int
    table: int
    """The play to beat, 0 on the lead."""
    fewest: int
    """Cards of the enemy with fewest."""
    most: int
    """Cards of the enemy with most."""
    holder_cards: int = 0
    """Cards of the seat that holds the trick. This and what follows is of no matter on the lead."""
    partner_holds: bool = False
    partner_next: bool = False
    """Whether the next seat is a partner."""
    last_to_stop: bool = False
    """Whether no partner acts before the turn is the holder's again."""


def _control(play: Play) -> int:
    counts = play.top != _KING or play.cards <= 2
    return _CONTROL.get(play.top, 0) * play.size if counts else 0


def _lead_order(play: Play) -> int:
    return _control(play) + _LEAD_CARD * play.cards + _LEAD_LOW * play.bottom + _LEAD_RANK * play.groups


def _index_lost(play: Play) -> int:
    """What the play takes off the index of the turn table, which knows no A, 2 and 3."""
    ranks = range(play.bottom, play.top + 1)
    return play.size * sum(_FIVES[rank] for rank in ranks if rank < RUN_RANKS)


_CARDS: Final = tuple(play.cards for play in PLAYS)
_LOW: Final = tuple(play.bottom for play in PLAYS)
_LOST: Final = tuple(map(_index_lost, PLAYS))
_LEAD: Final = tuple(map(_lead_order, PLAYS))
_FOLLOW: Final = tuple(_control(play) + _FOLLOW_LOW * play.bottom for play in PLAYS)
_QUADS: Final = frozenset(play.id for play in PLAYS if play.kind is Kind.QUAD)
_HIGH: Final = (7 << RUN_RANKS) * (1 | 1 << 13 | 1 << 26 | 1 << 39)
"""A, 2 and 3 in a packed hand."""


class Judge:
    """The judgement under one rule set."""

    def __init__(self, rules: RuleSet) -> None:
        self.rules = rules
        self.table = turn_table(rules)
        self._allowed = allowed_plays(rules)
        self._bomb = _BOMB if rules.bombs else 0

    def choose(self, position: Position) -> int:
        """The play, or the pass."""
        hand, table = position.hand, position.table
        legal = follows(self.rules, hand, table) if table else leads(self.rules, hand)
        if len(legal) == 1:
            return legal[0]
        out = next((play for play in legal if _CARDS[play] == hand.bit_count()), PASS)
        return out or self._best(position, legal)

    def runs_out(self, hand: int, unseen: int, most: int) -> bool:
        """Whether a packed hand that leads goes out on unbeaten plays alone."""
        return runs_out(self.table, hand, unbeaten_plays(unseen, most) & self._allowed)

    def _best(self, position: Position, legal: Sequence[int]) -> int:
        hand = position.hand
        unbeaten = unbeaten_plays(position.unseen, position.most) & self._allowed
        order, adjusted = (_FOLLOW, _follow_score) if position.table else (_LEAD, _lead_score)
        turns_left = self._turns_after(hand, legal)
        best, best_score = PASS, _NEVER
        for play, turns in zip(legal, turns_left, strict=True):
            sure = unbeaten >> play & 1
            if sure and play and runs_out(self.table, remove(hand, play), unbeaten):
                score = _RUN_OUT + _RUN_OUT_TURN * turns
            else:
                score = order[play] + _TURN * turns + adjusted(position, play, sure)
                if play in _QUADS and turns > 2:
                    score += self._bomb
            if score > best_score:
                best, best_score = play, score
        return best

    def _turns_after(self, hand: int, legal: Sequence[int]) -> list[int]:
        """The turns that are left after each play: the table's for 4..K, and one for each of A, 2 and 3."""
        values, fill = self.table.values, self.table.fill
        index, (high, clearing) = turn_index(hand), _high_ranks(hand & _HIGH)
        return [(values[at := index - _LOST[play]] or fill(at)) + high - (play in clearing) for play in legal]


def _lead_score(position: Position, play: int, sure: int) -> int:
    """What the enemies' numbers of cards make of a lead."""
    cards, fewest = _CARDS[play], position.fewest
    if cards > fewest:
        return _TOO_LONG
    if cards < fewest or sure:
        return 0
    return _DANGER + (_LAST_CARD * _LOW[play] if cards == 1 else 0)


def _follow_score(position: Position, play: int, sure: int) -> int:
    """What the others' numbers of cards make of a pass, or of a play that beats the table."""
    if not play:
        return _pass_score(position)
    blocks = _CARDS[play] == position.fewest and not sure and not position.partner_next
    return _BLOCK * _LOW[play] if blocks else 0


def _pass_score(position: Position) -> int:
    cards = position.holder_cards
    if position.partner_holds:
        return _PASS + (2 * _PARTNERS_TRICK if cards <= 2 else _PARTNERS_TRICK)
    urgent = _URGENT * max(4 - cards, 0)
    return _PASS + urgent + (_LAST_TO_STOP if position.last_to_stop else 0)


@cache
def _high_ranks(held: int) -> tuple[int, frozenset[int]]:
    """How many of A, 2 and 3 are held, and the plays that take the last of one; by these ranks of a hand."""
    counts = {rank: rank_count(held, rank) for rank in (_ACE, _TWO, _THREE)}
    clearing = frozenset(rank + 1 + 13 * (count - 1) for rank, count in counts.items() if count)
    return len(clearing), clearing
