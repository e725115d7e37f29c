"""The seats of a load test: the bot under test, which is asked when it is told to, and the others, who cost little."""

from collections.abc import Callable, Sequence
from random import Random

from wakeng.engine import TOKENS, RuleSet
from wakeng.services.leases import Leases
from wakeng.services.questions import Asker, Question
from wakeng.services.seat import Opener, Seat, Transport
from wakeng.services.spec import TimeControl
from wakeng.services.table import Table
from wakeng.v1 import bot_pb2


class PacedSeat(Seat):
    """A seat that tells of a question when its table has it, and asks it when it is told to."""

    on_question: Callable[[Asker], None]
    """To be set before a hand begins."""

    def ask(self, asker: Asker) -> None:
        """The table has a question."""
        self.on_question(asker)

    def put(self, asker: Asker) -> None:
        """Ask it now."""
        super().ask(asker)


class Steady(Leases):
    """As many hands as the bot says, from the first one on and whatever it does."""

    @property
    def limit(self) -> int:
        """The bot's own word."""
        return self._stated

    def missed(self) -> None:
        """Changes nothing."""


class Unheard:
    """Counts answers that nobody awaited."""

    def __init__(self) -> None:
        self.late_answers = 0
        self.stale_answers = 0

    def late(self, count: int = 1) -> None:
        """To questions that were over."""
        self.late_answers += count

    def stale(self, count: int = 1) -> None:
        """To questions never asked."""
        self.stale_answers += count


def filler(random: Random) -> Opener:
    """An opener for whoever sits in the other seats."""

    async def open_(seat: Seat, rules: RuleSet, time_control: TimeControl) -> Transport:
        most = 1_000_000
        seat.describe(version="", max_tables=most, max_decisions=most, wants_legal_actions=False)
        return Filler(seat, random)

    return open_


class Filler(Transport):
    """Plays at random, from the table itself: no observation is made and no message, so that the test costs little."""

    def __init__(self, seat: Seat, random: Random) -> None:
        self._seat = seat
        self._draw = random.random

    def transmit(self, questions: list[Question]) -> None:
        """Answer in the next turn of the loop."""
        self._seat.loop.call_soon(self._answer, questions)

    def _answer(self, questions: Sequence[Question]) -> None:
        answers = [
            bot_pb2.DecideResponse(decision_id=question.id, action=self._choice(question.asker.table))
            for question in questions
        ]
        self._seat.take(answers, self._seat.now())

    def _choice(self, table: Table) -> str:
        legal = table.hand.legal
        return TOKENS[table.hand.phase][legal[int(self._draw() * len(legal))]]

    async def close(self) -> None:
        """There is nothing to let go."""
