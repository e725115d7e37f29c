"""The fast way to a bot: one Play stream for all its tables, packed, pinged and made again when it breaks."""

import asyncio
from collections.abc import Coroutine
from itertools import count
from typing import Final

from google.protobuf.message import DecodeError

from wakeng.engine import Fault
from wakeng.sdk.client import BotClient, CallError, PlayStream, Trouble
from wakeng.sdk.wire import rules_message
from wakeng.services.requests import decide_request
from wakeng.services.seat import Question, Seat, Transport
from wakeng.services.table import Table, escape
from wakeng.v1 import bot_pb2

MESSAGES_IN_FLIGHT: Final = 2
PING_EVERY: Final = 10.0
_MOST_ALLOWANCE: Final = 0.1
_PINGS_REMEMBERED: Final = 8
_FIRST_PINGS: Final = 3
"""The first trip on a new connection is far from typical."""
_FIRST_BACKOFF: Final = 0.05
_LONGEST_BACKOFF: Final = 1.0
_TRIES: Final = 2
"""How often a question is asked of a bot whose stream ends in an error of its own before the error is laid to it."""
_CLOSE_WITHIN: Final = 1.0


class StreamTransport(Transport):
    """Questions go out in packed messages; answers come in any order and grouping."""

    def __init__(self, seat: Seat, client: BotClient) -> None:
        self._seat = seat
        self._client = client
        self._outbox: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._notices = bot_pb2.ArenaMessage()
        self._pings: dict[int, tuple[float, bool]] = {}
        self._ping_ids = count(1)
        self._trips: list[float] = []
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False

    async def open(self) -> None:
        """Open the stream and wait for its first exchange, a ping and its pong; CallError if there is none."""
        stream = self._client.play()
        await self._exchange(stream)
        self._spawn(self._live(stream))
        self._timer = self._seat.loop.call_later(PING_EVERY, self._ping)

    async def _exchange(self, stream: PlayStream) -> None:
        self._outbox = asyncio.Queue()
        self._pings.clear()
        for _ in range(_FIRST_PINGS):
            await stream.write(self._ping_message())
            message = await stream.read()
            if message is None:
                raise CallError(Trouble.NETWORK, "the stream ended before its first answer")
            self._receive(message)

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = self._seat.loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # Sending --------------------------------------------------------------------------------------------------------

    def may_send(self, batches_in_flight: int) -> bool:
        """Two messages in flight keep both sides busy; whatever comes meanwhile travels together in the next."""
        return batches_in_flight < MESSAGES_IN_FLIGHT

    def transmit(self, questions: list[Question]) -> None:
        """Queue one message with all the questions."""
        message = self._notices
        self._notices = bot_pb2.ArenaMessage()
        legal = self._seat.wants_legal_actions
        now = self._seat.loop.time()
        for question in questions:
            left = question.deadline - now
            message.decisions.append(
                decide_request(question.asker.table, question.id, left_s=left, legal_actions=legal)
            )
        self._outbox.put_nowait(bot_pb2.PlayRequest(message=message).SerializeToString())

    def hand_started(self, table: Table, seat: int) -> None:
        """Goes along with the next message."""
        self._notices.hands_started.append(
            bot_pb2.HandStarted(
                match_id=table.spec.match_id,
                hand_index=table.spec.hand_index,
                attempt=table.spec.attempt,
                seat=seat,
                rules=rules_message(table.spec.rules),
            )
        )

    def hand_ended(self, table: Table, seat: int) -> None:
        """Goes along with the next message."""
        result = table.hand.result
        assert result is not None
        self._notices.hands_ended.append(
            bot_pb2.HandEnded(
                match_id=table.spec.match_id,
                hand_index=table.spec.hand_index,
                attempt=table.spec.attempt,
                seat=seat,
                winner=result.winner.value,
                scores=result.scores,
                escaped_seat=result.escaped_seat,
            )
        )

    async def _write(self, stream: PlayStream) -> None:
        outbox = self._outbox
        try:
            while (message := await outbox.get()) is not None:
                await stream.write(message)
        except CallError:
            return  # The reader learns of it too, and better.

    # Receiving ------------------------------------------------------------------------------------------------------

    async def _live(self, stream: PlayStream) -> None:
        """Read the stream until it ends, then make another, for as long as the seat is wanted."""
        while True:
            self._spawn(self._write(stream))
            trouble = await self._read_to_end(stream)
            self._outbox.put_nowait(None)
            if self._closing:
                return
            self._ended(trouble)
            again = await self._reopen()
            if again is None:
                return
            stream = again
            self._seat.connection_back()

    async def _read_to_end(self, stream: PlayStream) -> CallError:
        try:
            while (message := await stream.read()) is not None:
                self._receive(message)
        except CallError as trouble:
            return trouble
        return CallError(Trouble.NETWORK, "the bot ended the stream")

    def _ended(self, trouble: CallError) -> None:
        """Lay the end of the stream to the questions that caused it; the others are asked again."""
        if trouble.trouble is Trouble.OVERSIZE:
            for question in self._seat.oldest_in_flight():
                self._seat.fail(question, Fault.MALFORMED, offered=str(trouble))
        elif trouble.trouble is not Trouble.NETWORK:
            for question in self._seat.outstanding():
                if question.tries >= _TRIES:
                    self._seat.fail(question, Fault.BOT_ERROR, offered=escape(str(trouble)))
        self._seat.connection_lost()

    async def _reopen(self) -> PlayStream | None:
        pause = 0.0
        while not self._closing:
            await asyncio.sleep(pause)
            pause = min(max(2 * pause, _FIRST_BACKOFF), _LONGEST_BACKOFF)
            stream = self._client.play()
            try:
                await self._exchange(stream)
            except CallError:
                continue
            return stream
        return None

    def _receive(self, raw: bytes) -> None:
        now = self._seat.loop.time()
        try:
            message = bot_pb2.PlayResponse.FromString(raw).message
        except DecodeError:
            for question in self._seat.oldest_in_flight():
                self._seat.fail(question, Fault.MALFORMED, offered=escape(raw))
            return
        if message.HasField("pong"):
            self._pong(message.pong.id, now)
        take = self._seat.take_answer
        taken = 0
        for answer in message.answers:
            taken += take(answer.decision_id, answer.action, answer.note or None, now)
        self._seat.received(taken, now)

    # Pings ----------------------------------------------------------------------------------------------------------

    def _ping_message(self) -> bytes:
        ping = next(self._ping_ids)
        self._pings[ping] = self._seat.loop.time(), self._seat.idle
        return bot_pb2.PlayRequest(message=bot_pb2.ArenaMessage(ping=bot_pb2.Ping(id=ping))).SerializeToString()

    def _ping(self) -> None:
        self._timer = self._seat.loop.call_later(PING_EVERY, self._ping)
        if self._seat.up and len(self._pings) < _PINGS_REMEMBERED:
            self._outbox.put_nowait(self._ping_message())

    def _pong(self, ping: int, now: float) -> None:
        """The network's share is the shortest of the last trips on which the bot had nothing else to do."""
        sent = self._pings.pop(ping, None)
        if sent is None:
            return
        began, idle = sent
        if idle and self._seat.idle:
            self._trips = [*self._trips[1 - _PINGS_REMEMBERED :], now - began]
            self._seat.allowance = min(min(self._trips), _MOST_ALLOWANCE)

    # The end --------------------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """End the stream in order, then the connection."""
        self._closing = True
        if self._timer is not None:
            self._timer.cancel()
        self._outbox.put_nowait(None)
        await self._client.close()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_CLOSE_WITHIN)
