"""The plain way to a bot: one Decide call per question, for bots that implement nothing else."""

import asyncio
from collections.abc import Coroutine
from typing import Final

from google.protobuf.message import DecodeError

from wakeng.engine import Fault, RuleSet
from wakeng.sdk.client import BotClient, CallError, Trouble
from wakeng.services.questions import Question
from wakeng.services.seat import Seat, Transport
from wakeng.services.spec import TimeControl
from wakeng.services.stream import Greeter
from wakeng.services.table import escape
from wakeng.v1 import bot_pb2

MARGIN: Final = 0.25
"""Seconds by which a call's own deadline lies behind the question's: the arena's clock decides, not the library's."""
_FIRST_BACKOFF: Final = 0.05
_SETTLES: Final = 0.01
"""Seconds after a failed call within which its channel may still take itself for connected."""
_LONGEST_BACKOFF: Final = 1.0
_FAULTS: Final = {
    Trouble.OVERSIZE: Fault.MALFORMED,
    Trouble.BOT: Fault.BOT_ERROR,
    Trouble.UNIMPLEMENTED: Fault.BOT_ERROR,
}


class UnaryTransport(Transport):
    """Every question is a call of its own."""

    def __init__(self, seat: Seat, client: BotClient, greeter: Greeter) -> None:
        self._seat = seat
        self._client = client
        self._greeter = greeter
        self._tasks: set[asyncio.Task[None]] = set()
        self._backoff = 0.0
        self._closing = False

    async def greet(self, rules: RuleSet, time_control: TimeControl) -> None:
        """Describe the next match to the bot."""
        await self._greeter(rules, time_control)

    def transmit(self, questions: list[Question]) -> None:
        """Start the calls."""
        now = self._seat.now()
        legal = self._seat.wants_legal_actions
        for question in questions:
            left = question.deadline - now
            request = question.asker.writer.request(question.id, left_s=left, legal_actions=legal)
            self._spawn(self._call(question, request, left + MARGIN, this_try=question.tries))

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = self._seat.loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _call(self, question: Question, request: bytes, within: float, *, this_try: int) -> None:
        asked = question.id
        try:
            raw = await self._client.decide(request, within=max(within, MARGIN))
            answer = bot_pb2.DecideResponse.FromString(raw)
        except CallError as error:
            if question.tries == this_try:  # Else it has been asked again, and the loss is known.
                self._failed(question, error)
        except DecodeError:
            if self._seat.owes(question):
                self._seat.fail(question, Fault.MALFORMED, offered=escape(raw))
        else:
            self._backoff = 0.0
            answer.decision_id = answer.decision_id or asked
            self._seat.take((answer,), self._seat.now())

    def _failed(self, question: Question, error: CallError) -> None:
        if error.trouble is Trouble.DEADLINE or self._closing or not self._seat.owes(question):
            return  # The heap has declared the deadline, or will.
        if error.trouble is not Trouble.NETWORK:
            self._seat.fail(question, _FAULTS[error.trouble], offered=escape(str(error)))
        elif self._seat.up:
            self._seat.connection_lost()
            self._spawn(self._reconnect())

    async def _reconnect(self) -> None:
        """Ask again once the connection stands; a bot that merely says UNAVAILABLE is asked ever more slowly."""
        await asyncio.sleep(max(self._backoff, _SETTLES))
        self._backoff = min(max(2 * self._backoff, _FIRST_BACKOFF), _LONGEST_BACKOFF)
        try:
            await self._client.ready()
        except asyncio.CancelledError:
            raise
        except Exception:  # the channel was closed under it
            return
        if not self._closing:
            self._seat.connection_back()

    async def close(self) -> None:
        """Close the connection, and with it the calls in flight."""
        self._closing = True
        await self._client.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
