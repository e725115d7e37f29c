"""The faulty bots: each does the one thing that is wrong with it, every time, and is right in all else."""

from __future__ import annotations

import asyncio
import re
import subprocess
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from google.protobuf.message import DecodeError

from tests.cli.test_main import WAKENG
from tests.sdk.asking import packed, question, questions, replies, serving
from wakeng.bots import BUILTIN_BOTS, FAULTY_BOTS, REFERENCE_BOTS, UnknownBot, create
from wakeng.bots.faulty import FaultyBot
from wakeng.bots.faulty.bad_servers import MESSAGES_IN_A_FLOOD, MOST_STREAM_BYTES, MOST_UNARY_BYTES, RawBot
from wakeng.engine.phases import ALL_TOKENS
from wakeng.sdk import ListenError, start
from wakeng.v1 import bot_pb2, bot_pb2_grpc

KINDS = "hang late illegal garbage oversize wrong_id crash flood slow_start half_open".split()
SERVICE = "/wakeng.v1.BotService/"


@asynccontextmanager
async def raw_calls(name: str) -> AsyncIterator[tuple[Any, Any]]:
    """A served bot's Decide, and an open Play stream, whose answers come unparsed and may have any size."""
    options = [("grpc.max_receive_message_length", -1)]
    async with await start(create(name)) as server, grpc.aio.insecure_channel(server.address, options) as channel:
        decide: Any = channel.unary_unary(SERVICE + "Decide", bot_pb2.DecideRequest.SerializeToString)
        play: Any = channel.stream_stream(SERVICE + "Play", bot_pb2.PlayRequest.SerializeToString)
        yield decide, play(wait_for_ready=True)


def message(raw: bytes) -> bot_pb2.BotMessage:
    return bot_pb2.PlayResponse.FromString(raw).message


# The table -----------------------------------------------------------------------------------------------------------


def test_there_is_one_bot_for_each_kind_and_it_says_what_it_earns() -> None:
    assert list(FAULTY_BOTS) == [f"faulty:{kind}" for kind in KINDS]
    assert dict(BUILTIN_BOTS) == {**REFERENCE_BOTS, **FAULTY_BOTS}
    for name, info in FAULTY_BOTS.items():
        bot = create(name)
        assert isinstance(bot, FaultyBot) and bot.name == name
        earned = re.findall(r"\b[A-Z_]{4,}\b", info.summary)
        assert [fault.value for fault in bot.earns] == earned
        assert all(word in (type(bot).__doc__ or "") for word in earned)


def test_a_mistyped_kind_gets_the_nearest() -> None:
    with pytest.raises(UnknownBot, match=r"did you mean faulty:hang\?.*faulty:half_open"):
        create("faulty:hung")


# How they answer -----------------------------------------------------------------------------------------------------


async def test_hang_takes_everything_and_answers_pings_alone() -> None:
    async with serving(create("faulty:hang")) as (_, stub):
        call = stub.Play(wait_for_ready=True)
        await call.write(packed(questions(5)))
        await call.write(packed((), ping=bot_pb2.Ping(id=1)))
        assert (await call.read()).message == bot_pb2.BotMessage(pong=bot_pb2.Pong(id=1))


async def test_late_answers_rightly_after_its_time_and_its_bank() -> None:
    asked = question()
    asked.time_left_ms, asked.bank_left_ms = 30, 20
    async with serving(create("faulty:late")) as (_, stub):
        began = time.monotonic()
        answer = await stub.Decide(asked, wait_for_ready=True)
        assert time.monotonic() - began > 0.05
        assert answer.action in asked.legal_actions


async def test_illegal_says_a_word_that_is_not_legal_whatever_the_phase() -> None:
    bot = create("faulty:illegal")
    async with serving(bot) as (_, stub):
        for asked in questions(200):
            action = (await stub.Decide(asked, wait_for_ready=True)).action
            assert action in ALL_TOKENS and action not in asked.legal_actions


async def test_garbage_is_no_message_in_calls_and_in_streams() -> None:
    async with raw_calls("faulty:garbage") as (decide, call):
        with pytest.raises(DecodeError):
            bot_pb2.DecideResponse.FromString(await decide(question(), wait_for_ready=True))
        await call.write(packed(questions(3)))
        with pytest.raises(DecodeError):
            message(await call.read())


async def test_oversize_is_right_but_for_its_size() -> None:
    async with raw_calls("faulty:oversize") as (decide, call):
        raw = await decide(question(7), wait_for_ready=True)
        assert len(raw) > MOST_UNARY_BYTES
        assert bot_pb2.DecideResponse.FromString(raw).decision_id == 7
        await call.write(packed(questions(3)))
        raw = await call.read()
        assert len(raw) > MOST_STREAM_BYTES
        assert [answer.decision_id for answer in message(raw).answers] == [1, 2, 3]


async def test_wrong_id_answers_what_nobody_asked() -> None:
    asked = questions(20)
    async with serving(create("faulty:wrong_id")) as (_, stub):
        call = stub.Play(wait_for_ready=True)
        await call.write(packed(asked))
        answers = await replies(call, 20)
        assert {answer.decision_id for answer in answers}.isdisjoint(ask.decision_id for ask in asked)
        assert [a.action in ask.legal_actions for a, ask in zip(answers, asked, strict=True)] == [True] * 20
        assert (await stub.Decide(question(7))).decision_id != 7


async def test_flood_sends_far_more_messages_than_it_gets_and_then_the_answers() -> None:
    async with serving(create("faulty:flood")) as (_, stub):
        call = stub.Play(wait_for_ready=True)
        await call.write(packed(questions(2)))
        empty = [await call.read() for _ in range(MESSAGES_IN_A_FLOOD)]
        assert all(not response.message.answers for response in empty)
        assert len((await call.read()).message.answers) == 2
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await stub.Decide(question())
        assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_slow_start_describes_itself_when_it_is_too_late() -> None:
    request = bot_pb2.DescribeRequest()
    request.time_control.ready_ms = 50
    async with serving(create("faulty:slow_start")) as (_, stub):
        with pytest.raises(grpc.aio.AioRpcError) as late:
            await stub.Describe(request, timeout=0.05, wait_for_ready=True)
        assert late.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        assert (await stub.Describe(request)).name == "faulty:slow_start"


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "unix:{}/bot"])
async def test_half_open_takes_a_connection_and_says_nothing(listen: str, tmp_path: Path) -> None:
    async with await start(create("faulty:half_open"), listen.format(tmp_path)) as server:
        if server.address.startswith("unix:"):
            reader, writer = await asyncio.open_unix_connection(server.address.removeprefix("unix:"))
        else:
            host, _, port = server.address.rpartition(":")
            reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9))
        await writer.drain()
        await server.stop()
        with suppress(ConnectionResetError):  # How a connection ends that holds bytes which nobody has read.
            assert await reader.read() == b""
        writer.close()


def test_crash_takes_its_process_along_at_the_first_question() -> None:
    command = [*WAKENG, "serve-bot", "faulty:crash", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        with grpc.insecure_channel(address) as channel:
            stub = bot_pb2_grpc.BotServiceStub(channel)
            assert stub.Describe(bot_pb2.DescribeRequest(), wait_for_ready=True).name == "faulty:crash"
            with pytest.raises(grpc.RpcError):
                stub.Decide(question(), timeout=60)
        assert process.wait(60) == 1


# What is right with them ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("slow_start", "half_open")])
async def test_describe_and_pings_are_answered_by_all_whose_fault_is_not_there(kind: str) -> None:
    async with serving(create(f"faulty:{kind}")) as (_, stub):
        assert (await stub.Describe(bot_pb2.DescribeRequest(), wait_for_ready=True)).protocol_version == 1
        call = stub.Play()
        await call.write(packed((), ping=bot_pb2.Ping(id=5)))
        assert (await call.read()).message.pong.id == 5


async def test_a_server_of_its_own_says_where_it_is_and_when_that_cannot_be(tmp_path: Path) -> None:
    bots = [create(name) for name in ("faulty:garbage", "faulty:half_open")]
    assert [isinstance(bot, RawBot) for bot in bots] == [True, False]
    for bot in bots:
        async with await start(bot) as server:
            assert server.bot is bot and not server.address.endswith(":0")
            with pytest.raises(ListenError, match=re.escape(server.address)):
                await start(bot, server.address)
        listen = f"unix:{tmp_path / bot.name}"
        async with await start(bot, listen) as server:
            assert server.address == listen


@pytest.mark.parametrize("name", [name for name in FAULTY_BOTS if FAULTY_BOTS[name].class_name != "Crash"])
async def test_each_can_be_stopped_and_waited_for(name: str) -> None:
    server = await start(create(name))
    await server.ready()
    await server.drain()
    waiting = asyncio.create_task(server.wait())
    await server.stop()
    await waiting
