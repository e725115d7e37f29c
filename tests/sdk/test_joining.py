"""A bot that dials in: it says hello, answers as in Play, comes back when it is lost, and knows when not to."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from tests.sdk.asking import First, by_id, firsts, question, questions
from tests.sdk.gateway import Call, gateway
from wakeng.bots import create
from wakeng.sdk import Backoff, Bot, Decision, JoinedBot, JoinRefused
from wakeng.sdk.dialling import Dialling
from wakeng.v1 import bot_pb2

TOKEN = "wk_not-a-secret"
AT_ONCE = Backoff(first=0.0, longest=0.0)
OTHER_MACHINE = "arena.example:50050"


@asynccontextmanager
async def joining(bot: Bot, arena: str, **options: Any) -> AsyncIterator[tuple[JoinedBot, asyncio.Task[None]]]:
    """A bot that dials in, and the task that it does so in."""
    joined = JoinedBot(bot, arena, TOKEN, **{"backoff": AT_ONCE, **options})
    task = asyncio.create_task(joined.run())
    try:
        yield joined, task
    finally:
        task.cancel()
        await asyncio.wait([task])


class Thinks(Bot):
    """Answers when it is told to."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.asked: asyncio.Queue[int] = asyncio.Queue()

    async def choose(self, decision: Decision) -> str:
        self.asked.put_nowait(decision.id)
        await self.go.wait()
        return decision.legal[0]


# In a call -----------------------------------------------------------------------------------------------------------


async def test_the_bot_shows_its_token_and_first_says_what_describe_would() -> None:
    async with gateway() as arena, joining(create("greedy"), arena.address):
        call = await arena.calls.get()
        assert call.metadata["authorization"] == f"Bearer {TOKEN}"
        hello = await call.hear()
        assert hello is not None
        assert (hello.hello.protocol_version, hello.hello.name, hello.hello.max_tables) == (1, "greedy", 1_024)


async def test_it_is_ready_before_it_joins() -> None:
    class Loads(First):
        loaded = False

        async def ready(self) -> None:
            await asyncio.sleep(0)
            self.loaded = True

    bot = Loads()
    async with gateway() as arena, joining(bot, arena.address):
        await arena.calls.get()
        assert bot.loaded


async def test_what_is_asked_is_answered_as_in_play() -> None:
    asked = questions(512)
    async with gateway() as arena, joining(First(), arena.address):
        call = await arena.joined()
        await call.say(asked[:256])
        await call.say(asked[256:])
        assert by_id(await call.answers(512)) == firsts(asked)


async def test_a_ping_is_answered_while_a_question_is_thought_about() -> None:
    async with gateway() as arena, joining(Thinks(), arena.address):
        call = await arena.joined()
        await call.say([question()])
        await call.say(ping=bot_pb2.Ping(id=2**63))
        assert (await call.message()).pong.id == 2**63


async def test_a_choice_that_raises_is_an_error_of_its_own_and_the_call_goes_on() -> None:
    class Fails(First):
        def choose(self, decision: Decision) -> str:
            return "" if 1 // (decision.id - 2) else super().choose(decision)

    async with gateway() as arena, joining(Fails(), arena.address):
        call = await arena.joined()
        await call.say(questions(2))
        assert [answer.error for answer in await call.answers(2)] == [
            "",
            "ZeroDivisionError: integer division or modulo by zero",
        ]
        await call.say(questions(1))
        await call.answers(1)


# Lost and back -------------------------------------------------------------------------------------------------------


async def test_what_is_pending_is_answered_in_the_next_call_where_it_is_asked_again() -> None:
    bot = Thinks()
    async with gateway() as arena, joining(bot, arena.address):
        call = await arena.joined()
        await call.say([question(77)])
        assert await bot.asked.get() == 77
        call.end(grpc.StatusCode.UNAVAILABLE, text="the arena restarts")
        call = await arena.joined()
        bot.go.set()
        await call.say([question(77)])
        assert [answer.decision_id for answer in await call.answers(1)] == [77]
        assert bot.asked.qsize() == 1


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (grpc.StatusCode.OK, ""),
        (grpc.StatusCode.UNAVAILABLE, ""),
        (grpc.StatusCode.INTERNAL, "ARENA_ERROR"),
        (grpc.StatusCode.DEADLINE_EXCEEDED, "NO_PONG"),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "RATE_LIMITED"),
        (grpc.StatusCode.ABORTED, "SOMETHING_ELSE"),
    ],
)
async def test_it_joins_again_after_whatever_may_pass(code: grpc.StatusCode, reason: str) -> None:
    async with gateway() as arena, joining(First(), arena.address):
        for _ in range(3):
            (await arena.joined()).end(code, reason)
        call = await arena.joined()
        await call.say(questions(3))
        assert len(await call.answers(3)) == 3


async def test_it_joins_again_when_the_arena_was_gone_and_is_back() -> None:
    async with gateway() as arena:
        address = arena.address
        pauses: asyncio.Queue[None] = asyncio.Queue()

        def jitter() -> float:
            pauses.put_nowait(None)
            return 0.5

        async with joining(First(), address, jitter=jitter, backoff=Backoff(first=0.01, longest=0.01)):
            await arena.joined()
            async with asyncio.timeout(60):
                await stop_and_count(arena, pauses)
                async with gateway(address) as again:
                    await again.joined()


async def stop_and_count(arena: Any, pauses: asyncio.Queue[None]) -> None:
    """Stop the arena, and return when the bot has tried in vain three times."""
    await arena.server.stop(0)
    for _ in range(3):
        await pauses.get()


async def test_a_message_that_cannot_be_read_ends_the_call_and_not_the_bot(caplog: pytest.LogCaptureFixture) -> None:
    async with gateway() as arena, joining(First(), arena.address):
        call = await arena.joined()
        await call.context.write(b"\xff\xff")
        await arena.joined()
    assert "no message of an arena" in caplog.text


def test_pauses_double_up_to_the_longest_and_jitter_takes_up_to_half_away() -> None:
    backoff = Backoff(first=0.5, longest=3.0)
    assert [backoff.pause(tries, 0.0) for tries in (1, 2, 3, 4, 5, 10_000)] == [0.5, 1.0, 2.0, 3.0, 3.0, 3.0]
    assert [backoff.pause(1, jitter) for jitter in (0.5, 1.0)] == [0.375, 0.25]


async def test_pauses_begin_anew_once_the_arena_has_said_something(caplog: pytest.LogCaptureFixture) -> None:
    backoff = Backoff(first=0.004, longest=1.0)
    async with gateway() as arena, joining(First(), arena.address, backoff=backoff, jitter=lambda: 0.0):
        for _ in range(3):
            (await arena.calls.get()).end()
        (await arena.joined()).end()
        (await arena.calls.get()).end()
        await arena.calls.get()
    waits = [line.args[-1] for line in caplog.records if "joining again" in line.msg and isinstance(line.args, tuple)]
    assert waits[:5] == [0.004, 0.008, 0.016, 0.004, 0.008]


async def test_whoever_starts_the_bot_is_told_of_every_call_that_stands() -> None:
    told: list[str] = []
    async with gateway() as arena, joining(First(), arena.address, announce=told.append):
        (await arena.joined()).end()
        await arena.joined()
        assert told == [arena.address] * 2


# Refused -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "reason", "advice"),
    [
        (grpc.StatusCode.UNAUTHENTICATED, "BAD_TOKEN", "the right token"),
        (grpc.StatusCode.PERMISSION_DENIED, "NOT_ALLOWED", "this bot's own"),
        (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD", "the same protocol"),
        (grpc.StatusCode.ABORTED, "REPLACED", "from elsewhere"),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "FLOOD", "more than it is asked"),
    ],
)
async def test_it_gives_up_where_trying_again_would_not_help(
    code: grpc.StatusCode, reason: str, advice: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with gateway() as arena, joining(First(), arena.address) as (_, task):
        call = await arena.calls.get()
        call.end(code, reason, "so\nnot like that")
        with pytest.raises(JoinRefused, match=rf"{code.name}: so\\nnot like that .*{advice}") as refused:
            await task
        assert refused.value.status == code.name
        assert arena.calls.empty()
    assert TOKEN not in str(refused.value) + caplog.text


async def test_a_bot_that_is_replaced_while_it_is_busy_learns_of_it_and_does_not_come_back() -> None:
    async with gateway() as arena:
        for _ in range(20):  # Chance decides what the arena's end of the call meets.
            async with joining(First(), arena.address) as (_, task):
                call = await arena.joined()
                for _ in range(4):
                    await call.say(questions(64))
                await call.answers(64)
                call.end(grpc.StatusCode.ABORTED, "REPLACED")
                with pytest.raises(JoinRefused):
                    await task
                assert arena.calls.empty()


async def test_a_bot_that_cannot_get_ready_does_not_join() -> None:
    class Broken(First):
        def ready(self) -> None:
            raise OSError("no weights here")

    async with gateway() as arena, joining(Broken(), arena.address) as (_, task):
        with pytest.raises(OSError, match="no weights here"):
            await task
        assert arena.calls.empty()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"token": ""}, "no token"),
        ({"token": "two words"}, "no token"),
        ({"token": "挖坑"}, "no token"),
        ({"cert": "cert.pem"}, "cert and key go together"),
        ({"ca": "ca.pem", "insecure": True}, "insecure means no TLS"),
        ({"bot": create("faulty:garbage")}, "server of its own"),
        ({"bot": First}, r"write First\(\)"),
        ({"ca": "no/such/file"}, "No such file"),
    ],
)
async def test_what_cannot_be_is_said_before_anybody_is_called(options: dict[str, Any], problem: str) -> None:
    given = {"bot": First(), "arena": OTHER_MACHINE, "token": TOKEN, **options}
    with pytest.raises((ValueError, TypeError, OSError), match=problem):
        JoinedBot(given.pop("bot"), given.pop("arena"), given.pop("token"), **given)


# Leaving -------------------------------------------------------------------------------------------------------------

HAND: dict[str, Any] = {"match_id": "m", "hand_index": 3, "attempt": 0, "seat": 1}


async def test_it_asks_for_no_new_hands_ends_those_in_play_and_goes() -> None:
    async with gateway() as arena, joining(First(), arena.address) as (joined, task):
        call = await arena.joined()
        await call.say(questions(1), hands_started=[bot_pb2.HandStarted(**HAND)])
        await call.answers(1)
        leaving = asyncio.create_task(joined.leave(grace=600))
        assert (await call.message()).drain
        await call.say(questions(2))
        assert len(await call.answers(2)) == 2, "the hand goes on"
        await call.say(hands_ended=[bot_pb2.HandEnded(**HAND)])
        assert await call.hear() is None, "it has said its last"
        call.end()
        await leaving
        await task
        assert arena.calls.empty()


async def test_it_answers_what_it_was_asked_before_it_goes() -> None:
    bot = Thinks()
    async with gateway() as arena, joining(bot, arena.address) as (joined, task):
        call = await arena.joined()
        await call.say([question(5)])
        await bot.asked.get()
        leaving = asyncio.create_task(joined.leave(grace=600))
        assert (await call.message()).drain
        bot.go.set()
        assert [answer.decision_id for answer in await call.answers(1)] == [5]
        assert await call.hear() is None
        call.end()
        await asyncio.gather(leaving, task)


async def test_it_goes_without_that_when_its_grace_is_over_and_does_not_wait_for_a_deaf_arena() -> None:
    async with gateway() as arena, joining(Thinks(), arena.address) as (joined, task):
        call = await arena.joined()
        await call.say([question(5)], hands_started=[bot_pb2.HandStarted(**HAND)])
        await joined.leave(grace=0)
        await task
        assert call.ended.cancelled() or not call.ended.done(), "the arena itself has done nothing"


async def test_it_can_leave_while_nobody_is_there_and_before_it_is_ready() -> None:
    class Loads(First):
        async def ready(self) -> None:
            await asyncio.Event().wait()

    pausing = asyncio.Event()

    def jitter() -> float:
        pausing.set()
        return 0.0

    async with gateway() as arena:
        nowhere = arena.address
    async with joining(First(), nowhere, backoff=Backoff(first=600, longest=600), jitter=jitter) as (joined, task):
        await pausing.wait()
        await joined.leave()
        await task
    async with joining(Loads(), nowhere) as (joined, task):
        await joined.leave()
        await task


# A process -----------------------------------------------------------------------------------------------------------

SCRIPT = """
import os
from wakeng.sdk import Bot, join

class First(Bot):
    def choose(self, decision):
        return decision.legal[0]

join(First(), {arena!r}, os.environ["WAKENG_TOKEN"], grace=600)
"""


@contextmanager
def process(arena: str) -> Iterator[subprocess.Popen[str]]:
    """A bot that is a process of its own."""
    environment = {**os.environ, "WAKENG_TOKEN": TOKEN, "GRPC_VERBOSITY": "NONE"}
    command = [sys.executable, "-c", SCRIPT.format(arena=arena)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as running:
        try:
            yield running
        finally:
            running.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_lets_the_hands_in_play_end_and_a_second_one_hurries(number: signal.Signals) -> None:
    async with gateway() as arena:
        with process(arena.address) as running:
            call = await arena.joined()
            await call.say(questions(1), hands_started=[bot_pb2.HandStarted(**HAND)])
            await call.answers(1)
            running.send_signal(number)
            assert (await call.message()).drain
            await call.say(questions(1))
            await call.answers(1)
            running.send_signal(number)
            assert await call.hear() is None
            call.end()
            assert await asyncio.to_thread(running.wait, 60) == 0
            assert running.stderr is not None and running.stderr.read() == f"joined {arena.address}\n"


# TLS -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "options", "by_tls"),
    [
        (OTHER_MACHINE, {}, True),
        ("192.0.2.1:50050", {}, True),
        (OTHER_MACHINE, {"insecure": True}, False),
        ("localhost.example:1", {}, True),
        ("localhost:1", {}, False),
        ("127.0.0.9:1", {}, False),
        ("[::1]:1", {}, False),
        ("unix:/run/arena", {}, False),
        ("localhost:1", {"ca": "ca.pem"}, True),
    ],
)
def test_other_machines_are_spoken_to_by_tls_unless_somebody_insists(
    address: str, options: dict[str, Any], *, by_tls: bool
) -> None:
    assert Dialling(address=address, **options).by_tls is by_tls


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for localhost, signed by itself, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", str(key), "-out", str(cert)]
    subprocess.run([*command.split(), *names], check=True, capture_output=True)
    return cert, key


def server_credentials(cert: Path, key: Path, *, mutual: bool = False) -> grpc.ServerCredentials:
    roots = cert.read_bytes() if mutual else None
    return grpc.ssl_server_credentials([(key.read_bytes(), cert.read_bytes())], roots, require_client_auth=mutual)


@pytest.mark.parametrize("mutual", [False, True])
async def test_a_bot_joins_by_tls_and_shows_a_certificate_where_it_has_one(
    certificate: tuple[Path, Path], *, mutual: bool
) -> None:
    cert, key = certificate
    own = {"cert": cert, "key": key} if mutual else {}
    async with (
        gateway(credentials=server_credentials(cert, key, mutual=mutual)) as arena,
        joining(First(), arena.address, ca=cert, **own),
    ):
        call: Call = await arena.joined()
        await call.say(questions(1))
        await call.answers(1)


async def test_an_arena_that_nobody_vouches_for_is_not_told_the_token(
    certificate: tuple[Path, Path], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    tried = asyncio.Event()

    def jitter() -> float:
        tried.set()
        return 0.0

    async with gateway(credentials=server_credentials(*certificate)) as arena:
        host = arena.address.replace("127.0.0.1", "localhost")
        joined = JoinedBot(First(), host, TOKEN, backoff=Backoff(first=600, longest=600), jitter=jitter)
        object.__setattr__(joined, "_dialling", AlwaysTls(address=host))
        task = asyncio.create_task(joined.run())
        await tried.wait()
        await joined.leave()
        await task
        assert arena.calls.empty()
    assert TOKEN not in caplog.text


class AlwaysTls(Dialling):
    """By the system's certificates, even to this machine."""

    @property
    def by_tls(self) -> bool:
        return True
