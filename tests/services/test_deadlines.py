"""One heap of deadlines: each falls due once, in order, and those of the forgotten cost nothing."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.services.virtual import in_virtual_time, now
from wakeng.services.deadlines import Deadlines


@given(st.lists(st.integers(0, 20), min_size=1, max_size=30))
def test_each_falls_due_once_in_order_at_its_moment(moments: list[int]) -> None:
    @in_virtual_time
    async def run() -> None:
        deadlines = Deadlines(asyncio.get_running_loop())
        fell: list[tuple[float, float]] = []
        for moment in moments:
            deadlines.add(moment, lambda due: fell.append((due, now())))
        await asyncio.sleep(30)
        assert fell == [(moment, moment) for moment in sorted(moments)]

    run()


@in_virtual_time
async def test_one_that_is_earlier_than_all_others_is_not_late() -> None:
    deadlines = Deadlines(asyncio.get_running_loop())
    fell: list[float] = []
    deadlines.add(10, fell.append)
    deadlines.add(5, fell.append)
    await asyncio.sleep(7)
    assert fell == [5]


@in_virtual_time
async def test_equal_ones_fall_due_as_they_were_added() -> None:
    deadlines = Deadlines(asyncio.get_running_loop())
    fell: list[str] = []
    for name in "abc":
        deadlines.add(1, partial(lambda name, due: fell.append(name), name))
    await asyncio.sleep(2)
    assert fell == ["a", "b", "c"]


@in_virtual_time
async def test_one_may_be_added_while_another_falls_due() -> None:
    deadlines = Deadlines(asyncio.get_running_loop())
    fell: list[float] = []

    def again(due: float) -> None:
        fell.append(due)
        if due < 3:
            deadlines.add(due + 1, again)

    deadlines.add(1, again)
    await asyncio.sleep(10)
    assert fell == [1, 2, 3]


@in_virtual_time
async def test_one_that_is_past_falls_due_at_once_and_says_how_late_it_is() -> None:
    deadlines = Deadlines(asyncio.get_running_loop())
    fell: list[float] = []
    await asyncio.sleep(5)
    deadlines.add(2, lambda due: fell.append(now() - due))
    await asyncio.sleep(0.001)
    assert fell == [3]


@in_virtual_time
async def test_after_the_close_nothing_falls_due() -> None:
    deadlines = Deadlines(asyncio.get_running_loop())
    fell: list[float] = []
    deadlines.add(1, fell.append)
    deadlines.close()
    await asyncio.sleep(5)
    assert not fell


@in_virtual_time
async def test_one_that_nobody_awaits_any_more_is_dropped_and_the_others_still_fall_due() -> None:
    deadlines = Deadlines(asyncio.get_running_loop())
    fell: list[float] = []
    answered, open_ = {1: "question"}, {2: "question"}
    deadlines.add(1, fell.append, answered)
    deadlines.add(2, fell.append, open_)
    answered.clear()
    await asyncio.sleep(5)
    assert fell == [2]


@in_virtual_time
async def test_the_loop_is_not_woken_for_answers_that_have_come() -> None:
    loop = asyncio.get_running_loop()
    deadlines = Deadlines(loop)
    woken = 0
    call_later = loop.call_later

    def counted(*arguments: Any, **named: Any) -> asyncio.TimerHandle:
        nonlocal woken
        woken += 1
        return call_later(*arguments, **named)

    loop.call_later = counted  # type: ignore[method-assign, assignment]
    for moment in range(100):
        answered = {moment: "question"}
        deadlines.add(1_000 + moment, lambda due: None, answered)
        answered.clear()
    assert woken == 1
