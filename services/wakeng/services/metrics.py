"""What the arena counts, and where Prometheus can read it.

Decisions are counted by the hundred thousand a second, so their tallies are plain numbers that one thread adds to and
the collector only reads: a fifth of the cost of the client library's own counters, which lock. What happens rarely uses
those. Labels are bounded: a bot goes by its registered or seat name, never by what it calls itself, and those past the
first so many share one name.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from http.server import HTTPServer
from platform import python_version
from threading import Thread
from typing import Final, Protocol

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    ProcessCollector,
    disable_created_metrics,
    start_http_server,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from wakeng.engine import Fault, Phase, Side, Winner
from wakeng.sdk.bot import PROTOCOL_VERSION
from wakeng.services.errors import MetricsError
from wakeng.services.version import ARENA_VERSION

MOST_BOTS: Final = 100
OTHER: Final = "other"
"""The bot label of all bots past the first MOST_BOTS, and that of tournaments past MOST_TOURNAMENTS."""
MOST_TOURNAMENTS: Final = 20
"""Tournaments in play that have a label of their own."""

_BOUNDS_US: Final = (
    50, 100, 250, 500,
    1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_000_000,
)  # fmt: skip
_STORE_BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_DELAY_BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5)
_CALL_BOUNDS: Final = (0.005, 0.025, 0.1, 0.5, 2.5, 10, 60)
_LE: Final = (*(f"{bound / 1e6:g}" for bound in _BOUNDS_US), "+Inf")


class _Latencies:
    """The decisions of one bot in one phase: how many by latency, and their sum."""

    __slots__ = ("counts", "total_us")

    def __init__(self) -> None:
        self.counts = [0] * len(_LE)
        self.total_us = 0

    def buckets(self) -> list[tuple[str, float]]:
        """As Prometheus has them: each holds all below it too."""
        count, found = 0, []
        for le, more in zip(_LE, list(self.counts), strict=True):
            count += more
            found.append((le, float(count)))
        return found


class BotMetrics:
    """What is counted of one bot, with its labels bound once."""

    def __init__(self, metrics: "Metrics", name: str) -> None:
        """For `Metrics.bot`."""
        self.name = name
        """The label."""
        self.latencies: Final[dict[Phase, _Latencies]] = {phase: _Latencies() for phase in Phase}
        self._faults: Final = {
            fault: metrics.faults.labels(bot=name, fault=fault.value)
            for fault in Fault
            if fault.side is not Side.ARENA  # No bot's; it shows in the hands voided.
        }
        self._late = metrics.late_answers.labels(bot=name)
        self._stale = metrics.stale_answers.labels(bot=name)

    def decisions(self, phase: Phase, latency_us: int, count: int = 1) -> None:
        """So many decisions were applied that took so long each."""
        tally = self.latencies[phase]
        tally.counts[bisect_left(_BOUNDS_US, latency_us)] += count
        tally.total_us += count * latency_us

    def fault(self, fault: Fault, count: int = 1) -> None:
        """Faults of a kind, in decisions or outside."""
        self._faults[fault].inc(count)

    def late(self, count: int = 1) -> None:
        """Answers to questions that were over; they cost nothing."""
        self._late.inc(count)

    def stale(self, count: int = 1) -> None:
        """Answers to questions never asked of this bot."""
        self._stale.inc(count)


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentFigures:
    """How a tournament in play stands. Times are seconds since 1970."""

    hands_recorded: int
    tables_running: int
    hands_queued: int | None
    """Hands that have neither a record nor a table; None for a tournament without end."""
    blocks_completed: int
    """The prefix; so this is also the number of the oldest block that is not complete."""
    blocks_planned: int | None
    oldest_block_since: float
    """When the oldest incomplete block became that."""
    last_progress: float
    """When a hand of it last ended."""


class InPlay(Protocol):
    """A tournament in play."""

    @property
    def id(self) -> str:
        """Its label."""

    def figures(self) -> TournamentFigures:
        """Called by another thread than the one that plays."""


@dataclass(frozen=True, slots=True)
class LeaseFigures:
    """The leases of a seated bot."""

    bot: str
    taken: int
    limit: int


class Metrics:
    """The arena's metrics, in a registry of their own."""

    def __init__(self, *, most_bots: int = MOST_BOTS, most_tournaments: int = MOST_TOURNAMENTS) -> None:
        # When each series began is a series more for every one there is, which nobody asks for: `up` tells of restarts.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        registry = self.registry = CollectorRegistry()
        self.hands = Counter(
            "wakeng_hands", "Hands that ended, by preset and by winner.", ["rules", "winner"], registry=registry
        )
        self.hands_voided = Counter(
            "wakeng_hands_voided",
            "Hands given up for a failure of the arena's own, and played again.",
            registry=registry,
        )
        self.faults = Counter(
            "wakeng_faults", "Faults, by bot and kind (docs/protocol.md 7).", ["bot", "fault"], registry=registry
        )
        self.late_answers = Counter(
            "wakeng_late_answers", "Answers that came after their deadline.", ["bot"], registry=registry
        )
        self.stale_answers = Counter(
            "wakeng_stale_answers", "Answers to an id never asked of the bot.", ["bot"], registry=registry
        )
        self.journal_lines = Counter("wakeng_journal_lines", "Lines written to the journal.", registry=registry)
        self.journal_failures = Counter(
            "wakeng_journal_write_failures",
            "Times the disk did not take what the journal had to write; nothing is lost while there is memory.",
            registry=registry,
        )
        self.store_records = Counter(
            "wakeng_store_records", "Records of hands that the store has taken.", registry=registry
        )
        self.store_failures = Counter(
            "wakeng_store_write_failures",
            "Batches of records that the store did not take within its two minutes; what is played then ends.",
            registry=registry,
        )
        self.store_away = Gauge(
            "wakeng_store_away",
            "Whether the store is away (1), and what it was asked is tried again, which it is for two minutes.",
            registry=registry,
        )
        self.store_write = Histogram(
            "wakeng_store_write_seconds",
            "Time the store took for a batch of records, from its encoded lines to their commit.",
            buckets=_STORE_BOUNDS,
            registry=registry,
        )
        self.records_waiting = Gauge(
            "wakeng_records_waiting", "Records of ended hands that are not in the store yet.", registry=registry
        )
        self.loop_delay = Histogram(
            "wakeng_event_loop_delay_seconds",
            "How late the event loop was, looked at twice a second; what holds it holds every table.",
            buckets=_DELAY_BOUNDS,
            registry=registry,
        )
        self._calls = Histogram(
            "wakeng_call_seconds",
            "Duration of calls to the arena's own services, by method and gRPC status.",
            ["method", "code"],
            buckets=_CALL_BOUNDS,
            registry=registry,
        )
        self._unknown_calls = Counter(
            "wakeng_unknown_calls", "Calls of methods that the arena does not have.", registry=registry
        )
        Info("wakeng_build", "Which arena this is.", registry=registry).info(
            {"version": ARENA_VERSION, "python": python_version(), "protocol": str(PROTOCOL_VERSION)}
        )
        self.tables_running = Gauge("wakeng_tables_running", "Hands in play.", registry=registry)
        self.tables_free = Gauge(
            "wakeng_tables_free", "Hands more that matches and tournaments in play may have in play.", registry=registry
        )
        self.blocks_given_up = Counter(
            "wakeng_blocks_given_up",
            "Blocks of tournaments struck off because workers failed at them too often.",
            registry=registry,
        )
        self.block_failures = Counter(
            "wakeng_block_failures", "Attempts at blocks that failed at this worker.", registry=registry
        )
        self.worker_blocks = Counter(
            "wakeng_worker_blocks", "Blocks that this worker played to their end.", registry=registry
        )
        self.worker_blocks_held = Gauge(
            "wakeng_worker_blocks_held", "Blocks that this worker has taken from the queue.", registry=registry
        )
        self.matches_running = Gauge("wakeng_matches_running", "Matches being played.", registry=registry)
        self.tournaments: set[InPlay] = set()
        """Those in play."""
        self.leases: Callable[[], Iterable[LeaseFigures]] = lambda: ()
        """Those of all seated bots; put in place by who seats them, and called by another thread."""
        self._bots: dict[str, BotMetrics] = {}
        self._most_bots = most_bots
        registry.register(_Decisions(self._bots))
        registry.register(_Leases(self))
        registry.register(_Tournaments(self.tournaments, most_tournaments))
        ProcessCollector(registry=registry)  # Memory, processor time and open files of the arena's process.

    def bot(self, name: str) -> BotMetrics:
        """The metrics of a bot by its registered or seat name, the same each time; `other` once there are too many."""
        found = self._bots.get(name)
        if found is None:
            if len(self._bots) >= self._most_bots and name != OTHER:
                return self.bot(OTHER)
            found = self._bots[name] = BotMetrics(self, name)
        return found

    def call(self, method: str, code: str, seconds: float) -> None:
        """A call of a method that there is has ended."""
        self._calls.labels(method=method, code=code).observe(seconds)

    def unknown_call(self) -> None:
        """A call of one that there is not."""
        self._unknown_calls.inc()

    def hand(self, rules: str, winner: Winner) -> None:
        """A hand of a preset ended."""
        self.hands.labels(rules=rules, winner=winner.value).inc()


class _Decisions(Collector):
    """Reads the tallies when Prometheus asks. A phase is shown from its first decision on: no preset has them all."""

    def __init__(self, bots: dict[str, BotMetrics]) -> None:
        self._bots = bots

    def collect(self) -> Iterator[Metric]:
        labels = ["bot", "phase"]
        decisions = CounterMetricFamily("wakeng_decisions", "Decisions applied, by bot and phase.", labels=labels)
        latencies = HistogramMetricFamily(
            "wakeng_decision_latency_seconds",
            "Time from handing a question to the transport to its answer, or its fault.",
            labels=labels,
        )
        for bot in list(self._bots.values()):
            for phase, tally in bot.latencies.items():
                buckets = tally.buckets()
                if count := buckets[-1][1]:
                    decisions.add_metric([bot.name, phase.value], count)
                    latencies.add_metric([bot.name, phase.value], buckets, tally.total_us / 1e6)
        yield decisions
        yield latencies


class _Leases(Collector):
    """The hands that seated bots have in play, and may have."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        taken, limits = dict[str, int](), dict[str, int]()
        for lease in self._metrics.leases():
            label = self._metrics.bot(lease.bot).name
            taken[label] = taken.get(label, 0) + lease.taken
            limits[label] = limits.get(label, 0) + lease.limit
        yield _gauge("wakeng_bot_leases", "Hands in play of seated bots.", "bot", taken)
        help_ = "Hands that seated bots may have in play, by their own word and as they keep their time."
        yield _gauge("wakeng_bot_lease_limit", help_, "bot", limits)


_TOURNAMENTS: Final[dict[str, tuple[str, str, Callable[[list[float]], float]]]] = {
    "hands_recorded": ("hands_recorded", "Hands that have a record.", sum),
    "hands_queued": ("hands_queued", "Hands of the plan that have neither a record nor a table.", sum),
    "tables_running": ("tables_running", "Hands in play.", sum),
    "blocks_completed": ("blocks_completed", "Blocks of the completed prefix, which alone count.", sum),
    "blocks_planned": ("blocks_planned", "Blocks at most.", sum),
    "oldest_block_since": (
        "oldest_block_timestamp_seconds",
        "Since when the oldest incomplete block has held the prefix up.",
        min,
    ),
    "last_progress": ("last_progress_timestamp_seconds", "When a hand last ended.", min),
}
"""By field of TournamentFigures: the metric's name, its help, and what several under one label come to."""


class _Tournaments(Collector):
    """The tournaments in play by id, those past the first so many under one label."""

    def __init__(self, in_play: set[InPlay], most: int) -> None:
        self._in_play = in_play
        self._most = most

    def collect(self) -> Iterator[Metric]:
        by_label: dict[str, list[TournamentFigures]] = {}
        for tournament in sorted(self._in_play, key=lambda one: one.id):
            label = tournament.id if len(by_label) < self._most else OTHER
            by_label.setdefault(label, []).append(tournament.figures())
        for field, (name, help_, join) in _TOURNAMENTS.items():
            found = {
                label: [value for one in figures if (value := getattr(one, field)) is not None]
                for label, figures in by_label.items()
            }
            values = {label: join(values) for label, values in found.items() if values}
            yield _gauge(f"wakeng_tournament_{name}", f"{help_[:-1]}, by tournament.", "tournament", values)


def _gauge(name: str, help_: str, label: str, values: dict[str, int] | dict[str, float]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, help_, labels=[label])
    for value, number in values.items():
        family.add_metric([value], number)
    return family


class MetricsServer:
    """Serves metrics over HTTP until it is closed."""

    def __init__(self, server: HTTPServer, thread: Thread) -> None:
        """For `serve_metrics`."""
        self._server = server
        self._thread = thread
        host, port = server.server_address[:2]
        host = host.decode() if isinstance(host, bytes) else str(host)
        self.address: Final = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        """Where it listens, HOST:PORT, with the port it was given."""

    def close(self) -> None:
        """Stops listening; to close twice changes nothing."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def serve_metrics(metrics: Metrics, address: str) -> MetricsServer:
    """Serves http://HOST:PORT/metrics from a thread of its own; port 0 takes a free one, MetricsError if it cannot."""
    host, port = _parse(address)
    try:
        return MetricsServer(*start_http_server(port, host, registry=metrics.registry))
    except OSError as problem:
        raise MetricsError(f"cannot serve metrics at {address}: {problem.strerror}") from problem


def _parse(address: str) -> tuple[str, int]:
    host, colon, port = address.rpartition(":")
    with suppress(ValueError):
        if colon and host and 0 <= int(port) <= 65535:
            return host.removeprefix("[").removesuffix("]"), int(port)
    raise MetricsError(f"cannot serve metrics at {address!r}: an address looks like 127.0.0.1:9464")
