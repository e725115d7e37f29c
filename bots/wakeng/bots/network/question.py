"""A question in PLAY as the network and the search need it: one walk over the hand's history.

Everything here is public or the seat's own. Hands are packed (wakeng.engine.plays), and nothing needs numpy.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from wakeng.bots.seen import joined, pack_words
from wakeng.engine import PLAY_ID, Hand
from wakeng.engine.phases import EVENTS, Phase
from wakeng.engine.plays import REMOVALS, pack, remove
from wakeng.sdk.decision import Decision

_EVENTS: Final = {text: (seat, play) for seat in range(3) for play, text in enumerate(EVENTS[seat][Phase.PLAY])}
_COLUMN: Final = 1 | 1 << 13 | 1 << 26 | 1 << 39


def _filling(play: int) -> int:
    return REMOVALS[play][2] & (1 << REMOVALS[play][1]) - 1


_ADD: Final = tuple((rest, shift, mask, _filling(play)) for play, (rest, shift, mask) in enumerate(REMOVALS))


@dataclass(slots=True)
class Question:
    """What a seat of three knows. Lists are by seat."""

    seat: int
    hand: int
    played: list[int]
    gone: int
    """All that was played."""
    kitty: int
    """What the digger took and has not played since."""
    passed: list[int]
    """The last play that each passed on, 0: none."""
    counts: list[int]
    digger: int
    bid: int
    bombs: int
    table: int
    holder: int
    """-1 on the lead."""


def question_of(decision: Decision) -> Question:
    """Read a question in PLAY, of a rule set with three seats and no burying."""
    seen = decision.message.observation
    played, passed = told(seen.history)
    return Question(
        seat=seen.seat,
        hand=pack_words(seen.cards),
        played=played,
        gone=joined(joined(played[0], played[1]), played[2]),
        kitty=_kept(pack_words(seen.kitty), played[seen.digger]),
        passed=passed,
        counts=list(seen.cards_left),
        digger=seen.digger,
        bid=seen.bid,
        bombs=seen.bombs,
        table=PLAY_ID[seen.table] if seen.table else 0,
        holder=seen.table_seat if seen.table else -1,
    )


def question_of_hand(hand: Hand) -> Question:
    """The question that a hand of the engine stands at, in PLAY."""
    played, passed = told(hand.history)
    return Question(
        seat=hand.turn,
        hand=hand.planes[hand.turn],
        played=played,
        gone=joined(joined(played[0], played[1]), played[2]),
        kitty=_kept(pack(hand.deal.kitty), played[hand.digger]),
        passed=passed,
        counts=[hand.count(seat) for seat in range(3)],
        digger=hand.digger,
        bid=hand.bid,
        bombs=hand.bombs,
        table=hand.table,
        holder=hand.holder if hand.table else -1,
    )


def told(history: Iterable[str]) -> tuple[list[int], list[int]]:
    """By seat what was played, packed, and the last play that was passed on."""
    played, passed = [0, 0, 0], [0, 0, 0]
    table = 0
    for event in history:
        found = _EVENTS.get(event)
        if found is None:
            continue
        seat, play = found
        if play:
            rest, shift, mask, filling = _ADD[play]
            pile = played[seat]
            played[seat] = pile & rest | (pile << shift | filling) & mask
            table = play
        else:
            passed[seat] = table
    return played, passed


def _kept(kitty: int, played: int) -> int:
    """By rank what is left of the kitty's count less the count played, at least none."""
    for rank in range(13):
        if kitty >> rank & 1:
            for _ in range((played >> rank & _COLUMN).bit_count()):
                kitty = remove(kitty, rank + 1)
    return kitty
