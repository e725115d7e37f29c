"""A served bot over real gRPC: Describe, Decide, Play, and every way in which an author may write a choice."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest

from tests.sdk.asking import First, by_id, firsts, packed, question, questions, replies, serving
from wakeng.sdk import Answer, Bot, Decision, ListenError, start
from wakeng.v1 import bot_pb2


class Awaits(Bot):
    """Answers a question once it is let go, by id."""

    def __init__(self) -> None:
        self.gates: dict[int, asyncio.Event] = {}

    async def choose(self, decision: Decision) -> str:
        await self.gates.setdefault(decision.id, asyncio.Event()).wait()
        return decision.legal[0]

    def release(self, decision_id: int) -> None:
        self.gates.setdefault(decision_id, asyncio.Event()).set()


class Batches(Bot):
    """Answers a whole message at once and keeps how many that were."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def choose_batch(self, decisions: Sequence[Decision]) -> list[str]:
        self.sizes.append(len(decisions))
        return [decision.legal[0] for decision in decisions]


class AwaitsBatches(Bot):
    async def choose_batch(self, decisions: Sequence[Decision]) -> list[str]:
        await asyncio.sleep(0)
        return [decision.legal[0] for decision in decisions]


class Threads(Bot):
    threads = 2

    def __init__(self) -> None:
        self.ran_in: set[str] = set()

    def choose(self, decision: Decision) -> str:
        self.ran_in.add(threading.current_thread().name)
        return decision.legal[0]


class ThreadsBatches(Batches):
    threads = 1


class Now(Bot):
    """Async by its form alone."""

    async def choose(self, decision: Decision) -> str:
        return decision.legal[0]


class Fails(Bot):
    """Raises at the ids it was given, and else plays on."""

    def __init__(self, *at: int, error: Exception | None = None) -> None:
        self.at = at
        self.error = error or RuntimeError("lost my head")

    def choose(self, decision: Decision) -> str:
        if decision.id in self.at:
            raise self.error
        return decision.legal[0]


ALL_STYLES = [First, Now, Batches, AwaitsBatches, Threads, ThreadsBatches]


# Describe ------------------------------------------------------------------------------------------------------------


async def test_describe_tells_what_the_class_says_and_the_defaults_of_the_protocol() -> None:
    class Told(First):
        version = "3"
        author = "A. Author"
        presets = ("xian",)

    async with serving(Told()) as (_, stub):
        told = await stub.Describe(bot_pb2.DescribeRequest(protocol_version=1))

    assert told == bot_pb2.DescribeResponse(
        protocol_version=1, name="Told", version="3", author="A. Author", presets=["xian"],
        max_tables=1_024, max_decisions=256, wants_legal_actions=True,
    )  # fmt: skip


async def test_describe_answers_once_the_bot_is_ready_which_it_becomes_once() -> None:
    class Loads(First):
        loaded = 0

        async def ready(self) -> None:
            await model.wait()
            self.loaded += 1

    model, bot = asyncio.Event(), Loads()
    async with serving(bot) as (_, stub):
        calls = [stub.Describe(bot_pb2.DescribeRequest()) for _ in range(2)]
        with pytest.raises(grpc.aio.AioRpcError, match="DEADLINE_EXCEEDED"):
            await stub.Describe(bot_pb2.DescribeRequest(), timeout=0.05)
        model.set()
        assert [(await call).name for call in calls] == ["Loads", "Loads"]
    assert bot.loaded == 1


async def test_a_bot_that_cannot_get_ready_says_why_in_every_call() -> None:
    class Broken(First):
        def ready(self) -> None:
            raise OSError("no weights here")

    async with serving(Broken()) as (server, stub):
        with pytest.raises(grpc.aio.AioRpcError, match="no weights here") as failed:
            await stub.Describe(bot_pb2.DescribeRequest())
        with pytest.raises(OSError, match="no weights here"):
            await server.ready()
    assert failed.value.code() is grpc.StatusCode.INTERNAL


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (First, r"write First\(\)"),
        (Bot(), "neither choose nor choose_batch"),
        (type("Odd", (First,), {"presets": ("chess",)})(), "presets: chess is unknown"),
        (type("Odd", (First,), {"max_decisions": 0})(), "max_decisions: at least 1"),
    ],
)
async def test_what_is_no_bot_is_refused_before_anything_listens(wrong: Any, why: str) -> None:
    with pytest.raises((TypeError, ValueError), match=why):
        await start(wrong)


# Where it listens ----------------------------------------------------------------------------------------------------


async def test_a_port_that_is_taken_is_refused_and_not_shared() -> None:
    async with await start(First()) as server:
        with pytest.raises(ListenError, match=server.address):
            await start(First(), server.address)


async def test_a_unix_socket_will_do(tmp_path: Path) -> None:
    async with serving(First(), f"unix:{tmp_path}/bot.sock") as (server, stub):
        assert server.address == f"unix:{tmp_path}/bot.sock"
        assert (await stub.Describe(bot_pb2.DescribeRequest())).name == "First"


# Decide --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", ALL_STYLES)
async def test_decide_answers_one_question(style: type[Bot]) -> None:
    asked = question(2**64 - 1)
    async with serving(style()) as (_, stub):
        answer = await stub.Decide(asked)
    assert answer == bot_pb2.DecideResponse(decision_id=2**64 - 1, action=asked.legal_actions[0])


async def test_a_note_goes_along_and_is_cut_at_200_bytes_between_characters() -> None:
    class Notes(Bot):
        def choose(self, decision: Decision) -> Answer:
            return Answer(decision.legal[0], "挖" * 100)

    async with serving(Notes()) as (_, stub):
        assert (await stub.Decide(question())).note == "挖" * 66


@pytest.mark.parametrize(
    ("error", "detail"),
    [(RuntimeError("lost my head"), "RuntimeError: lost my head"), (KeyError("4h"), "KeyError: '4h'")],
)
async def test_a_choice_that_raises_is_an_answer_with_the_reason_as_its_error(
    error: Exception, detail: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(Fails(7, error=error)) as (_, stub):
        assert await stub.Decide(question(7)) == bot_pb2.DecideResponse(decision_id=7, error=detail)
        assert (await stub.Decide(question(8))).decision_id == 8, "the next question is answered"
    assert any("decision 7" in line.getMessage() and line.exc_info for line in caplog.records)


@pytest.mark.parametrize("nonsense", [None, 3, ["4"], Answer(4), Answer("4", None), "\ud800", b"4"])  # type: ignore[arg-type]
async def test_a_choice_that_is_no_text_is_an_error_too(nonsense: Any) -> None:
    class Odd(Bot):
        def choose(self, decision: Decision) -> Any:
            return nonsense

    async with serving(Odd()) as (_, stub):
        answer = await stub.Decide(question())
    assert answer.error.startswith(("TypeError: ", "UnicodeEncodeError: ")) and not answer.action


async def test_an_error_tells_no_traceback_and_is_cut_at_200_bytes() -> None:
    async with serving(Fails(7, error=ValueError("挖" * 1_000))) as (_, stub):
        assert (await stub.Decide(question(7))).error == "ValueError: " + "挖" * 62


async def test_an_unreadable_request_is_the_callers_fault() -> None:
    async with await start(First()) as server, grpc.aio.insecure_channel(server.address) as channel:
        raw: Any = channel
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await raw.unary_unary("/wakeng.v1.BotService/Decide")(b"\xff\xff")
        stream = raw.stream_stream("/wakeng.v1.BotService/Play")()
        await stream.write(b"\xff\xff")
        assert await stream.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert failed.value.code() is grpc.StatusCode.INVALID_ARGUMENT


# Play ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", ALL_STYLES)
async def test_play_answers_every_question_of_every_message(style: type[Bot]) -> None:
    asked = questions(512)
    async with serving(style()) as (_, stub):
        call = stub.Play()
        await call.write(packed(asked[:256]))
        await call.write(packed(asked[256:300]))
        await call.write(packed(asked[300:]))
        assert by_id(await replies(call, 512)) == firsts(asked)
        await call.done_writing()
        assert await call.read() is grpc.aio.EOF
        assert await call.code() is grpc.StatusCode.OK


async def test_a_message_goes_to_choose_batch_as_a_whole_and_comes_back_as_one() -> None:
    bot, asked = Batches(), questions(64)
    async with serving(bot) as (_, stub):
        call = stub.Play()
        await call.write(packed(asked))
        assert by_id((await call.read()).message.answers) == firsts(asked)
    assert bot.sizes == [64]


async def test_answers_that_are_awaited_come_in_any_order_and_hold_up_nobody() -> None:
    bot, asked = Awaits(), questions(3)
    async with serving(bot) as (_, stub):
        call = stub.Play()
        await call.write(packed(asked))
        for decision_id in (3, 1):
            bot.release(decision_id)
            assert [answer.decision_id for answer in await replies(call, 1)] == [decision_id]
        await call.write(packed([], ping=bot_pb2.Ping(id=5)))
        assert (await call.read()).message.pong.id == 5, "a ping is answered while a question is thought about"
        await call.done_writing()
        bot.release(2)
        assert [answer.decision_id for answer in await replies(call, 1)] == [2], "and so is what was still open"
        assert await call.read() is grpc.aio.EOF


async def test_a_ping_is_answered_before_the_questions_that_came_with_it() -> None:
    async with serving(First()) as (_, stub):
        call = stub.Play()
        await call.write(packed(questions(2), ping=bot_pb2.Ping(id=0)))
        first = (await call.read()).message
        assert first.HasField("pong") and not first.answers
        assert len(await replies(call, 2)) == 2


async def test_threads_do_the_thinking_where_the_bot_wants_them() -> None:
    bot = Threads()
    async with serving(bot) as (_, stub):
        call = stub.Play()
        await call.write(packed(questions(64)))
        await replies(call, 64)
    assert bot.ran_in <= {"bot_0", "bot_1"}


async def test_a_bot_that_thinks_in_a_thread_stays_answerable() -> None:
    class Slow(Bot):
        threads = 1

        def choose(self, decision: Decision) -> str:
            assert go.wait(10)
            return decision.legal[0]

    go = threading.Event()
    async with serving(Slow()) as (_, stub):
        call = stub.Play()
        await call.write(packed(questions(1)))
        await call.write(packed([], ping=bot_pb2.Ping(id=9)))
        assert (await call.read()).message.pong.id == 9
        go.set()
        assert len(await replies(call, 1)) == 1


class FailsAwaited(Fails):
    async def choose(self, decision: Decision) -> str:  # type: ignore[override]
        return super().choose(decision)


class FailsThreaded(Fails):
    threads = 1


@pytest.mark.parametrize("style", [Fails, FailsAwaited, FailsThreaded])
async def test_a_choice_that_raises_is_an_error_of_its_own_and_costs_no_other_answer(
    style: type[Fails], caplog: pytest.LogCaptureFixture
) -> None:
    asked = questions(64)
    async with serving(style(1, 30)) as (_, stub):
        call = stub.Play()
        await call.write(packed(asked))
        answers = await replies(call, 64)
        assert {answer.decision_id: answer.error for answer in answers if answer.HasField("error")} == {
            1: "RuntimeError: lost my head",
            30: "RuntimeError: lost my head",
        }
        expected = {at: "" if at in (1, 30) else token for at, token in firsts(asked).items()}
        assert by_id(answers) == expected
        await call.write(packed(asked[1:2]))
        assert len(await replies(call, 1)) == 1, "the stream goes on"
    logged = [line for line in caplog.records if line.name == "wakeng.sdk"]
    assert {line.getMessage() for line in logged} == {f"{style.__name__} failed at decision {at}" for at in (1, 30)}
    assert all(line.exc_info for line in logged)


async def test_a_batch_of_the_wrong_length_fails_every_question_in_it() -> None:
    class Short(Bot):
        def choose_batch(self, decisions: Sequence[Decision]) -> list[str]:
            return ["4"]

    async with serving(Short()) as (_, stub):
        call = stub.Play()
        await call.write(packed(questions(2)))
        answers = await replies(call, 2)
    assert {answer.error for answer in answers} == {"ValueError: choose_batch returned 1 choices for 2 decisions"}


async def test_notices_reach_the_bot_before_the_questions_and_cost_no_stream_when_they_fail(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Hears(First):
        def __init__(self) -> None:
            self.heard: list[str] = []

        def hand_started(self, notice: bot_pb2.HandStarted) -> None:
            self.heard.append(f"started {notice.hand_index}")

        async def hand_ended(self, notice: bot_pb2.HandEnded) -> None:
            self.heard.append(f"ended {notice.hand_index}")
            raise RuntimeError("a sore loser")

        def choose(self, decision: Decision) -> str:
            self.heard.append("asked")
            return super().choose(decision)

    bot = Hears()
    async with serving(bot) as (_, stub):
        call = stub.Play()
        await call.write(
            packed(
                questions(1),
                hands_started=[bot_pb2.HandStarted(hand_index=4)],
                hands_ended=[bot_pb2.HandEnded(hand_index=3)],
            )
        )
        assert len(await replies(call, 1)) == 1
    assert bot.heard == ["ended 3", "started 4", "asked"]
    assert "a sore loser" in caplog.text


async def test_many_streams_play_side_by_side() -> None:
    asked = questions(40)
    async with serving(Now()) as (_, stub):
        calls = [stub.Play() for _ in range(8)]
        for call in calls:
            await call.write(packed(asked))
        for call in calls:
            assert by_id(await replies(call, 40)) == firsts(asked)


async def test_a_server_that_is_told_to_stop_asks_for_no_new_hands_and_lets_the_rest_end() -> None:
    async with serving(First()) as (server, stub):
        call = stub.Play()
        await call.write(packed(questions(1)))
        await replies(call, 1)
        stopping = asyncio.ensure_future(server.stop(10))
        assert (await call.read()).message.drain
        await call.write(packed(questions(1)))
        assert len(await replies(call, 1)) == 1
        await call.done_writing()
        await stopping


async def test_a_caller_who_goes_away_takes_the_open_questions_with_him(caplog: pytest.LogCaptureFixture) -> None:
    class Waits(Bot):
        async def choose(self, decision: Decision) -> str:
            asked.set()
            try:
                await asyncio.Event().wait()
            finally:
                dropped.set()
            return ""

    asked, dropped = asyncio.Event(), asyncio.Event()
    async with serving(Waits()) as (_, stub):
        call = stub.Play()
        await call.write(packed([question()]))
        await asked.wait()
        call.cancel()
        await dropped.wait()
    assert not [line for line in caplog.records if line.name == "wakeng.sdk"]
