"""How gRPC is loaded: whoever waits for a connection reads it, where gRPC can do so and nobody said otherwise."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from wakeng.sdk import polling

CONNECT = """
import asyncio, os
from wakeng.sdk.polling import grpc

async def connect():
    server = grpc.aio.server()
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        await channel.channel_ready()
    await server.stop(0)

asyncio.run(connect())
print(os.environ.get("GRPC_EXPERIMENTS"))
"""
"""A connection with itself, and what is left in the environment."""


def connect(script: str = CONNECT, **environment: str) -> tuple[bool, str]:
    """Whether connections were given to gRPC's event engine, by its own trace, and what was printed."""
    inherited = {name: value for name, value in os.environ.items() if name != "GRPC_EXPERIMENTS"}
    traced = {"GRPC_VERBOSITY": "debug", "GRPC_TRACE": "event_engine"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**inherited, **traced, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return "EventEngine::Connect" in done.stderr, done.stdout.strip()


def test_whoever_waits_reads_and_what_is_started_from_here_has_a_grpc_of_its_own() -> None:
    in_range = polling._MEASURED[0] <= polling._version() <= polling._MEASURED[1]
    assert connect() == (not in_range, "None")


@pytest.mark.parametrize("said", ["", "event_engine_client"])
def test_what_the_environment_says_stands(said: str) -> None:
    assert connect(GRPC_EXPERIMENTS=said) == (True, said)


def test_a_grpc_that_is_loaded_already_stays_as_it_is() -> None:
    assert connect("import grpc.aio\n" + CONNECT) == (True, "None")


def test_only_versions_that_were_measured_are_loaded_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "grpc")
    monkeypatch.delenv("GRPC_EXPERIMENTS", raising=False)
    found = {}
    for version in ((), (1, 79), (1, 80), (1, 85), (1, 86), (2, 0)):
        monkeypatch.setattr(polling, "_version", lambda version=version: version)
        found[version] = polling.goes_back()
    assert [version for version, back in found.items() if back] == [(1, 80), (1, 85)]
