"""A stream from the bot's side: questions in by the handful, answers out as they come, packed as they can be.

It is the same whoever dialled: Play, where the arena calls, and Join, where the bot does, differ only in the envelope
of what the bot says. The reader puts a message's questions to the bot; what is answered at once goes out in one
message. What has to be waited for gets a task each, and whatever is ready while another message is being written goes
out together in the next.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from inspect import isawaitable
from typing import Any, Final

from google.protobuf.message import DecodeError

from wakeng.sdk.bot import Bot, overrides
from wakeng.sdk.choosing import Chooser, Reply
from wakeng.sdk.decision import Decision
from wakeng.v1 import bot_pb2, gateway_pb2

log = logging.getLogger("wakeng.sdk")

LARGE_MESSAGES: Final = (("grpc.http2.lookahead_bytes", 1 << 20), ("grpc.http2.max_frame_size", 1 << 20))
"""Options of the side that is asked: 256 questions are 100 KB, which would else wait halfway for leave to go on."""

Write = Callable[[bytes], Awaitable[None]]
Envelope = type[bot_pb2.PlayResponse] | type[gateway_pb2.JoinRequest]
Notice = bot_pb2.HandStarted | bot_pb2.HandEnded


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


class _Outbox:
    """What is to be said. Whoever finds nobody writing writes, and goes on until all is said."""

    def __init__(self, write: Write, envelope: Envelope) -> None:
        self._write = write
        self._envelope = envelope
        self._quiet = asyncio.Event()
        """Whether nobody writes."""
        self._quiet.set()
        self._replies: list[Reply] = []
        self._pongs: list[int] = []
        self._drain = False

    async def say(self, replies: list[Reply], *, pong: int | None = None, drain: bool = False) -> None:
        """Send some replies, a pong, or the wish for no new hands."""
        self._replies += replies
        self._drain |= drain
        if pong is not None:
            self._pongs.append(pong)
        if not self._quiet.is_set():
            return
        self._quiet.clear()
        try:
            while self._replies or self._pongs or self._drain:
                await self._write(self._next())
        finally:
            self._quiet.set()

    async def said(self) -> None:
        """Return once whoever writes has written."""
        await self._quiet.wait()

    def _next(self) -> bytes:
        response = self._envelope()
        message = response.message
        add = message.answers.add
        for decision_id, action, note, error in self._replies:
            answer = add(decision_id=decision_id, action=action)
            if note:
                answer.note = note
            if error:
                answer.error = error
        self._replies = []
        if self._pongs:
            message.pong.id = self._pongs.pop(0)
        if self._drain:
            message.drain = True
            self._drain = False
        return response.SerializeToString()


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

    async def run(self, requests: AsyncIterator[bytes]) -> None:
        """Answer until the arena says that it asks nothing more, and then what is still open.

        Unreadable where a request is none; what the requests raise comes through.
        """
        try:
            await self.listen(requests)
            await self.finish()
        finally:
            self.drop()

    async def listen(self, requests: AsyncIterator[bytes]) -> None:
        """Take what the arena says until it says no more; what takes thinking may still be thought about then."""
        async for raw in requests:
            await self._take(raw)

    async def finish(self) -> None:
        """Return once everything that was asked is answered."""
        while self._tasks:
            await asyncio.wait(self._tasks)
        await self._outbox.said()

    def drop(self) -> None:
        """Think no more about what nobody awaits."""
        for task in self._tasks:
            task.cancel()

    async def drain(self) -> None:
        """Ask for no new hands on this stream."""
        await self._outbox.say([], drain=True)

    async def _take(self, raw: bytes) -> None:
        try:
            # A JoinResponse is the same on the wire.
            message = bot_pb2.PlayRequest.FromString(raw).message
        except DecodeError:
            raise Unreadable("this is no message of an arena") from None
        if message.HasField("ping"):
            await self._outbox.say([], pong=message.ping.id)
        if self._hands is not None:
            self._hands.take(message)
        if self._hears_end:
            for ended in message.hands_ended:
                await self._tell(self._bot.hand_ended, ended)
        if self._hears_start:
            for started in message.hands_started:
                await self._tell(self._bot.hand_started, started)
        if replies := self._choose(message):
            await self._outbox.say(replies)

    async def _tell(self, hook: Callable[[Any], Awaitable[None] | None], notice: object) -> None:
        """A notice wants no answer, so a hook that fails costs a line in the log."""
        try:
            waiting = hook(notice)
            if isawaitable(waiting):
                await waiting
        except Exception:
            log.exception("%s failed at a notice", type(self._bot).__name__)

    def _choose(self, message: bot_pb2.ArenaMessage) -> list[Reply]:
        """What is answered at once; of the rest, each gets a task."""
        decisions = [Decision(asked) for asked in message.decisions]
        if not decisions:
            return []
        begun = self._chooser.begin(decisions)
        for awaited in begun.awaited:
            self._begin(self._later(awaited))
        return begun.replies

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(_heard)

    async def _later(self, awaited: Awaitable[list[Reply]]) -> None:
        await self._outbox.say(await awaited)


def _heard(ended: asyncio.Task[None]) -> None:
    """A reply to a call that has ended meanwhile is an exception in grpc.aio; nobody waits for it."""
    if not ended.cancelled():
        ended.exception()
