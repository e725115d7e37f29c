"""Every query of the dashboard, asked of a real Prometheus that scrapes a real arena at play, has an answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.arena.process import ServedProcess, serve
from tests.arena.serving import Client
from tests.deploy.prometheus import Prometheus, prometheus
from wakeng.v1 import match_pb2, rules_pb2, tournament_pb2

FILE = Path(__file__).resolve().parents[2] / "deploy" / "grafana" / "dashboards" / "arena.json"
DASHBOARD: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
PANELS: list[dict[str, Any]] = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
QUERIES = [target["expr"] for panel in PANELS for target in panel["targets"]]
VARIABLES = {"$__rate_interval": "30s", "$job": ".*", "$bot": ".*"}
SPEC = """
name = "eyes"
rules = "xian"
bots = ["greedy", "lowest", "random"]
blocks = 100000
tables = 4
"""


@pytest.fixture(scope="module")
def scraped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """A Prometheus that has seen an arena at play."""
    folder = tmp_path_factory.mktemp("eyes")
    with serve(folder) as arena:
        asyncio.run(play(arena))
        target = arena.metrics.removeprefix("http://").removesuffix("/metrics")
        with prometheus(folder, {"wakeng-arena": target}) as found:
            found.wait_for("rate(wakeng_hands_total[30s]) > 0")
            found.wait_for("rate(wakeng_call_seconds_count[30s])")
            found.wait_for("job:wakeng_decisions:rate5m > 0")
            found.wait_for("instance:wakeng_store_write_seconds:p99_rate5m > 0")
            yield found


async def play(arena: ServedProcess) -> None:
    """A match and a tournament that go on."""
    async with Client(arena.address) as client:
        seats = [match_pb2.SeatSpec(builtin=name) for name in ("greedy", "lowest", "random")]
        rules = rules_pb2.RuleSet(preset="xian")
        asked = match_pb2.CreateMatchRequest(request_id="m", rules=rules, seats=seats, hands=1_000_000, tables=4)
        await client(client.matches.CreateMatch, asked)
        await client(
            client.tournaments.CreateTournament,
            tournament_pb2.CreateTournamentRequest(request_id="t", tournament_id="eyes", spec=SPEC),
        )


def asked(expression: str) -> str:
    """With Grafana's variables filled in."""
    for name, value in VARIABLES.items():
        expression = expression.replace(name, value)
    assert "$" not in expression
    return expression


@pytest.mark.parametrize("expression", QUERIES)
def test_a_query_has_an_answer(scraped: Prometheus, expression: str) -> None:
    assert scraped.query(asked(expression))


@pytest.mark.parametrize(
    "variable", [v for v in DASHBOARD["templating"]["list"] if v["type"] == "query"], ids=lambda v: v["name"]
)
def test_a_variable_has_values(scraped: Prometheus, variable: dict[str, Any]) -> None:
    inner = variable["query"].removeprefix("label_values(").removesuffix(")")
    series, _, label = inner.rpartition(", ")
    assert scraped.query(f"count by ({label}) ({asked(series)})")


def test_no_alert_fires_while_all_is_well(scraped: Prometheus) -> None:
    assert scraped.query('ALERTS{alertstate="firing", severity!="info"}') == []


def test_panels_say_what_they_show_and_do_not_lie_over_each_other() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        assert panel["title"]
        assert at["x"] + at["w"] <= 24
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken
        taken |= cells
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(ids)) == len(ids)
    assert all(panel["fieldConfig"]["defaults"]["unit"] for panel in PANELS)
