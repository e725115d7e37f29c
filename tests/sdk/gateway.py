"""A gateway for tests to play the arena's part in: each Join call waits to be told what to do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import grpc
import grpc.aio

from wakeng.sdk import CallError, Trouble
from wakeng.services.rpc import refuse
from wakeng.v1 import bot_pb2, gateway_pb2


class Call:
    """One Join call, seen from the arena."""

    def __init__(self, context: Any) -> None:
        self.context = context
        self.metadata = dict(context.invocation_metadata())
        self.ended: asyncio.Future[tuple[grpc.StatusCode, str, str] | None] = asyncio.get_running_loop().create_future()

    async def hear(self) -> gateway_pb2.JoinRequest | None:
        """What the bot says next, None when it has said its last."""
        raw = await self.context.read()
        return None if raw is grpc.aio.EOF else gateway_pb2.JoinRequest.FromString(raw)

    async def message(self) -> bot_pb2.BotMessage:
        """The same where it is no hello."""
        heard = await self.hear()
        assert heard is not None and heard.WhichOneof("content") == "message"
        return heard.message

    async def answers(self, count: int) -> list[bot_pb2.DecideResponse]:
        """So many answers, in the order in which they come."""
        found: list[bot_pb2.DecideResponse] = []
        while len(found) < count:
            found += (await self.message()).answers
        return found

    async def say(self, asked: Iterable[bot_pb2.DecideRequest] = (), **parts: Any) -> None:
        """One message."""
        message = bot_pb2.ArenaMessage(decisions=asked, **parts)
        await self.context.write(gateway_pb2.JoinResponse(message=message).SerializeToString())

    def end(self, code: grpc.StatusCode = grpc.StatusCode.OK, reason: str = "", text: str = "") -> None:
        """End the call, as the arena ends calls."""
        if not self.ended.done():
            self.ended.set_result(None if code is grpc.StatusCode.OK else (code, reason, text))


class Gateway:
    """The service. `calls` are the Joins that nobody has taken yet."""

    def __init__(self) -> None:
        self.calls: asyncio.Queue[Call] = asyncio.Queue()
        self.address = ""
        self.server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])

    async def joined(self) -> Call:
        """The next call, its hello heard and its first ping answered."""
        call = await self.calls.get()
        hello = await call.hear()
        assert hello is not None and hello.WhichOneof("content") == "hello"
        await call.say(ping=bot_pb2.Ping(id=1))
        assert (await call.message()).pong.id == 1
        return call

    async def join(self, _: Any, context: Any) -> None:
        call = Call(context)
        self.calls.put_nowait(call)
        why = await call.ended
        if why is not None:
            await refuse(context, why[0].value[0], why[1], why[2])


class DialledIn:
    """A way to a bot that dials in, for the conformance checker: what the arena's gateway has to offer it."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._waiting: Call | None = None

    async def next_call(self) -> tuple[Call, bot_pb2.DescribeResponse]:
        call = await self._gateway.calls.get()
        hello = await call.hear()
        assert hello is not None
        return call, hello.hello

    async def describe(self, request: bot_pb2.DescribeRequest, *, within: float) -> bot_pb2.DescribeResponse:
        if self._waiting is None:
            async with asyncio.timeout(within):
                self._waiting, self._hello = await self.next_call()
        return self._hello

    async def decide(self, request: bytes, *, within: float) -> bytes:
        raise CallError(Trouble.UNIMPLEMENTED, "it dials in")

    def play(self) -> JoinConversation:
        call, self._waiting = self._waiting, None
        return JoinConversation(self, call)

    async def close(self) -> None:
        """Nothing of its own."""


class JoinConversation:
    """A Join call as the checker's stream: the envelope of what the bot says is another one."""

    def __init__(self, way: DialledIn, call: Call | None) -> None:
        self._way = way
        self._call: asyncio.Future[Call] = asyncio.get_running_loop().create_future()
        if call is not None:
            self._call.set_result(call)

    async def write(self, message: bytes) -> None:
        if not self._call.done():
            self._call.set_result((await self._way.next_call())[0])
        await self._call.result().context.write(message)

    async def read(self) -> bytes | None:
        heard = await (await asyncio.shield(self._call)).hear()
        return None if heard is None else bot_pb2.PlayResponse(message=heard.message).SerializeToString()

    async def finish(self) -> None:
        (await asyncio.shield(self._call)).end()

    def abandon(self) -> None:
        if self._call.done():
            self._call.result().end(grpc.StatusCode.UNAVAILABLE)


@asynccontextmanager
async def gateway(
    listen: str = "127.0.0.1:0", credentials: grpc.ServerCredentials | None = None
) -> AsyncIterator[Gateway]:
    """A gateway that can be dialled."""
    service = Gateway()
    server = service.server
    handler: dict[str, Any] = {"Join": grpc.stream_stream_rpc_method_handler(service.join)}
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("wakeng.v1.BotGatewayService", handler)])
    port = server.add_secure_port(listen, credentials) if credentials else server.add_insecure_port(listen)
    service.address = f"127.0.0.1:{port}"
    await server.start()
    try:
        yield service
    finally:
        await server.stop(0)
