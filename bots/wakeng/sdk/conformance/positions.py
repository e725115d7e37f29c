"""Questions to try a bot on: every phase of a rule set, out of hands that the engine plays by chance.

The chance is that of a seed, so a checker that is run again asks the same.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from wakeng.engine import Bidding, Hand, Phase, RuleSet, Stream, derive
from wakeng.sdk.wire import observation_message
from wakeng.v1 import bot_pb2

_MOST_HANDS: Final = 2_000
"""A phase that does not come up in so many hands is not waited for."""
_LABEL: Final = "check"


@dataclass(frozen=True, slots=True)
class Position:
    """A question without an id, and its legal answers."""

    rules: RuleSet
    legal: tuple[str, ...]
    request: bot_pb2.DecideRequest

    @property
    def phase(self) -> str:
        """The word of its phase."""
        return self.request.phase


def position_of(hand: Hand, *, hand_index: int = 0) -> Position:
    """The question that a hand stands at."""
    legal = tuple(hand.legal_tokens())
    request = bot_pb2.DecideRequest(
        phase=hand.phase.value,
        observation=observation_message(hand.observe(hand.turn)),
        legal_actions=legal,
        match_id="check",
        hand_index=hand_index,
    )
    return Position(hand.rules, legal, request)


def deal(rules: RuleSet, seed: bytes, index: int) -> Hand:
    """The checker's hand of that number."""
    assigned = index % rules.players if rules.bidding is Bidding.ASSIGNED else None
    return Hand.from_seed(rules, derive(seed, _LABEL, index), assigned_digger=assigned)


def phases_of(rules: RuleSet) -> list[Phase]:
    """The phases that hands of a rule set have, in their order."""
    auction = rules.bidding is Bidding.AUCTION
    occurs = {
        Phase.BLIND: rules.has_blind,
        Phase.BID: auction,
        Phase.GRAB: rules.grab and auction,
        Phase.OPEN: rules.open,
        Phase.BURY: rules.bury,
        Phase.LIE_DOWN_ASK: rules.lie_down,
        Phase.LIE_DOWN_CONSENT: rules.lie_down,
        Phase.PLAY: True,
    }
    return [phase for phase in Phase if occurs.get(phase)]


def positions(rules: RuleSet, seed: bytes, *, each: int) -> list[Position]:
    """So many questions of each phase, in PLAY as many of a leader and of a follower: first one of each, in the order
    of the phases, then the others.
    """
    phases = phases_of(rules)
    kinds = [(phase, "") for phase in phases if phase is not Phase.PLAY]
    wanted = Counter(dict.fromkeys([*kinds, (Phase.PLAY, "leads"), (Phase.PLAY, "follows")], each))
    found: dict[tuple[int, int, str], Position] = {}
    for index in range(_MOST_HANDS):
        if not wanted:
            break
        for hand in _played(rules, seed, index):
            kind = hand.phase, _role(hand)
            if wanted[kind] > 0:
                found[each - wanted[kind], phases.index(hand.phase), kind[1]] = position_of(hand, hand_index=index)
                wanted[kind] -= 1
            wanted = +wanted
            if not any(phase in _FROM[hand.phase] for phase, _ in wanted):
                break
    return [found[place] for place in sorted(found)]


_ORDER: Final = tuple(Phase)
_FROM: Final = {phase: frozenset(_ORDER[at:]) for at, phase in enumerate(_ORDER)}
"""What may still come of a hand, from each phase on."""


def _role(hand: Hand) -> str:
    if hand.phase is not Phase.PLAY:
        return ""
    return "follows" if hand.table else "leads"


def _played(rules: RuleSet, seed: bytes, index: int) -> Iterator[Hand]:
    """A hand at each of its questions, played by chance."""
    hand = deal(rules, seed, index)
    chance = Stream(derive(seed, "chance", index))
    while hand.phase is not Phase.END:
        yield hand
        hand.apply(hand.legal[chance.below(len(hand.legal))])
