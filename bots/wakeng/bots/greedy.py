"""Sheds the most cards when it leads, and beats whatever it can when it follows, at the lowest price.

Leading, A, 2 and 3 count half a card each, so that they come late, and the ranks of a quad are left alone while
anything else is held. The bars of the other phases were measured with the engine, three or four of these at the table
(docs/rules.md 4, base 1; "units" are the digger's result per unit of bid; +- one standard error):

- A half for each A, 2 and 3 rather than for the play: +0.13 +-0.01 units as digger, +0.07 +-0.01 as defenders.
  Quads left whole rather than only not led: +0.05 +-0.01 and +0.04 +-0.01 (6,000 deals of xian each).
- It bids as `expert` does (wakeng.bots.bids).
- Grabbing from 11 points is worth +0.06 +-0.06 points a hand over never, at a table with one `random`.
- Burying the lowest lone card: +0.12 +-0.01 units (4,000 deals of four_traditional).
- Asking the partner to lie down gains 0.4 units a defender or more where the own hand goes out in 7 plays or fewer, and
  loses 0.06 at 8, 0.41 at 9; consenting gains as much whatever the consenting hand is (three_traditional).
- A digger with at most one play that can be beaten wins nearly always, but that is one hand in a thousand.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from wakeng.bots import expert
from wakeng.bots.reference import ReferenceBot
from wakeng.engine import PLAY_ID, PLAYS, Kind, Play, RuleSet
from wakeng.engine.hand import control_points
from wakeng.engine.plays import FOLLOWS, pack, remove
from wakeng.sdk.decision import Decision
from wakeng.sdk.legal import legal_tokens

_GRAB_BAR = 3.4
_LIE_DOWN_PLAYS = 7
_BEATABLE_WHEN_OPEN = 1

_ACE = 10
_KIND = {play.token: play.kind for play in PLAYS}
_QUADS = frozenset(play.token for play in PLAYS if play.kind is Kind.QUAD)


def _lead_key(play: Play) -> tuple[int, int, int]:
    """Most cards first, A, 2 and 3 at half; then the lower rank; then the vocabulary's order."""
    halves = 2 * play.cards - (play.size if play.top >= _ACE else 0)
    return -halves, play.top, play.id


_LEAD_ORDER = {play.token: place for place, play in enumerate(sorted(PLAYS[1:], key=_lead_key))}


class Greedy(ReferenceBot):
    """Most cards on the lead, the lowest that beats otherwise; bids as `expert`."""

    name = "greedy"
    version = "2"

    def choose(self, decision: Decision) -> str:
        """A choice for any phase; for one that is not known here, the first legal token."""
        if decision.phase == "PLAY":
            table = decision.table
            return follow(table, decision.legal) if table else lead(decision.legal)
        answer = _ANSWERS.get(decision.phase)
        return answer(decision) if answer else decision.legal[0]


def lead(legal: Sequence[str]) -> str:
    """The play to lead. That a QUAD is legal on the lead says that its rank is held whole."""
    quads = [token for token in legal if token in _QUADS]
    if quads:
        ranks = {token[0] for token in quads}
        others = [token for token in legal if ranks.isdisjoint(token)]
        return min(others, key=_LEAD_ORDER.__getitem__) if others else quads[0]
    return min(legal, key=_LEAD_ORDER.__getitem__)


def follow(table: str, legal: Sequence[str]) -> str:
    """The lowest play of the table's kind, a bomb where only a bomb beats, else the pass."""
    kind = _KIND[table]
    for token in legal:
        if _KIND[token] is kind:
            return token
    # Nothing of the kind beats: what is legal is the pass, then bombs from the lowest.
    return legal[1] if len(legal) > 1 and legal[0] == "pass" else legal[0]


def plan(rules: RuleSet, hand: int) -> list[str]:
    """The plays in which a packed hand would go out if it always led."""
    plays = []
    while hand:
        plays.append(lead(legal_tokens(rules, "PLAY", hand, table="", bid=0)))
        hand = remove(hand, PLAY_ID[plays[-1]])
    return plays


# Before the cards are played -----------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _average(rules: RuleSet) -> float:
    """The control points of an average hand as dealt."""
    return control_points(rules.deck) * rules.hand_size / len(rules.deck)


def _strength(decision: Decision) -> float:
    return control_points(decision.card_ids) - _average(decision.rules)


def _plan(decision: Decision) -> list[str]:
    return plan(decision.rules, pack(decision.card_ids))


def _grab(decision: Decision) -> str:
    return _yes_if(_strength(decision) > _GRAB_BAR)


def _open(decision: Decision) -> str:
    """Only when nearly all of the hand's plays are above whatever the others can hold."""
    own = decision.card_ids
    unseen = pack(set(decision.rules.deck) - set(own))
    most = max(left for seat, left in enumerate(decision.cards_left) if seat != decision.seat)
    beatable = sum(_can_be_beaten(PLAY_ID[token], unseen, most) for token in _plan(decision))
    return _yes_if(beatable <= _BEATABLE_WHEN_OPEN)


def _can_be_beaten(play: int, unseen: int, most: int) -> bool:
    """In kind: by cards that are not seen and that one seat may hold. Bombs are rare enough to leave out."""
    shift, above, row = FOLLOWS[play]
    return PLAYS[play].cards <= most and len(row[unseen >> shift & above]) > 1


def _bury(decision: Decision) -> str:
    """The lowest card below the ace that is alone in its rank and would be led alone."""
    alone = [token for token in _plan(decision) if len(token) == 1 and PLAYS[PLAY_ID[token]].top < _ACE]
    held = decision.cards
    lone = (f"bury{rank}" for rank in sorted(alone, key=PLAY_ID.__getitem__) if held.count(rank) == 1)
    return next((token for token in lone if token in decision.legal), "pass")


def _ask_to_lie_down(decision: Decision) -> str:
    return _yes_if(len(_plan(decision)) <= _LIE_DOWN_PLAYS)


def _consent(decision: Decision) -> str:
    """He who asks is by far the stronger."""
    return "yes"


def _yes_if(wanted: bool) -> str:  # noqa: FBT001
    return "yes" if wanted else "no"


_ANSWERS: Mapping[str, Callable[[Decision], str]] = {
    "BID": expert.answer,
    "GRAB": _grab,
    "OPEN": _open,
    "BURY": _bury,
    "LIE_DOWN_ASK": _ask_to_lie_down,
    "LIE_DOWN_CONSENT": _consent,
}
"""By phase. An unseen dig (BLIND) loses on average, so the first token, no, is right there."""
