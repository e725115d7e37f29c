"""How many decisions may be outstanding with one bot: bounded by its own word and by what was measured of it.

A bot that thinks about one decision at a time must never be late because the arena handed it a hundred at once. So
the arena estimates the bot's service time, the seconds per decision while it has work, and lets out no more than it
would answer within a quarter of the move budget, the last of them included (docs/protocol.md 4). A bot that answers
many at once shows a short service time however long each answer takes, and soon gets all it asked for.
"""

from typing import Final

MOST: Final = 256
"""Outstanding decisions of a bot that does not say how many it takes."""
START: Final = 8
"""Outstanding decisions before anything is known of a bot."""
_SHARE: Final = 0.25
_WEIGHT: Final = 0.2
"""Of a new measurement in the moving mean."""


class Window:
    """The limit of outstanding decisions. Times are seconds."""

    def __init__(self, *, most: int = MOST) -> None:
        self._target: float | None = None
        self._most = most
        self._service: float | None = None
        self._busy_since = 0.0
        self.limit = min(START, self._most)

    def bound(self, move: float) -> None:
        """A move budget in seconds; where a bot plays several matches the shortest counts."""
        target = _SHARE * move
        self._target = target if self._target is None else min(self._target, target)

    def cap(self, most: int) -> None:
        """The bot's own word on how many it takes."""
        self._most = max(1, most)
        self.limit = min(self.limit, self._most)

    def sent(self, now: float, outstanding: int) -> None:
        """Decisions were handed over while `outstanding` others were with the bot."""
        if not outstanding:
            self._busy_since = now

    def answered(self, now: float, count: int) -> None:
        """The bot answered `count` decisions; the time since it was last idle or answered is what they took."""
        sample = max(0.0, now - self._busy_since) / count
        self._busy_since = now
        self._service = sample if self._service is None else self._service + _WEIGHT * (sample - self._service)
        affordable = self._most
        if self._target is not None and self._service > 0:
            affordable = int(self._target / self._service)
        self.limit = max(1, min(self._most, affordable, 2 * self.limit))
