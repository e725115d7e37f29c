"""What `expert` answers before the cards are played: bids, and the offers of the other phases.

**Strength.** v is what a hand as dealt wins as digger, in units (the digger's result per unit of bid), by least squares
over self-play. It explains 8 % of the variance and no more: chance lies in the kitty and in the play. Here it is whole
thousandths, so that a bar is the same bar everywhere.

**Bars.** Each answer is a yes from some bar on. `wakeng train bids` measures them: it plays every answer to a question
out from the same cards and tells what each bar is worth in points a hand. The bars below are its choice for three kinds
of table; docs/opponents.md has the figures. Bars hang on how the cards are played, so whoever changes the play measures
them anew.
"""

from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Final

from wakeng.bots.judge import Judge
from wakeng.bots.turns import TurnTable
from wakeng.engine import FirstCaller, RuleSet
from wakeng.engine.cards import HEARTS
from wakeng.engine.plays import rank_count, remove

NOBODY: Final = -1
_KING, _ACE, _TWO, _THREE = 9, 10, 11, 12
_LOW_RANKS: Final = 0b1111
"""4 to 7."""

_CONSTANT: Final = 40
_TURN: Final = -145
_CARD: Final = {_THREE: 355, _TWO: 166, _ACE: 90, _KING: 43}
_QUAD: Final = 580
_LOW_RANK: Final = -70
_LEADS: Final = 290


def strength(table: TurnTable, hand: int, *, leads: bool) -> int:
    """v of a packed hand, in thousandths of a unit; `leads` where the first lead will be its own."""
    cards = sum(weight * rank_count(hand, rank) for rank, weight in _CARD.items())
    quads = (hand >> 39).bit_count()
    low = (hand & _LOW_RANKS).bit_count()
    return _CONSTANT + _TURN * table.turns(hand) + cards + _QUAD * quads + _LOW_RANK * low + _LEADS * leads


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """From where on an answer is yes. Strengths are thousandths and have to be exceeded."""

    bid3: int = 50
    bid2: int = -100
    grab: int = 900
    grab_blind: int = -100
    """To grab a blind dig."""
    open: int = 200
    """Of the digger's hand with the kitty."""
    bury_below: int = _THREE
    """Ranks below this are buried."""
    ask_turns: int = 5
    """At most so many turns, to ask a partner to lie down,"""
    ask_controls: int = 2
    """and at least so many 2 and 3."""
    consent_turns: int = 7
    """At least so many turns, to lie down for a partner."""


@dataclass(frozen=True, slots=True)
class Bidder:
    """The answers before PLAY under one rule set. Hands are packed; answers are actions (wakeng.engine.phases)."""

    judge: Judge
    bars: Bars

    def bid(self, hand: int, *, leads: bool, standing: int) -> int:
        """3 or 2, or the most that the rules allow below it, if that is still higher; else the pass."""
        worth = self.strength(hand, leads=leads)
        wanted = 3 if worth > self.bars.bid3 else 2 if worth > self.bars.bid2 else 0
        wanted = min(wanted, self.judge.rules.max_bid)
        return wanted if wanted > standing else 0

    def grab(self, hand: int, *, leads: bool, blind: bool) -> int:
        """Whether to dig for twice the stake instead of a seat that bid, or that digs blindly."""
        bar = self.bars.grab_blind if blind else self.bars.grab
        return int(self.strength(hand, leads=leads) > bar)

    def open(self, hand: int, unseen: int, most: int, *, leads: bool) -> int:
        """Whether to double the stake and play with open cards; `hand` has the kitty."""
        worth = self.strength(hand, leads=leads)
        return int(worth > self.bars.open or self.judge.runs_out(hand, unseen, most))

    def bury(self, hand: int) -> int:
        """The lowest lone card that costs a turn to play, else none."""
        return self.lone_card(hand, below=self.bars.bury_below)

    def lone_card(self, hand: int, *, below: int) -> int:
        """The action that buries such a card, of the ranks below a rank index; 0 where there is none."""
        turns = self.judge.table.turns
        lone = (rank + 1 for rank in range(below) if rank_count(hand, rank) == 1)
        return next((card for card in lone if turns(remove(hand, card)) < turns(hand)), 0)

    def ask(self, hand: int) -> int:
        """Whether this hand beats the digger alone, at twice the stake."""
        controls = rank_count(hand, _TWO) + rank_count(hand, _THREE)
        return int(self.judge.table.turns(hand) <= self.bars.ask_turns and controls >= self.bars.ask_controls)

    def consent(self, hand: int) -> int:
        """Whether this hand would be of little help."""
        return int(self.judge.table.turns(hand) >= self.bars.consent_turns)

    def strength(self, hand: int, *, leads: bool) -> int:
        """v of a hand, in thousandths of a unit."""
        return strength(self.judge.table, hand, leads=leads)


THREE: Final = Bars()
BAOJI: Final = Bars(bid3=-250, bid2=-400, grab=300, grab_blind=-400, open=0, ask_turns=6, consent_turns=6)
FOUR: Final = Bars(bid3=0, bid2=-150, grab=700, open=100)


def bars_of(rules: RuleSet) -> Bars:
    """The bars measured at the kind of table that is nearest to a rule set."""
    if rules.players == 4:
        return FOUR
    return BAOJI if rules.hand_size < 16 else THREE


def sure_to_lead(rules: RuleSet, phase: str, seat: int, cards: Container[int], history: Iterable[str]) -> bool:
    """Whether a seat can know that the first lead belongs to it (docs/rules.md 3.10).

    It was dealt the lowest heart of the deck; or the bids tell, where the lowest heart of all hands calls first.
    """
    if rules.first_caller is FirstCaller.LOWEST_HEART:
        callers = (int(event[0]) for event in history if event[1:6] == ":BID:")
        return next(callers, seat if phase == "BID" else NOBODY) == seat
    return next(card for card in HEARTS if card in rules.deck) in cards
