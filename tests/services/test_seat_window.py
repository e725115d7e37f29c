"""What a seat tells its window of a bot's answers: how long the bot took, and nothing of what kept them from it."""

from __future__ import annotations

import asyncio

from tests.services.test_seat import Scene
from tests.services.virtual import in_virtual_time


@in_virtual_time
async def test_an_outage_is_not_taken_for_the_bots_slowness() -> None:
    scene = await Scene().start()
    players = await scene.ask(8)
    scene.answer(scene.wire.sent[0][0])  # Known to answer at once.
    scene.seat.connection_lost()
    await asyncio.sleep(0.9)
    scene.seat.connection_back()
    await scene.answer_all()
    assert scene.seat.window.limit >= 8
    assert [latency for player in players[1:] for _, latency in player.answers] == [900_000] * 7


@in_virtual_time
async def test_a_slow_bot_is_taken_for_one_all_the_same() -> None:
    scene = await Scene().start()
    await scene.ask(8)
    scene.answer(scene.wire.sent[0][0])
    await asyncio.sleep(0.9)
    scene.answer(*scene.wire.sent[0][1:])
    assert scene.seat.window.limit < 8
