"""What the arena's commands share: options, the default places of data, and errors in one line."""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from wakeng.services.spec import SpecError, TimeControl

Command = Callable[..., Any]
T = TypeVar("T")

_TIMES: Final = (
    ("move_ms", 1, "Time for a move."),
    ("bank_ms", 0, "Time beyond the moves, for all of a hand."),
    ("ready_ms", 1, "Time to come up before the first deal."),
    ("reconnect_ms", 0, "Time a lost connection may be away, for all of a hand."),
)

DB_OPTION: Final = click.option(
    "--db", metavar="URL", help="The store, sqlite:///FILE; wakeng.db in the data folder if absent."
)


class Refused(click.ClickException):
    """What was asked cannot be done; one line on standard error."""

    exit_code = 2


def TIME_OPTIONS(command: Command) -> Command:
    """`--move-ms` and its kind, as keyword arguments for `time_control`."""
    defaults = TimeControl()
    for name, least, text in reversed(_TIMES):
        command = click.option(
            f"--{name.replace('_', '-')}",
            name,
            type=click.IntRange(least, 86_400_000),
            default=getattr(defaults, name),
            show_default=True,
            metavar="MS",
            help=text,
        )(command)
    return command


def run_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run to its end, in the fastest event loop that is installed."""
    from wakeng.sdk.process import loop_factory

    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        return runner.run(work)


def this_command() -> str:
    """How this command is called from here: by its path where it was called so, as by `make demo`."""
    called = Path(sys.argv[0])
    if called.name == "wakeng" and not called.is_absolute() and called.is_file():
        return str(called)
    return "wakeng"


def database(url: str | None) -> str:
    """The store's URL, by default that of the data folder, which is made if need be."""
    from wakeng.services.data import DataFolder

    return url or DataFolder.default().create().database_url


def journal_file(path: Path | None, name: str) -> Path:
    """Where the journal goes, by default to a file of that name in the data folder."""
    from wakeng.services.data import DataFolder

    return path or DataFolder.default().create().journal(name)


def time_control(times: Mapping[str, int]) -> TimeControl:
    """The budgets that were asked for."""
    return TimeControl(**times)


def guarded(command: Command) -> Command:
    """Turns what the arena refuses into click's one line and exit status 2."""

    @wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        from wakeng.services.errors import ServiceError

        try:
            return command(*args, **kwargs)
        except SpecError as problem:
            raise click.UsageError(str(problem)) from None
        except ServiceError as problem:
            raise Refused(str(problem)) from None

    return wrapped
