"""A question of a table on its way to a bot, and those that travel with it."""

from typing import Protocol

from wakeng.engine import Fault
from wakeng.services.encoding import RequestWriter
from wakeng.services.table import Table


class Asker(Protocol):
    """Who asked: the driver of a table."""

    table: Table
    writer: RequestWriter

    def noted(self, fault: Fault) -> None:
        """The bot did something wrong beside the question."""

    def answered(self, action: str, *, latency_us: int, network_us: int, note: str | None) -> None:
        """The bot answered, after so long, of which so much is the network's and not charged."""

    def failed(self, fault: Fault, *, latency_us: int, network_us: int, offered: str | None = None) -> None:
        """The bot did not."""

    def voided(self, reason: str) -> None:
        """The arena itself failed to ask; the hand cannot go on."""


class Question:
    """One decision asked of a bot. Times are seconds of the loop's clock."""

    __slots__ = ("asker", "batch", "budget", "deadline", "id", "lost_at", "prepared", "sent", "tries")

    id: int
    sent: float
    deadline: float
    """Of these there are none before its clock starts."""
    batch: "Batch"
    """The one it travelled with last, or waits in."""

    def __init__(self, asker: Asker, prepared: bytes | None) -> None:
        self.asker = asker
        self.budget = asker.table.budget_us / 1e6
        """What the answer may take, move and bank."""
        self.prepared = prepared
        """Its request but for the id, encoded as the table asked; None where it is encoded as it is sent."""
        self.lost_at: float | None = None
        self.tries = 1
        """How often it was sent, or is about to be."""


class Batch:
    """Questions that travel together; in flight until the first answer or the earliest deadline."""

    __slots__ = ("in_flight", "open", "second_look", "sent")

    def __init__(self, questions: dict[int, Question], *, sent: float) -> None:
        self.sent = sent
        """When; questions that are asked again have an earlier time of their own."""
        self.open = questions
        """Those that are still awaited, by their ids."""
        for question in questions.values():
            question.batch = self
        self.in_flight = True
        self.second_look = False
