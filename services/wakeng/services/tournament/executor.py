"""Where the blocks of a tournament are played: in this process, or by workers elsewhere.

    Progress ──blocks that may begin──> Executor.submit
        ^                                   │ plays them, the oldest first, and sees that records reach the store
        └──── Outcomes.ended, voided ───────┘

`wakeng.services.tournament.tables` plays in this process, `wakeng.services.workers` through NATS JetStream. What an
executor is told is all it knows of the schedule, and what it tells is a fold over records; so where and how many hands
are played at once changes nothing in the results.
"""

from typing import Protocol

from wakeng.services.floor import Floor
from wakeng.services.tournament.docket import Work
from wakeng.services.tournament.statistics.results import HandResult


class Outcomes(Protocol):
    """Who is told how hands went; each hand's end once, in the order of play within a block."""

    def ended(self, block: int, place: int, result: HandResult) -> None:
        """A hand has its record."""

    def voided(self, block: int, place: int, voids: int) -> None:
        """The arena failed at a hand, so often by now."""


class Executor(Protocol):
    """Plays the blocks of one tournament."""

    @property
    def running(self) -> int:
        """Hands in play."""

    @property
    def floor(self) -> Floor | None:
        """Where they are played, if that is in this process."""

    def submit(self, work: Work) -> None:
        """Play a block; those of lower numbers have precedence."""

    async def run(self) -> None:
        """Play what is submitted, before and meanwhile, until `end`, or `stop` and the hands in play are over."""

    def stop(self) -> None:
        """Begin no further hand."""

    def end(self) -> None:
        """The tournament is over: what is in play still counts for nothing."""
