"""The quickstart of docs/operations.md works: its commands are run as they stand there, but for the port numbers.

Real PostgreSQL, nats-server and processes of the arena. PostgreSQL refuses to run as root, so where the tests do, two
of its programs are run as another user, as the page tells people to.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import click
import pytest

from wakeng.cli.main import wakeng

HOME = Path(__file__).resolve().parents[2]
PAGE = (HOME / "docs" / "operations.md").read_text("utf-8")
PORTS = ("54329", "42229", "50059", "9469", "9470", "9471")
PATIENCE_S = 120
AS_POSTGRES = '#!/bin/sh\nexec setpriv --reuid {user} --regid {user} --init-groups {program} "$@"\n'


def steps() -> list[str]:
    """The commands, each a line of an indented block."""
    quickstart = PAGE.partition("<!-- quickstart -->")[2].partition("<!-- end -->")[0]
    return re.findall(r"^    (\S.*)$", quickstart, re.MULTILINE)


def with_free_ports(script: str) -> str:
    """The script with ports that are free; all are held until each is known."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in PORTS]
    for port, server in zip(PORTS, held, strict=True):
        script = re.sub(rf"\b{port}\b", str(server.getsockname()[1]), script)
        server.close()
    return script


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that PostgreSQL's user can enter, which those of pytest are not."""
    made = Path(tempfile.mkdtemp(prefix="wakeng-quick-"))
    made.chmod(0o777)
    (made / "deploy").symlink_to(HOME / "deploy")
    (made / "docs").symlink_to(HOME / "docs")
    (made / "quick").mkdir()
    (made / "quick").chmod(0o777)
    yield made
    shutil.rmtree(made)


def path_with_postgres(folder: Path) -> str:
    """The PATH that the page asks for, and as root what it says to prefix."""
    theirs = [str(path) for path in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"], *theirs, "/usr/sbin"])
    if os.geteuid() != 0:
        return path
    shims = folder / "bin"
    shims.mkdir()
    for program in ("initdb", "pg_ctl"):
        found = shutil.which(program, path=os.pathsep.join([*theirs, path]))
        assert found, "the tests need PostgreSQL, which .ci/run installs"
        shim = shims / program
        shim.write_text(AS_POSTGRES.format(user="postgres", program=found), "utf-8")
        shim.chmod(0o755)
    return f"{shims}{os.pathsep}{path}"


def test_the_quickstart_works_as_it_is_written(folder: Path) -> None:
    script = with_free_ports("\n".join(steps()))
    env = {name: value for name, value in os.environ.items() if not name.startswith("WAKENG_")}
    env |= {"PATH": path_with_postgres(folder), "TZ": "UTC"}
    status, told = run(script, folder, env)
    assert status == 0, told
    assert "40 blocks" in told or "40 of 40" in told, told
    assert 'wakeng_call_seconds_count{code="OK"' in told
    hands = sum(float(count) for count in re.findall(r"^wakeng_hands_total\{.*\} (\S+)$", told, re.MULTILINE))
    assert hands == 120, told


def run(script: str, folder: Path, env: dict[str, str]) -> tuple[int, str]:
    """The exit status of a script, and what it and all that it started said; what did not end is ended."""
    command = ["bash", "-o", "errexit", "-o", "pipefail", "-o", "xtrace", "-c", script]
    said = folder / "said"
    with said.open("wb") as out:
        process = subprocess.Popen(command, cwd=folder, env=env, stdout=out, stderr=out, start_new_session=True)
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            out.write(f"not over within {PATIENCE_S} s".encode())
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            stop = ["pg_ctl", "-D", "quick/postgres", "stop", "-m", "immediate"]
            subprocess.run(stop, cwd=folder, env=env, check=False, capture_output=True)
    return process.wait(), said.read_text("utf-8", "replace")


def test_every_step_is_one_command_and_each_wakeng_command_is_one_that_there_is() -> None:
    assert len(steps()) >= 14
    assert not [step for step in steps() if step.endswith("\\")]
    called = {name for step in steps() for name in re.findall(r"(?<![=\w])wakeng ([a-z-]+)", step)}
    assert (
        {"doctor", "serve", "worker", "health", "tournament"}
        <= called
        <= {*wakeng.list_commands(click.Context(wakeng))}
    )
