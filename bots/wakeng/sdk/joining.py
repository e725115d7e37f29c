"""Dialling in: a bot behind a router calls the arena, and then plays as one that is called (docs/protocol.md 3).

    join(First(), "arena.example:50050", token)        # until SIGINT or SIGTERM
    joined = JoinedBot(First(), address, token)        # in an event loop of your own: `await joined.run()`

One Join call after the other: each has one reader, which lives as long as the call. A call that ends is made again
after a pause that grows, and is never quite the same, so that a thousand bots do not come back to an arena in one
moment; what was pending is asked again under its old ids. Only where the arena says no for good does the bot give up.
"""

import asyncio
import logging
import random
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from wakeng.sdk.bot import Bot, check, description, make_ready
from wakeng.sdk.choosing import Chooser
from wakeng.sdk.dialling import Dialling, File
from wakeng.sdk.errors import JoinRefused
from wakeng.sdk.handing_over import hand_over
from wakeng.sdk.polling import grpc
from wakeng.sdk.process import first_of, loop_factory, signals
from wakeng.sdk.server import ServesItself
from wakeng.sdk.streaming import LARGE_MESSAGES, HandsInPlay, Stream, Unreadable
from wakeng.v1 import gateway_pb2

log = logging.getLogger("wakeng.sdk")

_JOIN: Final = "/wakeng.v1.BotGatewayService/Join"
_OPTIONS: Final = (
    ("grpc.max_receive_message_length", 1 << 20),
    ("grpc.max_send_message_length", 1 << 20),
    *LARGE_MESSAGES,
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_retries", 0),
    # A router forgets a silent connection without a word; arenas permit this from every 10 s on.
    ("grpc.keepalive_time_ms", 15_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.max_pings_without_data", 0),
)
_JITTER: Final = random.SystemRandom().random
_END_WITHIN: Final = 1.0
"""Seconds the arena may take to end a call in which the bot has said its last."""
_MOST_DETAIL: Final = 200


class _Refusal(NamedTuple):
    reason: str
    """The reason in the arena's ErrorInfo, empty where every one counts."""
    advice: str


_FINAL: Final = {
    grpc.StatusCode.UNAUTHENTICATED: _Refusal("", "is it the right token, and whole?"),
    grpc.StatusCode.PERMISSION_DENIED: _Refusal("", "the token must be this bot's own, as it was told when registered"),
    grpc.StatusCode.INVALID_ARGUMENT: _Refusal("", "the arena and this SDK do not speak the same protocol"),
    grpc.StatusCode.ABORTED: _Refusal("REPLACED", "the same bot has joined from elsewhere, and plays there now"),
    grpc.StatusCode.RESOURCE_EXHAUSTED: _Refusal("FLOOD", "this bot says more than it is asked"),
}
"""What is no use to try again after; the table of docs/protocol.md 3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """The pauses between tries, in seconds: each twice the one before, up to the longest."""

    first: float = 0.1
    longest: float = 15.0

    def pause(self, tries: int, jitter: float) -> float:
        """After so many tries in vain, from 1; `jitter`, 0 to 1, takes up to half of it away."""
        return min(self.longest, self.first * 2.0 ** min(tries - 1, 64)) * (1 - jitter / 2)


class _Ending(NamedTuple):
    """How a call ended."""

    text: str
    code: grpc.StatusCode | None = None
    final: bool = False

    def __str__(self) -> str:
        return f"{self.code.name}: {self.text}" if self.code else self.text


def _ending(error: grpc.aio.AioRpcError) -> _Ending:
    code, text = error.code(), _plain(error.details() or "")
    refusal = _FINAL.get(code)
    final = refusal is not None and (not refusal.reason or _has_reason(error, refusal.reason))
    return _Ending(text, code, final)


def _has_reason(error: grpc.aio.AioRpcError, reason: str) -> bool:
    """Whether an ErrorInfo of this reason came along. Its message is not among the SDK's dependencies, its bytes are
    known: the reason is its first field.
    """
    details = next((value for key, value in error.trailing_metadata() or () if key == "grpc-status-details-bin"), b"")
    return b"\n" + bytes([len(reason)]) + reason.encode() in (details if isinstance(details, bytes) else b"")


def _plain(text: str) -> str:
    """For logs: one line, and nothing that a terminal would obey."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:_MOST_DETAIL])


class _Visit:
    """One Join call."""

    def __init__(
        self, bot: Bot, chooser: Chooser, hands: HandsInPlay, channel: grpc.aio.Channel, token: str, *, welcomed: Any
    ) -> None:
        self.welcome = False
        """Whether the arena has said anything."""
        self._bot = bot
        self._hands = hands
        self._channel = channel
        self._welcomed: Callable[[], None] = welcomed
        metadata = (("authorization", f"Bearer {token}"),)
        self._call: Any = channel.stream_stream(_JOIN)(metadata=metadata)
        self._stream = Stream(bot, chooser, self._write, envelope=gateway_pb2.JoinRequest, hands=hands)
        self._over = asyncio.Event()
        self._quieting: asyncio.Task[None] | None = None
        self._abandoned = False

    async def run(self) -> _Ending:
        """Play until the call is over, and say why it is."""
        try:
            await self._write(gateway_pb2.JoinRequest(hello=description(self._bot)).SerializeToString())
            await self._stream.listen(self._read)
        except Unreadable as problem:
            return _Ending(str(problem))
        except grpc.aio.AioRpcError as error:
            return _ending(error)
        finally:
            self._stream.drop()
            self._over.set()
            await self._channel.close()
        return _Ending("the arena ended the call")

    async def _read(self) -> Any:
        """The next message, EOF where there is none."""
        try:
            message = await self._call.read()
        except asyncio.CancelledError:
            if self._abandoned:  # How a call ends that this side has cancelled.
                return grpc.aio.EOF
            raise
        if not self.welcome and message is not grpc.aio.EOF:
            self.welcome = True
            self._welcomed()
        return message

    async def _write(self, message: bytes) -> None:
        """What cannot be said any more is dropped: the reader learns that the call is over, and how."""
        await hand_over(self._call, message, connected=self.welcome)

    async def leave(self, grace: float) -> None:
        """Ask for no new hands, give those in play `grace` seconds, answer what was asked, and go."""
        over = asyncio.ensure_future(self._over.wait())
        if self._quieting is None:
            self._quieting = asyncio.ensure_future(self._quiet())
        await first_of(self._quieting, over, within=grace)
        with suppress(grpc.aio.AioRpcError, grpc.aio.BaseError, asyncio.InvalidStateError):
            await self._call.done_writing()
        await first_of(over, within=_END_WITHIN)
        if not over.done():
            self._abandoned = True
            self._call.cancel()
            await over
        self._quieting.cancel()

    async def _quiet(self) -> None:
        self._stream.drain()
        await self._hands.over()
        await self._stream.finish()


class JoinedBot:
    """A bot that dials in, again and again, until it leaves or is refused."""

    def __init__(
        self,
        bot: Bot,
        arena: str,
        token: str,
        *,
        ca: File | None = None,
        cert: File | None = None,
        key: File | None = None,
        insecure: bool = False,
        backoff: Backoff | None = None,
        jitter: Callable[[], float] = _JITTER,
        announce: Callable[[str], None] | None = None,
    ) -> None:
        """The parameters are those of `join`; TypeError or ValueError where they cannot be."""
        check(bot)
        if isinstance(bot, ServesItself):
            raise TypeError(f"{type(bot).__name__} brings a server of its own, and so cannot dial in")
        if not token or not token.isascii() or not token.isprintable() or " " in token:
            raise ValueError("this is no token: one is a single word of printable ASCII")
        self.bot = bot
        self.arena = arena
        self._token = token
        self._dialling = Dialling(address=arena, ca=ca, cert=cert, key=key, insecure=insecure)
        self._dialling.credentials()  # So that a file that cannot be read is found at once.
        self._backoff = backoff or Backoff()
        self._jitter = jitter
        self._announce = announce or (lambda arena: None)
        self._hands = HandsInPlay()
        self._leaving = asyncio.Event()
        self._visit: _Visit | None = None

    async def run(self) -> None:
        """Play until `leave`; JoinRefused where the arena says no for good, and whatever the bot's `ready` raises."""
        if not await self._ready():
            return
        chooser = Chooser(self.bot)
        try:
            await self._visits(chooser)
        finally:
            chooser.close()

    async def leave(self, *, grace: float = 2.0) -> None:
        """Ask for no new hands, give those in play `grace` seconds, and go; `run` then returns."""
        self._leaving.set()
        if self._visit is not None:
            await self._visit.leave(grace)

    async def _ready(self) -> bool:
        """Whether the bot is ready, rather than told to leave before."""
        readying = asyncio.ensure_future(make_ready(self.bot))
        leaving = asyncio.ensure_future(self._leaving.wait())
        try:
            await first_of(readying, leaving)
            if readying.done():
                readying.result()
            return readying.done()
        finally:
            readying.cancel()
            leaving.cancel()

    async def _visits(self, chooser: Chooser) -> None:
        tries = 0
        while not self._leaving.is_set():
            channel = self._dialling.channel(_OPTIONS)
            visit = _Visit(self.bot, chooser, self._hands, channel, self._token, welcomed=self._welcomed)
            self._visit = visit
            ending = await visit.run()
            self._visit = None
            if not self._leaving.is_set():
                self._give_up_if_final(ending)
                tries = 1 if visit.welcome else tries + 1
                await self._pause(ending, self._backoff.pause(tries, self._jitter()))

    def _welcomed(self) -> None:
        self._announce(self.arena)

    def _give_up_if_final(self, ending: _Ending) -> None:
        if ending.final and ending.code is not None:
            advice = _FINAL[ending.code].advice
            raise JoinRefused(ending.code.name, f"{self.arena} does not let this bot join: {ending} ({advice})")

    async def _pause(self, ending: _Ending, seconds: float) -> None:
        log.warning("not with %s (%s); joining again in %.1f s", self.arena, ending, seconds)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._leaving.wait()


# A process that is a bot ---------------------------------------------------------------------------------------------


def join(
    bot: Bot,
    arena: str,
    token: str,
    *,
    ca: File | None = None,
    cert: File | None = None,
    key: File | None = None,
    insecure: bool = False,
    grace: float = 2.0,
    backoff: Backoff | None = None,
    jitter: Callable[[], float] = _JITTER,
    announce: Callable[[str], None] | None = None,
) -> None:
    """Play for an arena that the bot dials, "HOST:PORT", until SIGINT or SIGTERM: then no new hands, and `grace`
    seconds for those in play; a second signal ends it at once.

    `token` is the bot's own, told once when it was registered. The arena is dialled by TLS, trusting `ca` (a PEM file;
    None: the system's certificates) and showing `cert` with `key` where they are given; without TLS if it is on this
    machine and no certificate is named, and elsewhere only with `insecure`. `jitter` gives numbers from 0 to 1 that
    shorten the pauses of `backoff`. `announce` gets the arena's address whenever a connection to it stands; by default
    it is written to standard error. JoinRefused says why the arena does not want the bot; ValueError, TypeError or
    OSError come of parameters that cannot be, and whatever `ready` raises comes through.
    """
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        joined = JoinedBot(
            bot, arena, token, ca=ca, cert=cert, key=key, insecure=insecure,
            backoff=backoff, jitter=jitter, announce=announce or _to_stderr,
        )  # fmt: skip
        runner.run(_join(joined, grace))


async def _join(joined: JoinedBot, grace: float) -> None:
    ends: asyncio.Queue[None] = asyncio.Queue()
    running = asyncio.ensure_future(joined.run())
    with signals(lambda: ends.put_nowait(None)):
        await first_of(running, asyncio.ensure_future(ends.get()))
        if not running.done():
            leaving = asyncio.ensure_future(joined.leave(grace=grace))
            await first_of(leaving, asyncio.ensure_future(ends.get()))
            await joined.leave(grace=0)
        await running


def _to_stderr(arena: str) -> None:
    sys.stderr.write(f"joined {arena}\n")
    sys.stderr.flush()
