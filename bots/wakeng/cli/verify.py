"""`wakeng verify`: play recorded hands again, line by line, and say where a file is not true (docs/protocol.md 6)."""

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

import click

from wakeng.cli.cards import rules_line
from wakeng.cli.record_files import FILE, STDIN, Line, lines, opened
from wakeng.cli.terminal import console, print_json
from wakeng.cli.text import clean, counted
from wakeng.engine import RecordError, blind_first_seat, commitment, hand_seed, verify
from wakeng.engine.record import MOST_LINE_BYTES, rules_of
from wakeng.sdk.options import SEED

MOST_LISTED: Final = 1_000
"""Failures kept for --json; further ones are counted."""
LONG_FILE_BYTES: Final = 4 << 20
"""From here on a file takes seconds, and somebody who watches is shown how far it is."""
_TICK: Final = 100

Progress = Callable[[int], object]


@dataclass
class Tally:
    """What was found in one file."""

    path: str
    hands: int = 0
    failed: int = 0
    failures: list[dict[str, Any]] = field(default_factory=list)
    rules: Counter[str] = field(default_factory=Counter)
    matches: set[str] = field(default_factory=set)

    def accept(self, record: Mapping[str, Any]) -> None:
        """Count a true record."""
        self.hands += 1
        self.rules[rules_line(rules_of(record)).plain] += 1
        self.matches.add(record["match_id"])

    def refuse(self, line: int, problem: RecordError) -> None:
        """Count a line that is none."""
        self.failed += 1
        if len(self.failures) < MOST_LISTED:
            self.failures.append({"line": line, "field": problem.field, "problem": str(problem)})


@click.command("verify")
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@click.option("--match-seed", type=SEED, metavar="HEX", help="Check commitment and hand seeds against a match's seed.")
@click.option("--keep-going", is_flag=True, help="Name every line that fails instead of stopping at the first.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(files: tuple[str, ...], match_seed: bytes | None, *, keep_going: bool, as_json: bool) -> int:
    """Play the recorded hands of each FILE (- for standard input) again and compare every byte.

    Nothing is taken on trust: the cards are dealt from the seed, the decisions played, the hand settled.
    The exit status is 0 if every line is a true record, else 1.

    \b
    wakeng verify r.jsonl
    zcat r.jsonl.gz | wakeng verify -
    """
    tallies: list[Tally] = []
    for path in files:
        tally = Tally(path)
        tallies.append(tally)
        with opened(path) as file, progress(path, file) as tick:
            _read(file, tally, tick, match_seed=match_seed, keep_going=keep_going, quiet=as_json)
        if not as_json:
            _report(tally, stopped=bool(tally.failed) and not keep_going)
        if tally.failed and not keep_going:
            break
    ok = all(tally.hands and not tally.failed for tally in tallies)
    if as_json:
        print_json({"ok": ok, "files": [_plain(tally) for tally in tallies]})
    return 0 if ok else 1


def _read(
    file: BinaryIO, tally: Tally, tick: Progress, *, match_seed: bytes | None, keep_going: bool, quiet: bool
) -> None:
    for line in lines(file):
        try:
            tally.accept(check(line, match_seed))
        except RecordError as problem:
            tally.refuse(line.number, problem)
            if not quiet:
                click.echo(f"{clean(tally.path)}: line {line.number}: {clean(str(problem))}", err=True)
            if not keep_going:
                return
        if line.number % _TICK == 0:
            tick(line.end)


def check(line: Line, match_seed: bytes | None = None) -> dict[str, Any]:
    """The record of a line, if it is true; RecordError otherwise."""
    if line.text is None:
        raise RecordError("", f"is longer than the {MOST_LINE_BYTES:,} bytes a record may have")
    if not line.text.strip():
        raise RecordError("", "is empty; each line is one record")
    record = verify(line.text)
    if match_seed is not None:
        check_match_seed(record, match_seed)
    return record


def check_match_seed(record: Mapping[str, Any], match_seed: bytes) -> None:
    """RecordError unless what the record says of its match follows from the match's seed (docs/rules.md 7)."""
    index = record["hand_index"]
    expected = {
        "match_commitment": commitment(match_seed),
        "seed": hand_seed(match_seed, index).hex(),
        "blind_first_seat": blind_first_seat(rules_of(record), match_seed, index),
    }
    for name, value in expected.items():
        if record.get(name) != value:
            raise RecordError(name, f"should be {value} by the match seed, not {record.get(name)}")


# What is told -------------------------------------------------------------------------------------------------------


def _report(tally: Tally, *, stopped: bool) -> None:
    path = "standard input" if tally.path == STDIN else clean(tally.path)
    if not tally.hands and not tally.failed:
        click.echo(f"{path}: is empty; there is no record in it", err=True)
        return
    matches = f" of {counted(len(tally.matches), 'match', 'matches')}" if tally.hands else ""
    failed = f", {counted(tally.failed, 'line')} failed" if tally.failed else ""
    stop = "; stopped there" if stopped else ""
    click.echo(f"{path}: {counted(tally.hands, 'hand')}{matches} verified{failed}{stop}")
    for rules, hands in tally.rules.most_common():
        click.echo(f"  {rules}: {hands:,}")


def _plain(tally: Tally) -> dict[str, Any]:
    return {
        "file": tally.path,
        "hands": tally.hands,
        "failed": tally.failed,
        "failures": tally.failures,
        "matches": len(tally.matches),
        "rules": dict(tally.rules),
    }


@contextmanager
def progress(path: str, file: BinaryIO) -> Iterator[Progress]:
    """A bar on the terminal for a file that takes long; gives what to call with the bytes read so far."""
    size = None if path == STDIN else os.fstat(file.fileno()).st_size or None
    if not sys.stderr.isatty() or (size is not None and size < LONG_FILE_BYTES):
        yield lambda _: None
        return
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("verifying"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Bar(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=size)
        yield lambda done: bar.update(task, completed=done)
