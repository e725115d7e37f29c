"""Asking a bot and judging its answers, over a stream or by single calls, as the arena does both.

A `Talk` hands over questions and gives one `Reply` for each: the answer, or the faults that the arena would have found.
It keeps to the same clock: a question's time begins when it is handed to the transport, in a stream the network's share
is not charged, nor is the checker's own lag. Nothing waits longer than a question may take, whatever the bot does: what
is in flight is never waited for by itself, but beside a deadline, and never cancelled but with its whole stream.
"""

import asyncio
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from google.protobuf.message import DecodeError

from wakeng.engine import Fault
from wakeng.engine.phases import ALL_TOKENS
from wakeng.sdk.client import MOST_STREAM_BYTES, CallError, Trouble
from wakeng.sdk.conformance.callers import Caller, Conversation
from wakeng.sdk.conformance.positions import Position
from wakeng.sdk.conformance.results import counted, shown, shown_bytes
from wakeng.sdk.process import first_of
from wakeng.v1 import bot_pb2

clock: Final = time.monotonic
"""In seconds; a loop's own clock may count whole milliseconds."""
COURTESY: Final = 0.02
"""Seconds that the checker's own loop may take to see what has come."""
MARGIN: Final = 0.25
"""Seconds by which a call's own deadline lies behind the question's (docs/protocol.md 2)."""
_OURS: Final = "the checker ended the stream"
_MOST_ALLOWANCE: Final = 0.1
_TRIPS_REMEMBERED: Final = 8
_MESSAGES_SPARE: Final = 64
"""Messages a bot may send beyond twice what it was asked, before it counts as a flood."""

FAULTS: Final = {
    Trouble.DEADLINE: Fault.DEADLINE,
    Trouble.NETWORK: Fault.DISCONNECTED,
    Trouble.OVERSIZE: Fault.MALFORMED,
    Trouble.FLOOD: Fault.MALFORMED,
    Trouble.UNIMPLEMENTED: Fault.BOT_ERROR,
    Trouble.BOT: Fault.BOT_ERROR,
}
"""What a failed call is to the arena."""


@dataclass(frozen=True, slots=True)
class Question:
    """A position as it is asked."""

    position: Position
    request: bot_pb2.DecideRequest
    within: float
    """Seconds for the answer."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a question."""

    question: Question
    action: str = ""
    faults: tuple[Fault, ...] = ()
    problem: str = ""
    """What is wrong with it, in words; empty where nothing is."""
    received: str = ""
    latency: float = 0.0
    """Seconds, the network's share included."""


@dataclass(slots=True)
class Ledger:
    """What has passed between checker and bot in all talks."""

    asked: int = 0
    messages: int = 0
    largest: int = 0
    """Bytes of the largest message of the bot."""
    expired: dict[int, float] = field(default_factory=dict)
    """Ids of questions given up, with the moment."""
    late: list[float] = field(default_factory=list)
    """Seconds after its deadline that an answer came."""
    strays: list[str] = field(default_factory=list)
    """Answers to what was never asked, or was answered before."""
    malformed: list[str] = field(default_factory=list)
    """What could not be read, was too large, or came in a flood."""
    latencies: list[float] = field(default_factory=list)
    """Seconds, of good answers."""
    late_heard: asyncio.Event = field(default_factory=asyncio.Event)

    def took(self, raw: bytes) -> None:
        """A message of the bot."""
        self.messages += 1
        self.largest = max(self.largest, len(raw))

    def failed(self, error: CallError) -> None:
        """A call ended so."""
        if error.trouble is Trouble.OVERSIZE:
            self.malformed.append(str(error))

    def unawaited(self, answer: bot_pb2.DecideResponse, now: float) -> None:
        """An answer that nobody waits for: late if its question was given up, else stale."""
        if answer.decision_id in self.expired:
            self.late.append(now - self.expired.pop(answer.decision_id))
            self.late_heard.set()
        else:
            self.strays.append(shown(answer))


def judged(question: Question, answer: bot_pb2.DecideResponse, latency: float) -> Reply:
    """What the arena makes of an answer that came in time."""
    action, received = answer.action, shown(answer)
    if answer.HasField("error"):
        fault, problem = Fault.BOT_ERROR, f"it could not decide: {answer.error[:200]}"
    elif action in question.position.legal:
        return Reply(question, action, latency=latency, received=received)
    elif action in ALL_TOKENS:
        fault, problem = (
            Fault.ILLEGAL_ACTION,
            f"{action!r} is not legal here; legal are {_few(question.position.legal)}",
        )
    else:
        fault, problem = Fault.MALFORMED, f"{action[:80]!r} is no token of the vocabulary"
    return Reply(question, action, (fault,), problem, received, latency)


def _few(tokens: Sequence[str]) -> str:
    return ", ".join(tokens[:12]) + (" …" if len(tokens) > 12 else "")


class Talk(ABC):
    """Questions to one bot, by one way."""

    name: str

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.ending: tuple[Fault, str] | None = None
        """Why it is over, None while it is not."""
        self._loop = asyncio.get_running_loop()

    @abstractmethod
    async def ask(self, questions: Sequence[Question], *, notices: bot_pb2.ArenaMessage | None = None) -> list[Reply]:
        """Put questions to the bot, all at once; a reply for each, in their order."""

    async def tell(self, notices: bot_pb2.ArenaMessage) -> None:
        """Send notices without a question, where they can be sent."""

    @abstractmethod
    def abandon(self) -> None:
        """End it, whatever the bot does."""

    def _expire(self, question: Question, deadline: float, strays: int) -> Reply:
        self.ledger.expired[question.request.decision_id] = deadline
        stale = (Fault.STALE,) if len(self.ledger.strays) > strays else ()
        received = self.ledger.strays[-1] if stale else ""
        other = ", but one to what was not asked" if stale else ""
        return Reply(
            question, "", (*stale, Fault.DEADLINE), f"no answer within {milliseconds(question.within)}{other}", received
        )


def milliseconds(seconds: float) -> str:
    """`1,000 ms`, and below 10 ms with a decimal."""
    value = 1000 * seconds
    return f"{value:,.0f} ms" if value >= 10 else f"{value:.1f} ms"


class UnaryTalk(Talk):
    """Every question is a call of its own."""

    name = "Decide"

    def __init__(self, caller: Caller, ledger: Ledger) -> None:
        super().__init__(ledger)
        self.unimplemented = False
        self._caller = caller

    async def ask(self, questions: Sequence[Question], *, notices: bot_pb2.ArenaMessage | None = None) -> list[Reply]:
        """Start all calls, and take what comes of them."""
        strays = len(self.ledger.strays)
        calls = [asyncio.ensure_future(self._call(question, strays)) for question in questions]
        longest = max(question.within for question in questions)
        # A call ends by its own deadline; the bound is for a caller that does not keep to it.
        await asyncio.wait(calls, timeout=longest + 2 * MARGIN + 1.0)
        now = clock()
        return [
            call.result() if call.done() else self._expire(question, now, strays)
            for call, question in zip(calls, questions, strict=True)
        ]

    async def _call(self, question: Question, strays: int) -> Reply:
        began = clock()
        deadline = began + question.within
        self.ledger.asked += 1
        try:
            raw = await self._caller.decide(question.request.SerializeToString(), within=question.within + MARGIN)
        except CallError as error:
            return self._failed(question, error, deadline, strays)
        now = clock()
        self.ledger.took(raw)
        try:
            answer = bot_pb2.DecideResponse.FromString(raw)
        except DecodeError:
            self.ledger.malformed.append(shown_bytes(raw))
            return Reply(
                question, "", (Fault.MALFORMED,), "it answered with what is no DecideResponse", shown_bytes(raw)
            )
        if answer.decision_id not in (0, question.request.decision_id):
            self.ledger.unawaited(answer, now)
            return self._expire(question, deadline, strays)
        if now > deadline + COURTESY:
            reply = self._expire(question, deadline, strays)
            self.ledger.unawaited(answer, now)
            return reply
        return judged(question, answer, now - began)

    def _failed(self, question: Question, error: CallError, deadline: float, strays: int) -> Reply:
        if error.trouble is Trouble.DEADLINE:
            return self._expire(question, deadline, strays)
        self.unimplemented |= error.trouble is Trouble.UNIMPLEMENTED
        self.ledger.failed(error)
        if error.trouble is Trouble.NETWORK:
            self.ending = Fault.DISCONNECTED, str(error)
        return Reply(question, "", (FAULTS[error.trouble],), str(error))

    def abandon(self) -> None:
        """Calls end by themselves."""


class _Pending:
    """A question in a stream; `answer` and the moment it came are set by the reader, or why there will be none."""

    __slots__ = ("deadline", "heard", "question", "sent")

    def __init__(self, question: Question, sent: float, allowance: float) -> None:
        self.question = question
        self.sent = sent
        self.deadline = sent + question.within + allowance
        self.heard: asyncio.Future[tuple[bot_pb2.DecideResponse | None, float]] = (
            asyncio.get_running_loop().create_future()
        )


class StreamTalk(Talk):
    """Questions in packed messages over one stream, which has one reader."""

    name = "Play"

    def __init__(self, conversation: Conversation, ledger: Ledger) -> None:
        super().__init__(ledger)
        self.over: asyncio.Future[None] = self._loop.create_future()
        self.trouble: Trouble | None = None
        """How the bot ended it, None where it did so in order."""
        self._conversation = conversation
        self._pending: dict[int, _Pending] = {}
        self._pongs: dict[int, asyncio.Future[float]] = {}
        self._trips: deque[float] = deque(maxlen=_TRIPS_REMEMBERED)
        self._asked = self._heard = 0
        self._last_unreadable = ""
        self._pen = asyncio.Lock()
        self._reader = asyncio.ensure_future(self._read())

    # Asking ---------------------------------------------------------------------------------------------------------

    async def ask(self, questions: Sequence[Question], *, notices: bot_pb2.ArenaMessage | None = None) -> list[Reply]:
        """Send one message, and take the answers as they come."""
        strays = len(self.ledger.strays)
        pending = self._expect(questions)
        message = bot_pb2.ArenaMessage() if notices is None else notices
        message.decisions.extend(question.request for question in questions)
        await self.say(message, within=max((question.within for question in questions), default=1.0))
        for one in sorted(pending, key=lambda one: one.deadline):
            await self._settle(one)
        return [self._reply(one, strays) for one in pending]

    def _expect(self, questions: Sequence[Question]) -> list[_Pending]:
        now, allowance = clock(), min((*self._trips, _MOST_ALLOWANCE)) if self._trips else 0.0
        pending = [_Pending(question, now, allowance) for question in questions]
        self._pending.update((one.question.request.decision_id, one) for one in pending)
        self._asked += len(pending)
        self.ledger.asked += len(pending)
        return pending

    async def tell(self, notices: bot_pb2.ArenaMessage) -> None:
        """One message, of which nothing comes back."""
        await self.say(notices, within=1.0)

    async def ask_and_break(self, question: Question) -> None:
        """Put a question, and end the stream before it is answered; if the answer is faster, it is nobody's fault."""
        (one,) = self._expect([question])
        await self.say(bot_pb2.ArenaMessage(decisions=[question.request]), within=question.within)
        self.abandon()
        self._end(Fault.DISCONNECTED, _OURS)
        await first_of(self._reader, within=question.within)
        self._pending.pop(one.question.request.decision_id, None)

    async def say(self, message: bot_pb2.ArenaMessage, *, within: float) -> None:
        """Write, waiting no longer than that; a write that fails or hangs ends the talk."""
        raw = bot_pb2.PlayRequest(message=message).SerializeToString()
        writing = asyncio.ensure_future(self._write(raw))
        await first_of(writing, self.over, within=within)
        if not writing.done():
            self._end(Fault.DEADLINE, f"it took nothing in for {milliseconds(within)}")
            self.abandon()

    async def _write(self, raw: bytes) -> None:
        try:
            async with self._pen:
                await self._conversation.write(raw)
        except (CallError, asyncio.CancelledError):
            pass  # The reader learns better why it did not work.
        except Exception as error:
            self._end(Fault.DISCONNECTED, f"{type(error).__name__}: {error}")

    async def _settle(self, one: _Pending) -> None:
        await first_of(one.heard, self.over, within=max(0.0, one.deadline - clock()))
        if not one.heard.done() and not self.over.done():
            lag = max(0.0, clock() - one.deadline)
            await first_of(one.heard, self.over, within=lag + COURTESY)

    def _reply(self, one: _Pending, strays: int) -> Reply:
        question = one.question
        self._pending.pop(question.request.decision_id, None)
        if one.heard.done():
            answer, at = one.heard.result()
            if answer is None:
                problem = "it sent a message that cannot be read"
                return Reply(question, "", (Fault.MALFORMED,), problem, self._last_unreadable)
            return judged(question, answer, at - one.sent)
        if self.ending is not None:
            fault, why = self.ending
            return Reply(question, "", (fault,), why)
        return self._expire(question, one.deadline, strays)

    async def ping(self, ping_id: int, *, within: float) -> float | None:
        """Seconds until the pong, None if it does not come so soon."""
        began = clock()
        pong = self._pongs[ping_id] = self._loop.create_future()
        idle = not self._pending
        self._asked += 1
        await self.say(bot_pb2.ArenaMessage(ping=bot_pb2.Ping(id=ping_id)), within=within)
        await first_of(pong, self.over, within=max(0.0, began + within - clock()))
        self._pongs.pop(ping_id, None)
        if not pong.done():
            return None
        trip: float = pong.result() - began
        if idle:
            self._trips.append(trip)
        return trip

    # Hearing --------------------------------------------------------------------------------------------------------

    async def _read(self) -> None:
        fault, why = Fault.DISCONNECTED, "it ended the stream"
        try:
            while (raw := await self._conversation.read()) is not None:
                self._take(raw)
                if self._heard > 2 * self._asked + _MESSAGES_SPARE:
                    fault, why = Fault.MALFORMED, self._flood()
                    return
        except CallError as error:
            self.trouble = error.trouble
            self.ledger.failed(error)
            fault, why = FAULTS[error.trouble], str(error)
            if error.trouble is Trouble.DEADLINE:
                fault = Fault.BOT_ERROR  # A status of its own: a stream has no deadline.
        except asyncio.CancelledError:  # How a read ends whose stream was abandoned.
            why = _OURS
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
        finally:
            self._end(fault, why)

    def _take(self, raw: bytes) -> None:
        now = clock()
        self._heard += 1
        self.ledger.took(raw)
        try:
            if len(raw) > MOST_STREAM_BYTES:
                raise DecodeError
            message = bot_pb2.PlayResponse.FromString(raw).message
        except DecodeError:
            self._cannot_read(raw, now)
            return
        if message.HasField("pong") and (pong := self._pongs.get(message.pong.id)) and not pong.done():
            pong.set_result(now)
        for answer in message.answers:
            self._take_answer(answer, now)

    def _take_answer(self, answer: bot_pb2.DecideResponse, now: float) -> None:
        one = self._pending.pop(answer.decision_id, None)
        if one is None or one.heard.done():
            self.ledger.unawaited(answer, now)
        else:
            one.heard.set_result((answer, now))

    def _cannot_read(self, raw: bytes, now: float) -> None:
        """It names no question, so it is laid to all that wait."""
        self._last_unreadable = shown_bytes(raw)
        self.ledger.malformed.append(self._last_unreadable)
        for one in self._pending.values():
            if not one.heard.done():
                one.heard.set_result((None, now))

    def _flood(self) -> str:
        self._conversation.abandon()
        why = f"it sent {counted(self._heard, 'message')} where {self._asked:,} were asked for"
        self.ledger.malformed.append(why)
        return why

    def _end(self, fault: Fault, why: str) -> None:
        if self.ending is None:
            self.ending = fault, why
        if not self.over.done():
            self.over.set_result(None)

    async def finish(self, *, within: float) -> bool:
        """Say that nothing more comes; whether the bot ended its side in order and in time."""
        finishing = asyncio.ensure_future(self._conversation.finish())
        await first_of(self.over, within=within)
        return finishing.done() and self.over.done() and self.trouble is None

    def abandon(self) -> None:
        """End the stream, whatever the bot does."""
        self._conversation.abandon()
