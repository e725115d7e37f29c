"""Where results go: a console that takes every text literally, and JSON for programs."""

from typing import Any, Final

import click
import orjson
from rich.console import Console
from rich.table import Table

HEAD: Final = "bold"
QUIET: Final = "dim"
MARK: Final = "bold yellow"
RED: Final = "red"
WIDEST: Final = 100
"""Longer lines are hard to read."""


class PlainConsole(Console):
    """A console without markup or emoji codes, which leaves a broken pipe to whoever called."""

    def on_broken_pipe(self) -> None:
        """Go on with the error that is being handled; errors.py ends the command quietly."""
        raise


def console(*, stderr: bool = False) -> Console:
    """The console of standard output: colours where they show, 80 columns where nobody says otherwise, never many."""
    made = PlainConsole(stderr=stderr, markup=False, emoji=False, highlight=False)
    made.width = min(made.width, WIDEST)
    return made


def grid(*headers: str) -> Table:
    """A table without lines, which stays readable in 80 columns and when copied."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=HEAD, show_header=any(headers))
    for header in headers:
        table.add_column(header, overflow="fold")
    return table


def print_json(value: Any) -> None:
    """One JSON document, indented."""
    click.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())
