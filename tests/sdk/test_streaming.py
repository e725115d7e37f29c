"""A stream from the bot's side, on a connection that the test holds in its hands: what is written when."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc.aio
import pytest

from tests.sdk.asking import First, packed, question, questions
from wakeng.sdk import Bot, Decision, start
from wakeng.sdk.choosing import Chooser
from wakeng.sdk.streaming import HandsInPlay, Stream, Unreadable
from wakeng.v1 import bot_pb2


class Wire:
    """A connection on which each write lasts until the test lets it end."""

    def __init__(self) -> None:
        self.written: list[bot_pb2.BotMessage] = []
        self._coming: asyncio.Queue[Any] = asyncio.Queue()
        self._ends: asyncio.Future[None]

    async def read(self) -> Any:
        return await self._coming.get()

    async def write(self, message: bytes) -> None:
        self.written.append(bot_pb2.PlayResponse.FromString(message).message)
        self._ends = asyncio.get_running_loop().create_future()
        await self._ends

    async def bring(self, *messages: Any) -> None:
        """These arrive, and the bot has its turn with them."""
        for message in messages:
            self._coming.put_nowait(message)
        await turns()

    async def let_end(self) -> None:
        """The write in progress is over."""
        self._ends.set_result(None)
        await turns()

    @property
    def unread(self) -> int:
        """Messages that the bot has not read yet."""
        return self._coming.qsize()


async def turns() -> None:
    """So many turns of the loop that nobody has anything left to do."""
    for _ in range(10):
        await asyncio.sleep(0)


@asynccontextmanager
async def playing(bot: Bot, hands: HandsInPlay | None = None) -> AsyncIterator[tuple[Wire, Stream]]:
    """A bot that plays on a wire."""
    wire = Wire()
    stream = Stream(bot, Chooser(bot), wire.write, hands=hands)
    listening = asyncio.ensure_future(stream.listen(wire.read))
    yield wire, stream
    await wire.bring(grpc.aio.EOF)
    await listening


def asking(*ids: int, **parts: Any) -> bytes:
    return packed([question(decision_id) for decision_id in ids], **parts).SerializeToString()


def ids(message: bot_pb2.BotMessage) -> list[int]:
    return [answer.decision_id for answer in message.answers]


class Later(Bot):
    """Answers once it may."""

    def __init__(self) -> None:
        self.may = asyncio.Event()

    async def choose(self, decision: Decision) -> str:
        await self.may.wait()
        return decision.legal[0]


async def test_what_becomes_ready_during_a_write_goes_out_together_in_the_next() -> None:
    bot = Later()
    async with playing(bot) as (wire, _):
        await wire.bring(asking(1, 2, 3, ping=bot_pb2.Ping(id=5)))
        bot.may.set()
        await turns()
        assert [message.pong.id for message in wire.written] == [5]
        await wire.let_end()
        assert ids(wire.written[1]) == [1, 2, 3] and not wire.written[1].HasField("pong")
        await wire.let_end()


async def test_a_message_is_read_while_another_is_written_but_none_while_one_waits_to_be() -> None:
    async with playing(First()) as (wire, _):
        await wire.bring(asking(1), asking(2), asking(3))
        assert [ids(message) for message in wire.written] == [[1]]
        assert wire.unread == 1
        await wire.let_end()
        assert [ids(message) for message in wire.written] == [[1], [2]]
        assert wire.unread == 0
        await wire.let_end()
        await wire.let_end()
    assert [ids(message) for message in wire.written] == [[1], [2], [3]]


async def test_each_ping_has_its_pong_however_slow_the_connection() -> None:
    async with playing(First()) as (wire, _):
        await wire.bring(*(asking(ping=bot_pb2.Ping(id=ping_id)) for ping_id in (7, 8, 9)))
        for _ in range(3):
            await wire.let_end()
    assert [message.pong.id for message in wire.written] == [7, 8, 9]


async def test_the_wish_for_no_new_hands_goes_along_with_what_waits() -> None:
    async with playing(First()) as (wire, stream):
        await wire.bring(asking(1), asking(2))
        stream.drain()
        await wire.let_end()
        assert ids(wire.written[1]) == [2] and wire.written[1].drain
        await wire.let_end()


async def test_a_stream_is_finished_when_all_is_written() -> None:
    async with playing(First()) as (wire, stream):
        await wire.bring(asking(1), asking(2))
        finishing = asyncio.ensure_future(stream.finish())
        await wire.let_end()
        assert not finishing.done()
        await wire.let_end()
        assert finishing.done()


async def test_nothing_is_written_to_a_call_that_is_over() -> None:
    async with playing(First()) as (wire, stream):
        await wire.bring(asking(1), asking(2))
        stream.drop()
        await wire.let_end()
        stream.drain()
    assert [ids(message) for message in wire.written] == [[1]]


async def test_hands_in_play_are_known_when_the_answers_of_their_message_are_on_their_way() -> None:
    hands = HandsInPlay()
    async with playing(First(), hands) as (wire, _):
        await wire.bring(asking(1, hands_started=[bot_pb2.HandStarted(hand_index=4)]))
        over = asyncio.ensure_future(hands.over())
        await wire.let_end()
        assert not over.done()
        await wire.bring(asking(hands_ended=[bot_pb2.HandEnded(hand_index=4)]))
        assert over.done()


async def test_a_message_that_cannot_be_read_ends_the_call_once_nothing_is_being_written() -> None:
    wire = Wire()
    listening = asyncio.ensure_future(Stream(First(), Chooser(First()), wire.write).listen(wire.read))
    await wire.bring(asking(1), b"\xff\xff")
    assert not listening.done()
    await wire.let_end()
    with pytest.raises(Unreadable, match="no message of an arena"):
        await listening


async def test_callers_who_go_away_midway_leave_nothing_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async with await start(First()) as server:
        for answers in (0, 1, 2, 0, 1, 2):
            async with grpc.aio.insecure_channel(server.address) as channel:
                raw: Any = channel
                stream = raw.stream_stream("/wakeng.v1.BotService/Play")()
                for _ in range(4):
                    await stream.write(packed(questions(64)).SerializeToString())
                for _ in range(answers):
                    await stream.read()
                stream.cancel()
    assert not caplog.records
