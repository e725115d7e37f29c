"""`wakeng serve-bot` as a process: its first line, a call, and every way it is meant to end."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest

from tests.cli.test_main import WAKENG
from wakeng.bots import REFERENCE_BOTS
from wakeng.v1 import bot_pb2, bot_pb2_grpc


@contextmanager
def serving(*args: str, listen: str = "127.0.0.1:0") -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A served bot and its address."""
    command = [*WAKENG, "serve-bot", *args, "--listen", listen]
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1, text=True) as process:
        try:
            assert process.stdout is not None
            found = re.fullmatch(r"listening on (\S+)\n", process.stdout.readline())
            assert found, "the first line says where"
            yield process, found[1]
        finally:
            process.kill()


def described(address: str) -> bot_pb2.DescribeResponse:
    """What the bot there says of itself."""
    with grpc.insecure_channel(address) as channel:
        request = bot_pb2.DescribeRequest(protocol_version=1)
        answer: bot_pb2.DescribeResponse = bot_pb2_grpc.BotServiceStub(channel).Describe(request, timeout=60)
        return answer


@pytest.mark.parametrize("name", REFERENCE_BOTS)
def test_each_bot_can_be_called_where_it_says(name: str) -> None:
    with serving(name) as (_, address):
        assert not address.endswith(":0"), "the port in use, not the wish"
        assert described(address).name == name


def test_a_unix_socket_will_do(tmp_path: Path) -> None:
    listen = f"unix:{tmp_path / 'bot'}"
    with serving("lowest", listen=listen) as (_, address):
        assert address == listen
        assert described(address).name == "lowest"


@pytest.mark.parametrize("seed", ["7", "0" * 62 + "07", "f" * 64])
def test_a_seed_is_a_number_or_hex(seed: str) -> None:
    with serving("random", "--seed", seed) as (_, address):
        assert described(address).name == "random"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(number: signal.Signals) -> None:
    with serving("lowest") as (process, _):
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out, err) == (0, "", "")


def test_it_ends_with_its_parent_where_that_is_asked_for() -> None:
    with serving("lowest", "--until-stdin-closes") as (process, _):
        out, err = process.communicate(timeout=60)  # Closes the pipe first.
        assert (process.returncode, out, err) == (0, "", "")


def test_otherwise_it_outlives_its_standard_input() -> None:
    with serving("lowest") as (process, address):
        assert process.stdin is not None
        process.stdin.close()
        assert described(address).name == "lowest"
        assert process.poll() is None


def test_an_address_in_use_is_said_in_one_line() -> None:
    with serving("lowest") as (_, address):
        command = [*WAKENG, "serve-bot", "lowest", "--listen", address]
        second = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (second.returncode, second.stdout) == (2, "")
        assert re.fullmatch(rf"wakeng serve-bot: .*'--listen': cannot listen on .*{address}.*\n", second.stderr)
