"""An arena as a process, and commands that speak to it."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from wakeng.cli import main

WAKENG = [sys.executable, "-c", "from wakeng.cli.main import main; main()"]


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a command."""

    returncode: int
    stdout: str
    stderr: str


def wakeng(*arguments: str, env: Mapping[str, str] | None = None) -> Ran:
    """A command, run to its end in this process."""
    result = CliRunner().invoke(main.wakeng, arguments, env={"WAKENG_TOKEN": "", **(env or {})})
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return Ran(result.exit_code, result.stdout, result.stderr)


@dataclass(frozen=True, slots=True)
class ServedProcess:
    """`wakeng serve` in a folder of its own."""

    folder: Path
    process: "subprocess.Popen[str]"
    address: str
    metrics: str

    @property
    def db(self) -> str:
        """Its store."""
        return f"sqlite:///{self.folder / 'wakeng.db'}"


@contextmanager
def serve(folder: Path, *options: str) -> Iterator[ServedProcess]:
    """An arena, stopped by SIGTERM in the end, which it must obey."""
    places = ("--db", f"sqlite:///{folder / 'wakeng.db'}", "--journal", str(folder / "journal.jsonl"))
    ports = ("--metrics", "127.0.0.1:0", *(() if "--listen" in options else ("--listen", "127.0.0.1:0")))
    with (folder / "stderr").open("w") as stderr, (folder / "stdout").open("w+") as stdout:
        command = [*WAKENG, "serve", *places, *ports, "--grace", "5", *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True)
        assert process.stdout is not None
        told = "".join(process.stdout.readline() for _ in range(2))
        stdout.write(told)
        found = re.fullmatch(r"metrics on (\S+)\nlistening on (\S+)\n", told)
        assert found, told + (folder / "stderr").read_text()
        try:
            yield ServedProcess(folder, process, found[2], found[1])
        finally:
            process.send_signal(signal.SIGTERM)
            stdout.write(process.communicate(timeout=60)[0])
    assert process.returncode == 0
