"""How many decisions may be outstanding with one bot: bounded by its own word and by what was measured of it.

A bot that thinks about one decision at a time must never be late because the arena handed it a hundred at once; one
that thinks about many at once must not be kept waiting because each of them takes long (docs/protocol.md 4). What tells
them apart is how long an answer takes *beyond* what it takes when the bot has nothing else to do:

    queueing = latency of the slowest answer - latency of an answer alone

It grows with what is outstanding for the first bot, and stays near nothing for the second. So the window begins at one
decision, which measures the bot alone, and doubles for as long as the queueing it would then cause fits into a quarter
of the move budget; it shrinks in proportion where it does not. Two at once are tried where even a bot that takes them
one by one would answer both within the move.
"""

import math
from typing import Final

MOST: Final = 256
"""Outstanding decisions of a bot that does not say how many it takes."""
START: Final = 1
"""Before anything is known of a bot."""
SILENT: Final = 8
"""With a bot that has never answered anything, so that what waits for it ends in reasonable time."""
_SHARE: Final = 0.25
STILL_ROUNDS: Final = 8
"""Full windows without a change of the limit after which the bot is measured alone again."""
_WEIGHT: Final = 0.3
"""Of a new measurement of the bot alone in the moving mean."""


class Window:
    """The limit of outstanding decisions. Times are seconds."""

    def __init__(self, *, most: int = MOST) -> None:
        self.limit = START
        self._most = most
        self._move: float | None = None
        self._alone: float | None = None
        """The latency of an answer when the bot has nothing else to do."""
        self._back_to = 0
        """The limit to return to once the bot was measured alone; 0 while it is not."""
        self._rounds = 0
        """Windows full of answers since the limit last changed."""
        self._answers = 0
        self._slowest = 0.0
        """Of the answers since the limit was last looked at."""

    def bound(self, move: float) -> None:
        """A move budget; where a bot plays several matches the shortest counts."""
        self._move = move if self._move is None else min(self._move, move)

    def cap(self, most: int) -> None:
        """The bot's own word on how many it takes."""
        self._most = max(1, most)
        self.limit = min(self.limit, self._most)

    def answered(self, count: int, *, fastest: float, slowest: float, alone: bool, full: bool) -> None:
        """So many answers came in, between `fastest` and `slowest` after their questions were sent.

        `alone` says that the bot had just the one question, `full` that the window kept others waiting.
        """
        self._measure(fastest, alone=alone)
        if alone and self._back_to:
            self._set(self._back_to)
            self._back_to = 0
            return
        assert self._alone is not None
        self._answers += count
        self._slowest = max(self._slowest, slowest)
        queueing = max(0.0, self._slowest - self._alone)
        room = math.inf if self._move is None else _SHARE * self._move
        if queueing > room:
            self._set(max(1, int(self.limit * max(0.5, room / queueing))))
        elif self._answers >= self.limit:
            # As many answers as the window holds: this is what it is like when it is full.
            if full and self._may_double(queueing, room):
                self._set(min(2 * self.limit, self._most))
            elif full and self.limit > 1:
                self._stand_still()
            else:
                self._set(self.limit)

    def _set(self, limit: int) -> None:
        self._rounds = 0 if limit != self.limit else self._rounds + 1
        self.limit = limit
        self._answers, self._slowest = 0, 0.0

    def _stand_still(self) -> None:
        """Now and then the bot is measured alone again: it may have become slower without queueing."""
        if self._rounds >= STILL_ROUNDS:
            self._back_to = self.limit
            self._set(1)
        else:
            self._set(self.limit)

    def expired(self) -> None:
        """A question was given up. Of a bot that has never answered there is nothing to be learnt by patience."""
        if self._alone is None:
            self.limit = min(2 * self.limit, SILENT, self._most)

    def _measure(self, fastest: float, *, alone: bool) -> None:
        if self._alone is None or fastest < self._alone:
            self._alone = fastest
        elif alone:
            self._alone += _WEIGHT * (fastest - self._alone)

    def _may_double(self, queueing: float, room: float) -> bool:
        if self.limit == 1 and self._alone is not None and self._move is not None:
            return 2 * self._alone <= self._move
        return 2 * queueing <= room
