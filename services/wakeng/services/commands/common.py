"""What the arena's commands share: options, the default places of data, and errors in one line."""

import asyncio
import gc
import os
import sys
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from wakeng.services.commands.settings_options import CONFIG_OPTION, ambient
from wakeng.services.spec import SpecError, TimeControl

if TYPE_CHECKING:
    from wakeng.services.data import DataFolder
    from wakeng.services.seating import BotTls
    from wakeng.services.settings import Settings
    from wakeng.services.settings.structs import Bots
    from wakeng.services.workers.connection import NatsOptions

Command = Callable[..., Any]
T = TypeVar("T")

_TIMES: Final = (
    ("move_ms", 1, "Time for a move."),
    ("bank_ms", 0, "Time beyond the moves, for all of a hand."),
    ("ready_ms", 1, "Time to come up before the first deal."),
    ("reconnect_ms", 0, "Time a lost connection may be away, for all of a hand."),
)


def DB_OPTION(command: Command) -> Command:
    """`--db URL`, and `--config FILE` for what is not given."""
    help_ = "The store, sqlite:///FILE or postgresql://USER@HOST/NAME; by default that of the settings, else a file."
    return click.option("--db", metavar="URL", help=help_)(CONFIG_OPTION(command))


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


class ReportFile(click.Path):
    """A file that is written when the work is done; that there is a place for it is seen to before the work begins."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, writable=True, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path; a usage error where it cannot be written."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if not path.parent.is_dir():
            self.fail(f"there is no folder {path.parent}", param, ctx)
        if not path.exists() and not os.access(path.parent, os.W_OK):
            self.fail(f"nothing may be written in the folder {path.parent}", param, ctx)
        return path


def write_report(path: Path | None, report: bytes) -> None:
    """Write what was found, where a file was asked for; Refused says why it cannot be."""
    if path is None:
        return
    try:
        path.write_bytes(report)
    except OSError as problem:
        raise Refused(f"cannot write {path}: {problem.strerror}") from None


def run_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run to its end, in the fastest event loop that is installed."""
    from wakeng.sdk.process import loop_factory

    calm_collector()
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        return runner.run(work)


def calm_collector() -> None:
    """Let the garbage collector look for cycles less often: tables make few, and its passes cost a twentieth of all.

    What was imported is never looked at again.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def this_command() -> str:
    """How this command is called from here: by its path where it was called so, as by `make demo`."""
    called = Path(sys.argv[0])
    if called.name == "wakeng" and not called.is_absolute() and called.is_file():
        return str(called)
    return "wakeng"


@dataclass(frozen=True, slots=True)
class Places:
    """Where data goes by the settings, by default into the data folder, which is made if need be."""

    settings: "Settings"

    @property
    def db(self) -> str:
        """The store's URL."""
        return self.settings.store.url or self._folder().database_url

    def journal(self, name: str) -> Path:
        """The journal of one match or arena."""
        return self.settings.journal.file or self._folder().journal(name)

    def _folder(self) -> "DataFolder":
        from wakeng.services.data import DataFolder

        folder = self.settings.data.folder
        return (DataFolder.default() if folder is None else DataFolder(folder)).create()


def data_places(settings: "Settings | None" = None) -> Places:
    """The places by these settings, else by those of the file and the environment."""
    return Places(ambient().settings if settings is None else settings)


def database(url: str | None) -> str:
    """The store's URL, for a command that may have been told one."""
    return url or data_places().db


def journal_file(path: Path | None, name: str) -> Path:
    """Where the journal goes, for a command that may have been told."""
    return path or data_places().journal(name)


def bots_trust(bots: "Bots") -> "BotTls":
    """How bots at addresses are spoken to."""
    from wakeng.services.seating import BotTls

    return BotTls(ca=bots.ca, cert=bots.cert, key=bots.key, insecure=bots.insecure)


def nats_of(settings: "Settings") -> "NatsOptions | None":
    """Where blocks are queued for workers; None where there are none."""
    if settings.nats.url is None:
        return None
    from msgspec.structs import asdict

    from wakeng.services.workers.connection import NatsOptions

    return NatsOptions(**asdict(settings.nats))


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
