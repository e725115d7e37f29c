"""Record files as numbered lines, read one at a time and never more of one than a record may have."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import click

from wakeng.cli.errors import NotThere
from wakeng.cli.text import clean
from wakeng.engine.record import MOST_LINE_BYTES

STDIN: Final = "-"
FILE: Final = click.Path(exists=True, dir_okay=False, readable=True, allow_dash=True)
"""A parameter: a file that is there, or `-` for standard input."""


class Line(NamedTuple):
    """A line without its newline; `text` is None where it was too long for a record, `end` the offset behind it."""

    number: int
    text: bytes | None
    end: int


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """The file as bytes; NotThere if it cannot be opened or, later, read."""
    try:
        if path == STDIN and sys.stdin is None:
            raise NotThere("standard input is closed; there is nothing to read")
        if path == STDIN:
            yield sys.stdin.buffer
        else:
            with Path(path).open("rb") as file:
                yield file
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise NotThere(f"cannot read {clean(path)}: {problem.strerror}") from None


def lines(file: BinaryIO) -> Iterator[Line]:
    """Every line in order; the last may lack its newline."""
    number = end = 0
    while chunk := file.readline(MOST_LINE_BYTES + 1):
        number += 1
        end += len(chunk)
        if chunk.endswith(b"\n"):
            yield Line(number, chunk[:-1], end)
        elif len(chunk) <= MOST_LINE_BYTES:
            yield Line(number, chunk, end)
        else:
            yield Line(number, None, end)
            end += _skip_rest(file)


def _skip_rest(file: BinaryIO) -> int:
    """Pass over what is left of a line that is too long; gives how much it was."""
    skipped = 0
    while chunk := file.readline(1 << 16):
        skipped += len(chunk)
        if chunk.endswith(b"\n"):
            break
    return skipped
