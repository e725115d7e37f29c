"""A stream that the arena gives up, because nothing comes, is told from a task that is cancelled."""

import asyncio
import socket

import pytest

from wakeng.sdk.client import BotClient, CallError, Trouble


@pytest.mark.parametrize("method", ["read", "write"])
async def test_giving_a_stream_up_ends_the_wait_for_a_bot_that_is_not_there(method: str) -> None:
    with socket.socket() as taken:  # Bound and not listening: nobody else gets it, and nobody answers there.
        taken.bind(("127.0.0.1", 0))
        async with BotClient(f"127.0.0.1:{taken.getsockname()[1]}") as client:
            stream = client.play()
            waiting = asyncio.ensure_future(stream.write(b"") if method == "write" else stream.read())
            await asyncio.sleep(0)
            stream.abandon()
            # A write that is only not done leaves the end for the reader to learn.
            await asyncio.gather(waiting, return_exceptions=True)
            with pytest.raises(CallError) as error:
                await stream.read()
            assert error.value.trouble is Trouble.NETWORK


async def test_a_task_that_is_cancelled_while_it_reads_is_cancelled() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        async with BotClient(f"127.0.0.1:{taken.getsockname()[1]}") as client:
            reading = asyncio.ensure_future(client.play().read())
            await asyncio.sleep(0)
            reading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reading
