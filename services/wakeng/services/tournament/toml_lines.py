"""On which line each key of a TOML document stands, which tomllib does not tell.

A path is the keys and, for arrays, the numbers from 0 that lead to a value: `("bots", 2, "name")` for `bots[2].name`.
The text has passed tomllib before, so this scanner need not check anything; it follows tables, arrays of tables,
inline tables, arrays and strings, and skips the rest.
"""

import re
import tomllib
from bisect import bisect_right
from typing import Final

Path = tuple[str | int, ...]

_BLANK: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE: Final = re.compile(r"[ \t]*")
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_STRING: Final = re.compile(
    "|".join(
        (
            r'"""(?:[^\\]|\\.)*?"""(?:"{0,2})',
            r"'''.*?'''(?:'{0,2})",
            r'"(?:[^"\\]|\\.)*"',
            r"'[^']*'",
        )
    ),
    re.DOTALL,
)
_OTHER_VALUE: Final = re.compile(r"[^,\]}#\n]*")


def key_lines(text: str) -> dict[Path, int]:
    """The line, from 1, of every key, table and array item of a valid document; of a table named twice the first."""
    return _Scanner(text).lines


class _Scanner:
    def __init__(self, text: str) -> None:
        self.lines: dict[Path, int] = {}
        self._text = text
        self._at = 0
        self._newlines = [i for i, character in enumerate(text) if character == "\n"]
        self._sizes: dict[Path, int] = {}
        """How many tables each array of tables has so far."""
        self._document()

    def _document(self) -> None:
        table: Path = ()
        while self._skip(_BLANK):
            if self._take("[["):
                table = self._array_table()
            elif self._take("["):
                table = self._header()
            else:
                self._pair(table)

    def _header(self) -> Path:
        line = self._line()
        path = self._within(self._key())
        self._note(path, line)
        self._close("]")
        return path

    def _array_table(self) -> Path:
        line = self._line()
        *outer, last = self._key()
        array = (*self._within(outer), last)
        size = self._sizes.get(array, 0)
        self._sizes[array] = size + 1
        path = (*array, size)
        self._note(path, line)
        self._close("]]")
        return path

    def _within(self, keys: list[str]) -> Path:
        """The path a header names: in an array of tables, the last one so far."""
        path: Path = ()
        for key in keys:
            path = (*path, key)
            if path in self._sizes:
                path = (*path, self._sizes[path] - 1)
        return path

    def _pair(self, table: Path) -> None:
        line = self._line()
        path = (*table, *self._key())
        self._note(path, line)
        self._close("=")
        self._value(path)

    def _value(self, path: Path) -> None:
        self._skip(_SPACE)
        if self._take("["):
            self._array(path)
        elif self._take("{"):
            self._inline_table(path)
        else:
            self._skip(_STRING if self._text[self._at] in "\"'" else _OTHER_VALUE)

    def _array(self, path: Path) -> None:
        size = 0
        while self._skip(_BLANK) and not self._take("]"):
            self._note((*path, size), self._line())
            self._value((*path, size))
            size += 1
            self._skip(_BLANK)
            self._take(",")

    def _inline_table(self, path: Path) -> None:
        while self._skip(_BLANK) and not self._take("}"):
            self._pair(path)
            self._skip(_BLANK)
            self._take(",")

    def _key(self) -> list[str]:
        keys = []
        while True:
            self._skip(_SPACE)
            start = self._at
            quoted = self._text[start] in "\"'"
            self._skip(_STRING if quoted else _BARE_KEY)
            key = self._text[start : self._at]
            keys.append(_unquoted(key) if quoted else key)
            self._skip(_SPACE)
            if not self._take("."):
                return keys

    def _note(self, path: Path, line: int) -> None:
        for length in range(1, len(path) + 1):
            self.lines.setdefault(path[:length], line)

    def _line(self) -> int:
        return bisect_right(self._newlines, self._at - 1) + 1

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        """Go past what matches here; whether the document goes on."""
        found = pattern.match(self._text, self._at)
        assert found is not None
        self._at = found.end()
        return self._at < len(self._text)

    def _take(self, token: str) -> bool:
        there = self._text.startswith(token, self._at)
        if there:
            self._at += len(token)
        return there

    def _close(self, token: str) -> None:
        self._skip(_SPACE)
        taken = self._take(token)
        assert taken, "the document was read before"


def _unquoted(key: str) -> str:
    """A quoted key without its quotes, its escapes resolved as tomllib does."""
    return next(iter(tomllib.loads(f"{key} = 0")))
