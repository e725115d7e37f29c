"""How many hands a bot has in play: at most what it says, and fewer while it misses deadlines.

A lease is taken before the deal and given back when the hand is over. Beside the bot's own word stands a measured limit
that works as congestion control does: a missed deadline halves it, a hand that went without one raises it by one. So a
bot that is overrun by its tables gets fewer until it keeps its time, and then more again; one that keeps it from the
start has twice as many after each round.
"""

from typing import Final

DEFAULT_MAX_TABLES: Final = 1_024
START: Final = 256
"""Hands in play with a bot that has not played one to its end yet."""


class Leases:
    """The hands of one bot."""

    def __init__(self) -> None:
        self.taken = 0
        self._stated = DEFAULT_MAX_TABLES
        self.share: int | None = None
        """What this process may use of the bot's word where others play with it too; None where it is alone."""
        self._comfortable = float(START)

    @property
    def limit(self) -> int:
        """Hands it may have in play now, from 1."""
        return max(1, min(self._stated, int(self._comfortable)))

    @property
    def free(self) -> bool:
        """Whether there is one to be had."""
        return self.taken < self.limit and (self.share is None or self.taken < self.share)

    @property
    def stated(self) -> int:
        """What the bot takes by its own word, or less where it was registered with less."""
        return self._stated

    def state(self, most: int) -> None:
        """The bot's own word, or less where it was registered with less."""
        self._stated = max(1, most)

    def take(self) -> None:
        """One more hand in play."""
        self.taken += 1

    def give_back(self) -> None:
        """A hand is over."""
        self.taken -= 1
        if self._comfortable < self._stated:
            self._comfortable += 1

    def missed(self) -> None:
        """The bot missed a deadline; that undoes what the hand will add when it is over, and more."""
        self._comfortable = max(1.0, min(self._comfortable, float(self.taken)) / 2 - 1)
