"""Counts the turns that its hand needs, and weighs control cards, partner and danger: no search, no learning.

How it judges plays stands in wakeng.bots.judge, what it answers before the play in wakeng.bots.bids. Here a question is
turned into what these two look at.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from wakeng.bots.bids import Bidder, bars_of, sure_to_lead
from wakeng.bots.judge import Judge
from wakeng.bots.reference import ReferenceBot
from wakeng.bots.seen import pack_words, position_of, unseen_by
from wakeng.bots.turns import turn_table
from wakeng.engine import PRESETS, TOKENS, Phase
from wakeng.sdk.decision import Decision
from wakeng.sdk.wire import rules_from_bytes

_PLAYS = TOKENS[Phase.PLAY]


class Expert(ReferenceBot):
    """Rules of thumb for every phase of every rule set."""

    name = "expert"

    def ready(self) -> None:
        """Build the turn tables of the presets now, so that no question waits for them."""
        for preset in PRESETS.values():
            turn_table(preset)

    def choose(self, decision: Decision) -> str:
        """A choice for any phase; for one that is not known here, the first legal token."""
        if decision.phase == "PLAY":
            return _PLAYS[bidder(decision).judge.choose(position_of(decision))]
        return answer(decision)


def answer(decision: Decision) -> str:
    """The choice in a phase before PLAY. An unseen dig loses on average, so BLIND is a no, which is the first token."""
    found = _ANSWERS.get(decision.phase)
    if found is None:
        return decision.legal[0]
    words, choose = found
    return words[choose(bidder(decision), pack_words(decision.cards), decision)]


def leads(decision: Decision) -> bool:
    """Whether the seat can know that it will lead."""
    history = decision.message.observation.history
    return sure_to_lead(decision.rules, decision.phase, decision.seat, decision.card_ids, history)


def bidder(decision: Decision) -> Bidder:
    """The mind for the rules of a question."""
    return _bidder(decision.message.observation.rules.SerializeToString(deterministic=True))


@lru_cache(maxsize=64)
def _bidder(encoded: bytes) -> Bidder:
    rules = rules_from_bytes(encoded)
    return Bidder(Judge(rules), bars_of(rules))


def _open(mind: Bidder, hand: int, decision: Decision) -> int:
    most = max(left for seat, left in enumerate(decision.cards_left) if seat != decision.seat)
    return mind.open(hand, unseen_by(decision), most, leads=leads(decision))


_ANSWERS: Mapping[str, tuple[Sequence[str], Callable[[Bidder, int, Decision], int]]] = {
    phase.value: (TOKENS[phase], choose)
    for phase, choose in {
        Phase.BID: lambda mind, hand, asked: mind.bid(hand, leads=leads(asked), standing=asked.bid),
        Phase.GRAB: lambda mind, hand, asked: mind.grab(hand, leads=leads(asked), blind=asked.blind),
        Phase.OPEN: _open,
        Phase.BURY: lambda mind, hand, _: mind.bury(hand),
        Phase.LIE_DOWN_ASK: lambda mind, hand, _: mind.ask(hand),
        Phase.LIE_DOWN_CONSENT: lambda mind, hand, _: mind.consent(hand),
    }.items()
}
"""By phase: its words, and which of them it is."""
