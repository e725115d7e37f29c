"""The arena's log, for people: what starts, stops and goes wrong. Decisions and faults stand in the journal instead.

Standard output is for results, so the log goes to standard error: in colours and columns on a terminal, else as JSON.
Modules speak to the standard library's loggers, with ids as `extra`, and need not know who listens; `log_to` makes an
event of each line. Ids that hold for all of a task are bound once, by `bind_ids`.
"""

import logging
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final, TextIO, cast

import structlog
from structlog.typing import EventDict, FilteringBoundLogger, Processor

from wakeng.services.plaintext import json_line, plain_text
from wakeng.services.settings.structs import Log

LEVELS: Final = ("debug", "info", "warning", "error")
OURS: Final = "wakeng"
"""The logger above all of ours; others are heard from WARNING up."""

bind_ids = structlog.contextvars.bind_contextvars
"""`bind_ids(match_id=…)` gives these to every event of the task at work, and of those it begins."""


def wall_clock() -> datetime:
    """Now, in UTC."""
    return datetime.now(UTC)


def open_log(
    stream: TextIO | None = None,
    *,
    level: str = "info",
    as_json: bool | None = None,
    clock: Callable[[], datetime] = wall_clock,
) -> FilteringBoundLogger:
    """A log on a stream, standard error by default, from a level of LEVELS up.

    `as_json` decides how it looks; None means JSON unless the stream is a terminal.
    """
    stream = sys.stderr if stream is None else stream
    plain = not stream.isatty() if as_json is None else as_json
    processors: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        _stamp(clock),
        *(_for_machines() if plain else _for_people(colors=stream.isatty())),
    ]
    logger = structlog.wrap_logger(
        structlog.WriteLogger(stream),
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        context_class=dict,
        cache_logger_on_first_use=True,
    )
    return cast("FilteringBoundLogger", logger)


def log_of(settings: Log, stream: TextIO | None = None) -> FilteringBoundLogger:
    """The log as the settings have it."""
    as_json = None if settings.format == "auto" else settings.format == "json"
    return open_log(stream, level=settings.level, as_json=as_json)


def _stamp(clock: Callable[[], datetime]) -> Processor:
    def stamp(_logger: Any, _method: str, event: EventDict) -> EventDict:
        event["at"] = clock().isoformat(timespec="milliseconds")
        return event

    return stamp


def _traceback(out: TextIO, exc_info: Any) -> None:
    """As Python tells it, with what a stranger may have put into the message made safe, line by line."""
    text = "".join(traceback.format_exception(*exc_info)).rstrip("\n")
    out.write("\n" + "\n".join(plain_text(line) for line in text.split("\n")))


def _for_machines() -> list[Processor]:
    def line(logger: Any, method: str, event: EventDict) -> str:
        return json_line(logger, method, event).decode().removesuffix("\n")

    return [structlog.processors.format_exc_info, line]


def _for_people(*, colors: bool) -> list[Processor]:
    console = structlog.dev.ConsoleRenderer(
        colors=colors,
        timestamp_key="at",
        exception_formatter=_traceback,
    )

    def line(logger: Any, method: str, event: EventDict) -> str:
        safe = {name: plain_text(value) if isinstance(value, str) else value for name, value in event.items()}
        return str(console(logger, method, safe))

    return [line]


@contextmanager
def log_to(log: FilteringBoundLogger, *, level: str = "info") -> Iterator[None]:
    """While it lasts, what the standard library's loggers are told goes to the log: ours from `level`, others' from
    WARNING up.
    """
    root, ours, handler = logging.getLogger(), logging.getLogger(OURS), _Handler(log)
    former = ours.level
    root.addHandler(handler)
    ours.setLevel(level.upper())
    try:
        yield
    finally:
        root.removeHandler(handler)
        ours.setLevel(former)


_OWN: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
"""What every record of the standard library has; what there is beside it was given as `extra`."""


class _Handler(logging.Handler):
    """Makes an event of a record."""

    def __init__(self, log: FilteringBoundLogger) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        try:
            fields = {name: value for name, value in vars(record).items() if name not in _OWN}
            if record.exc_info and record.exc_info[0] is not None:
                fields["exc_info"] = record.exc_info
            self._log.log(record.levelno, record.getMessage(), logger=record.name, **fields)
        except Exception:
            self.handleError(record)
