"""Any legal choice of any phase, all equally likely: the yardstick that everything has to beat."""

from wakeng.bots.reference import ReferenceBot
from wakeng.sdk.decision import Decision


class Random(ReferenceBot):
    """Any legal choice, uniformly."""

    name = "random"

    def choose(self, decision: Decision) -> str:
        """One of the legal tokens."""
        legal = decision.legal
        return legal[self.draw(decision, len(legal))]
