"""The fast way to a bot that listens: one Play stream for all its tables, made again when it breaks."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Final

from wakeng.engine import Fault, RuleSet
from wakeng.sdk.client import BotClient, CallError, PlayStream, Trouble
from wakeng.services.packed import FIRST_PINGS, Flood, PackedTransport
from wakeng.services.seat import Seat
from wakeng.services.spec import TimeControl
from wakeng.services.table import escape

_FIRST_BACKOFF: Final = 0.05
_LONGEST_BACKOFF: Final = 1.0
_TRIES: Final = 2
"""How often a question is asked of a bot whose stream ends in an error of its own before the error is laid to it."""
_CLOSE_WITHIN: Final = 1.0
_ANSWER_WITHIN: Final = 5.0
"""Seconds a new stream may take to its first exchange before another is tried."""

Greeter = Callable[[RuleSet, TimeControl], Coroutine[None, None, None]]


class StreamTransport(PackedTransport):
    """Questions go out in packed messages; answers come in any order and grouping."""

    def __init__(self, seat: Seat, client: BotClient, greeter: Greeter) -> None:
        super().__init__(seat)
        self._client = client
        self._greeter = greeter
        self._tasks: set[asyncio.Task[None]] = set()
        self._stream: PlayStream | None = None
        self._closing = False

    def abandon(self) -> None:
        """The reader then finds the stream at its end, and makes another."""
        if self._stream is not None:
            self._stream.abandon()

    async def greet(self, rules: RuleSet, time_control: TimeControl) -> None:
        """Describe the next match to the bot."""
        await self._greeter(rules, time_control)

    async def open(self) -> None:
        """Open the stream and wait for its first exchange, pings and their pongs; CallError if there is none."""
        stream = self._client.play()
        await self._exchange(stream)
        self._spawn(self._live(stream))
        self.keep_pinging()

    async def _exchange(self, stream: PlayStream) -> None:
        self.new_connection()
        for _ in range(FIRST_PINGS):
            self.ping()
            message = self.outbox.get_nowait()
            assert message is not None
            await stream.write(message)
            answer = await stream.read()
            if answer is None:
                raise CallError(Trouble.NETWORK, "the stream ended before its first answer")
            self.receive(answer, self.parse(answer))

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = self.seat.loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _live(self, stream: PlayStream) -> None:
        """Read the stream until it ends, then make another, for as long as the seat is wanted."""
        while True:
            self._stream = stream
            self.outbox.written_by(stream.writing)
            trouble = await self._read_to_end(stream)
            if self._closing:
                return
            self._ended(trouble)
            again = await self._reopen()
            if again is None:
                return
            stream = again
            self.seat.connection_back()

    async def _read_to_end(self, stream: PlayStream) -> CallError:
        try:
            while (message := await stream.read()) is not None:
                self.receive(message, self.parse(message))
        except CallError as trouble:
            return trouble
        except Flood:
            stream.abandon()
            return CallError(Trouble.FLOOD, "more than twice the messages it was asked for")
        except Exception as error:
            self.seat.broke(error)
            stream.abandon()
            return CallError(Trouble.NETWORK, "the arena failed at a message")
        return CallError(Trouble.NETWORK, "the bot ended the stream")

    def _ended(self, trouble: CallError) -> None:
        """Lay the end of the stream to the questions that caused it; the others are asked again."""
        if trouble.trouble in (Trouble.OVERSIZE, Trouble.FLOOD):
            self.blame(Fault.MALFORMED, escape(str(trouble)))
        elif trouble.trouble is not Trouble.NETWORK:
            for question in self.seat.outstanding():
                if question.tries >= _TRIES:
                    self.seat.fail(question, Fault.BOT_ERROR, offered=escape(str(trouble)))
        self.seat.connection_lost()

    async def _reopen(self) -> PlayStream | None:
        pause = 0.0
        while not self._closing:
            await asyncio.sleep(pause)
            if self._closing:
                break
            pause = min(max(2 * pause, _FIRST_BACKOFF), _LONGEST_BACKOFF)
            stream = self._client.play()
            watchdog = self.seat.loop.call_later(_ANSWER_WITHIN, stream.abandon)
            try:
                await self._exchange(stream)
            except (CallError, Flood):
                continue
            finally:
                watchdog.cancel()
            return stream
        return None

    async def close(self) -> None:
        """Say what is still to be said, end the stream in order, then the connection."""
        self._closing = True
        self.stop_pinging()
        self.flush_notices()
        self.outbox.put_nowait(None)
        if self._tasks and self.seat.up:
            await asyncio.wait(self._tasks, timeout=_CLOSE_WITHIN)
        await self._client.close()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_CLOSE_WITHIN)
