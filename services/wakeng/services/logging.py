"""The arena's log, for people: what starts, stops and goes wrong. Decisions and faults stand in the journal instead.

Standard output is for results, so the log goes to standard error: in colours and columns on a terminal, else as JSON.
"""

import logging
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, TextIO, cast

import structlog
from structlog.typing import EventDict, FilteringBoundLogger, Processor

from wakeng.services.plaintext import json_line, plain_text

LEVELS: Final = ("debug", "info", "warning", "error")


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


def _stamp(clock: Callable[[], datetime]) -> Processor:
    def stamp(_logger: Any, _method: str, event: EventDict) -> EventDict:
        event["at"] = clock().isoformat(timespec="milliseconds")
        return event

    return stamp


def _for_machines() -> list[Processor]:
    def line(logger: Any, method: str, event: EventDict) -> str:
        return json_line(logger, method, event).decode().removesuffix("\n")

    return [structlog.processors.format_exc_info, line]


def _for_people(*, colors: bool) -> list[Processor]:
    console = structlog.dev.ConsoleRenderer(
        colors=colors,
        timestamp_key="at",
        exception_formatter=structlog.dev.plain_traceback,
    )

    def line(logger: Any, method: str, event: EventDict) -> str:
        safe = {name: plain_text(value) if isinstance(value, str) else value for name, value in event.items()}
        return str(console(logger, method, safe))

    return [line]
