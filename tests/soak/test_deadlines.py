"""A bot that takes its time, but any number of questions at once, is never late by the arena's making."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.arena.playing import bots
from tests.arena.process import WAKENG
from wakeng.engine import verify

pytestmark = pytest.mark.slow

TABLES = 2_000
HANDS = 5 * TABLES
MOVE_MS = 1_000
LATENT = [sys.executable, str(Path(__file__).with_name("latent.py"))]


def test_two_thousand_tables_of_a_bot_with_5_ms_latency_miss_no_deadline(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = tmp_path / "records.jsonl"
    places = ("--db", f"sqlite:///{tmp_path / 'wakeng.db'}", "--journal", str(tmp_path / "journal.jsonl"))
    budgets = ("--tables", str(TABLES), "--move-ms", str(MOVE_MS), "--bank-ms", "0")
    with bots(LATENT) as (bot,):
        seats = ",".join([bot.address] * 3)
        play = ("match", "--rules", "xian", "--seats", seats, "--hands", str(HANDS), "--records", str(records))
        ran = subprocess.run(
            [*WAKENG, *play, *budgets, *places, "--json"], capture_output=True, text=True, timeout=900, check=False
        )
    assert ran.returncode == 0, ran.stderr
    outcome = json.loads(ran.stdout)
    latencies = [
        decision["latency_us"]
        for line in records.read_bytes().splitlines()
        for decision in verify(line).get("decisions", ())
    ]
    with capsys.disabled():
        sys.stdout.write(
            f"\n{outcome['decisions']:,} decisions, {outcome['decisions_per_s']:,} a second; of {MOVE_MS} ms at most "
            f"{max(latencies) / 1000:.0f} ms were taken\n"
        )
    assert outcome["hands"] == len(records.read_bytes().splitlines()) == HANDS
    assert [seat["faults"] for seat in outcome["seats"]] == [{}, {}, {}]
