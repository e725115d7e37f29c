"""`wakeng bench`: that every part of it works, and the JSON that others read. What it measures is not for tests."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner

from wakeng.services.bench import arena, engine, store, tables, web, workers
from wakeng.services.bench.peers import Playout
from wakeng.services.commands.bench import command
from wakeng.services.commands.common import Refused, write_report

NUMBER = (int, float)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The quick way is for people; tests have less time still."""
    monkeypatch.setattr(engine, "QUICK", engine.Effort(rounds=2, seconds=0.02))
    monkeypatch.setattr(store, "QUICK", store.Effort(rounds=1, hands=300, baseline_hands=20))
    monkeypatch.setattr(store, "_POOL", 8)
    quick = arena.Effort(
        rounds=1, throughput=0.1, baseline=0.1, lone_table=0.1, growth=(), many_tables=40, many=0.1, tables=24
    )
    monkeypatch.setattr(arena, "QUICK", quick)
    monkeypatch.setattr(web, "QUICK", web.Effort(hands=600, requests=1, rounds=1, tables=4, viewers=3, seconds=0.2))
    monkeypatch.setattr(workers, "QUICK", workers.Effort(rounds=1, blocks=10, tables=4))


def bench(what: str, folder: Path) -> tuple[dict[str, Any], str]:
    """The JSON and the text of a quick benchmark."""
    file = folder / "found.json"
    ran = CliRunner().invoke(command, [what, "--quick", "--json", str(file)])
    assert ran.exit_code == 0, ran.output
    return orjson.loads(file.read_bytes()), ran.stdout


def numbers(section: Mapping[str, Any], *names: str) -> None:
    assert {name: section[name] for name in names if not isinstance(section[name], NUMBER)} == {}


def test_the_engine_is_compared_with_a_naive_one_and_with_peers_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(random: object) -> Playout:
        raise ImportError("not installed")

    def peer(random: object) -> Playout:
        return lambda: 60

    contestants = {**engine.CONTESTANTS, "openspiel": peer, "rlcard": missing}
    monkeypatch.setattr(engine, "CONTESTANTS", contestants)
    found, told = bench("engine", tmp_path)
    assert set(found) == {"engine", "machine"}
    numbers(found["engine"], "hands_per_s", "vs_naive", "naive_hands_per_s", "vs_openspiel", "decisions_a_hand")
    assert found["engine"]["openspiel_decisions_a_hand"] == 60
    assert found["engine"]["rounds"] == 2
    low, high = found["engine"]["hands_per_s_range"]
    assert low <= found["engine"]["hands_per_s"] <= high
    assert found["engine"]["vs_rlcard"] is None
    assert "x OpenSpiel" in told
    assert "RLCard is not installed here; pip install 'wakeng[bench]'" in told


def test_the_arena_is_compared_with_plain_grpc_and_its_tables_are_weighed(tmp_path: Path) -> None:
    found, told = bench("arena", tmp_path)
    assert set(found) == {"arena", "tables", "machine"}
    numbers(found["arena"], "decisions_per_s", "vs_unary", "single_table_vs_stream", "arena_cpu_us")
    numbers(found["tables"], "kib_each", "idle_kib_each", "loop_lag_most_ms", "decisions_per_s")
    assert found["tables"]["tables"] == 40
    assert found["tables"]["other_faults"] == 0
    assert isinstance(found["tables"]["false_deadlines"], int)
    assert found["arena"]["by_tables"] == {}
    assert "x bare stream" in told


def test_the_store_is_compared_with_a_transaction_for_each_hand(tmp_path: Path) -> None:
    found, told = bench("store", tmp_path)
    assert set(found) == {"store", "machine"}
    numbers(found["store"], "hands_per_s", "vs_one_by_one", "loop_lag_p99_ms")
    assert 3_500 < found["store"]["line_bytes"] < 4_700
    assert "x a transaction each" in told


def test_a_table_at_its_first_question_takes_up_some_memory() -> None:
    assert tables.measure_idle(2) >= 0


def test_fairness_tells_what_a_slow_bot_costs_the_others(tmp_path: Path) -> None:
    found, text = bench("fairness", tmp_path)
    numbers(found["fairness"], "hands_per_s", "hands_per_s_beside_slow", "fall")
    assert (found["fairness"]["hands"], found["fairness"]["slower"]) == (60, 50)
    assert "one of them 50 times slower" in text


def test_two_workers_are_compared_with_one(tmp_path: Path) -> None:
    found, told = bench("workers", tmp_path)
    assert set(found) == {"workers", "machine"}
    numbers(found["workers"], "hands_per_s", "hands_per_s_of_two", "vs_one_worker", "coordinator_cpu_us")
    assert found["workers"]["hands"] == 30
    assert "x one worker" in told


def test_pages_are_timed_and_viewers_weighed(tmp_path: Path) -> None:
    found, told = bench("web", tmp_path)
    assert set(found) == {"pages", "viewers", "machine"}
    numbers(found["pages"], *(f"{name}_p50_ms" for name in web.PAGES), "slowest_p50_ms")
    numbers(found["viewers"], "decisions_per_s", "vs_alone", "cpu_vs_alone")
    assert found["pages"]["hands"] == 600
    assert "x nobody looking" in told


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    ran = CliRunner().invoke(command, ["arena", "--json", str(tmp_path / "nowhere" / "found.json")])
    assert ran.exit_code == 2
    assert f"there is no folder {tmp_path / 'nowhere'}" in ran.output


def test_one_that_cannot_be_written_any_more_is_named(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=f"cannot write {tmp_path}: "):
        write_report(tmp_path, b"a folder has taken its place")
