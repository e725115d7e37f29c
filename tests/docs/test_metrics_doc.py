"""docs/metrics.md is what the code says, and the metrics keep to Prometheus' conventions."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_client import generate_latest
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families

from wakeng.services.metrics_page import LABELS, families, labels_of, metrics_page, specimen

DOCS = Path(__file__).resolve().parents[2] / "docs"
FAMILIES = families(specimen())
OURS = [family for family in FAMILIES if family.name.startswith("wakeng_")]


def named(family: Metric) -> str:
    return family.name


def test_the_golden_page_of_metrics_is_what_the_code_says(golden: Callable[[Path, str], None]) -> None:
    golden(DOCS / "metrics.md", metrics_page())


def test_every_metric_is_ours_or_the_process_own() -> None:
    assert {family.name.split("_")[0] for family in FAMILIES} == {"wakeng", "process"}


@pytest.mark.parametrize("family", OURS, ids=named)
def test_a_name_keeps_to_the_conventions(family: Metric) -> None:
    assert re.fullmatch(r"wakeng_[a-z]+(_[a-z]+)*", family.name)
    assert not re.search(r"_(ms|us|millis\w*|micros\w*|minutes|hours|kb|kib|mb|mib|percent)(_|$)", family.name)
    assert not family.name.endswith("_total") or family.type != "gauge"
    assert not re.search(r"_(bot|phase|rules|tournament)s?_by", family.name)
    if family.type == "histogram":
        assert family.name.endswith("_seconds")
    if "timestamp" in family.name:
        assert family.name.endswith("_timestamp_seconds")


@pytest.mark.parametrize("family", OURS, ids=named)
def test_a_help_text_is_one_sentence(family: Metric) -> None:
    assert re.fullmatch(r"[A-Z][^\n]+\.", family.documentation)


@pytest.mark.parametrize("family", OURS, ids=named)
def test_labels_are_those_that_are_told_and_bounded(family: Metric) -> None:
    assert set(labels_of(family)) <= set(LABELS)


def test_every_label_that_is_told_is_in_use() -> None:
    assert {label for family in FAMILIES for label in labels_of(family)} == set(LABELS)


def test_what_is_shown_can_be_read_and_has_no_exemplars_and_no_dates_of_creation() -> None:
    text = generate_latest(specimen().registry).decode()
    assert "_created" not in text
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    assert samples
    assert all(sample.exemplar is None for sample in samples)
