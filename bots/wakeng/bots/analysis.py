"""The ending of a recorded hand with open cards: who wins it from where on, and which choices threw it away.

From the last choice backwards the solver says of every moment in PLAY whose the hand is, as long as few enough cards
are left and the search ends in time. A *slip* is a choice after which the hand is the other side's, though before it
the chooser's side had won, with open cards and right play by everybody. A slip need not be a mistake: the seat did not
see what the solver sees, and a choice that is right against most deals may lose against this one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from wakeng.bots.solver import Ending, Solver, ending_of
from wakeng.engine import Phase
from wakeng.engine.record import begin

MOST_CARDS: Final = 24
"""Nearly all endings of up to so many cards are solved within the solver's limit of nodes."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A choice in PLAY within the solved ending."""

    decision: int
    """Its place in the record's decisions, from 0."""
    seat: int
    action: str
    cards: int
    """What the active seats hold before it."""
    digger_wins: bool
    """With open cards, before the choice."""
    slip: bool
    """Whether the choice threw away what the seat's side had won."""
    fault: bool
    """Whether the arena chose for the seat."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """The solved ending of a hand. It may be empty: where nothing could be solved, or nothing was played."""

    digger: int | None
    moments: tuple[Moment, ...]
    """Without a gap up to the last choice."""
    digger_won: bool | None
    """None where somebody left the hand before its end."""

    @property
    def slips(self) -> tuple[Moment, ...]:
        """The choices that threw the ending away."""
        return tuple(moment for moment in self.moments if moment.slip)

    @property
    def settled(self) -> Moment | None:
        """The first moment from which on, with open cards, the hand was always the side's that has it in the end."""
        end = self.digger_won
        found = None
        for moment in reversed(self.moments):
            end = moment.digger_wins if end is None else end
            if moment.digger_wins is not end:
                break
            found = moment
        return found


def analyse(record: Mapping[str, Any], solver: Solver, *, most_cards: int = MOST_CARDS) -> Analysis:
    """The ending of a verified record; `solver` is for its rules."""
    decisions = record.get("decisions", [])
    digger_won = {"DIGGER": True, "DEFENDERS": False}.get(record["result"]["winner"])
    after, found = digger_won, list[Moment]()
    for at, ending in reversed(_endings(record, most_cards)):
        before = solver.digger_wins(ending)
        if before is None:
            break
        decision = decisions[at]
        own = before is (ending.turn == ending.digger)
        slip = own and after is not None and after is not before
        found.append(Moment(at, ending.turn, decision["action"], ending.cards, before, slip, "fault" in decision))
        after = before
    return Analysis(record["result"].get("digger"), tuple(reversed(found)), digger_won)


def _endings(record: Mapping[str, Any], most_cards: int) -> list[tuple[int, Ending]]:
    """What there was before each choice of PLAY with at most so many cards left."""
    hand, found = begin(record), list[tuple[int, Ending]]()
    for at, decision in enumerate(record.get("decisions", [])):
        if hand.phase is Phase.PLAY and (ending := ending_of(hand)).cards <= most_cards:
            found.append((at, ending))
        hand.apply_token(decision["action"])
    return found
