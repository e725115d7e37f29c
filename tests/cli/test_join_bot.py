"""`wakeng join-bot` as a process: it dials, plays, says where it is, and gives up where it is not wanted."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest

from tests.cli.test_main import WAKENG, run
from tests.sdk.asking import questions
from tests.sdk.gateway import gateway

TOKEN = "wk_not-a-secret"


@contextmanager
def joining(*args: str, token: str = "") -> Iterator[subprocess.Popen[str]]:
    """A bot that dials in; `token` is in the environment."""
    environment = {**os.environ, "WAKENG_TOKEN": token}
    with subprocess.Popen([*WAKENG, "join-bot", *args], stdout=-1, stderr=-1, text=True, env=environment) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("way", ["environment", "option", "file"])
async def test_it_joins_with_its_token_plays_and_leaves_at_a_signal(way: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    given = {"environment": [], "option": ["--token", TOKEN], "file": ["--token-file", str(file)]}[way]
    async with gateway() as arena:
        with joining(
            "greedy", "--arena", arena.address, *given, token=TOKEN if way == "environment" else "wk_another"
        ) as process:
            call = await arena.joined()
            assert call.metadata["authorization"] == f"Bearer {TOKEN}"
            await call.say(questions(8))
            assert len(await call.answers(8)) == 8
            process.send_signal(signal.SIGTERM)
            assert (await call.message()).drain
            assert await call.hear() is None
            call.end()
            out, err = await asyncio.to_thread(process.communicate, timeout=60)
    assert (process.returncode, out, err) == (0, f"joined {arena.address}\n", "")


async def test_an_arena_that_does_not_want_it_is_told_of_in_one_line() -> None:
    async with gateway() as arena:
        with joining("lowest", "--arena", arena.address, token=TOKEN) as process:
            (await arena.calls.get()).end(grpc.StatusCode.UNAUTHENTICATED, "BAD_TOKEN", "no such token")
            out, err = await asyncio.to_thread(process.communicate, timeout=60)
    assert (process.returncode, out, err.count("\n")) == (2, "", 1)
    assert "UNAUTHENTICATED: no such token" in err and TOKEN not in err


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["greedy"], "--arena"),
        (["greedy", "--arena", "127.0.0.1:1"], "the bot's own token is needed"),
        (["greedy", "--arena", "127.0.0.1:1", "--token", "a b"], "no token"),
        (["greedy", "--arena", "127.0.0.1:1", "--token", "x", "--token-file", __file__], "give one"),
        (["gready", "--arena", "127.0.0.1:1", "--token", "x"], "did you mean greedy?"),
        (["faulty:garbage", "--arena", "127.0.0.1:1", "--token", "x"], "a server of its own"),
        (
            ["greedy", "--arena", "arena.example:1", "--token", "x", "--insecure", "--ca", __file__],
            "insecure means no TLS",
        ),
    ],
)
def test_what_cannot_be_is_said_in_one_line(args: list[str], why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WAKENG_TOKEN", raising=False)
    result = run("join-bot", *args)
    assert result.exit_code == 2
    assert why in result.stderr and result.stderr.count("\n") == 1
