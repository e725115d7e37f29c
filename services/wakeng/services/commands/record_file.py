"""A match's records in a file, in the order of hands whatever the order in which they ended."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from wakeng.engine import encode
from wakeng.services.linefile import LineFile


class OrderedRecordFile:
    """Replaces what the file held. A record waits until those before it are written; `close` writes whatever waits."""

    def __init__(self, path: Path) -> None:
        self._file = LineFile(path)
        if self._file.regular:
            os.truncate(path, 0)
            self._file.size = 0
        self._next = 0
        self._waiting: dict[int, bytes] = {}

    def put(self, record: Mapping[str, Any]) -> None:
        """Write the record as soon as it is its turn."""
        self._waiting[record["hand_index"]] = encode(record) + b"\n"
        lines = b""
        while (line := self._waiting.pop(self._next, None)) is not None:
            lines += line
            self._next += 1
        if lines:
            self._file.append(lines)

    def close(self) -> None:
        """Close the file once the disk has all of it."""
        self._file.append(b"".join(self._waiting[index] for index in sorted(self._waiting)))
        self._waiting.clear()
        self._file.sync()
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
