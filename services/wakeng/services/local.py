"""A bot in this very process: for trusted bots, since nothing can interrupt one that does not return."""

import asyncio
import inspect
from collections.abc import Awaitable, Coroutine, Sequence

from wakeng.engine import Fault, RuleSet
from wakeng.sdk.bot import Bot
from wakeng.sdk.decision import Answer, Choice, Decision
from wakeng.services.questions import Question
from wakeng.services.requests import decide_request
from wakeng.services.seat import Opener, Seat, Transport
from wakeng.services.spec import TimeControl
from wakeng.services.table import escape
from wakeng.v1 import bot_pb2


def local(bot: Bot) -> Opener:
    """An opener for a bot object."""

    async def open_(seat: Seat, rules: RuleSet, time_control: TimeControl) -> Transport:
        ready = bot.ready()
        if inspect.isawaitable(ready):
            await ready
        seat.describe(
            version=bot.version,
            max_tables=bot.max_tables,
            max_decisions=bot.max_decisions,
            wants_legal_actions=bot.wants_legal_actions,
        )
        return LocalTransport(seat, bot)

    return open_


class LocalTransport(Transport):
    """Questions are put to the bot in the batches in which they come."""

    def __init__(self, seat: Seat, bot: Bot) -> None:
        self._seat = seat
        self._bot = bot
        self._tasks: set[asyncio.Task[None]] = set()

    def transmit(self, questions: list[Question]) -> None:
        """Ask in the next turn of the loop."""
        self._seat.loop.call_soon(self._ask, questions)

    def _ask(self, questions: list[Question]) -> None:
        legal, now = self._seat.wants_legal_actions, self._seat.now()
        decisions = [
            Decision(decide_request(q.asker.table, q.id, left_s=q.deadline - now, legal_actions=legal))
            for q in questions
        ]
        try:
            answers = self._bot.choose_batch(decisions)
        except Exception as error:
            self._failed(questions, error)
            return
        if inspect.isawaitable(answers):
            self._spawn(self._wait(questions, answers))
        else:
            self._answer(questions, answers)

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = self._seat.loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _wait(self, questions: list[Question], answers: Awaitable[Sequence[Choice]]) -> None:
        try:
            self._answer(questions, await answers)
        except Exception as error:
            self._failed(questions, error)

    def _answer(self, questions: list[Question], answers: Sequence[Choice]) -> None:
        if len(answers) != len(questions):
            self._failed(questions, ValueError(f"{len(answers)} choices for {len(questions)} decisions"))
            return
        said = []
        for question, choice in zip(questions, answers, strict=True):
            action, note = choice if isinstance(choice, Answer) else (choice, "")
            if not isinstance(action, str):
                self._failed([question], TypeError(f"a choice is a str or an Answer, not {type(choice).__name__}"))
                continue
            try:
                said.append(bot_pb2.DecideResponse(decision_id=question.id, action=action, note=note))
            except (TypeError, ValueError) as error:  # What is no text cannot be said.
                self._failed([question], error)
        self._seat.take(said, self._seat.now())

    def _failed(self, questions: list[Question], error: Exception) -> None:
        for question in questions:
            if self._seat.owes(question):
                self._seat.fail(question, Fault.BOT_ERROR, offered=escape(f"{type(error).__name__}: {error}"))

    async def close(self) -> None:
        """Nothing is held but the bot's own unfinished thoughts."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
