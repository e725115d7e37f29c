"""Plays as a small network values its choices: `net`, for the card play of `xian`; it bids by a network too.

What the network looks at and how it was trained stands in wakeng.bots.network and wakeng.bots.training. Under rules for
which it was not trained this bot plays as `expert` does, and its version says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from wakeng.bots.expert import Expert
from wakeng.bots.extras import demand
from wakeng.bots.network.question import Question, question_of
from wakeng.bots.seen import pack_words
from wakeng.engine import RuleSet
from wakeng.engine.plays import PLAYS
from wakeng.sdk.decision import Decision
from wakeng.sdk.legal import follows, leads
from wakeng.sdk.wire import rules_from_bytes

demand("net", extra="net", modules=("numpy",))

from wakeng.bots.network import judging, weights  # noqa: E402 - after the demand, which says what is missing
from wakeng.bots.network.exact import exact  # noqa: E402
from wakeng.bots.turns import turn_table  # noqa: E402
from wakeng.bots.unbeaten import allowed_plays  # noqa: E402

Asked = tuple[Question, Sequence[int]]
"""A question and its legal plays."""

_CARDS: Final = tuple(play.cards for play in PLAYS)
_TOKENS: Final = tuple(play.token for play in PLAYS)
_BIDS: Final = ("pass", "bid1", "bid2", "bid3")


@dataclass(frozen=True, slots=True)
class Trained:
    """A weights file made ready."""

    weights: weights.Weights
    judging: judging.Judging


@lru_cache(maxsize=2)
def trained(path: Path = weights.BUILT_IN) -> Trained:
    """The network of a file; WeightsError where there is none, or one for other rules than `xian`."""
    found = weights.read(path, preset="xian")
    return Trained(found, judging.Judging(exact(found), turn_table(found.rules), allowed_plays(found.rules)))


class Net(Expert):
    """The choice with the highest value; in phases and under rules that it does not know, that of `expert`."""

    name = "net"
    version = "1 (a network for xian; other rule sets as expert)"

    def __init__(self, seed: bytes = b"", path: Path = weights.BUILT_IN) -> None:
        super().__init__(seed)
        self.path = path

    def ready(self) -> None:
        """Read the weights, and build the turn tables, now."""
        super().ready()
        trained(self.path)

    def choose(self, decision: Decision) -> str:
        """A choice for any phase."""
        return self.choose_batch([decision])[0]

    def choose_batch(self, decisions: Sequence[Decision]) -> list[str]:
        """All questions of a message; those in PLAY go through the network together."""
        chosen = [""] * len(decisions)
        places, asked = [], []
        for place, decision in enumerate(decisions):
            if not self.knows(decision):
                chosen[place] = super().choose(decision)
            elif decision.phase == "BID":
                chosen[place] = self._bid(decision)
            else:
                question, legal = self.reads(decision)
                if len(legal) == 1:
                    chosen[place] = _TOKENS[legal[0]]
                else:
                    places.append(place)
                    asked.append((question, legal))
        if asked:
            plays = self.choose_plays([decisions[place] for place in places], asked)
            for place, play in zip(places, plays, strict=True):
                chosen[place] = _TOKENS[play]
        return chosen

    def choose_plays(self, decisions: Sequence[Decision], asked: Sequence[Asked]) -> list[int]:
        """The plays for questions with more than one legal play."""
        return trained(self.path).judging.choose(asked)

    def knows(self, decision: Decision) -> bool:
        """Whether the network was trained for such a question."""
        if decision.phase not in ("BID", "PLAY"):
            return False
        encoded = decision.message.observation.rules.SerializeToString(deterministic=True)
        return _fits(encoded, self.path)

    def reads(self, decision: Decision) -> Asked:
        """A question in PLAY with its legal plays; where one of them goes out, it alone."""
        question = question_of(decision)
        rules = trained(self.path).weights.rules
        legal = _legal(rules, question)
        out = [play for play in legal if _CARDS[play] == question.counts[question.seat]]
        return question, out[:1] or legal

    def _bid(self, decision: Decision) -> str:
        made = [event for event in decision.message.observation.history if event[1:6] == ":BID:"]
        offers = [0, *range(decision.bid + 1, decision.rules.max_bid + 1)]
        hand = pack_words(decision.cards)
        bid = trained(self.path).judging.bid(hand, place=len(made), best=decision.bid, offers=offers)
        return _BIDS[bid]


def _legal(rules: RuleSet, question: Question) -> tuple[int, ...]:
    return follows(rules, question.hand, question.table) if question.table else leads(rules, question.hand)


@lru_cache(maxsize=64)
def _fits(encoded: bytes, path: Path) -> bool:
    return trained(path).weights.fits(rules_from_bytes(encoded))
