"""Built-in bots as the arena's own processes: started, asked, and ended with whoever wanted them."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from tests.arena.playing import SEED
from tests.arena.test_ends import children
from wakeng.sdk import BotClient
from wakeng.services.processes import BotProcess
from wakeng.services.seat import NotReady
from wakeng.v1 import bot_pb2

by_proc = pytest.mark.skipif(not Path("/proc").is_dir(), reason="tells a process's children by /proc")


@pytest.mark.parametrize("name", ["lowest", "faulty:half_open"])
async def test_a_bot_is_started_and_let_go(name: str) -> None:
    process = await BotProcess.start(name, seed=SEED, within=60)
    if name == "lowest":
        async with BotClient(process.address) as client:
            assert (await client.describe(bot_pb2.DescribeRequest(protocol_version=1), within=60)).name == name
    await process.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


async def test_a_bot_that_does_not_start_is_not_ready_and_its_last_words_say_why() -> None:
    with pytest.raises(NotReady, match=r"the bot 'nobody' did not start.*there is no bot 'nobody'"):
        await BotProcess.start("nobody", seed=SEED, within=60)


@by_proc
async def test_a_start_that_is_cancelled_leaves_no_process() -> None:
    before = set(children(os.getpid()))
    starting = asyncio.create_task(BotProcess.start("lowest", seed=SEED, within=60))
    while set(children(os.getpid())) == before:  # noqa: ASYNC110 - nobody else tells of it
        await asyncio.sleep(0)
    starting.cancel()
    await asyncio.gather(starting, return_exceptions=True)
    assert set(children(os.getpid())) <= before
