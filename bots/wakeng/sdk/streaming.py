"""A stream from the bot's side: questions in by the handful, answers out as they come, packed as they can be.

It is the same whoever dialled: Play, where the arena calls, and Join, where the bot does, differ only in the envelope
of what the bot says. The reader puts a message's questions to the bot; what is answered at once goes out in one
message. What has to be waited for gets a task each, and whatever is ready while another message is being written goes
out together in the next.

A lone table waits for each answer, so between a message's bytes and those of its answer only that is done which the
answer needs; what can be done behind it, is.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from inspect import isawaitable
from typing import Any, Final

from google.protobuf.message import DecodeError

from wakeng.sdk.bot import Bot, overrides
from wakeng.sdk.choosing import Chooser, Reply, put
from wakeng.sdk.polling import grpc
from wakeng.sdk.writer import Writer, Writing
from wakeng.v1 import bot_pb2, gateway_pb2

log = logging.getLogger("wakeng.sdk")

LARGE_MESSAGES: Final = (("grpc.http2.lookahead_bytes", 1 << 20), ("grpc.http2.max_frame_size", 1 << 20))
"""Options of the side that is asked: 256 questions are 100 KB, which would else wait halfway for leave to go on."""

Read = Callable[[], Awaitable[Any]]
"""The bytes of the next message, grpc.aio.EOF where there is none."""
Write = Callable[[bytes], Writing]
Envelope = type[bot_pb2.PlayResponse] | type[gateway_pb2.JoinRequest]
Notice = bot_pb2.HandStarted | bot_pb2.HandEnded

_parse: Final = bot_pb2.PlayRequest.FromString
"""Of a JoinResponse too, which is the same on the wire."""


class Unreadable(ValueError):
    """What came from the arena is none of its messages."""


class HandsInPlay:
    """The hands that the arena has begun with a bot and not ended."""

    def __init__(self) -> None:
        self._hands: set[tuple[str, int, int, int]] = set()
        self._none = asyncio.Event()
        self._none.set()

    def take(self, message: bot_pb2.ArenaMessage) -> None:
        """The notices of one message."""
        if message.hands_started or message.hands_ended:
            self._hands.difference_update(map(_key, message.hands_ended))
            self._hands.update(map(_key, message.hands_started))
            (self._none.clear if self._hands else self._none.set)()

    async def over(self) -> None:
        """Return once there is none."""
        await self._none.wait()


def _key(notice: Notice) -> tuple[str, int, int, int]:
    return notice.match_id, notice.hand_index, notice.attempt, notice.seat


class _Outbox(Writer):
    """What is to be said, in the message that goes out next: at once, or when the one before it is written."""

    def __init__(self, write: Write, envelope: Envelope) -> None:
        super().__init__()
        self._write = write
        self._envelope = envelope
        self.due = False
        """Whether the next message waits for the one that is being written."""
        self._over = asyncio.Event()
        """Set when a write is."""
        self._lay_out()

    def send(self) -> None:
        """Send the next message as it stands, or, where that has to wait, as it will have grown by then."""
        if self._writing is not None:
            self.due = True
            return
        self._begin(self._write(self._next.SerializeToString()))
        self._lay_out()

    def say(self, replies: list[Reply]) -> None:
        """Send some replies."""
        put(self.answers, replies)
        self.send()

    def pong(self, ping_id: int) -> None:
        """Answer a ping: one, while it is `due`."""
        self._next.message.pong.id = ping_id
        self.send()

    def drain(self) -> None:
        """Ask for no new hands."""
        self._next.message.drain = True
        self.send()

    def close(self) -> None:
        """Say no more: the call is over, and grpc must not be asked to write to it."""
        self._write = _unsaid

    async def turn(self) -> None:
        """Return once the write in progress is over, and that begun which was due."""
        self._over.clear()
        await self._over.wait()

    async def said(self) -> None:
        """Return once all is written."""
        while self._writing is not None:
            await self.turn()

    def _lay_out(self) -> None:
        """Begin a message, which is better done behind the one that is sent than before it."""
        self._next = self._envelope()
        self.answers = self._next.message.answers

    def _written(self) -> None:
        if self.due:
            self.due = False
            self.send()
        self._over.set()


async def _unsaid(_: bytes) -> None:
    pass


class Stream:
    """One call of Play or Join, written to by `write` in messages of the kind `envelope`."""

    def __init__(
        self,
        bot: Bot,
        chooser: Chooser,
        write: Write,
        *,
        envelope: Envelope = bot_pb2.PlayResponse,
        hands: HandsInPlay | None = None,
    ) -> None:
        self._bot = bot
        self._chooser = chooser
        self._outbox = _Outbox(write, envelope)
        self._hands = hands
        self._tasks: set[asyncio.Task[None]] = set()
        self._hears_start = overrides(bot, "hand_started")
        self._hears_end = overrides(bot, "hand_ended")

    async def listen(self, read: Read) -> None:
        """Take what the arena says until it says no more; what takes thinking may still be thought about then.

        Unreadable where it says what is no message; what `read` raises comes through. While a message waits to be
        written no other is read, so that an arena that does not listen fills nobody's memory.
        """
        outbox, begin, hands = self._outbox, self._chooser.begin, self._hands
        hears = self._hears_start or self._hears_end
        while (raw := await read()) is not grpc.aio.EOF:
            try:
                message = _parse(raw).message
            except DecodeError:
                await outbox.said()  # grpc.aio cannot end a call in the midst of its first write.
                raise Unreadable("this is no message of an arena") from None
            if message.HasField("ping"):
                outbox.pong(message.ping.id)
            if hears:
                await self._tell(message)
            if asked := message.decisions[:]:
                for awaited in begin(asked, outbox.answers):
                    self._begin(self._later(awaited))
                if outbox.answers:
                    outbox.send()
            if hands is not None:
                hands.take(message)
            if outbox.due:
                await outbox.turn()

    async def finish(self) -> None:
        """Return once everything that was asked is answered."""
        while self._tasks:
            await asyncio.wait(self._tasks)
        await self._outbox.said()

    def drop(self) -> None:
        """Think no more about what nobody awaits."""
        for task in self._tasks:
            task.cancel()
        self._outbox.close()

    def drain(self) -> None:
        """Ask for no new hands on this stream."""
        self._outbox.drain()

    async def _tell(self, message: bot_pb2.ArenaMessage) -> None:
        """The notices of one message."""
        if self._hears_end:
            for ended in message.hands_ended:
                await self._notify(self._bot.hand_ended, ended)
        if self._hears_start:
            for started in message.hands_started:
                await self._notify(self._bot.hand_started, started)

    async def _notify(self, hook: Callable[[Any], Awaitable[None] | None], notice: object) -> None:
        """A notice wants no answer, so a hook that fails costs a line in the log."""
        try:
            waiting = hook(notice)
            if isawaitable(waiting):
                await waiting
        except Exception:
            log.exception("%s failed at a notice", type(self._bot).__name__)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _later(self, awaited: Awaitable[list[Reply]]) -> None:
        self._outbox.say(await awaited)
