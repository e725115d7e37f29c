"""Traces by OpenTelemetry: of each sampled hand one trace, with a span for the hand and one for each decision in it.

The trace's id follows from the hand's ids, by `trace_id`. So whoever knows a hand from a record, the journal or the log
finds its trace without a search, and the choice of hands is the same on every machine: a hand that is played again
elsewhere under a new attempt is sampled by itself. An arena that sends no traces has no such watcher, and imports none
of this; of a hand that is not sampled a decision costs one look into a dictionary.
"""

import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, Final

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, set_span_in_context

from wakeng.engine import Fault
from wakeng.services.table import Decided, HandSpec, Table
from wakeng.services.version import ARENA_VERSION

MOST_OPEN: Final = 10_000
"""Hands in play that are traced at once; beyond that the oldest is given up, which a stopped match may have dropped."""
_SEND_WITHIN: Final = 2
"""Seconds a batch may take, and so the end of an arena whose receiver is gone; an SDK of its own waits ten."""


def trace_id(match_id: str, hand_index: int, attempt: int) -> int:
    """The id of a hand's trace, 128 bits."""
    return int.from_bytes(sha256(f"{match_id}/{hand_index}/{attempt}".encode()).digest()[:16])


def sampled(id_: int, share: float) -> bool:
    """Whether a trace belongs to that share of all."""
    return id_ & (2**64 - 1) < share * 2**64


class TraceWatcher:
    """Makes spans of what happens at the tables. Nothing here waits: a thread of the SDK's sends them."""

    def __init__(self, exporter: SpanExporter, *, sample: float, clock_ns: Callable[[], int] = time.time_ns) -> None:
        self._ids = _HandIds()
        resource = Resource.create({"service.name": "wakeng-arena", "service.version": ARENA_VERSION})
        self._provider = TracerProvider(resource=resource, id_generator=self._ids, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer: Tracer = self._provider.get_tracer("wakeng.services", ARENA_VERSION)
        self._sample = sample
        self._clock_ns = clock_ns
        self._open: dict[Table, Span] = {}

    def close(self) -> None:
        """Send what is left, which may take seconds; what nobody takes is dropped."""
        self._provider.shutdown()

    def hand_started(self, table: Table) -> None:
        """Begins a trace where the hand is sampled."""
        spec = table.spec
        id_ = trace_id(spec.match_id, spec.hand_index, spec.attempt)
        if not sampled(id_, self._sample):
            return
        if len(self._open) >= MOST_OPEN:
            self._end(next(iter(self._open)), "given up: too many hands are open")
        self._ids.trace_id = id_
        self._open[table] = self._tracer.start_span(
            "hand", kind=SpanKind.INTERNAL, attributes=_hand_attributes(spec), start_time=self._clock_ns()
        )

    def decided(self, told: Sequence[Decided]) -> None:
        """A span as long as the decision took, which ends now, for each whose hand is sampled."""
        now = self._clock_ns()
        for decided in told:
            if (hand := self._open.get(decided.table)) is not None:
                self._span(hand, decided, now)

    def _span(self, hand: Span, decided: Decided, now: int) -> None:
        span = self._tracer.start_span(
            "decision",
            context=set_span_in_context(hand),
            kind=SpanKind.CLIENT,
            attributes={
                "wakeng.seat": decided.seat,
                "wakeng.bot": decided.table.spec.names[decided.seat].bot,
                "wakeng.phase": decided.phase.value,
                "wakeng.action": decided.action,
            },
            start_time=now - 1000 * decided.latency_us,
        )
        if decided.fault is not None:
            span.set_attribute("wakeng.fault", decided.fault.value)
            span.set_status(Status(StatusCode.ERROR, decided.fault.value))
        span.end(now)

    def faulted(self, table: Table, seat: int, fault: Fault) -> None:
        """An event of the hand."""
        if (hand := self._open.get(table)) is not None:
            attributes: dict[str, Any] = {
                "wakeng.seat": seat,
                "wakeng.bot": table.spec.names[seat].bot,
                "wakeng.fault": fault.value,
            }
            hand.add_event("fault", attributes, self._clock_ns())

    def hand_ended(self, table: Table) -> None:
        """The trace is whole."""
        if (hand := self._open.get(table)) is not None:
            result = table.hand.result
            assert result is not None
            hand.set_attribute("wakeng.winner", result.winner.value)
            self._end(table)

    def hand_voided(self, table: Table, reason: str) -> None:
        """The trace is whole, and says why there is no record."""
        if table in self._open:
            self._end(table, f"voided: {reason}")

    def _end(self, table: Table, error: str | None = None) -> None:
        hand = self._open.pop(table)
        if error is not None:
            hand.set_status(Status(StatusCode.ERROR, error))
        hand.end(self._clock_ns())


def _hand_attributes(spec: HandSpec) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "wakeng.match_id": spec.match_id,
        "wakeng.hand_index": spec.hand_index,
        "wakeng.attempt": spec.attempt,
        "wakeng.rules": spec.rules.preset,
        "wakeng.bots": [name.bot for name in spec.names],
    }
    return attributes | {f"wakeng.schedule.{name}": value for name, value in (spec.schedule or {}).items()}


class _HandIds(RandomIdGenerator):
    """Gives the next trace the id that it was told."""

    trace_id = 0

    def generate_trace_id(self) -> int:
        return self.trace_id


def open_traces(endpoint: str, *, sample: float) -> TraceWatcher:
    """Sends traces to an OTLP receiver over gRPC, http://HOST:PORT or https://HOST:PORT."""
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

    exporter = OTLPSpanExporter(endpoint=endpoint, insecure=endpoint.startswith("http:"), timeout=_SEND_WITHIN)
    return TraceWatcher(exporter, sample=sample)
