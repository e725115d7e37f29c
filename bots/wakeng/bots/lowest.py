"""The first legal play of the vocabulary: as simple as a bot that plays on can be, and nearly as fast."""

from wakeng.bots.reference import ReferenceBot
from wakeng.sdk.decision import Decision


class Lowest(ReferenceBot):
    """The lowest play that is legal; never bids, and says no to every offer."""

    name = "lowest"

    def choose(self, decision: Decision) -> str:
        """The first legal token, which is no or a pass outside PLAY; in PLAY it passes only where nothing beats."""
        legal = decision.legal
        first = legal[0]
        return legal[1] if first == "pass" and len(legal) > 1 and decision.phase == "PLAY" else first
