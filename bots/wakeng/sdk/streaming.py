"""One Play stream from the bot's side: questions in by the handful, answers out as they come, packed as they can be.

The reader puts a message's questions to the bot; what is answered at once goes out in one message. What has to be
waited for gets a task each, and whatever is ready while another message is being written goes out together in the next.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from inspect import isawaitable
from typing import Any

import grpc
import grpc.aio
from google.protobuf.message import DecodeError

from wakeng.sdk.bot import Bot, overrides
from wakeng.sdk.choosing import Begun, Chooser, Reply
from wakeng.sdk.decision import Decision
from wakeng.v1 import bot_pb2

log = logging.getLogger("wakeng.sdk")

Context = grpc.aio.ServicerContext[bytes, bytes]


class _Outbox:
    """What is to be said. Whoever finds nobody writing writes, and goes on until all is said."""

    def __init__(self, context: Context) -> None:
        self._write: Callable[[bytes], Awaitable[None]] = context.write
        self._pen = asyncio.Lock()
        self._replies: list[Reply] = []
        self._pongs: list[int] = []
        self._drain = False

    async def say(self, replies: list[Reply], *, pong: int | None = None, drain: bool = False) -> None:
        """Send some replies, a pong, or the wish for no new hands."""
        self._replies += replies
        self._drain |= drain
        if pong is not None:
            self._pongs.append(pong)
        if self._pen.locked():
            return
        async with self._pen:
            while self._replies or self._pongs or self._drain:
                await self._write(self._next())

    def _next(self) -> bytes:
        response = bot_pb2.PlayResponse()
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
    """One call of Play."""

    def __init__(self, bot: Bot, chooser: Chooser, context: Context) -> None:
        self._bot = bot
        self._chooser = chooser
        self._context = context
        self._outbox = _Outbox(context)
        self._tasks: set[asyncio.Task[None]] = set()
        self._hears_start = overrides(bot, "hand_started")
        self._hears_end = overrides(bot, "hand_ended")

    async def run(self, requests: AsyncIterator[bytes]) -> None:
        """Answer until the arena says that it asks nothing more, and then what is still open."""
        try:
            async for raw in requests:
                await self._take(raw)
            while self._tasks:
                await asyncio.wait(self._tasks)
        finally:
            for task in self._tasks:
                task.cancel()

    async def drain(self) -> None:
        """Ask for no new hands on this stream."""
        await self._outbox.say([], drain=True)

    async def _take(self, raw: bytes) -> None:
        try:
            message = bot_pb2.PlayRequest.FromString(raw).message
        except DecodeError:
            await self._context.abort(grpc.StatusCode.INVALID_ARGUMENT, "this is no PlayRequest")
        if message.HasField("ping"):
            await self._outbox.say([], pong=message.ping.id)
        if self._hears_start:
            for started in message.hands_started:
                await self._tell(self._bot.hand_started, started)
        if self._hears_end:
            for ended in message.hands_ended:
                await self._tell(self._bot.hand_ended, ended)
        if message.decisions:
            await self._answer(self._chooser.begin([Decision(asked) for asked in message.decisions]))

    async def _tell(self, hook: Callable[[Any], Awaitable[None] | None], notice: object) -> None:
        """A notice wants no answer, so a hook that fails costs a line in the log."""
        try:
            waiting = hook(notice)
            if isawaitable(waiting):
                await waiting
        except Exception:
            log.exception("%s failed at a notice", type(self._bot).__name__)

    async def _answer(self, begun: Begun) -> None:
        for awaited in begun.awaited:
            self._begin(self._later(awaited))
        if begun.replies:
            await self._outbox.say(begun.replies)

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
