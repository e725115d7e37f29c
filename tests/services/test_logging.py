"""The log is for people on a terminal and for machines elsewhere, and nobody writes into it but the arena."""

import io
from datetime import UTC, datetime
from typing import Any

import orjson

from wakeng.services.logging import open_log

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


class Terminal(io.StringIO):
    """A stream that says it is one."""

    def isatty(self) -> bool:
        return True


def told(stream: io.StringIO, **options: Any) -> str:
    log = open_log(stream, clock=lambda: NOON, **options)
    log.info("bot started", bot="greedy\n\x1b[2Jforged", pid=7)
    log.debug("too much")
    return stream.getvalue()


def test_machines_get_json() -> None:
    text = told(io.StringIO())
    assert text.count("\n") == 1
    assert orjson.loads(text) == {
        "event": "bot started",
        "bot": "greedy\n\x1b[2Jforged",
        "pid": 7,
        "level": "info",
        "at": "2026-01-02T12:00:00.000+00:00",
    }


def test_people_get_one_line_in_columns() -> None:
    text = told(Terminal())
    assert text.count("\n") == 1
    assert "bot started" in text
    assert "\x1b[2J" not in text
    assert r"greedy\u000a\u001b[2Jforged" in text


def test_the_look_can_be_chosen() -> None:
    assert told(Terminal(), as_json=True).startswith("{")
    assert "\x1b" not in told(io.StringIO(), as_json=False)


def test_the_level_can_be_chosen() -> None:
    assert told(io.StringIO(), level="error") == ""
    assert "too much" in told(io.StringIO(), level="debug")


def test_an_error_tells_where_it_came_from() -> None:
    for stream in (io.StringIO(), Terminal()):
        log = open_log(stream)
        try:
            raise ValueError("boom")
        except ValueError:
            log.exception("failed", match_id="m1")
        assert "test_logging.py" in stream.getvalue()
        assert "boom" in stream.getvalue()
