"""Prometheus' rules: each is tried by promtool, and each alert leads to what to do about it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from wakeng.services.metrics_page import families, specimen

HOME = Path(__file__).resolve().parents[2]
FOLDER = HOME / "deploy" / "prometheus"


def read(name: str) -> Any:
    return yaml.safe_load((FOLDER / name).read_text("utf-8"))


def rules(name: str) -> list[dict[str, Any]]:
    return [rule for group in read(name)["groups"] for rule in group["rules"]]


ALERTS = {rule["alert"]: rule for rule in rules("alerts.yaml")}
CASES = [case for test in read("rules_test.yaml")["tests"] for case in test.get("alert_rule_test", ())]


def promtool(*arguments: str) -> str:
    """It finds nothing wrong, and what it says."""
    ran = subprocess.run(["promtool", *arguments], cwd=FOLDER, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_the_configuration_and_the_rules_are_good() -> None:
    assert "FAILED" not in promtool("check", "config", "prometheus.yml")


def test_alerts_fire_when_they_must_and_not_otherwise() -> None:
    assert "SUCCESS" in promtool("test", "rules", "rules_test.yaml")


@pytest.mark.parametrize("alert", ALERTS)
def test_each_alert_has_a_case_that_fires_it(alert: str) -> None:
    assert any(case["alertname"] == alert and case["exp_alerts"] for case in CASES)


@pytest.mark.parametrize("alert", ALERTS)
def test_each_alert_leads_to_a_row_of_the_incident_table(alert: str) -> None:
    rule = ALERTS[alert]
    assert rule["labels"]["severity"] in ("page", "ticket", "info")
    assert rule["annotations"]["runbook"] == f"docs/operations.md#{alert.lower()}"
    assert f'<a id="{alert.lower()}"></a>' in (HOME / "docs" / "operations.md").read_text("utf-8")


def known_series() -> set[str]:
    """Whatever an expression may ask for: what an arena shows, what is recorded, and what every target has."""
    shown = {sample.name for family in families(specimen()) for sample in family.samples}
    return shown | {rule["record"] for rule in rules("recording.yaml")} | {"up"}


@pytest.mark.parametrize(
    "rule", [*rules("recording.yaml"), *ALERTS.values()], ids=lambda rule: str(next(iter(rule.values())))
)
def test_a_rule_asks_for_series_that_there_are(rule: dict[str, Any]) -> None:
    asked = set(re.findall(r"\b(?:[a-z_]+:)?(?:wakeng|process)_[a-z_]+(?::[a-z0-9_]+)?|\bup\b", rule["expr"]))
    assert asked
    assert asked - known_series() == set()
