"""Serving a bot: the three calls of BotService over a Bot, for as long as somebody wants to play (docs/protocol.md 2).

    serve(First(), "127.0.0.1:50051")            # until SIGINT or SIGTERM
    server = await start(First())                # in an event loop of your own; `server.address` is where

A stream has one reader, which is the call's own handler and lives as long as the stream: it is never cancelled by us,
since grpc.aio leaks memory with every awaited read that is. Messages are read as raw bytes and parsed here, since
grpc.aio hands on an undecodable stream message as nothing at all.
"""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, Protocol, Self, runtime_checkable

from google.protobuf.message import DecodeError

from wakeng.sdk.bot import Bot, check, description, make_ready
from wakeng.sdk.choosing import Chooser
from wakeng.sdk.dialling import File
from wakeng.sdk.listening import Listening
from wakeng.sdk.polling import grpc
from wakeng.sdk.process import first_of, loop_factory, signals
from wakeng.sdk.streaming import LARGE_MESSAGES, Stream, Unreadable
from wakeng.v1 import bot_pb2

MOST_MESSAGE_BYTES: Final = 1 << 20

Context = grpc.aio.ServicerContext[bytes, bytes]

_OPTIONS: Final = (
    ("grpc.max_receive_message_length", MOST_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MOST_MESSAGE_BYTES),
    # Without this a second server would share the port in silence, and each would get half of the calls.
    ("grpc.so_reuseport", 0),
    *LARGE_MESSAGES,
)
_STUCK_SECONDS: Final = 5.0
"""How long a bot that blocks the event loop may outlive the standard input it was to end with."""


class _Service:
    """The three calls."""

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.chooser = Chooser(bot)
        self.streams: set[Stream] = set()
        self.ready = asyncio.ensure_future(make_ready(bot))

    def handlers(self) -> grpc.GenericRpcHandler:
        """The calls in raw bytes."""
        calls: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            "Describe": grpc.unary_unary_rpc_method_handler(self.describe),
            "Decide": grpc.unary_unary_rpc_method_handler(self.decide),
            "Play": grpc.stream_stream_rpc_method_handler(self.play),
        }
        return grpc.method_handlers_generic_handler("wakeng.v1.BotService", calls)

    async def describe(self, raw: bytes, context: Context) -> bytes:
        """Who the bot is, once it is ready."""
        await self._until_ready(context)
        return description(self.bot).SerializeToString()

    async def decide(self, raw: bytes, context: Context) -> bytes:
        """One decision."""
        await self._until_ready(context)
        try:
            asked = bot_pb2.DecideRequest.FromString(raw)
        except DecodeError:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "this is no DecideRequest")
        return (await self.chooser.one(asked)).SerializeToString()

    async def play(self, requests: AsyncIterator[bytes], context: Context) -> None:
        """Decisions of any number of tables, until the arena has no more of them."""
        await self._until_ready(context)
        stream = Stream(self.bot, self.chooser, context.write)
        self.streams.add(stream)
        try:
            await stream.listen(context.read)
            await stream.finish()
        except Unreadable as problem:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(problem))
        finally:
            stream.drop()
            self.streams.discard(stream)

    async def _until_ready(self, context: Context) -> None:
        if self.ready.done() and not self.ready.cancelled() and self.ready.exception() is None:
            return
        try:
            # Shielded: a caller who gives up must not take the loading of the model with him.
            await asyncio.shield(self.ready)
        except Exception as error:
            await context.abort(grpc.StatusCode.INTERNAL, f"ready failed: {type(error).__name__}: {error}")


class BotServer:
    """A bot that is being served. `address` is where: "HOST:PORT" with the port in use, or "unix:PATH"."""

    def __init__(self, address: str, server: grpc.aio.Server, service: _Service) -> None:
        self.address = address
        self._server = server
        self._service = service

    @property
    def bot(self) -> Bot:
        """The bot."""
        return self._service.bot

    async def ready(self) -> None:
        """Return once the bot is ready; raise what its `ready` raised."""
        await asyncio.shield(self._service.ready)

    async def drain(self) -> None:
        """Ask every arena that plays with the bot for no new hands; those in play go on."""
        for stream in self._service.streams:
            stream.drain()

    async def stop(self, grace: float | None = None) -> None:
        """Take no new calls, give those in flight `grace` seconds, then end them."""
        if grace:
            await self.drain()
        await self._server.stop(grace)
        self._service.chooser.close()
        self._service.ready.cancel()
        with suppress(Exception, asyncio.CancelledError):
            await self._service.ready

    async def wait(self) -> None:
        """Return once the server has stopped."""
        await self._server.wait_for_termination()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()


@runtime_checkable
class ServesItself(Protocol):
    """A bot that brings a server of its own, as those do that are broken on purpose (`wakeng.bots.faulty`)."""

    async def serve_itself(self, listen: str) -> BotServer:
        """What `start` does for other bots."""


async def start(
    bot: Bot,
    listen: str = "127.0.0.1:0",
    *,
    tls_cert: File | None = None,
    tls_key: File | None = None,
    client_ca: File | None = None,
    insecure: bool = False,
) -> BotServer:
    """Serve a bot at "HOST:PORT" (port 0: any that is free) or "unix:PATH"; ListenError says why it cannot be.

    Trust is as in `serve`. TypeError or ValueError where the bot is none. The caller stops the server, in the loop it
    was started in.
    """
    check(bot)
    place = Listening(listen=listen, tls_cert=tls_cert, tls_key=tls_key, client_ca=client_ca, insecure=insecure)
    if isinstance(bot, ServesItself):
        if tls_cert is not None:
            raise ValueError(f"{type(bot).__name__} brings a server of its own, which has no TLS")
        place.check()
        return await bot.serve_itself(listen)
    server = grpc.aio.server(options=_OPTIONS)
    address = place.add_to(server)
    service = _Service(bot)
    server.add_generic_rpc_handlers([service.handlers()])
    await server.start()
    return BotServer(address, server, service)


# A process that is a bot ---------------------------------------------------------------------------------------------


def serve(
    bot: Bot,
    listen: str = "127.0.0.1:50051",
    *,
    tls_cert: File | None = None,
    tls_key: File | None = None,
    client_ca: File | None = None,
    insecure: bool = False,
    until_stdin_closes: bool = False,
    grace: float = 2.0,
    announce: Callable[[str], None] | None = None,
) -> None:
    """Serve a bot until SIGINT or SIGTERM: then no new hands, and `grace` seconds for those in play.

    An address that other machines reach is served by TLS only, with the PEM files `tls_cert` and `tls_key`, unless
    `insecure`; with `client_ca` the arena must show a certificate that is signed by one of those.
    With `until_stdin_closes` it also ends, at once, when standard input does: a process whose parent holds the other
    end of that pipe cannot outlive it. `announce` gets the address once it can be called; by default it is written to
    standard error. Raises what `start` raises, and what the bot's `ready` raises.
    """
    starting = start(bot, listen, tls_cert=tls_cert, tls_key=tls_key, client_ca=client_ca, insecure=insecure)
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(_serve(starting, grace=grace, announce=announce, watch_stdin=until_stdin_closes))


async def _serve(
    starting: Awaitable[BotServer], *, grace: float, announce: Callable[[str], None] | None, watch_stdin: bool
) -> None:
    server = await starting
    ends: asyncio.Queue[float] = asyncio.Queue()
    """The seconds of grace of each end that was asked for; a second one hurries the first."""
    try:
        with (
            signals(lambda: ends.put_nowait(grace)),
            _stdin(lambda: ends.put_nowait(0.0), watched=watch_stdin),
        ):
            (announce or _to_stderr)(server.address)
            patience = await _unless_fails(server.ready(), asyncio.ensure_future(ends.get()))
            stopping = asyncio.ensure_future(server.stop(patience))
            await first_of(stopping, asyncio.ensure_future(ends.get()))
    finally:
        await server.stop(0)


async def _unless_fails(guard: Awaitable[None], wanted: asyncio.Future[float]) -> float:
    """What is wanted, however long it takes, unless the guard raises first."""
    guarding = asyncio.ensure_future(guard)
    await first_of(guarding, wanted)
    if not wanted.done():
        guarding.result()
    guarding.cancel()
    return await wanted


def _to_stderr(address: str) -> None:
    sys.stderr.write(f"listening on {address}\n")
    sys.stderr.flush()


@contextmanager
def _stdin(closed: Callable[[], None], *, watched: bool) -> Iterator[None]:
    """Has the end of standard input call back, and end the process if a bot that blocks the loop lets nobody listen."""
    over = threading.Event()
    loop = asyncio.get_running_loop()

    def watch() -> None:
        with suppress(OSError):
            while os.read(0, 65_536):
                pass
        with suppress(RuntimeError):  # The loop may be closed by now.
            loop.call_soon_threadsafe(closed)
        if not over.wait(_STUCK_SECONDS):
            os._exit(1)

    if watched:
        threading.Thread(target=watch, name="stdin", daemon=True).start()
    try:
        yield
    finally:
        over.set()
