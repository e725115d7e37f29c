"""How a bot is called: one connection with Describe, Decide and Play, all in raw bytes.

The arena and the conformance checker use it. Messages are handed over unparsed, because their size has to be judged
before they are parsed, and because grpc.aio gives an undecodable stream message as nothing at all. No call is ever
cancelled while it is in flight (grpc.aio leaks memory then): unary calls end by their own deadline, a stream has one
reader for as long as it lives.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from enum import Enum
from typing import Any, Final, Self

from wakeng.sdk.handing_over import hand_over
from wakeng.sdk.polling import grpc
from wakeng.v1 import bot_pb2

MOST_STREAM_BYTES: Final = 1 << 20
MOST_UNARY_BYTES: Final = 64 << 10

_SERVICE: Final = "/wakeng.v1.BotService/"
_OPTIONS: Final = (
    ("grpc.max_receive_message_length", MOST_STREAM_BYTES),
    ("grpc.max_send_message_length", -1),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_retries", 0),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 2_000),
    ("grpc.max_reconnect_backoff_ms", 1_000),
)


class Trouble(Enum):
    """Why a call ended without what was asked for."""

    DEADLINE = "it did not answer in time"
    NETWORK = "the connection was lost or could not be made"
    OVERSIZE = "its message is over the size limit"
    FLOOD = "it sends too many messages"
    UNIMPLEMENTED = "it does not implement the call"
    BOT = "it returned an error status of its own"


class CallError(Exception):
    """A call to a bot that failed; `trouble` says how, the message what the transport said."""

    def __init__(self, trouble: Trouble, detail: str) -> None:
        super().__init__(f"{trouble.value} ({detail})" if detail else trouble.value)
        self.trouble = trouble


def classify(error: grpc.aio.AioRpcError) -> CallError:
    """What an error status means."""
    code = error.code()
    detail = f"{code.name}: {(error.details() or '')[:200]}"
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED and "larger than max" in (error.details() or ""):
        return CallError(Trouble.OVERSIZE, detail)
    return CallError(_TROUBLES.get(code, Trouble.BOT), detail)


_TROUBLES: Final = {
    grpc.StatusCode.DEADLINE_EXCEEDED: Trouble.DEADLINE,
    grpc.StatusCode.UNAVAILABLE: Trouble.NETWORK,
    grpc.StatusCode.CANCELLED: Trouble.NETWORK,
    grpc.StatusCode.UNIMPLEMENTED: Trouble.UNIMPLEMENTED,
}


class PlayStream:
    """An open Play call: one writer, one reader."""

    def __init__(self, call: "grpc.aio.StreamStreamCall[bytes, bytes]") -> None:
        self._call = call
        # The call's core; where a grpc.aio is made otherwise, and perhaps better, the call itself has to do.
        core = getattr(call, "_cython_call", None)
        self._send: Callable[[bytes], Coroutine[Any, Any, None]] | None
        self._send = getattr(core, "send_serialized_message", None)
        self._receive: Callable[[], Awaitable[Any]] | None
        self._receive = getattr(core, "receive_serialized_message", None)
        self._abandoned = False
        self._connected = False
        self._heard = False
        """Whether a first message has come, for which the call had to be made."""

    def writing(self, message: bytes | None) -> Coroutine[Any, Any, None]:
        """A write that is still to be awaited, or with None the finish; it may raise grpc's own errors.

        In midstream it is that of the call's core, without the layers above, which have nothing to add then.
        """
        if message is None:
            return self.finish()
        if self._send is None or not self._connected or self._call.done():
            return self.write(message)
        return self._send(message)

    async def write(self, message: bytes) -> None:
        """Hand one encoded PlayRequest to the transport; if the stream is over, that is for the reader to learn."""
        if not self._connected:
            await self._connect()
        try:
            await hand_over(self._call, message, connected=True)
        except asyncio.CancelledError:
            self._given_up()
            raise

    async def _connect(self) -> None:
        """Wait until the call is under way or over; grpc.aio's own wait never ends where a call is given up before."""
        over = asyncio.Event()
        self._call.add_done_callback(lambda _: over.set())
        ended = asyncio.ensure_future(over.wait())
        connecting = asyncio.ensure_future(self._call.wait_for_connection())
        await asyncio.wait({connecting, ended}, return_when=asyncio.FIRST_COMPLETED)
        ended.cancel()
        connecting.cancel()
        await asyncio.gather(connecting, return_exceptions=True)
        self._connected = True

    async def read(self) -> bytes | None:
        """The next encoded PlayResponse, None at the end of the stream; CallError says how else it ended."""
        try:
            message: Any = grpc.aio.EOF
            if self._receive is not None and self._heard:
                message = await self._receive()
            if message is grpc.aio.EOF:  # How it ended only the call itself tells.
                message = await self._call.read()
        except grpc.aio.AioRpcError as error:
            raise classify(error) from None
        except asyncio.CancelledError:
            self._call.cancel()  # As its own read does.
            self._given_up()
            raise
        self._heard = True
        return None if message is grpc.aio.EOF else bytes(message)

    def _given_up(self) -> None:
        """CallError where a cancellation is that of the abandoned call, and not of the task that waits for it."""
        task = asyncio.current_task()
        if self._abandoned and (task is None or not task.cancelling()):
            raise CallError(Trouble.NETWORK, "the stream was given up") from None

    async def finish(self) -> None:
        """Say that nothing more will be asked."""
        try:
            await self._call.done_writing()
        except (grpc.aio.AioRpcError, grpc.aio.BaseError):
            return  # As it has ended before, in whatever way.

    def abandon(self) -> None:
        """End the call, whatever the bot does."""
        self._abandoned = True
        self._call.cancel()


class BotClient:
    """A connection to a bot at `HOST:PORT` or `unix:PATH`; it is made when first needed, and again when lost."""

    def __init__(
        self, address: str, *, credentials: grpc.ChannelCredentials | None = None, host: str | None = None
    ) -> None:
        """Over TLS with `credentials`; the certificate must name `host`, where that is not in the address."""
        self.address = address
        options: list[tuple[str, str | int]] = list(_OPTIONS)
        if credentials is not None and host is not None:
            options.append(("grpc.ssl_target_name_override", host))
        if credentials is None:
            self._channel = grpc.aio.insecure_channel(address, options=options)
        else:
            self._channel = grpc.aio.secure_channel(address, credentials, options=options)
        self._describe: Callable[..., Awaitable[bytes]] = self._channel.unary_unary(_SERVICE + "Describe")
        self._decide: Callable[..., Awaitable[bytes]] = self._channel.unary_unary(_SERVICE + "Decide")
        self._play: Any = self._channel.stream_stream(_SERVICE + "Play")

    async def describe(self, request: bot_pb2.DescribeRequest, *, within: float) -> bot_pb2.DescribeResponse:
        """Ask the bot what it is, waiting up to `within` seconds for it to come up and to answer."""
        answer = await self._unary(self._describe, request.SerializeToString(), within=within, wait_for_ready=True)
        try:
            return bot_pb2.DescribeResponse.FromString(answer)
        except Exception as error:  # protobuf raises its own kind, which its stubs do not name
            raise CallError(Trouble.BOT, f"its DescribeResponse cannot be read: {error}") from None

    async def decide(self, request: bytes, *, within: float) -> bytes:
        """One encoded DecideRequest, answered by one DecideResponse of at most 64 KiB, `within` seconds."""
        return await self._unary(self._decide, request, within=within, wait_for_ready=False)

    async def _unary(
        self, call: Callable[..., Awaitable[bytes]], request: bytes, *, within: float, wait_for_ready: bool
    ) -> bytes:
        try:
            answer = await call(request, timeout=within, wait_for_ready=wait_for_ready)
        except grpc.aio.AioRpcError as error:
            raise classify(error) from None
        if len(answer) > MOST_UNARY_BYTES:
            raise CallError(Trouble.OVERSIZE, f"{len(answer)} bytes, more than {MOST_UNARY_BYTES}")
        return answer

    def play(self) -> PlayStream:
        """Open the stream; whether the bot has one shows with the first read."""
        return PlayStream(self._play(wait_for_ready=True))

    async def ready(self) -> None:
        """Return once the connection stands; it is for the caller to bound the wait."""
        await self._channel.channel_ready()

    async def close(self) -> None:
        """End the connection and whatever is still in flight on it."""
        await self._channel.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()
