"""Token buckets: so many at once, so many a second, and no more of them remembered than may be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wakeng.services.ratelimit import RateLimit


class Clock:
    """Time that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_burst_then_one_by_one(clock: Clock) -> None:
    limit = RateLimit(clock, rate=2.0, burst=3.0)
    assert [limit.take("a") for _ in range(3)] == [0, 0, 0]
    assert limit.take("a") == pytest.approx(0.5)
    clock.now += 0.25
    assert limit.take("a") == pytest.approx(0.25)
    clock.now += 0.25
    assert limit.take("a") == 0
    assert limit.take("a") > 0


def test_to_be_refused_costs_nothing(clock: Clock) -> None:
    limit = RateLimit(clock, rate=1.0, burst=1.0)
    limit.take("a")
    assert {round(limit.take("a"), 6) for _ in range(1000)} == {1.0}
    clock.now += 1.0
    assert limit.take("a") == 0


def test_a_bucket_never_holds_more_than_a_burst(clock: Clock) -> None:
    limit = RateLimit(clock, rate=10.0, burst=5.0)
    limit.take("a")
    clock.now += 1e6
    assert sum(limit.take("a") == 0 for _ in range(100)) == 5


def test_callers_do_not_share(clock: Clock) -> None:
    limit = RateLimit(clock, rate=1.0, burst=1.0)
    assert limit.take("a") == limit.take("b") == 0
    assert limit.take("a") > 0
    assert limit.wait("a") > 0
    assert limit.wait("c") == 0


def test_a_full_bucket_is_forgotten(clock: Clock) -> None:
    limit = RateLimit(clock, rate=1.0, burst=2.0)
    for caller in range(10):
        limit.take(caller)
    clock.now += 2.0
    for _ in range(10):
        limit.take("last")
        clock.now += 1.0
    assert len(limit) == 1
    assert "last" in limit


@given(st.lists(st.tuples(st.integers(0, 40), st.floats(0, 0.2)), max_size=300))
def test_no_more_are_remembered_than_may_be(calls: list[tuple[int, float]]) -> None:
    clock = Clock()
    limit = RateLimit(clock, rate=1.0, burst=4.0, most=16)
    for caller, pause in calls:
        clock.now += pause
        limit.take(caller)
        assert len(limit) <= 16


@given(st.lists(st.floats(0, 1.0), max_size=200))
def test_nobody_calls_more_than_burst_and_rate_allow(pauses: list[float]) -> None:
    clock = Clock()
    limit = RateLimit(clock, rate=3.0, burst=4.0)
    allowed = 0
    for pause in pauses:
        clock.now += pause
        allowed += limit.take("a") == 0
        assert allowed <= 4.0 + 3.0 * (clock.now - 1_000.0) + 1e-6
