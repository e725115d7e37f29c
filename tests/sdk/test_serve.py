"""A bot as a process of its own: it starts as the README says, and ends when it is told to or its parent is gone."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc.aio
import pytest

from tests.sdk.asking import by_id, firsts, packed, questions, replies
from wakeng.v1 import bot_pb2, bot_pb2_grpc

# As the README has it, but for the port, which a test must not fix.
README = """
from wakeng.sdk import Bot, serve

class First(Bot):
    def choose(self, decision):
        return decision.legal[0]

serve(First(), {listen!r}{options})
"""


@contextmanager
def process(code: str) -> Iterator[subprocess.Popen[str]]:
    """A Python process that runs the code, ended with the test if it has not ended by itself."""
    running = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )  # fmt: skip
    try:
        yield running
    finally:
        running.kill()
        running.communicate()


def address_of(running: subprocess.Popen[str]) -> str:
    """What the process says it listens on."""
    assert running.stderr is not None
    line = running.stderr.readline()
    assert line.startswith("listening on "), line + running.stderr.read()
    return line.split()[-1]


async def play(address: str) -> None:
    """A few questions over a stream, each answered with the first legal token."""
    asked = questions(64)
    async with grpc.aio.insecure_channel(address) as channel:
        call = bot_pb2_grpc.BotServiceStub(channel).Play(wait_for_ready=True)
        await call.write(packed(asked))
        assert by_id(await replies(call, 64)) == firsts(asked)
        await call.done_writing()


async def test_the_first_bot_of_the_readme_runs_and_plays() -> None:
    with process(README.format(listen="127.0.0.1:0", options="")) as running:
        await play(address_of(running))
        running.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(running.wait, 20) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_gives_the_hands_in_play_their_time_and_a_second_one_hurries(number: signal.Signals) -> None:
    with process(README.format(listen="127.0.0.1:0", options=", grace=600")) as running:
        async with grpc.aio.insecure_channel(address_of(running)) as channel:
            call: Any = bot_pb2_grpc.BotServiceStub(channel).Play(wait_for_ready=True)
            await call.write(packed(questions(1)))
            await replies(call, 1)
            running.send_signal(number)
            assert (await call.read()).message.drain
            await call.write(packed(questions(1)))
            assert len(await replies(call, 1)) == 1
            running.send_signal(number)
            assert await asyncio.to_thread(running.wait, 20) == 0


async def test_it_ends_with_its_standard_input_where_it_was_told_to(tmp_path: Path) -> None:
    listen = f"unix:{tmp_path}/bot.sock"
    with process(README.format(listen=listen, options=", until_stdin_closes=True, grace=600")) as running:
        assert address_of(running) == listen
        await play(listen)
        assert running.stdin is not None
        running.stdin.close()
        assert await asyncio.to_thread(running.wait, 20) == 0
        running.stdin = None


async def test_a_bot_that_blocks_the_event_loop_does_not_outlive_its_standard_input_either() -> None:
    stuck = README.replace("return decision.legal[0]", "import time; time.sleep(600)")
    stuck = stuck.replace(
        "class First", "import wakeng.sdk.server; wakeng.sdk.server._STUCK_SECONDS = 0.05\nclass First"
    )
    with process(stuck.format(listen="127.0.0.1:0", options=", until_stdin_closes=True")) as running:
        async with grpc.aio.insecure_channel(address_of(running)) as channel:
            call = bot_pb2_grpc.BotServiceStub(channel).Play(wait_for_ready=True)
            await call.write(packed([], ping=bot_pb2.Ping(id=1)))
            await call.read()
            await call.write(packed(questions(1)))
            assert running.stdin is not None
            running.stdin.close()
            assert await asyncio.to_thread(running.wait, 20) in (0, 1)
            running.stdin = None


async def test_without_that_the_end_of_standard_input_means_nothing() -> None:
    with process(README.format(listen="127.0.0.1:0", options="")) as running:
        address = address_of(running)
        assert running.stdin is not None
        running.stdin.close()
        running.stdin = None
        await play(address)
        await play(address)
        assert running.poll() is None


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (README.replace("First(), {listen!r}{options}", 'First(), "nowhere:here"'), "cannot listen on"),
        (README.replace("First(), ", "First, "), r"write First\(\)"),
        (
            README.replace("def choose(self, decision)", "def ready(self)").replace("decision.legal[0]", "1 / 0"),
            "choose",
        ),
        (README.replace("    def choose", "    def ready(self): 1 / 0\n    def choose"), "ZeroDivisionError"),
    ],
)
def test_a_bot_that_cannot_be_served_says_why_and_ends(code: str, why: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", code.format(listen="127.0.0.1:0", options="")],
        stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, timeout=60, check=False,
        env={**os.environ, "GRPC_VERBOSITY": "NONE"},
    )  # fmt: skip
    assert ended.returncode == 1
    assert re.search(why, ended.stderr)
