"""Load tests of served bots: every decision is counted, whatever the bot does with it. Bounded by counts, not speed."""

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner, Result

from wakeng.bots.lowest import Lowest
from wakeng.engine import PRESETS
from wakeng.sdk import Bot, Decision, start
from wakeng.services.commands.loadtest import command
from wakeng.services.loadtest import Load, LoadPlan, TargetNotReady, report, seated
from wakeng.services.loadtest.page import page
from wakeng.services.loadtest.telling import live, tell

SEED = bytes(32)


async def loaded(*bots: Bot, stop_at: int | None = None, **changes: Any) -> dict[str, Any]:
    """The report of a load test of some bots, stopped once so many decisions were made."""
    servers = [await start(bot) for bot in bots]
    values: dict[str, Any] = {"tables": 8, "ramp_s": 0.0, "duration_s": 0.5, **changes}
    plan = LoadPlan(targets=tuple(server.address for server in servers), rules=PRESETS["xian"], **values)
    try:
        async with seated(plan) as found:
            load = Load(plan, found, seed=SEED)
            running = asyncio.create_task(load.run())
            while stop_at is not None and load.lanes[0].measured.all.decisions < stop_at:
                await asyncio.wait([running], timeout=0.01)
            if stop_at is not None:
                assert live(load).row_count == len(bots)
                load.stop()
            await running
            return report(load)
    finally:
        for server in servers:
            await server.stop(0)


class Serial(Lowest):
    """Thinks about one decision at a time, 20 ms about each."""

    async def _think(self, decision: Decision) -> str:
        async with self._one:
            await asyncio.sleep(0.02)
            return super().choose(decision)

    def choose(self, decision: Decision) -> Any:
        return self._think(decision)

    def ready(self) -> None:
        self._one = asyncio.Lock()


class Illegal(Bot):
    """Says what is a word of the game, but rarely right."""

    def choose(self, decision: Decision) -> str:
        return "33" if decision.phase == "PLAY" else "bid3"


class Silent(Bot):
    """Never answers."""

    async def choose_batch(self, decisions: Sequence[Decision]) -> Sequence[str]:
        await asyncio.Event().wait()
        return []


async def test_closed_loop_keeps_tables_busy_and_counts_by_phase_and_by_step() -> None:
    test = (await loaded(Lowest(), ramp_s=0.3))["loadtest"]
    (target,) = test["targets"]
    assert (test["mode"], test["load_unit"], test["complete"]) == ("closed", "tables", True)
    assert target["decisions"] > 0
    assert target["version"] == "1"
    assert sum(step["decisions"] for step in target["steps"]) == target["decisions"]
    assert sum(phase["decisions"] for phase in target["phases"]) == target["decisions"]
    assert {phase["phase"] for phase in target["phases"]} <= {"BLIND", "BID", "PLAY"}
    assert [step["load"] for step in target["steps"]] == [1, 2, 2, 3, 4, 5, 6, 6, 7, 8]
    assert (target["faults"], target["unanswered"]) == ({}, 0)
    latency = target["latency_us"]
    assert latency["p50"] <= latency["p90"] <= latency["p99"] <= latency["p99_9"] <= latency["most"]


async def test_open_loop_counts_each_decision_that_was_due() -> None:
    test = (await loaded(Lowest(), rate=200.0))["loadtest"]
    assert (test["mode"], test["load_unit"]) == ("open", "decisions/s")
    assert test["targets"][0]["decisions"] == 100


async def test_in_open_loop_what_waits_behind_a_slow_bot_is_charged_with_its_wait() -> None:
    # 50 decisions of 20 ms each take a second or more, and half a second after the first the last one is due.
    test = (await loaded(Serial(), rate=100.0))["loadtest"]
    (target,) = test["targets"]
    assert target["decisions"] == 50
    assert target["latency_us"]["most"] >= 450_000


async def test_a_bot_that_never_answers_is_charged_with_all_that_was_due() -> None:
    test = (await loaded(Silent(), rate=100.0, duration_s=0.3, move_ms=40))["loadtest"]
    (target,) = test["targets"]
    assert target["decisions"] == target["over_limit"] == 30
    assert target["deadline_misses"] + target["unanswered"] == 30
    assert target["deadline_misses"] > 0


async def test_illegal_actions_are_counted_and_no_hand_ends_of_them() -> None:
    test = (await loaded(Illegal(), rate=200.0))["loadtest"]
    (target,) = test["targets"]
    assert target["decisions"] == 100
    assert target["illegal_actions"] > 0
    assert set(target["faults"]) == {"ILLEGAL_ACTION"}


async def test_several_bots_share_the_load_evenly() -> None:
    test = (await loaded(Lowest(), Lowest(b"other"), rate=200.0))["loadtest"]
    assert [target["decisions"] for target in test["targets"]] == [50, 50]
    assert [target["steps"][0]["load"] for target in test["targets"]] == [100, 100]


async def test_a_test_that_is_stopped_reports_what_it_has_measured_so_far() -> None:
    test = (await loaded(Lowest(), stop_at=50, duration_s=600.0, ramp_s=300.0))["loadtest"]
    assert not test["complete"]
    assert test["seconds"] < 600
    (target,) = test["targets"]
    assert target["decisions"] >= 50
    assert sum(step["decisions"] for step in target["steps"]) == target["decisions"]


async def test_a_bot_that_cannot_play_is_named_with_the_reason() -> None:
    class FourOnly(Lowest):
        presets = ("four_blind",)

    with pytest.raises(TargetNotReady, match=r"127\.0\.0\.1:\d+: .*does not play xian"):
        await loaded(FourOnly())


# The page -----------------------------------------------------------------------------------------------------------

HOSTILE = '<script src="https://example.org/x.js">"&\x1b[31m'


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    return asyncio.run(loaded(Lowest(), rate=400.0, ramp_s=0.4))


def test_the_page_fetches_nothing_and_draws_each_percentile(told: dict[str, Any]) -> None:
    html = page(told)
    assert re.findall(r"(?:src|href|url|@import)\s*[=(]", html) == []
    assert "http:" not in html
    assert "https:" not in html
    assert html.count("<polyline") == 3
    assert html.count("<svg") == html.count("</svg>") == 1


def test_names_are_text_on_the_page_and_on_the_terminal(
    told: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = orjson.loads(orjson.dumps(told))
    hostile["loadtest"]["targets"][0].update(target=HOSTILE, version=HOSTILE)
    html = page(hostile)
    assert "<script" not in html
    assert "\x1b" not in html
    assert "&lt;script" in html
    tell(hostile)
    assert "\x1b" not in capsys.readouterr().out


def test_the_page_and_the_terminal_tell_of_a_knee_and_of_a_tester_that_is_too_slow(
    told: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    changed = orjson.loads(orjson.dumps(told))
    changed["loadtest"]["targets"][0]["knee"] = {"load": 250.0, "held": 200.0, "crossed": 300.0}
    changed["loadtest"]["tester"].update(cpu=0.97, busy=True)
    tell(changed)
    for text in (page(changed), capsys.readouterr().out):
        assert "knee: about 250 decisions/s; p99 kept to 1,000 ms at 200 and not at 300" in text
        assert "the test itself used 97 % of its core" in text
    assert 'class="knee"' in page(changed)


def test_a_test_without_a_decision_has_a_page_too(told: dict[str, Any]) -> None:
    empty = orjson.loads(orjson.dumps(told))
    empty["loadtest"]["targets"][0].update(steps=[], phases=[])
    assert "<svg" not in page(empty)


# The command --------------------------------------------------------------------------------------------------------


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def test_the_command_starts_a_built_in_bot_and_writes_both_files(tmp_path: Path) -> None:
    json, html = tmp_path / "load.json", tmp_path / "load.html"
    ran = run("lowest", "--rate", "300", "--duration", "0.5", "--json", str(json), "--html", str(html))
    assert ran.exit_code == 0, ran.output
    found = orjson.loads(json.read_bytes())["loadtest"]
    assert found["complete"]
    assert found["targets"][0]["target"] == "lowest"
    assert found["targets"][0]["decisions"] > 0
    assert html.read_text("utf-8").startswith("<!doctype html>")
    assert "knee: none" in ran.stdout
    assert max(map(len, ran.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("", "Missing argument 'TARGET...'"),
        ("lowset", "is neither HOST:PORT, unix:PATH nor one of"),
        ("faulty:hang", "is neither HOST:PORT, unix:PATH nor one of"),
        ("lowest --rate 5 --closed", "--rate is open loop"),
        ("lowest --duration 2 --ramp 3", "the ramp is part of the duration"),
        ("lowest greedy --tables 1", "need a table each"),
        ("lowest --rules xain", "did you mean xian"),
        ("lowest --json nowhere/load.json", "there is no folder nowhere"),
        ("lowest --html nowhere/load.html", "there is no folder nowhere"),
    ],
)
def test_a_bad_command_line_says_what_would_do(line: str, problem: str) -> None:
    ran = run(*line.split())
    assert ran.exit_code == 2
    assert problem in ran.output
