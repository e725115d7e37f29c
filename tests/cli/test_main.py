"""The command itself: what its help teaches, how it errs in one line, and how it ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from wakeng.cli import main
from wakeng.cli.main import COMMANDS, wakeng

OWN = [name for name, entry in COMMANDS.items() if entry.target]
ARENA = [name for name, entry in COMMANDS.items() if not entry.target]
WAKENG = [sys.executable, "-c", "from wakeng.cli.main import main; main()"]


def run(*args: str, **options: Any) -> Result:
    """A command line in this process."""
    return CliRunner().invoke(wakeng, args, **options)


def plug(monkeypatch: pytest.MonkeyPatch, *points: EntryPoint) -> None:
    """Install these commands of the arena and no others."""
    monkeypatch.setattr("wakeng.cli.main._plugged", lambda: {point.name: point for point in points})


# Help ---------------------------------------------------------------------------------------------------------------


def test_without_arguments_it_helps() -> None:
    assert run().output == run("--help").output
    assert run().exit_code == 0


def test_help_names_every_command_in_its_section_with_one_line() -> None:
    text = run("--help").output
    for name, entry in COMMANDS.items():
        assert re.search(rf"^{entry.section}.*:\n(  .+\n)*  {name} +{re.escape(entry.help)}$", text, re.MULTILINE)


def test_help_gives_examples_that_are_commands_and_keeps_to_80_columns() -> None:
    text = run("--help").output
    examples = re.findall(r"^  wakeng ([a-z-]+) .*# .+$", text, re.MULTILINE)
    assert len(examples) == 3
    assert set(examples) <= set(COMMANDS)
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("name", OWN)
def test_each_command_helps(name: str) -> None:
    result = run(name, "--help")
    assert result.exit_code == 0
    assert result.output.startswith(f"Usage: wakeng {name}")
    assert max(map(len, result.output.splitlines())) <= 80


def test_version_is_that_of_the_distribution() -> None:
    assert re.fullmatch(r"wakeng \d+\.\d+\.\d+\n", run("--version").output)


HEAVY = ["grpc", "google.protobuf", "wakeng.services", "asyncio"]


@pytest.mark.parametrize(
    ("args", "heavy"),
    [
        (["--help"], [*HEAVY, "wakeng.engine", "rich", "orjson"]),
        (["rules", "xian"], HEAVY),
        (["deal", "--rules", "xian", "--seed", "0" * 64], HEAVY),
        (["verify", "--help"], HEAVY),
        (["show", "--help"], HEAVY),
        (["bots"], HEAVY[:3]),
        (["serve-bot", "--help"], HEAVY),
        (["join-bot", "--help"], HEAVY),
        (["check-bot", "--help"], HEAVY),
    ],
    ids=lambda value: " ".join(value)[:20],
)
def test_a_command_imports_only_what_it_needs(args: list[str], heavy: list[str]) -> None:
    script = (
        "import sys\nfrom wakeng.cli.main import main\n"
        f"sys.argv = ['wakeng', *{args}]\n"
        "try:\n    main()\nfinally:\n"
        f"    print([name for name in {heavy} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


# Commands of the arena ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("args", [(), ("--help",), ("--rules", "xian")], ids=str)
@pytest.mark.parametrize("name", ARENA)
def test_a_command_that_is_not_installed_says_what_to_install(
    name: str, args: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    plug(monkeypatch)
    result = run(name, *args)
    assert result.exit_code == 2
    assert re.fullmatch(rf"wakeng: {name} .*pip install 'wakeng\[server\]'.*\n", result.stderr)


def test_a_command_whose_packages_are_missing_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "needy_command.py").write_text('"""Needs more."""\nimport no_such_package\n')
    monkeypatch.syspath_prepend(tmp_path)
    plug(monkeypatch, EntryPoint("match", "needy_command:command", main.ENTRY_POINTS))
    result = run("match")
    assert result.exit_code == 2
    assert result.stderr.startswith("wakeng: match needs no_such_package, which is not installed")
    assert "pip install 'wakeng[server]'" in result.stderr


def test_a_mistake_of_our_own_is_not_taken_for_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    plug(monkeypatch, EntryPoint("match", "wakeng.no_such_module:command", main.ENTRY_POINTS))
    assert isinstance(run("match").exception, ModuleNotFoundError)


@click.command()
@click.argument("status", type=int)
def ending(status: int) -> int:
    """Ends with a status."""
    return status


def test_a_plugged_command_is_listed_and_run_and_its_result_is_the_exit_status(monkeypatch: pytest.MonkeyPatch) -> None:
    plug(monkeypatch, EntryPoint("ending", f"{__name__}:ending", main.ENTRY_POINTS))
    assert "\n  ending " in run("--help").output
    assert run("ending", "0").exit_code == 0
    assert run("ending", "3").exit_code == 3


# Errors -------------------------------------------------------------------------------------------------------------

BAD = {
    "rulez": "did you mean rules?",
    "xyz": "there are demo, match,",
    "--jsn": "--jsn",
    "rules xain": "did you mean xian?",
    "rules xian --set bomb=on": "did you mean bombs?",
    "rules xian --set bombs": "FIELD=VALUE",
    "rules xian --set bombs=maybe": "bombs: 'maybe' is not on or off",
    "rules xian --set bombs=on --set bombs=off": "bombs is set twice",
    "rules xian --set players=4": "hand_size",
    "rules xian --set base=9999999999999": "base",
    "rules --set bombs=on": "PRESET",
    "rules xian --jso": "--json",
    "rules xian more": "more",
    "deal --seed " + "0" * 64: "--rules",
    "deal --rules xian": "--seed",
    "deal --rules xian --seed 12": "64 hex digits",
    "deal --rules xian --seed " + "g" * 64: "64 hex digits",
    "verify": "FILE",
    "verify no/such/file": "no/such/file",
    "verify .": "directory",
    "verify --match-seed 0 -": "64 hex digits",
    "show": "FILE",
    "show no/such/file": "no/such/file",
    "show - --hand -1": "--hand",
    "show - --hand x": "--hand",
    "serve-bot": "NAME",
    "serve-bot greedy": "--listen",
    "serve-bot greedy --listen nowhere": "HOST:PORT",
    "serve-bot greedy --listen 127.0.0.1:65536": "HOST:PORT",
    "serve-bot gredy --listen 127.0.0.1:0": "did you mean greedy?",
    "serve-bot greedy --listen 127.0.0.1:0 --seed -1": "--seed",
    "serve-bot greedy --listen unix:/no/such/folder/socket": "/no/such/folder/socket",
    "serve-bot greedy --listen no.such.host.invalid:1": "no.such.host.invalid:1",
}


@pytest.mark.parametrize(("line", "expected"), BAD.items(), ids=BAD)
def test_a_bad_command_line_gets_one_line_that_helps_and_status_2(line: str, expected: str) -> None:
    result = run(*line.split(" "))
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert re.fullmatch(r"wakeng.*: .+\n", result.stderr), "one line"
    assert expected in result.stderr


def test_an_error_shows_no_control_characters() -> None:
    assert "\x1b" not in run("rules", "\x1b[31mxian\n\n").stderr
    assert "\x1b" not in run("\x1b[31m").stderr
    assert "\x1b" not in run("verify", "\x1b[31m").stderr


# How it ends --------------------------------------------------------------------------------------------------------


@click.command()
def interrupted() -> None:
    """Somebody presses Ctrl-C."""
    raise KeyboardInterrupt


def test_an_interrupt_ends_it_quietly_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wakeng.cli.rules.command", interrupted)
    result = run("rules")
    assert (result.exit_code, result.output.strip()) == (130, "")


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_ctrl_c_ends_a_command_that_waits_for_input() -> None:
    verify = subprocess.Popen([*WAKENG, "verify", "-", "--keep-going"], stdin=-1, stdout=-1, stderr=-1, bufsize=0)
    assert verify.stdin is not None
    assert verify.stderr is not None
    verify.stdin.write(b"garbage\n")
    assert b"line 1" in verify.stderr.readline(), "it has begun, and goes on to read what never comes"
    while verify.poll() is None:  # A signal just before it waits to read is only heard once it has read something.
        verify.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            verify.wait(timeout=5)
    out, err = verify.communicate()
    assert (verify.returncode, out, err.strip()) == (130, b"", b"")


@pytest.mark.parametrize("args", ["rules xian", "rules --ids", "rules --json", "--help"])
def test_a_reader_that_leaves_is_no_reason_to_complain(args: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*WAKENG, *args.split()], stdout=writer, stderr=-1, text=True, check=False)
    os.close(writer)
    assert done.stderr == ""
    assert done.returncode == (1 if "--help" in args else 141)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("args", ["rules xian", "rules --ids", "rules --json"])
def test_a_full_disk_is_said_in_one_line(args: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*WAKENG, *args.split()], stdout=full, stderr=-1, text=True, check=False)
    assert done.returncode == 2
    assert re.fullmatch(r"wakeng.*No space left on device.*\n", done.stderr)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_encoding_of_the_terminal_will_do(encoding: str) -> None:
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    done = subprocess.run([*WAKENG, "rules", "xian"], capture_output=True, env=environment, check=True)
    assert done.stdout.decode(encoding).isascii()
