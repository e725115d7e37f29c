"""What is counted of a record is what its decisions say, and a histogram tells the same however its values come."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tests.services.records import played
from wakeng.services.gist import Gist
from wakeng.services.histogram import Histogram


def test_a_gist_has_the_latencies_of_each_seat_and_phase_in_their_order() -> None:
    record = played(preset="xian")
    for number, decision in enumerate(record["decisions"]):
        decision["latency_us"] = number
    gist = Gist.of(record)
    for (seat, phase), latencies in gist.latencies.items():
        told = [one["latency_us"] for one in record["decisions"] if (one["seat"], one["phase"]) == (seat, phase)]
        assert latencies == told
    assert sum(map(len, gist.latencies.values())) == len(record["decisions"])


def test_a_gist_knows_the_faulty_decisions_by_number_and_keeps_no_other() -> None:
    record = played()
    record["decisions"][2]["fault"] = "DEADLINE"
    gist = Gist.of(record)
    assert gist.faults == {2: record["decisions"][2]}
    assert {**gist.head, "decisions": record["decisions"]} == record


def test_a_hand_that_was_given_away_at_once_has_no_answers() -> None:
    gist = Gist.of(played(escaped_seat=1))
    assert (gist.latencies, gist.faults) == ({}, {})


@given(st.lists(st.lists(st.integers(0, 99))), st.integers(1, 5000))
def test_a_histogram_counts_every_value_whatever_came_together(parts: list[list[int]], times: int) -> None:
    histogram = Histogram(lambda value: value // 10)
    for part in parts:
        histogram.add(part)
    histogram.add([7] * times)
    histogram.take_out([7])
    due = Counter(value // 10 for part in parts for value in part) + Counter({0: times - 1})
    assert +histogram.counts == due
