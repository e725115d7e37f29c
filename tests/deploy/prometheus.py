"""A real Prometheus on the loopback interface, which scrapes what it is told to, twice a second."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import ProxyHandler, build_opener

import yaml

RULES = Path(__file__).resolve().parents[2] / "deploy" / "prometheus"
PATIENCE_S = 60.0
_fetch = build_opener(ProxyHandler({})).open


@dataclass(frozen=True, slots=True)
class Prometheus:
    """One that runs."""

    url: str

    def query(self, expression: str) -> list[dict[str, Any]]:
        """What an expression comes to now; an expression that is none is a failure of the test."""
        with _fetch(f"{self.url}/api/v1/query?{urlencode({'query': expression})}") as answer:
            told = json.load(answer)
        assert told["status"] == "success", told
        data = told["data"]
        return [data] if data["resultType"] == "scalar" else list(data["result"])

    def wait_for(self, expression: str) -> list[dict[str, Any]]:
        """What it comes to, once that is anything."""
        until = time.monotonic() + PATIENCE_S
        while not (found := self.query(expression)):
            assert time.monotonic() < until, f"{expression} came to nothing within {PATIENCE_S:g} s"
            time.sleep(0.1)
        return found


@contextmanager
def prometheus(folder: Path, targets: Mapping[str, str]) -> Iterator[Prometheus]:
    """One that scrapes these addresses by job, with the rules of deploy/prometheus."""
    assert shutil.which("prometheus"), "the tests need Prometheus, which .ci/run installs"
    config = {
        "global": {"scrape_interval": "500ms", "evaluation_interval": "500ms"},
        "rule_files": [str(RULES / name) for name in ("recording.yaml", "alerts.yaml")],
        "scrape_configs": [
            {"job_name": job, "scrape_timeout": "500ms", "static_configs": [{"targets": [address]}]}
            for job, address in targets.items()
        ],
    }
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config), "utf-8")
    address = f"127.0.0.1:{_free_port()}"
    command = [
        "prometheus",
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={address}",
        "--log.level=warn",
    ]
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            _ready(process, f"http://{address}", folder / "prometheus.log")
            yield Prometheus(f"http://{address}")
        finally:
            process.kill()
            process.wait()


def _free_port() -> int:
    """Prometheus cannot be asked which port it was given, so it is told one that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def _ready(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            with _fetch(f"{url}/-/ready"):
                return
        except (URLError, OSError):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.1)
