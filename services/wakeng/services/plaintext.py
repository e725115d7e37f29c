"""Text from strangers made safe to log: it stays one line, moves no cursor, and is what it looks like.

JSON escapes what ends a line in ASCII, but lets through what terminals and editors obey as well: the C1 controls
(U+009B alone begins a terminal sequence), Unicode's line ends, and the marks that make text run backwards.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

import orjson

_OBEYED: Final = "\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069"
_IN_JSON: Final = re.compile(f"[{_OBEYED}]")
_IN_TEXT: Final = re.compile(f"[\x00-\x1f{_OBEYED}\ud800-\udfff]")


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def plain_text(text: str) -> str:
    """The text with all that is not to be obeyed written as an escape."""
    return _IN_TEXT.sub(_escape, text)


def json_line(_logger: Any, _method: str, event: Mapping[str, Any]) -> bytes:
    """structlog's last processor: one line of JSON with its newline, whatever stands in the event.

    A log must not fail over what it tells: what JSON cannot say is said as text.
    """
    try:
        line = orjson.dumps(event, option=orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        line = orjson.dumps(_plain(event), option=orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE)
    if line.isascii() and b"\x7f" not in line:
        return line
    return _IN_JSON.sub(_escape, line.decode()).encode()


def _plain(value: Any, depth: int = 0) -> Any:
    """The value in what JSON can say; it is only looked into where it cannot be said as it is."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if depth < 8 and isinstance(value, Mapping):
        return {_plain(str(name)): _plain(member, depth + 1) for name, member in value.items()}
    if depth < 8 and isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(member, depth + 1) for member in value]
    try:
        orjson.dumps(value)
    except TypeError:
        return _plain(repr(value))
    return value
