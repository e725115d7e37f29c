"""Traces, as a receiver of OTLP gets them: a trace for each sampled hand, a span for each decision in it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

from tests.arena.playing import match, playing
from tests.services.tables import play_on, table
from wakeng.engine import Fault
from wakeng.services import tracing
from wakeng.services.tracing import open_traces, sampled, trace_id

HANDS = 12


@dataclass(slots=True)
class Receiver(trace_service_pb2_grpc.TraceServiceServicer):
    """Takes whatever is sent."""

    address: str = ""
    spans: list[Any] = field(default_factory=list)
    resources: set[str] = field(default_factory=set)

    def Export(self, request: Any, context: Any) -> Any:
        for resource in request.resource_spans:
            self.resources |= {attribute.value.string_value for attribute in resource.resource.attributes}
            for scope in resource.scope_spans:
                self.spans += scope.spans
        return trace_service_pb2.ExportTraceServiceResponse()

    def named(self, name: str) -> list[Any]:
        return [span for span in self.spans if span.name == name]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """One that listens."""
    taking = Receiver()
    server = grpc.server(ThreadPoolExecutor(2))
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(taking, server)  # type: ignore[no-untyped-call]
    taking.address = f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    yield taking
    server.stop(None).wait()


def said(span: Any) -> dict[str, Any]:
    """The attributes of a span."""
    found = {}
    for attribute in span.attributes:
        kind = attribute.value.WhichOneof("value")
        value = getattr(attribute.value, kind)
        found[attribute.key] = [each.string_value for each in value.values] if kind == "array_value" else value
    return found


def id_of(record: dict[str, Any]) -> bytes:
    return trace_id(record["match_id"], record["hand_index"], record["attempt"]).to_bytes(16)


async def test_each_hand_is_a_trace_and_each_decision_a_span_in_it(tmp_path: Path, receiver: Receiver) -> None:
    async with playing(tmp_path) as arena:
        with closing(open_traces(receiver.address, sample=1.0)) as traces:
            arena.arena.watchers.append(traces)
            records = await arena.match(match("greedy", "lowest", "random", hands=HANDS), in_process=True)
    assert "wakeng-arena" in receiver.resources
    hands = {span.trace_id: span for span in receiver.named("hand")}
    assert set(hands) == {id_of(record) for record in records}
    for record in records:
        hand = hands[id_of(record)]
        assert not hand.parent_span_id
        assert said(hand)["wakeng.hand_index"] == record["hand_index"]
        assert said(hand)["wakeng.winner"] == record["result"]["winner"]
        assert said(hand)["wakeng.bots"] == ["greedy", "lowest", "random"]
        decisions = [span for span in receiver.named("decision") if span.trace_id == hand.trace_id]
        assert {span.parent_span_id for span in decisions} == {hand.span_id}
        decisions.sort(key=lambda span: span.end_time_unix_nano)
        assert [(said(span)["wakeng.seat"], said(span)["wakeng.action"]) for span in decisions] == [
            (decision["seat"], decision["action"]) for decision in record["decisions"]
        ]
        took = [(span.end_time_unix_nano - span.start_time_unix_nano) // 1000 for span in decisions]
        assert took == [decision["latency_us"] for decision in record["decisions"]]


async def test_of_a_hand_that_is_not_sampled_nothing_is_sent(tmp_path: Path, receiver: Receiver) -> None:
    async with playing(tmp_path) as arena:
        with closing(open_traces(receiver.address, sample=0.5)) as traces:
            arena.arena.watchers.append(traces)
            records = await arena.match(match("greedy", "lowest", "random", hands=HANDS), in_process=True)
    ids = {id_of(record) for record in records if sampled(int.from_bytes(id_of(record)), 0.5)}
    assert 0 < len(ids) < HANDS
    assert {span.trace_id for span in receiver.spans} == ids


def test_the_share_that_is_sampled_is_the_share_asked_for() -> None:
    ids = [trace_id("m", index, 0) for index in range(10_000)]
    assert sum(sampled(id_, 0.1) for id_ in ids) == pytest.approx(1000, abs=150)
    assert not any(sampled(id_, 0) for id_ in ids)
    assert all(sampled(id_, 1) for id_ in ids)


def test_a_fault_and_a_void_can_be_seen(receiver: Receiver) -> None:
    played = table()
    with closing(open_traces(receiver.address, sample=1.0)) as traces:
        traces.hand_started(played)
        decided = played.fault(Fault.DEADLINE, latency_us=1000)
        assert decided is not None
        traces.decided([decided])
        traces.faulted(played, 1, Fault.STALE)
        traces.hand_voided(played, "ValueError: x")
    (hand,), (decision,) = receiver.named("hand"), receiver.named("decision")
    assert (decision.status.message, said(decision)["wakeng.fault"]) == ("DEADLINE", "DEADLINE")
    assert hand.status.message == "voided: ValueError: x"
    assert [said(event)["wakeng.fault"] for event in hand.events] == ["STALE"]


def test_hands_that_nobody_ends_do_not_pile_up(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "MOST_OPEN", 2)
    tables = [table(hand_index=index) for index in range(3)]
    with closing(open_traces(receiver.address, sample=1.0)) as traces:
        for one in tables:
            traces.hand_started(one)
        for one in tables:
            traces.hand_ended(play_on(one))
    assert [span.status.message for span in receiver.named("hand")] == ["given up: too many hands are open", "", ""]


async def test_an_arena_plays_on_where_nobody_takes_its_traces(tmp_path: Path) -> None:
    async with playing(tmp_path) as arena:
        traces = open_traces("http://127.0.0.1:1", sample=1.0)
        arena.arena.watchers.append(traces)
        records = await arena.match(match("greedy", "lowest", "random", hands=2), in_process=True)
        traces.close()
    assert len(records) == 2
