"""BotGatewayService: bots that dial in, and the way to them over the stream they hold (docs/protocol.md 3)."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

from google.protobuf.message import DecodeError
from google.rpc import code_pb2

from wakeng.engine import Fault, RuleSet
from wakeng.sdk.polling import grpc
from wakeng.services.outbox import Write
from wakeng.services.packed import FIRST_PINGS, Flood, PackedTransport
from wakeng.services.remote import check_rules, take_description
from wakeng.services.roster import Roster
from wakeng.services.rpc import Context, invalid, refuse
from wakeng.services.seat import NotReady, Opener, Seat, Transport
from wakeng.services.spec import TimeControl
from wakeng.services.store.bots import BotRows
from wakeng.services.table import escape
from wakeng.v1 import bot_pb2, gateway_pb2

SERVICE: Final = "wakeng.v1.BotGatewayService"
HELLO_WITHIN: Final = 10.0
"""Seconds a caller may take to say who it is."""

MOST_TOLD: Final = 100
"""Characters kept of each thing a bot says of itself."""

Identify = Callable[[Context], Awaitable[str]]
"""The registered bot whose token a call carries; it ends the call where there is none."""


class _Connection:
    """One Join call: `ended` is set to why the arena ends it, or to None when the bot has gone."""

    def __init__(self, hello: bot_pb2.DescribeResponse) -> None:
        self.hello = hello
        self.ended: asyncio.Future[tuple[int, str, str] | None] = asyncio.get_running_loop().create_future()

    def end(self, why: tuple[int, str, str] | None) -> None:
        """The call is over; what was said first counts."""
        if not self.ended.done():
            self.ended.set_result(why)


_REPLACED: Final = (code_pb2.ABORTED, "REPLACED", "another Join of this bot has taken its place")
_FLOODED: Final = (code_pb2.RESOURCE_EXHAUSTED, "FLOOD", "more than twice the messages that were asked for")
_SILENT: Final = (code_pb2.DEADLINE_EXCEEDED, "NO_PONG", "no pong came for the pings of this connection")
_ARENA_FAILED: Final = (code_pb2.INTERNAL, "ARENA_ERROR", "the arena failed at a message; join again")


class DialInTransport(PackedTransport):
    """The way to a bot that dials in: whichever Join is the newest."""

    def __init__(self, seat: Seat, forget: Callable[[], None]) -> None:
        super().__init__(seat)
        self.connection: _Connection | None = None
        self._forget = forget
        self._joined = asyncio.Event()

    def attach(self, connection: _Connection) -> None:
        """A Join; an older one is told that it was replaced, and what is pending goes to this one."""
        take_description(self.seat, connection.hello)
        was_there = self.connection
        self.connection = connection
        if was_there is not None:
            was_there.end(_REPLACED)
            self.seat.connection_lost()
        self.new_connection()
        for _ in range(FIRST_PINGS):
            self.ping()
        if not self.seat.up:
            self.seat.connection_back()
        self._joined.set()

    def detach(self, connection: _Connection) -> None:
        """A Join is over; that matters only if it was the newest."""
        if self.connection is connection:
            self.connection = None
            self._joined.clear()
            self.outbox.put_nowait(None)
            self.seat.connection_lost()

    def abandon(self) -> None:
        """No pong came: end the call, so that the bot joins again."""
        if self.connection is not None:
            self.connection.end(_SILENT)

    async def greet(self, rules: RuleSet, time_control: TimeControl) -> None:
        """Wait until the bot is there, and see that it plays these rules."""
        try:
            async with asyncio.timeout(time_control.ready_ms / 1000):
                await self._joined.wait()
        except TimeoutError:
            reason = f"{self.seat.name.bot} has not dialled in within {time_control.ready_ms} ms"
            raise NotReady(Fault.NOT_READY, reason) from None
        if self.connection is None:
            raise NotReady(Fault.NOT_READY, f"{self.seat.name.bot} has gone again")
        check_rules(self.connection.hello, rules)

    async def close(self) -> None:
        """Nobody needs the bot any more; it may stay connected."""
        self.stop_pinging()
        self.flush_notices()
        self._forget()


class Gateway:
    """The service, and the transports of the bots that have dialled in or are waited for."""

    def __init__(self, roster: Roster, identify: Identify, bots: BotRows) -> None:
        self._roster = roster
        self._identify = identify
        self._bots = bots
        self._transports: dict[str, DialInTransport] = {}

    @staticmethod
    def key(bot: str) -> str:
        """What the roster knows a registered bot by."""
        return f"registered:{bot}"

    def connected(self, bot: str) -> bool:
        """Whether the bot has dialled in."""
        transport = self._transports.get(bot)
        return transport is not None and transport.connection is not None

    def disconnect(self, bot: str) -> None:
        """End the bot's call: it is no longer registered."""
        if (transport := self._transports.get(bot)) is not None and transport.connection is not None:
            transport.connection.end((code_pb2.PERMISSION_DENIED, "NOT_ALLOWED", "the bot is no longer registered"))

    def opener(self, bot: str) -> Opener:
        """An opener that waits for the bot to dial in."""

        async def open_(seat: Seat, rules: RuleSet, time_control: TimeControl) -> Transport:
            transport = self._transport(bot, seat)
            await transport.greet(rules, time_control)
            return transport

        return open_

    def _transport(self, bot: str, seat: Seat) -> DialInTransport:
        transport = self._transports.get(bot)
        if transport is None or transport.seat is not seat:
            transport = DialInTransport(seat, lambda: self._forget(bot))
            transport.keep_pinging()
            self._transports[bot] = transport
        return transport

    def _forget(self, bot: str) -> None:
        self._transports.pop(bot, None)

    # The service ----------------------------------------------------------------------------------------------------

    def handler(self) -> grpc.GenericRpcHandler:
        """The service with messages as raw bytes, which it parses by hand."""
        return grpc.method_handlers_generic_handler(SERVICE, {"Join": grpc.stream_stream_rpc_method_handler(self.join)})

    async def join(self, _: Any, context: Context) -> None:
        """One bot's stream, for as long as it holds and no newer one takes its place."""
        bot = await self._identify(context)
        connection = _Connection(await _hello(context))
        key = self.key(bot)
        await self._describe(bot, connection.hello)
        seat = self._roster.take(key, bot, self.opener(bot))
        transport = self._transport(bot, seat)
        try:
            try:
                transport.attach(connection)
            except NotReady as problem:
                await invalid(context, "hello", str(problem))
            why = await self._carry(context, transport, connection)
        finally:
            transport.detach(connection)
            await self._roster.leave(key)
        if why is not None:
            await refuse(context, why[0], why[1], why[2])

    async def _describe(self, bot: str, hello: bot_pb2.DescribeResponse) -> None:
        """Keep what the bot says of itself, for whoever looks it up."""
        told = (hello.version[:MOST_TOLD], hello.author[:MOST_TOLD], hello.url[:MOST_TOLD])
        await self._bots.describe(bot, version=told[0], author=told[1], url=told[2])

    async def _carry(
        self, context: Context, transport: DialInTransport, connection: _Connection
    ) -> tuple[int, str, str] | None:
        """Move messages both ways until the call is over. The reader ends with the call by itself, a write too."""
        transport.outbox.written_by(_writer(context, connection))
        reading = asyncio.ensure_future(_read(context, transport, connection))
        reading.add_done_callback(_consume)
        # Shielded, so that a call which the bot cancels is unwound here and nowhere else.
        return await asyncio.shield(connection.ended)


async def _hello(context: Context) -> bot_pb2.DescribeResponse:
    reading = asyncio.ensure_future(context.read())
    await asyncio.wait([reading], timeout=HELLO_WITHIN)
    if not reading.done():
        reading.add_done_callback(_consume)
        await refuse(context, code_pb2.DEADLINE_EXCEEDED, "NO_HELLO", f"no hello within {HELLO_WITHIN:g} s")
    first = reading.result()
    try:
        request = gateway_pb2.JoinRequest.FromString(first) if isinstance(first, bytes) else gateway_pb2.JoinRequest()
    except DecodeError:
        await invalid(context, "hello", "the first message cannot be read")
    if request.WhichOneof("content") != "hello":
        await invalid(context, "hello", "the first message must be a hello")
    return request.hello


async def _read(context: Context, transport: DialInTransport, connection: _Connection) -> None:
    try:
        while transport.connection is connection:
            raw = await context.read()
            if not isinstance(raw, bytes):
                break
            transport.receive(raw, _parse(raw))
    except Flood:
        transport.blame(Fault.MALFORMED, escape(_FLOODED[2]))
        connection.end(_FLOODED)
    except (grpc.aio.BaseError, asyncio.CancelledError):
        pass  # The call is over, which is what is said below.
    except Exception:
        connection.end(_ARENA_FAILED)
        raise
    finally:
        connection.end(None)


def _parse(raw: bytes) -> bot_pb2.BotMessage | None:
    try:
        request = gateway_pb2.JoinRequest.FromString(raw)
    except DecodeError:
        return None
    return request.message if request.WhichOneof("content") == "message" else None


def _writer(context: Context, connection: _Connection) -> Write:
    async def write(message: bytes | None) -> None:
        if message is None:
            return
        try:
            await context.write(message)
        except (grpc.aio.BaseError, asyncio.CancelledError):
            connection.end(None)

    return write


def _consume(task: "asyncio.Future[Any]") -> None:
    """Take a result that nobody waits for."""
    if not task.cancelled():
        task.exception()
