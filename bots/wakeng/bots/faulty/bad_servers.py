"""Faulty bots that speak gRPC in ways in which the SDK cannot: each brings a server of its own, of raw bytes.

Describe and the stream's pings are answered properly unless they are the fault itself, so that the arena seats the bot
and meets the fault where it plays.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterable, Sequence
from itertools import repeat
from typing import Any, Final

from wakeng.bots.faulty.base import FaultyBot
from wakeng.engine import Fault
from wakeng.sdk import BotServer, Decision, ListenError
from wakeng.sdk.bot import description
from wakeng.sdk.polling import grpc
from wakeng.v1 import bot_pb2

MOST_UNARY_BYTES: Final = 64 << 10
MOST_STREAM_BYTES: Final = 1 << 20
"""What the arena reads of an answer at most (docs/protocol.md 4)."""
MESSAGES_IN_A_FLOOD: Final = 1_000

_GARBAGE: Final = b"\xff" * 32
"""No protobuf message: its first tag never ends."""
_NEVER_ASKED: Final = 1 << 62
"""Turns an id into one that no arena gives: ids count up from the wall clock's seconds times 2^30."""

Context = grpc.aio.ServicerContext[bytes, bytes]
Questions = Sequence[bot_pb2.DecideRequest]


class RawBot(FaultyBot):
    """A bot that makes its own bytes. As it stands it answers rightly; each fault overrides what it spoils."""

    def answer(self, question: bot_pb2.DecideRequest) -> bot_pb2.DecideResponse:
        """The answer to one question."""
        return bot_pb2.DecideResponse(decision_id=question.decision_id, action=self.choose(Decision(question)))

    def unary(self, question: bot_pb2.DecideRequest) -> bytes:
        """The bytes of a DecideResponse."""
        return self.answer(question).SerializeToString()

    def messages(self, questions: Questions) -> Iterable[bytes]:
        """The bytes of the PlayResponses to one message of questions."""
        return [packed(map(self.answer, questions))]

    # The server -----------------------------------------------------------------------------------------------------

    async def serve_itself(self, listen: str) -> BotServer:
        """As `wakeng.sdk.start`; there is no limit to what this server sends."""
        server = grpc.aio.server(options=(("grpc.max_send_message_length", -1), ("grpc.so_reuseport", 0)))
        try:
            port = server.add_insecure_port(listen)
        except RuntimeError as error:
            raise ListenError(f"cannot listen on {listen!r} ({error})") from None
        calls: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            "Describe": grpc.unary_unary_rpc_method_handler(self.describe),
            "Decide": grpc.unary_unary_rpc_method_handler(self.decide),
            "Play": grpc.stream_stream_rpc_method_handler(self.play),
        }
        server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("wakeng.v1.BotService", calls)])
        await server.start()
        return _OwnServer(self, at(listen, port), server)

    async def describe(self, raw: bytes, context: Context) -> bytes:
        """The call Describe."""
        return description(self).SerializeToString()

    async def decide(self, raw: bytes, context: Context) -> bytes:
        """The call Decide."""
        return self.unary(bot_pb2.DecideRequest.FromString(raw))

    async def play(self, requests: AsyncIterator[bytes], context: Context) -> None:
        """The call Play."""
        async for raw in requests:
            asked = bot_pb2.PlayRequest.FromString(raw).message
            if asked.HasField("ping"):
                await context.write(packed((), pong=bot_pb2.Pong(id=asked.ping.id)))
            if asked.decisions:
                for message in self.messages(asked.decisions):
                    await context.write(message)


def packed(answers: Iterable[bot_pb2.DecideResponse], **parts: Any) -> bytes:
    """One message of a stream."""
    return bot_pb2.PlayResponse(message=bot_pb2.BotMessage(answers=answers, **parts)).SerializeToString()


def at(listen: str, port: int) -> str:
    """The address with the port in use."""
    return listen if listen.startswith("unix:") else f"{listen.rpartition(':')[0]}:{port}"


class _OwnServer(BotServer):
    """A bot's own server, ended like any other. `server` is one of gRPC's, or the like of it."""

    def __init__(self, bot: FaultyBot, address: str, server: "grpc.aio.Server | _Deaf") -> None:
        self.address = address
        self._own_bot = bot
        self._own_server = server

    @property
    def bot(self) -> FaultyBot:
        """The bot."""
        return self._own_bot

    async def ready(self) -> None:
        """At once."""

    async def drain(self) -> None:
        """A bot as bad as these asks for nothing."""

    async def stop(self, grace: float | None = None) -> None:
        """End every call."""
        await self._own_server.stop(grace)

    async def wait(self) -> None:
        """Return once the server has stopped."""
        await self._own_server.wait_for_termination()


# The faults ----------------------------------------------------------------------------------------------------------


class Garbage(RawBot):
    """Answers with bytes that are no message, single calls and streams alike. Earns MALFORMED."""

    name = "faulty:garbage"
    earns = (Fault.MALFORMED,)

    def unary(self, question: bot_pb2.DecideRequest) -> bytes:
        """Garbage."""
        return _GARBAGE

    def messages(self, questions: Questions) -> Iterable[bytes]:
        """Garbage, once for all the questions of a message."""
        return [_GARBAGE]


class Oversize(RawBot):
    """Answers rightly, in messages just over what the arena reads: the rest is a note. Earns MALFORMED."""

    name = "faulty:oversize"
    earns = (Fault.MALFORMED,)

    def unary(self, question: bot_pb2.DecideRequest) -> bytes:
        """More than 64 KiB."""
        return self._padded(question, MOST_UNARY_BYTES).SerializeToString()

    def messages(self, questions: Questions) -> Iterable[bytes]:
        """More than 1 MiB, most of it in the first answer."""
        first, *others = questions
        return [packed([self._padded(first, MOST_STREAM_BYTES), *map(self.answer, others)])]

    def _padded(self, question: bot_pb2.DecideRequest, size: int) -> bot_pb2.DecideResponse:
        answer = self.answer(question)
        answer.note = "n" * size
        return answer


class WrongId(RawBot):
    """Answers rightly, but to questions nobody asked. Earns STALE, then DEADLINE for those that were."""

    name = "faulty:wrong_id"
    earns = (Fault.STALE, Fault.DEADLINE)

    def answer(self, question: bot_pb2.DecideRequest) -> bot_pb2.DecideResponse:
        """With another id."""
        answer = super().answer(question)
        answer.decision_id ^= _NEVER_ASKED
        return answer


class Flood(RawBot):
    """Sends a thousand empty messages for each with questions, and only then the answers. Earns MALFORMED.

    A single call has one answer and no room for a flood, so it plays in streams only.
    """

    name = "faulty:flood"
    earns = (Fault.MALFORMED,)

    def messages(self, questions: Questions) -> Iterable[bytes]:
        """A flood, then what was asked for."""
        yield from repeat(packed(()), MESSAGES_IN_A_FLOOD)
        yield from super().messages(questions)

    async def decide(self, raw: bytes, context: Context) -> bytes:
        """Not implemented."""
        await context.abort(grpc.StatusCode.UNIMPLEMENTED, "this bot plays in streams")


class SlowStart(RawBot):
    """Takes twice the time it has to get ready, whenever it is asked; it would play well then. Earns NOT_READY."""

    name = "faulty:slow_start"
    earns = (Fault.NOT_READY,)

    async def describe(self, raw: bytes, context: Context) -> bytes:
        """Too late."""
        ready_ms = bot_pb2.DescribeRequest.FromString(raw).time_control.ready_ms
        await asyncio.sleep(2 * ready_ms / 1000)
        return await super().describe(raw, context)


class HalfOpen(FaultyBot):
    """Accepts every connection and never reads from it. Earns NOT_READY.

    No error and no end of file tells the caller that nobody is there: as from a host that died behind a firewall.
    """

    name = "faulty:half_open"
    earns = (Fault.NOT_READY,)

    async def serve_itself(self, listen: str) -> BotServer:
        """As `wakeng.sdk.start`, but no gRPC at all."""
        deaf = _Deaf()
        return _OwnServer(self, await deaf.start(listen), deaf)


class _Deaf:
    """A server of connections that are accepted and not read."""

    def __init__(self) -> None:
        self._open: list[socket.socket] = []
        self._accepting: asyncio.Task[None] | None = None
        self._ended = asyncio.Event()

    async def start(self, listen: str) -> str:
        """Listen, and say where; ListenError if that cannot be."""
        try:
            listener = _listener(listen)
        except OSError as error:
            raise ListenError(f"cannot listen on {listen!r} ({error})") from None
        listener.setblocking(False)
        self._open.append(listener)
        self._accepting = asyncio.create_task(self._accept(listener))
        return listen if listen.startswith("unix:") else at(listen, listener.getsockname()[1])

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            connection, _ = await loop.sock_accept(listener)
            self._open.append(connection)

    async def stop(self, grace: float | None) -> None:
        """Close every connection."""
        if self._accepting is not None:
            self._accepting.cancel()
            await asyncio.wait([self._accepting])
        for opened in self._open:
            opened.close()
        self._open.clear()
        self._ended.set()

    async def wait_for_termination(self) -> None:
        """Return once it has stopped."""
        await self._ended.wait()


def _listener(listen: str) -> socket.socket:
    if listen.startswith("unix:"):
        listener = socket.socket(socket.AF_UNIX)
        try:
            listener.bind(listen.removeprefix("unix:"))
            listener.listen()
        except OSError:
            listener.close()
            raise
        return listener
    host, _, port = listen.rpartition(":")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host.strip("[]"), int(port)), family=family)
