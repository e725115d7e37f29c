"""What a load test does when, and where it finds the knee."""

from itertools import pairwise
from typing import Any

import pytest

from wakeng.engine import PRESETS
from wakeng.services.loadtest.plan import LoadPlan
from wakeng.services.loadtest.report import knee


def plan(**changes: Any) -> LoadPlan:
    values: dict[str, Any] = {"tables": 100, "ramp_s": 9.0, "duration_s": 20.0, **changes}
    return LoadPlan(targets=("lowest",), rules=PRESETS["xian"], **values)


def test_the_load_rises_in_ten_steps_and_stays_at_the_last() -> None:
    steps = plan().steps
    assert [step.load for step in steps] == [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]
    assert [step.begins for step in steps] == pytest.approx(range(10))
    assert steps[-1].ends == 20.0
    assert all(one.ends == next_.begins for one, next_ in pairwise(steps))


def test_without_a_ramp_all_of_the_load_is_on_from_the_beginning() -> None:
    (step,) = plan(ramp_s=0.0).steps
    assert (step.begins, step.ends, step.load) == (0.0, 20.0, 100)


def test_a_ramp_may_take_all_of_the_time() -> None:
    assert [step.load for step in plan(ramp_s=20.0).steps] == [10, 20, 30, 40, 50, 60, 70, 80, 90]


def test_every_target_has_a_table_at_every_step() -> None:
    small = LoadPlan(targets=("a", "b"), rules=PRESETS["xian"], tables=3, ramp_s=1.0, duration_s=1.0)
    assert min(step.load for step in small.steps) == 2


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"tables": 0}, "need a table each"),
        ({"ramp_s": 21.0}, "cannot be longer"),
    ],
)
def test_an_impossible_plan_is_refused(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        plan(**changes)


def test_in_open_loop_every_decision_has_a_moment_of_its_own_to_the_millisecond() -> None:
    moments = list(plan(rate=300.0, ramp_s=0.0, duration_s=2.0).moments())
    assert len(moments) == 600
    assert [moment for moment, _ in moments[:4]] == [0.0, 0.004, 0.007, 0.01]
    assert {step for _, step in moments} == {0}
    assert moments[-1][0] <= 2.0


def test_each_step_has_the_decisions_of_its_own_rate() -> None:
    moments = list(plan(rate=100.0).moments())
    by_step = [sum(step == index for _, step in moments) for index in range(10)]
    assert by_step == [10, 20, 30, 40, 50, 60, 70, 80, 90, 1_100]


def test_in_closed_loop_nothing_is_due() -> None:
    assert list(plan().moments()) == []


def step(load: float, p99: int, *, decisions: int = 1_000) -> dict[str, Any]:
    return {"load": load, "decisions": decisions, "latency_us": {"p99": p99}}


def test_the_knee_lies_where_p99_crosses_the_limit() -> None:
    steps = [step(100, 1_000), step(200, 3_000), step(300, 7_000), step(400, 90_000)]
    assert knee(steps, limit_us=5_000) == {"load": 250.0, "held": 200, "crossed": 300}


def test_a_bot_that_holds_has_no_knee() -> None:
    assert knee([step(100, 1_000), step(200, 3_000)], limit_us=5_000) is None


def test_where_the_first_step_is_over_nothing_is_known_but_that() -> None:
    assert knee([step(100, 9_000)], limit_us=5_000) == {"load": 100, "held": None, "crossed": 100}


def test_a_step_of_few_decisions_says_nothing_of_a_knee() -> None:
    assert knee([step(100, 9_000, decisions=99), step(200, 3_000)], limit_us=5_000) is None
