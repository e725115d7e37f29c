"""How late the loop is, is told at every beat, and nothing beats after the close."""

import asyncio

import pytest

from tests.services.virtual import in_virtual_time, stall
from wakeng.services.pulse import Pulse


@in_virtual_time
async def test_a_loop_that_is_held_is_late_by_so_much() -> None:
    delays: list[float] = []
    pulse = Pulse(delays.append)
    await asyncio.sleep(1.2)
    assert delays == [0, 0]
    stall(1.0)
    await asyncio.sleep(0.4)
    pulse.close()
    assert delays == [0, 0, pytest.approx(0.7)]
    await asyncio.sleep(5)
    assert len(delays) == 3
