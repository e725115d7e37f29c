"""Bots that say what Hypothesis tells them to, and play rightly once it tells them no more."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

import grpc
import grpc.aio
from hypothesis import strategies as st

from tests.arena.fuzzing import HOSTILE, integers, spoiled
from tests.arena.serving import bearer
from wakeng.engine.phases import ALL_TOKENS
from wakeng.v1 import bot_pb2, gateway_pb2

HELLO: Final = bot_pb2.DescribeResponse(protocol_version=1, name="babble", version="1")
_JOIN: Final = "/wakeng.v1.BotGatewayService/Join"
Asked = list[bot_pb2.DecideRequest]


def _first(question: bot_pb2.DecideRequest) -> str:
    """The first legal token; a guess where the bot has said that it does not want them."""
    return next(iter(question.legal_actions), "pass")


# What they say -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rightly:
    """The first legal token, to every question."""

    def messages(self, asked: Asked) -> Iterator[bot_pb2.BotMessage | bytes]:
        answers = [bot_pb2.DecideResponse(decision_id=q.decision_id, action=_first(q)) for q in asked]
        yield bot_pb2.BotMessage(answers=answers)


@dataclass(frozen=True, slots=True)
class Answer:
    """One to the question in that place, or, below 0, to an id of its own."""

    place: int
    action: str | None
    """None: the first legal one."""
    note: str | None = None
    error: str | None = None

    def message(self, asked: Asked) -> bot_pb2.DecideResponse:
        """It, as a message."""
        question = asked[self.place % len(asked)]
        decision_id = question.decision_id if self.place >= 0 else -self.place
        action = _first(question) if self.action is None else self.action
        return bot_pb2.DecideResponse(decision_id=decision_id, action=action, note=self.note, error=self.error)


@dataclass(frozen=True, slots=True)
class Says:
    """Any answers, and whatever else a message may hold."""

    answers: tuple[Answer, ...] = ()
    pong: int | None = None
    drain: bool = False
    times: int = 1

    def messages(self, asked: Asked) -> Iterator[bot_pb2.BotMessage | bytes]:
        message = bot_pb2.BotMessage(answers=(answer.message(asked) for answer in self.answers), drain=self.drain)
        if self.pong is not None:
            message.pong.id = self.pong
        for _ in range(self.times):
            yield message


@dataclass(frozen=True, slots=True)
class Bytes:
    """These, which are whatever they are."""

    raw: bytes

    def messages(self, asked: Asked) -> Iterator[bot_pb2.BotMessage | bytes]:
        yield self.raw


@dataclass(frozen=True, slots=True)
class Huge:
    """A right answer with a note of so many bytes."""

    size: int

    def messages(self, asked: Asked) -> Iterator[bot_pb2.BotMessage | bytes]:
        yield bot_pb2.BotMessage(answers=[Answer(0, None, "n" * self.size).message(asked)])


@dataclass(frozen=True, slots=True)
class Nothing:
    """No word."""

    def messages(self, asked: Asked) -> Iterator[bot_pb2.BotMessage | bytes]:
        return iter(())


@dataclass(frozen=True, slots=True)
class Ends:
    """The call, with that status."""

    code: grpc.StatusCode


Word = Rightly | Says | Bytes | Huge | Nothing | Ends


def words() -> st.SearchStrategy[list[Word]]:
    """What a bot says to one message after the other."""
    known = st.sampled_from(sorted(ALL_TOKENS))
    tokens = st.one_of(st.none(), known, st.sampled_from(HOSTILE[:-1]), st.text(max_size=5))
    told = st.one_of(st.none(), st.sampled_from(HOSTILE), st.text(max_size=300))
    places = st.one_of(st.integers(0, 3), integers(1 - 2**64, -1))
    answers = st.builds(Answer, places, tokens, told, st.one_of(st.none(), told))
    says = st.builds(
        Says,
        st.lists(answers, max_size=6).map(tuple),
        st.one_of(st.none(), integers(0, 2**64 - 1)),
        st.booleans(),
        st.sampled_from([1, 1, 1, 2, 30, 300]),
    )
    good = st.builds(Says, st.lists(answers, max_size=3).map(tuple)).map(_as_bytes)
    codes = st.sampled_from([code for code in grpc.StatusCode if code is not grpc.StatusCode.UNIMPLEMENTED])
    word = st.one_of(
        st.builds(Rightly),
        says,
        spoiled(good).map(Bytes),
        st.sampled_from([1_000, 70_000, 1 << 20, 3 << 20]).map(Huge),
        st.builds(Nothing),
        st.builds(Ends, codes),
    )
    return st.lists(word, max_size=12)


def _as_bytes(word: Says) -> bytes:
    asked = [bot_pb2.DecideRequest(decision_id=1, legal_actions=["pass"])]
    (message,) = word.messages(asked)
    assert isinstance(message, bot_pb2.BotMessage)
    return bot_pb2.PlayResponse(message=message).SerializeToString()


# Who says it ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Babbler:
    """A bot that listens; `streams` says whether by a stream or in single calls."""

    streams: bool
    address: str = ""
    script: deque[Word] = field(default_factory=deque)
    description: bytes = HELLO.SerializeToString()

    def tell(self, script: Iterable[Word]) -> None:
        """What to say next."""
        self.script = deque(script)

    def word(self) -> Word:
        """What to say now."""
        return self.script.popleft() if self.script else Rightly()

    async def describe(self, raw: bytes, context: Any) -> bytes:
        return self.description

    async def decide(self, raw: bytes, context: Any) -> bytes:
        word = self.word()
        if isinstance(word, Ends):
            await end(context, word)
            return b""
        if isinstance(word, Nothing):
            await asyncio.Future()
        asked = bot_pb2.DecideRequest.FromString(raw)
        message = next(iter(word.messages([asked])))
        if isinstance(message, bytes):
            return message
        return message.answers[0].SerializeToString() if message.answers else b""

    async def play(self, requests: AsyncIterator[bytes], context: Any) -> None:
        if not self.streams:
            await context.abort(grpc.StatusCode.UNIMPLEMENTED, "single calls only")
        async for raw in requests:
            heard = bot_pb2.PlayRequest.FromString(raw).message
            for said in self.replies(heard):
                if isinstance(said, Ends):
                    await end(context, said)
                    return
                await context.write(
                    said if isinstance(said, bytes) else bot_pb2.PlayResponse(message=said).SerializeToString()
                )

    def replies(self, heard: bot_pb2.ArenaMessage) -> Iterator[bot_pb2.BotMessage | bytes | Ends]:
        """What to say to a message of the arena; pings are answered."""
        if heard.HasField("ping"):
            yield bot_pb2.BotMessage(pong=bot_pb2.Pong(id=heard.ping.id))
        if heard.decisions:
            word = self.word()
            if isinstance(word, Ends):
                yield word
            else:
                yield from word.messages(list(heard.decisions))


async def end(context: Any, word: Ends) -> None:
    """End a call as told."""
    if word.code is not grpc.StatusCode.OK:
        await context.abort(word.code, "so it was told")


@asynccontextmanager
async def babbling(*, streams: bool) -> AsyncIterator[Babbler]:
    """Such a bot, served."""
    bot = Babbler(streams)
    server = grpc.aio.server(options=[("grpc.max_send_message_length", -1), ("grpc.so_reuseport", 0)])
    calls: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
        "Describe": grpc.unary_unary_rpc_method_handler(bot.describe),
        "Decide": grpc.unary_unary_rpc_method_handler(bot.decide),
        "Play": grpc.stream_stream_rpc_method_handler(bot.play),
    }
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("wakeng.v1.BotService", calls)])
    bot.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    try:
        yield bot
    finally:
        await server.stop(0)


async def babble_joined(
    channel: Any, token: str, first: Iterable[bytes], script: Iterable[Word]
) -> grpc.aio.AioRpcError | None:
    """Join, say `first` instead of a hello, and then what is scripted; how the call ended, None where in order."""
    bot = Babbler(streams=True)
    bot.tell(script)
    call = channel.stream_stream(_JOIN)(metadata=bearer(token))
    try:
        for raw in first:
            await call.write(raw)
        while (raw := await call.read()) is not grpc.aio.EOF:
            for said in bot.replies(gateway_pb2.JoinResponse.FromString(raw).message):
                if isinstance(said, Ends):
                    call.cancel() if said.code is grpc.StatusCode.CANCELLED else await call.done_writing()
                    continue
                await call.write(
                    said if isinstance(said, bytes) else gateway_pb2.JoinRequest(message=said).SerializeToString()
                )
    except grpc.aio.AioRpcError as error:
        return error
    except (grpc.aio.UsageError, asyncio.InvalidStateError):
        with suppress(asyncio.CancelledError):
            await call.wait_for_connection()
        return None
    except asyncio.CancelledError:
        if not call.cancelled():
            raise
    return None
