"""The metrics count what happened, under labels that no bot can multiply."""

import re
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

import pytest
from prometheus_client.parser import text_string_to_metric_families

from wakeng.engine import Fault, Phase, Winner
from wakeng.services.errors import MetricsError
from wakeng.services.metrics import LeaseFigures, Metrics, TournamentFigures, serve_metrics

fetch = build_opener(ProxyHandler({})).open


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(name, labels)


def test_hands_and_faults_are_counted_by_kind() -> None:
    metrics = Metrics()
    metrics.hand("xian", Winner.DIGGER)
    metrics.hand("xian", Winner.DIGGER)
    metrics.bot("greedy").fault(Fault.DEADLINE)
    assert value(metrics, "wakeng_hands_total", rules="xian", winner="DIGGER") == 2
    assert value(metrics, "wakeng_faults_total", bot="greedy", fault="DEADLINE") == 1
    assert value(metrics, "wakeng_faults_total", bot="greedy", fault="STALE") == 0


def test_answers_that_count_for_nothing_are_counted() -> None:
    metrics = Metrics()
    metrics.bot("b").late()
    metrics.bot("b").stale(3)
    assert value(metrics, "wakeng_late_answers_total", bot="b") == 1
    assert value(metrics, "wakeng_stale_answers_total", bot="b") == 3


def test_decisions_are_counted_and_their_latency_falls_into_its_bucket() -> None:
    metrics = Metrics()
    for latency_us in (0, 50, 51, 1_000_000, 2_000_001):
        metrics.bot("b").decisions(Phase.PLAY, latency_us)
    labels = {"bot": "b", "phase": "PLAY"}
    assert value(metrics, "wakeng_decisions_total", **labels) == 5
    buckets = {"5e-05": 2, "0.0001": 3, "0.5": 3, "1": 4, "2": 4, "+Inf": 5}
    for le, count in buckets.items():
        assert value(metrics, "wakeng_decision_latency_seconds_bucket", **labels, le=le) == count
    assert value(metrics, "wakeng_decision_latency_seconds_count", **labels) == 5
    assert value(metrics, "wakeng_decision_latency_seconds_sum", **labels) == pytest.approx(3.000102)


def test_a_phase_that_was_never_asked_is_not_shown() -> None:
    metrics = Metrics()
    metrics.bot("b").decisions(Phase.BID, 1)
    assert value(metrics, "wakeng_decisions_total", bot="b", phase="GRAB") is None


def test_tables_and_matches_come_and_go() -> None:
    metrics = Metrics()
    metrics.tables_running.inc()
    metrics.matches_running.inc(2)
    metrics.matches_running.dec()
    metrics.journal_lines.inc(7)
    assert value(metrics, "wakeng_tables_running") == 1
    assert value(metrics, "wakeng_matches_running") == 1
    assert value(metrics, "wakeng_journal_lines_total") == 7


def test_a_bot_has_its_metrics_once() -> None:
    metrics = Metrics()
    assert metrics.bot("b") is metrics.bot("b")
    assert metrics.bot("b") is not metrics.bot("c")


def test_bots_past_the_bound_share_a_label() -> None:
    metrics = Metrics(most_bots=2)
    for number in range(10):
        metrics.bot(f"b{number}").decisions(Phase.PLAY, 1)
    labels = [sample.labels for family in metrics.registry.collect() for sample in family.samples]
    assert {label["bot"] for label in labels if "bot" in label} == {"b0", "b1", "other"}
    assert value(metrics, "wakeng_decisions_total", bot="other", phase="PLAY") == 8


class InPlay:
    """A tournament that stands as it is told to."""

    def __init__(self, id_: str, **figures: float | None) -> None:
        self.id = id_
        given: dict[str, Any] = {
            "hands_recorded": 30,
            "tables_running": 4,
            "hands_queued": 266,
            "blocks_completed": 9,
            "blocks_planned": 100,
            "oldest_block_since": 1000.0,
            "last_progress": 2000.0,
            **figures,
        }
        self._figures = TournamentFigures(**given)

    def figures(self) -> TournamentFigures:
        return self._figures


def test_a_tournament_shows_how_far_it_is_for_as_long_as_it_is_played() -> None:
    metrics = Metrics()
    tournament = InPlay("t")
    metrics.tournaments.add(tournament)
    found = {
        name: value(metrics, f"wakeng_tournament_{name}", tournament="t")
        for name in (
            "hands_recorded hands_queued tables_running blocks_completed blocks_planned"
            " oldest_block_timestamp_seconds last_progress_timestamp_seconds"
        ).split()
    }
    assert list(found.values()) == [30, 266, 4, 9, 100, 1000, 2000]
    metrics.tournaments.discard(tournament)
    assert value(metrics, "wakeng_tournament_hands_queued", tournament="t") is None


def test_a_tournament_without_end_has_no_queue() -> None:
    metrics = Metrics()
    metrics.tournaments.add(InPlay("t", hands_queued=None, blocks_planned=None))
    assert value(metrics, "wakeng_tournament_hands_queued", tournament="t") is None
    assert value(metrics, "wakeng_tournament_hands_recorded", tournament="t") == 30


def test_tournaments_past_the_bound_share_a_label_that_tells_the_worst_of_them() -> None:
    metrics = Metrics(most_tournaments=2)
    for number in range(9):
        metrics.tournaments.add(InPlay(f"t{number}", last_progress=2000.0 - number))
    labels = [sample.labels for family in metrics.registry.collect() for sample in family.samples]
    assert {label["tournament"] for label in labels if "tournament" in label} == {"t0", "t1", "other"}
    assert value(metrics, "wakeng_tournament_hands_queued", tournament="other") == 7 * 266
    assert value(metrics, "wakeng_tournament_last_progress_timestamp_seconds", tournament="other") == 1992


def test_leases_are_told_by_bot_under_bounded_labels() -> None:
    metrics = Metrics(most_bots=2)
    metrics.leases = lambda: [LeaseFigures(f"b{number}", number, 10) for number in range(5)]
    assert value(metrics, "wakeng_bot_leases", bot="b1") == 1
    assert value(metrics, "wakeng_bot_lease_limit", bot="b1") == 10
    assert value(metrics, "wakeng_bot_leases", bot="other") == 2 + 3 + 4
    assert value(metrics, "wakeng_bot_lease_limit", bot="other") == 30


def test_arenas_do_not_share_metrics() -> None:
    one, other = Metrics(), Metrics()
    one.hand("xian", Winner.DEFENDERS)
    assert value(other, "wakeng_hands_total", rules="xian", winner="DEFENDERS") is None


def test_names_and_help_texts_follow_the_conventions() -> None:
    metrics = Metrics()
    ours = [family for family in metrics.registry.collect() if not family.name.startswith("process_")]
    assert len(ours) >= 9
    for family in ours:
        assert re.fullmatch(r"wakeng_[a-z_]+(?<!_total)", family.name)
        assert re.fullmatch(r"[A-Z].+\.", family.documentation)


def test_metrics_are_served_to_prometheus() -> None:
    metrics = Metrics()
    metrics.bot('we"ird\n').decisions(Phase.PLAY, 1)
    server = serve_metrics(metrics, "127.0.0.1:0")
    with fetch(f"http://{server.address}/metrics") as answer:
        families = {family.name: family for family in text_string_to_metric_families(answer.read().decode())}
    server.close()
    assert families["wakeng_decisions"].samples[0].labels == {"bot": 'we"ird\n', "phase": "PLAY"}
    with pytest.raises(URLError):
        fetch(f"http://{server.address}/metrics")


@pytest.mark.parametrize("address", ["", "9464", ":9464", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "h:-1"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(MetricsError, match="an address looks like"):
        serve_metrics(Metrics(), address)


def test_an_address_in_use_is_refused() -> None:
    server = serve_metrics(Metrics(), "127.0.0.1:0")
    with pytest.raises(MetricsError, match="cannot serve metrics"):
        serve_metrics(Metrics(), server.address)
    server.close()
