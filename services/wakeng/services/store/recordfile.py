"""Records in a file, one canonical line each, in the order in which hands ended."""

import os
from collections.abc import Iterable
from typing import Self

from wakeng.services.linefile import LineFile


class RecordFile:
    """Appends records to a file of lines, which is made if there is none; LineFileError if that cannot be."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = LineFile(path)

    def append(self, lines: Iterable[bytes]) -> None:
        """Appends lines, given without newlines, all or none."""
        self._file.append(b"".join(line + b"\n" for line in lines))

    def close(self) -> None:
        """Closes the file once the disk has it."""
        self._file.sync()
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
