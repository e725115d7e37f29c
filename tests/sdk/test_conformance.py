"""The checker: every good bot passes, every bad one fails under its own fault's name, and none can hang it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from itertools import chain
from random import SystemRandom
from typing import Any

import grpc
import pytest

from tests.cli.test_serve_bot import serving as serving_process
from tests.sdk.asking import First
from tests.sdk.gateway import DialledIn, gateway
from wakeng.bots import FAULTY_BOTS, REFERENCE_BOTS, create
from wakeng.bots.faulty import FaultyBot
from wakeng.bots.faulty.bad_servers import RawBot
from wakeng.engine import PRESETS, Fault, Phase, rule_set
from wakeng.sdk import Backoff, Bot, CallError, Decision, JoinedBot, Trouble, start
from wakeng.sdk.conformance import Budgets, CheckResult, Connect, Scope, Status, check, checking, quick, scope_of
from wakeng.sdk.conformance.positions import phases_of, positions
from wakeng.v1 import bot_pb2

PATIENT = Budgets(move_ms=20_000, bank_ms=20_000, ready_ms=60_000, reconnect_ms=60_000)
"""So that no machine is too slow for a good bot; nothing waits for as long but what never comes."""
FULL = replace(scope_of(), budgets=PATIENT, limit=600.0)
SHORT = quick(FULL)
PHASES = [f"phases {preset}" for preset in PRESETS]
NAMES = [
    *("describe", "stream", "unary", *PHASES, "phases xian must_beat=on", "phases xian bidding=assigned"),
    *("unknown phase", "no bank", "agreement", "legality", "latency", "burst", "pings", "reconnect"),
    *("deadlines", "ids", "messages"),
]


async def report(target: str | Connect, scope: Scope = SHORT) -> dict[str, CheckResult]:
    """What the checker says, by the names of the checks."""
    async with aclosing(check(target, scope)) as results:
        return {result.name: result async for result in results}


async def checked(bot: Bot, scope: Scope = SHORT) -> dict[str, CheckResult]:
    """What it says of a bot that is served for it."""
    async with await start(bot) as server:
        return await report(server.address, scope)


def statuses(results: dict[str, CheckResult], *, but: Status = Status.PASS) -> dict[str, Status]:
    """Those that are something else. On a machine under load a pong may take a while, which is worth a remark there."""
    found = {name: result.status for name, result in results.items() if result.status is not but}
    if found.get("pings") is Status.REMARK:
        del found["pings"]
    return found


def faults(results: dict[str, CheckResult]) -> list[Fault]:
    """Each that was found, in the order in which they were."""
    return list(dict.fromkeys(chain.from_iterable(result.faults for result in results.values())))


# Good bots -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REFERENCE_BOTS)
async def test_a_reference_bot_passes_every_check(name: str) -> None:
    results = await checked(create(name))
    assert list(results) == NAMES
    assert statuses(results) == {}
    assert all(not result.rule and not result.faults for result in results.values() if result.status is Status.PASS)


@pytest.mark.parametrize("name", REFERENCE_BOTS)
async def test_it_passes_as_a_bot_that_dials_in_too(name: str) -> None:
    async with gateway() as arena:
        joined = JoinedBot(create(name), arena.address, "wk_token", backoff=Backoff(first=0.0, longest=0.0))
        playing = asyncio.create_task(joined.run())
        results = await report(lambda: DialledIn(arena))
        playing.cancel()
        await asyncio.wait([playing])
    assert statuses(results) == {"unary": Status.SKIPPED, "agreement": Status.SKIPPED}


async def test_the_whole_of_it_asks_a_thousand_decisions_of_real_hands() -> None:
    legality = (await checked(First(), FULL))["legality"]
    assert legality.summary.startswith("1,000 decisions of real hands, all legal; ")


class OnlyDecide(RawBot):
    async def play(self, requests: AsyncIterator[bytes], context: Any) -> None:
        await context.abort(grpc.StatusCode.UNIMPLEMENTED, "no streams")


class OnlyPlay(RawBot):
    async def decide(self, raw: bytes, context: Any) -> bytes:
        await context.abort(grpc.StatusCode.UNIMPLEMENTED, "no single calls")
        raise AssertionError


class Neither(OnlyDecide, OnlyPlay):
    pass


async def test_one_way_to_ask_it_is_enough() -> None:
    skipped = {"stream": Status.SKIPPED, "agreement": Status.SKIPPED, "pings": Status.SKIPPED}
    assert statuses(await checked(OnlyDecide())) == skipped
    assert statuses(await checked(OnlyPlay())) == {"unary": Status.SKIPPED, "agreement": Status.SKIPPED}


async def test_no_way_to_ask_it_is_not() -> None:
    results = await checked(Neither())
    assert results["unary"].faults == (Fault.BOT_ERROR,)
    assert "neither Decide nor Play" in results["unary"].summary


async def test_only_what_a_bot_says_it_plays_is_asked() -> None:
    class Some(First):
        presets = ("xian", "four_blind")
        override_fields = ("bombs", "must_beat")

        def __init__(self) -> None:
            self.asked: set[tuple[str, str]] = set()

        def choose(self, decision: Decision) -> str:
            self.asked.add((decision.rules.preset, " ".join(decision.rules.overrides())))
            return super().choose(decision)

    bot = Some()
    results = await checked(bot)
    assert [name for name in results if name.startswith("phases")] == [
        "phases xian", "phases four_blind", "phases xian must_beat=on"
    ]  # fmt: skip
    assert bot.asked == {("xian", ""), ("four_blind", ""), ("xian", "must_beat")}


async def test_the_caller_may_name_fewer_presets() -> None:
    results = await checked(First(), replace(SHORT, presets=["baoji_blind"]))
    assert "phases baoji_blind" in results and "phases xian" not in results
    results = await checked(type("X", (First,), {"presets": ("xian",)})(), replace(SHORT, presets=["baoji_blind"]))
    assert "none of the presets" in results["describe"].summary


async def test_no_id_is_asked_twice_but_where_a_connection_broke() -> None:
    class Remembers(First):
        def __init__(self) -> None:
            self.ids: list[int] = []

        def choose(self, decision: Decision) -> str:
            self.ids.append(decision.id)
            return super().choose(decision)

    bot = Remembers()
    await checked(bot)
    assert min(bot.ids) >= SHORT.first_id
    assert len(bot.ids) - len(set(bot.ids)) <= 1


async def test_a_bot_hears_of_its_hands_as_from_an_arena() -> None:
    class Hears(First):
        def __init__(self) -> None:
            self.playing: set[tuple[int, int]] = set()
            self.ended = 0

        def hand_started(self, notice: bot_pb2.HandStarted) -> None:
            self.playing.add((notice.hand_index, notice.seat))

        def hand_ended(self, notice: bot_pb2.HandEnded) -> None:
            self.playing.remove((notice.hand_index, notice.seat))
            self.ended += notice.HasField("winner")

        def choose(self, decision: Decision) -> str:
            return super().choose(decision)

    bot = Hears()
    results = await checked(bot)
    assert statuses(results) == {}
    assert bot.ended > 0 and not bot.playing


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("overrides", [{}, {"must_beat": True}, {"bidding": "assigned"}], ids=str)
def test_questions_are_found_for_every_phase_of_a_rule_set(preset: str, overrides: dict[str, Any]) -> None:
    rules = rule_set(preset, overrides)
    found = positions(rules, bytes(32), each=2)
    assert {position.phase for position in found} == {phase.value for phase in phases_of(rules)}
    plays = [bool(position.request.observation.table) for position in found if position.phase == Phase.PLAY.value]
    assert sorted(plays) == [False, False, True, True]


# Bad bots ------------------------------------------------------------------------------------------------------------

BRIEF = replace(SHORT, budgets=Budgets(move_ms=300, bank_ms=100, ready_ms=300, reconnect_ms=300))
TIMED = {"hang", "late", "wrong_id", "slow_start", "half_open"}
"""Faults that show when time is over; for the others there is no hurry."""


SAYS = {
    "hang": ("phases xian", "BLIND by Play: no answer within 400 ms, nor within 1,500 ms more"),
    "late": ("phases xian", "BLIND by Play: no answer within 400 ms; it came 1,0"),
    "illegal": ("unary", "PLAY by Decide: 'pass' is not legal here; legal are 4, 5, "),
    "garbage": ("phases xian", "it sent a message that cannot be read"),
    "oversize": ("unary", "over the size limit"),
    "wrong_id": ("phases xian", "no answer within 400 ms, but one to what was not asked"),
    "flood": ("phases xian", "messages where 4 were asked for"),
    "slow_start": ("describe", "it did not describe itself within 300 ms"),
    "half_open": ("describe", "it did not describe itself within 300 ms"),
}
"""A check that finds the fault, and what it tells the author."""


def earned(kind: str) -> tuple[Fault, ...]:
    bot = create(f"faulty:{kind}")
    assert isinstance(bot, FaultyBot)
    return bot.earns


@pytest.mark.parametrize("kind", [name.removeprefix("faulty:") for name in FAULTY_BOTS if name != "faulty:crash"])
async def test_a_faulty_bot_fails_under_the_name_of_its_fault(kind: str) -> None:
    results = await checked(create(f"faulty:{kind}"), BRIEF if kind in TIMED else SHORT)
    assert faults(results) == list(earned(kind))
    check_name, summary = SAYS[kind]
    assert summary in results[check_name].summary
    failed = [result for result in results.values() if result.status is Status.FAIL]
    assert failed
    assert all(result.summary and "docs/protocol.md" in result.rule for result in failed)
    assert all(result.sent for result in failed if result.name not in ("deadlines", "ids", "messages"))


async def test_a_bot_whose_process_dies_fails_as_lost_and_then_as_not_to_be_reached() -> None:
    with serving_process("faulty:crash") as (_, address):
        results = await report(address, replace(SHORT, budgets=Budgets(reconnect_ms=300)))
    assert faults(results) == list(earned("crash"))
    assert results["legality"].status is Status.SKIPPED


async def test_an_offending_answer_is_shown_with_its_question() -> None:
    unary = (await checked(create("faulty:illegal")))["unary"]
    assert '"phase": "PLAY"' in unary.sent and '"legal_actions": ["4", "5"' in unary.sent
    assert '"action": "pass"' in unary.received
    assert unary.rule == "docs/protocol.md 1: the answer is one of the tokens that are legal here"


async def test_a_bot_that_cannot_decide_fails_with_its_own_words() -> None:
    class Fails(First):
        def choose(self, decision: Decision) -> str:
            if decision.leads:
                raise KeyError("no such lead")
            return super().choose(decision)

    results = await checked(Fails())
    assert faults(results) == [Fault.BOT_ERROR]
    assert "PLAY by Play: it could not decide: KeyError: 'no such lead'" in results["phases xian"].summary


async def test_a_bot_that_errs_once_in_a_while_is_found_out_by_real_hands() -> None:
    class Slips(First):
        slips = 1

        def choose(self, decision: Decision) -> str:
            slipping = self.slips and len(decision.history) > 30
            self.slips -= bool(slipping)
            return "bid4" if slipping else super().choose(decision)

    results = await checked(Slips())
    assert statuses(results) == {"legality": Status.FAIL}
    assert results["legality"].faults == (Fault.MALFORMED,)
    assert "'bid4' is no token of the vocabulary" in results["legality"].summary


async def test_an_answer_given_twice_is_stale() -> None:
    class Twice(RawBot):
        def messages(self, questions: Sequence[bot_pb2.DecideRequest]) -> Iterable[bytes]:
            return [*super().messages(questions)] * 2

    results = await checked(Twice())
    assert faults(results) == [Fault.STALE]
    assert results["ids"].status is Status.FAIL


async def test_a_bot_that_cannot_get_ready_is_told_why() -> None:
    class Broken(First):
        def ready(self) -> None:
            raise OSError("no weights here")

    results = await checked(Broken())
    assert faults(results) == [Fault.NOT_READY]
    assert "no weights here" in results["describe"].summary
    assert all(result.status is Status.SKIPPED for name, result in results.items() if name != "describe")


@pytest.mark.parametrize(
    ("said", "status", "summary"),
    [
        ({"protocol_version": 2}, Status.FAIL, "speaks protocol version 2"),
        ({"max_tables": 0}, Status.FAIL, "max_tables is 0"),
        ({"max_decisions": -1}, Status.FAIL, "max_decisions is -1"),
        ({"name": ""}, Status.REMARK, "no name"),
        ({"presets": ["xian", "chess"]}, Status.REMARK, "no preset 'chess'"),
        ({"override_fields": ["ruffs"]}, Status.REMARK, "no rule set has a field 'ruffs'"),
    ],
)
async def test_what_a_bot_says_of_itself_has_to_make_sense(said: dict[str, Any], status: Status, summary: str) -> None:
    class Says(RawBot):
        async def describe(self, raw: bytes, context: Any) -> bytes:
            told = bot_pb2.DescribeResponse.FromString(await super().describe(raw, context))
            for name, value in said.items():
                told.ClearField(name)  # type: ignore[arg-type]
                told.MergeFrom(bot_pb2.DescribeResponse(**{name: value}))
            return told.SerializeToString()

    result = (await checked(Says()))["describe"]
    assert result.status is status and summary in result.summary
    assert result.rule


# Remarks -------------------------------------------------------------------------------------------------------------


async def test_chance_is_no_fault_but_worth_a_remark() -> None:
    class Chance(Bot):
        def choose(self, decision: Decision) -> str:
            return SystemRandom().choice(decision.legal)

    results = await checked(Chance())
    assert statuses(results) == {"agreement": Status.REMARK}
    assert "Play: {" in results["agreement"].received and "Decide: {" in results["agreement"].received


async def test_a_bot_that_knows_only_todays_phases_gets_a_remark() -> None:
    class Strict(First):
        def choose(self, decision: Decision) -> str:
            return {phase.value: super(Strict, self).choose(decision) for phase in Phase}[decision.phase]

    assert statuses(await checked(Strict())) == {"unknown phase": Status.REMARK}


async def test_a_bot_that_thinks_serially_is_never_late_by_the_checkers_making() -> None:
    class Thinks(First):
        threads = 1

        def choose(self, decision: Decision) -> str:
            time.sleep(0.04)
            return super().choose(decision)

    budgets = Budgets(move_ms=2_000, bank_ms=2_000)
    results = await checked(Thinks(), replace(scope_of(presets=["four_blind"]), budgets=budgets, limit=4.0))
    assert faults(results) == []
    assert set(statuses(results).values()) <= {Status.REMARK, Status.SKIPPED}
    assert results["legality"].summary.startswith("all legal, but only ")
    burst = results["burst"]
    assert burst.status is Status.SKIPPED or "max_decisions = " in burst.summary


# The checker itself --------------------------------------------------------------------------------------------------


class Silent:
    """A way to a bot of which nothing ever comes back; only Describe does, if it is told to."""

    def __init__(self, *, described: bool) -> None:
        self._described = described
        self.closed = False

    async def describe(self, request: bot_pb2.DescribeRequest, *, within: float) -> bot_pb2.DescribeResponse:
        if not self._described:
            raise CallError(Trouble.DEADLINE, "")
        return bot_pb2.DescribeResponse(protocol_version=1, name="silent")

    async def decide(self, request: bytes, *, within: float) -> bytes:
        return await asyncio.Future()

    def play(self) -> Silent:
        return self

    async def write(self, message: bytes) -> None:
        await asyncio.Future()

    async def read(self) -> bytes | None:
        return await asyncio.Future()

    async def finish(self) -> None:
        await asyncio.Future()

    def abandon(self) -> None:
        """It does not even hear that."""

    async def close(self) -> None:
        self.closed = True


@asynccontextmanager
async def no_tasks_left() -> AsyncIterator[None]:
    """Whatever the checker has begun and left behind is cancelled, as by the end of the loop."""
    before = asyncio.all_tasks()
    yield
    for task in asyncio.all_tasks() - before:
        task.cancel()


@pytest.mark.parametrize("described", [False, True])
async def test_silence_fails_and_does_not_hang_it(*, described: bool) -> None:
    way = Silent(described=described)
    async with no_tasks_left():
        results = await report(
            lambda: way, replace(BRIEF, budgets=Budgets(move_ms=30, bank_ms=0, ready_ms=30), limit=60.0)
        )
    assert faults(results)[0] is Fault.NOT_READY
    assert results["stream" if described else "describe"].status is Status.FAIL
    assert way.closed


async def test_a_way_that_keeps_to_no_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless(Silent):
        async def describe(self, request: bot_pb2.DescribeRequest, *, within: float) -> bot_pb2.DescribeResponse:
            return await asyncio.Future()

    monkeypatch.setattr(checking, "_SLACK", 0.05)
    results = await report(lambda: Endless(described=False), replace(SHORT, limit=0.05))
    assert results["describe"].summary == "it did not come to an end"


async def test_a_way_that_breaks_is_a_failure_and_not_the_checkers_end(caplog: pytest.LogCaptureFixture) -> None:
    class Breaks(Silent):
        async def describe(self, request: bot_pb2.DescribeRequest, *, within: float) -> bot_pb2.DescribeResponse:
            raise RuntimeError("a mistake")

    results = await report(lambda: Breaks(described=False), BRIEF)
    assert "the checker failed at it: RuntimeError: a mistake" in results["describe"].summary
    assert "the check describe failed by itself" in caplog.text


async def test_results_come_one_by_one_and_whoever_has_seen_enough_may_go() -> None:
    async with await start(First()) as server, aclosing(check(server.address, SHORT)) as results:
        assert (await anext(results)).name == "describe"
        assert (await anext(results)).name == "stream"


async def test_what_does_not_fit_into_the_time_is_skipped_and_said_to_be() -> None:
    results = await checked(First(), replace(SHORT, limit=0.0))
    assert results["legality"] == CheckResult(
        name="legality", status=Status.SKIPPED, summary="the 0 s for the whole check were over"
    )


def test_a_result_is_plain_values_for_whoever_prints_it() -> None:
    result = CheckResult(name="ids", status=Status.FAIL, summary="no", faults=(Fault.STALE,), rule="so")
    assert result.to_dict() == {
        "name": "ids", "status": "fail", "summary": "no", "sent": "", "received": "", "rule": "so", "faults": ["STALE"],
    }  # fmt: skip
