"""A real NATS server with JetStream for tests, killed and started again at will on the same port and files."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

WITHIN_S = 30.0
_LOOK_S = 0.02


def binary() -> str:
    """Where the server is: beside the Python that runs the tests, or on the machine."""
    found = shutil.which("nats-server", path=str(Path(sys.executable).parent)) or shutil.which("nats-server")
    if found is None:
        pytest.fail("there is no nats-server: make setup")
    return found


class NatsServer:
    """One server; `lines` are of its configuration file."""

    def __init__(self, folder: Path, lines: Sequence[str] = (), *, scheme: str = "nats") -> None:
        self._folder = folder
        self._scheme = scheme
        self._config = folder / "nats.conf"
        self._config.write_text("\n".join(lines), "utf-8")
        self._process: subprocess.Popen[bytes] | None = None
        self.port = -1
        """-1 until it has one, which it keeps."""

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"{self._scheme}://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it has said where it listens."""
        ports = self._folder / "ports"
        shutil.rmtree(ports, ignore_errors=True)
        ports.mkdir()
        command = [
            binary(), "-js", "-sd", str(self._folder / "jetstream"), "-a", "127.0.0.1", "-p", str(self.port),
            "-l", str(self._folder / "nats.log"), "--ports_file_dir", str(ports), "-c", str(self._config),
        ]  # fmt: skip
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.port = _port(ports, self._process, self._folder / "nats.log")

    def kill(self) -> None:
        """Kill it without a word."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End it, if it runs."""
        self._end(signal.SIGTERM)

    def forget(self) -> None:
        """Its disk is lost."""
        shutil.rmtree(self._folder / "jetstream", ignore_errors=True)

    @property
    def pid(self) -> int:
        """Of the process that runs."""
        assert self._process is not None
        return self._process.pid

    def _end(self, number: signal.Signals) -> None:
        if self._process is not None:
            if self._process.poll() is None:
                os.kill(self._process.pid, number)
            self._process.wait(10)
            self._process = None


def _port(ports: Path, process: subprocess.Popen[bytes], log: Path) -> int:
    until = time.monotonic() + WITHIN_S
    while time.monotonic() < until and process.poll() is None:
        for file in ports.glob("*.ports"):
            if text := file.read_text("utf-8"):
                return int(json.loads(text)["nats"][0].rpartition(":")[2])
        time.sleep(_LOOK_S)
    raise AssertionError(f"nats-server does not listen: {log.read_text('utf-8') if log.exists() else 'no log'}")


@contextmanager
def nats_server(folder: Path, lines: Sequence[str] = (), *, scheme: str = "nats") -> Iterator[NatsServer]:
    """A server in a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    server = NatsServer(folder, lines, scheme=scheme)
    server.start()
    try:
        yield server
    finally:
        server.stop()
