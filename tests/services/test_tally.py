"""The tally: what a match comes to is a fold over its records, in any order."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.services.records import played
from wakeng.services.tally import Latencies, SeatTally, Tally

RECORDS = [played(hand_index=index, preset="xian", latency_us=100 + index) for index in range(30)]
FORFEIT = played(hand_index=30, preset="xian", escaped_seat=2)


def test_every_sum_is_that_of_the_records() -> None:
    tally = Tally.of(3, RECORDS)
    assert tally.hands == 30
    for i, seat in enumerate(tally.seats):
        results = [record["result"] for record in RECORDS]
        assert seat.score == sum(result["scores"][i] for result in results)
        assert (seat.as_digger, seat.as_defender) == (
            sum(result["digger"] == i for result in results),
            sum(result["digger"] != i for result in results),
        )
        assert seat.won_as_digger == sum(r["digger"] == i and r["winner"] == "DIGGER" for r in results)
        assert seat.won_as_defender == sum(r["digger"] != i and r["winner"] == "DEFENDERS" for r in results)
        assert seat.decisions == seat.latencies.count == sum(d["seat"] == i for r in RECORDS for d in r["decisions"])
        assert (seat.escapes, seat.faults) == (0, Counter())
    assert tally.decisions == sum(len(record["decisions"]) for record in RECORDS)


def test_the_order_of_records_does_not_matter() -> None:
    shuffled = random.Random(1).sample([*RECORDS, FORFEIT], 31)
    assert of_seats(Tally.of(3, shuffled)) == of_seats(Tally.of(3, [*RECORDS, FORFEIT]))


def of_seats(tally: Tally) -> list[dict[str, Any]]:
    return [seat.to_dict() for seat in tally.seats]


def test_an_escaped_hand_is_nobodys_as_digger_or_defender() -> None:
    tally = Tally.of(3, [FORFEIT])
    assert [seat.escapes for seat in tally.seats] == [0, 0, 1]
    assert [seat.as_digger + seat.as_defender for seat in tally.seats] == [0, 0, 0]
    assert tally.seats[2].faults == {"NOT_READY": 1}
    assert tally.seats[2].score < 0


def test_faults_are_counted_in_decisions_and_beside_them() -> None:
    record = {
        "result": {"winner": "DIGGER", "digger": 0, "scores": [2, -1, -1], "task_bonus": [4, 0, 0]},
        "decisions": [
            {"seat": 1, "phase": "PLAY", "latency_us": 5, "fault": "DEADLINE"},
            {"seat": 1, "phase": "PLAY", "latency_us": 5, "fault": "DEADLINE"},
            {"seat": 1, "phase": "PLAY", "latency_us": 5},
        ],
        "faults": [{"seat": 1, "fault": "STALE", "count": 7}],
    }
    tally = Tally.of(3, [record])
    assert tally.seats[1].faults == {"DEADLINE": 2, "STALE": 7}
    assert tally.seats[1].decisions == 3
    assert [seat.task_bonus for seat in tally.seats] == [4, 0, 0]


def test_a_seat_without_decisions_has_no_latency() -> None:
    assert SeatTally().to_dict()["latency_p50_us"] is None


@given(st.lists(st.integers(0, 2**31 - 1), min_size=1), st.sampled_from([1, 50, 90, 99, 100]))
def test_a_percentile_is_right_to_a_sixteenth(latencies: list[int], percent: int) -> None:
    kept = Latencies()
    for latency in latencies:
        kept.add(latency)
    exact = sorted(latencies)[-(-len(latencies) * percent // 100) - 1]
    found = kept.percentile(percent)
    assert found is not None and exact <= found <= exact + exact / 16


@pytest.mark.parametrize("value", [*range(100), 2**20 - 1, 2**20, 2**31 - 1])
def test_a_small_latency_is_kept_as_it_is(value: int) -> None:
    kept = Latencies()
    kept.add(value)
    found = kept.percentile(50)
    assert found is not None and value <= found <= value + value // 16
    assert found == value or value >= 32
