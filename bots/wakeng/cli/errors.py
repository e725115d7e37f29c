"""How a command line ends: one line on standard error and an exit status, whatever went wrong with what was asked.

    0    done                            2    asked wrongly, or something needed is not there or cannot be read
    1    done, and the answer is no      130  interrupted        141  the reader of the output has gone

A traceback is left for mistakes of our own.
"""

import os
import sys
from collections.abc import Callable
from typing import Any, Final

import click

from wakeng.cli.text import clean

INTERRUPTED: Final = 130
READER_GONE: Final = 141
"""As the shell reports a program that SIGPIPE ended; the group of commands returns it (main.py)."""


class NotThere(click.ClickException):
    """Something that was named rightly but is not there or cannot be read."""

    exit_code = 2

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.ctx = click.get_current_context(silent=True)


def guard(act: Callable[[], Any]) -> int:
    """The exit status of what `act` does; an integer that it returns is one."""
    try:
        status = act()
    except click.Abort:
        return INTERRUPTED
    except click.ClickException as problem:
        _say(problem)
        return problem.exit_code
    except OSError as problem:
        click.echo(f"wakeng: {clean(str(problem))}", err=True)
        silence_stdout()
        return 2
    return status if type(status) is int else 0


def _say(problem: click.ClickException) -> None:
    ctx = getattr(problem, "ctx", None)
    path = ctx.command_path if ctx else "wakeng"
    message = " ".join(clean(" ".join(problem.format_message().split())).split()).rstrip(".")
    click.echo(f"{path}: {message}{_hint(problem, path)}", err=True)


def _hint(problem: click.ClickException, path: str) -> str:
    """Where to read on, unless the message is about a value, and so says itself what would do."""
    about_value = isinstance(problem, click.BadParameter) and not isinstance(problem, click.MissingParameter)
    return f" (see {path} --help)" if isinstance(problem, click.UsageError) and not about_value else ""


def silence_stdout() -> None:
    """Whatever is still buffered goes nowhere, or the interpreter would complain about it as it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
