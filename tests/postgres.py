"""A real PostgreSQL for tests: found on the machine, started on a socket or port of its own, thrown away at the end.

The server's files live in a folder of their own under the system's temporary one, not under pytest's: as root the
server runs as another user, who cannot enter there. Nothing is synced to disk, for nothing is to outlive the test.
"""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Literal

import pytest

HOW_TO_INSTALL = (
    "the tests need PostgreSQL 15 or later: `apt-get install postgresql`, or put initdb and postgres on PATH"
)
SETTINGS = {"fsync": "off", "full_page_writes": "off", "shared_buffers": "32MB"}
# As many installations have it: an order of letters which is not that of their codes, so that nothing relies on that.
INITDB = ["--username=wakeng", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8"]
LOCALE = ["--locale-provider=icu", "--icu-locale=en-US"]


@cache
def binary(name: str) -> str:
    """The path of one of PostgreSQL's programs, of the newest version that is there."""
    # The server's own folder first: what Debian has on PATH chooses by clusters that are none of ours.
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name), reverse=True)
    places = [*map(str, folders), *os.environ.get("PATH", "").split(os.pathsep)]
    found = shutil.which(name, path=os.pathsep.join(places))
    if found is None:
        pytest.fail(f"no {name} was found; {HOW_TO_INSTALL}", pytrace=False)
    return found


class Server:
    """A server with its files; it may be stopped and started again, by force as well."""

    def __init__(self, folder: Path, *, port: int | None = None) -> None:
        self._folder = folder
        self._port = port
        self._as: list[str] = []
        """What its programs are run by."""
        if os.geteuid() == 0:  # Which PostgreSQL refuses to run as.
            names = {entry.pw_name: entry for entry in pwd.getpwall()}
            user = names.get("postgres") or names["nobody"]
            os.chown(folder, user.pw_uid, user.pw_gid)
            # Not by subprocess, which forks for that: a copy of gRPC's threads may fail before it is psql.
            self._as = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        self._process: subprocess.Popen[bytes] | None = None
        self.run("initdb", *INITDB, *LOCALE, "-D", str(folder / "data"))

    def start(self) -> None:
        """Starts it unless it runs, and returns when it takes connections."""
        if self._process is not None:
            return
        listens = ["-c", f"listen_addresses={'127.0.0.1' if self._port else ''}", "-p", str(self._port or 5432)]
        settings = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
        log = (self._folder / "log").open("ab")
        self._process = subprocess.Popen(
            [*self._as, binary("postgres"), "-D", self._folder / "data", "-k", self._folder, *listens, *settings],
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            cwd=self._folder,
        )
        log.close()
        self.run("psql", "-qc", "SELECT 1", *self._reach("postgres"), until=True)

    def stop(self, how: Literal["fast", "immediate"] = "fast") -> None:
        """Stops it: `fast` ends its sessions first, `immediate` as a crash would."""
        if self._process is not None:
            self.run("pg_ctl", "stop", "-m", how, "-D", str(self._folder / "data"))
            self._process.wait(60)
            self._process = None

    def url(self, database: str) -> str:
        """Where a database of it is, as users write it."""
        if self._port:
            return f"postgresql://wakeng@127.0.0.1:{self._port}/{database}"
        return f"postgresql://wakeng@/{database}?host={self._folder}"

    def sql(self, *statements: str, database: str = "postgres") -> str:
        """Does statements one by one, and returns what they print."""
        commands = [word for statement in statements for word in ("-c", statement)]
        return self.run("psql", "-qAt", "-v", "ON_ERROR_STOP=1", *commands, *self._reach(database))

    def dump(self, database: str) -> str:
        """The definitions of a database, as pg_dump writes them."""
        return self.run("pg_dump", "--schema-only", "--no-owner", *self._reach(database))

    def _reach(self, database: str) -> list[str]:
        return ["-h", str(self._folder), "-p", str(self._port or 5432), "-U", "wakeng", "-d", database]

    def run(self, program: str, *arguments: str, stdin: bytes = b"", until: bool = False) -> str:
        """Runs one of its programs; with `until` again and again until it succeeds, while the server lives."""
        while True:
            done: subprocess.CompletedProcess[bytes] = subprocess.run(
                [*self._as, binary(program), *arguments],
                check=False,
                capture_output=True,
                input=stdin,
                timeout=60,
                cwd=self._folder,
            )
            if done.returncode == 0:
                return done.stdout.decode()
            if not until or self._process is None or self._process.poll() is not None:
                log = self._folder / "log"
                told = log.read_text() if log.is_file() else ""
                raise RuntimeError(f"{program} failed: {done.stdout.decode()}{done.stderr.decode()}{told}")


@contextmanager
def running(*, port: int | None = None) -> Iterator[Server]:
    """A server of one's own, on a socket, or on a port of 127.0.0.1 as well."""
    folder = Path(tempfile.mkdtemp(prefix="wakeng-pg-"))
    try:
        server = Server(folder, port=port)
        server.start()
        try:
            yield server
        finally:
            server.stop("immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    """A port of 127.0.0.1 that nobody had a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port
