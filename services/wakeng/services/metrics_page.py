"""docs/metrics.md, made from the metrics themselves: one of each is counted, and what the registry shows is told."""

from collections.abc import Mapping
from typing import Final

from prometheus_client.core import Metric

from wakeng.engine import Fault, Phase, Winner
from wakeng.services.metrics import MOST_BOTS, MOST_TOURNAMENTS, LeaseFigures, Metrics, TournamentFigures

LABELS: Final[Mapping[str, tuple[str, str]]] = {
    "bot": ("a bot's registered or built-in name, or its address", f"{MOST_BOTS}, and `other` for those after them"),
    "code": ("a gRPC status", "17"),
    "fault": ("a fault (protocol.md 7)", "8"),
    "method": ("a call that the arena serves, such as `/wakeng.v1.MatchService/GetMatch`", "as many as it serves"),
    "phase": ("a phase of the game (rules.md)", "as many as the rules played have"),
    "protocol": ("the version of the wire", "1"),
    "python": ("the version of Python", "1"),
    "rules": ("a preset", "10"),
    "tournament": ("a tournament in play, by id", f"{MOST_TOURNAMENTS}, and `other` for those after them"),
    "version": ("the version of the arena", "1"),
    "winner": ("`DIGGER`, `DEFENDERS` or `ESCAPED`", "3"),
}
"""By label: what it is, and how many values it has at most."""

_HEAD: Final = """\
# Metrics

What `wakeng serve --metrics ADDR` shows Prometheus at http://ADDR/metrics. This page is made from the code (`make
goldens`), and a test holds the two together; rules, alerts and a dashboard that use these are in
[deploy/prometheus](../deploy/prometheus) and [deploy/grafana](../deploy/grafana), what to do about them in
[operations.md](operations.md).

Names follow Prometheus' conventions: base units (seconds, bytes), `_total` for counters, and no series with the time
at which a counter began. There are no exemplars. Labels are bounded, so that no caller and no bot can multiply series:
a bot goes by the name under which it was seated, never by what it calls itself.

"""


class _Specimen:
    """A tournament in play."""

    id = "t"

    def figures(self) -> TournamentFigures:
        return TournamentFigures(
            hands_recorded=1,
            tables_running=1,
            hands_queued=1,
            blocks_completed=1,
            blocks_planned=1,
            oldest_block_since=1,
            last_progress=1,
        )


def specimen() -> Metrics:
    """Metrics in which each has been counted once."""
    metrics = Metrics()
    bot = metrics.bot("b")
    bot.decisions(Phase.PLAY, 1)
    bot.fault(Fault.DEADLINE)
    metrics.hand("xian", Winner.DIGGER)
    metrics.call("/wakeng.v1.MatchService/GetMatch", "OK", 0.001)
    metrics.tournaments.add(_Specimen())
    metrics.leases = lambda: [LeaseFigures("b", 1, 1)]
    return metrics


def families(metrics: Metrics) -> list[Metric]:
    """Every metric, in the order in which they are declared."""
    return list(metrics.registry.collect())


def labels_of(family: Metric) -> list[str]:
    """The labels of a metric, but for the bounds of a histogram."""
    return sorted({label for sample in family.samples for label in sample.labels} - {"le"})


def shown_name(family: Metric) -> str:
    """As it is asked for: a counter by its `_total`, and information by its `_info`."""
    return family.name + {"counter": "_total", "info": "_info"}.get(family.type, "")


def metrics_page() -> str:
    """The whole page."""
    rows = [
        f"| `{shown_name(family)}` | {family.type} | {', '.join(labels_of(family))} | {family.documentation} |"
        for family in families(specimen())
    ]
    labels = [f"| `{label}` | {what} | {most} |" for label, (what, most) in LABELS.items()]
    return (
        _HEAD
        + "| metric | type | labels | meaning |\n|---|---|---|---|\n"
        + "\n".join(rows)
        + "\n\n## Labels\n\n| label | what | values at most |\n|---|---|---|\n"
        + "\n".join(labels)
        + "\n"
    )
