"""Files of whole lines: what stands in one is complete lines, whatever kills the writer and whenever.

Lines are appended by one `write` each time. One that a crash has cut short is cut off when the file is next opened,
and one that the disk did not take whole is taken back at once.
"""

import os
import stat
import sys
from pathlib import Path
from typing import Final

from wakeng.services.errors import LineFileError

if sys.platform != "win32":
    import fcntl

_BLOCK: Final = 1 << 16


class LineFile:
    """A file that lines are appended to; LineFileError where it cannot be opened or another process writes to it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        try:
            self._handle = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as problem:
            raise LineFileError(f"cannot open {self.path}: {problem.strerror}") from problem
        self._open = True
        # A pipe or a terminal has no size, no end to mend, and may be shared.
        self.regular = stat.S_ISREG(os.fstat(self._handle).st_mode)
        self.size = 0
        """Bytes in the file."""
        if self.regular:
            self._claim()
            self.size = self._whole_lines()
            os.ftruncate(self._handle, self.size)

    def _claim(self) -> None:
        if sys.platform == "win32":
            return
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.close()
            raise LineFileError(f"cannot write to {self.path}: another writer has it open") from None

    def _whole_lines(self) -> int:
        """How many bytes of the file are whole lines."""
        end = os.fstat(self._handle).st_size
        while end > 0:
            start = max(0, end - _BLOCK)
            newline = os.pread(self._handle, end - start, start).rfind(b"\n")
            if newline >= 0:
                return start + newline + 1
            end = start
        return 0

    def append(self, lines: bytes) -> None:
        """Appends lines, each with its newline, all or none; they are the kernel's then, so a kill loses nothing."""
        left = memoryview(lines)
        try:
            while left:
                left = left[os.write(self._handle, left) :]
        except OSError as problem:
            if self.regular:
                os.ftruncate(self._handle, self.size)
            raise LineFileError(f"cannot write to {self.path}: {problem.strerror}") from problem
        self.size += len(lines)

    def sync(self) -> None:
        """Returns when the disk has it, so that a power cut loses nothing either."""
        if self.regular:
            os.fsync(self._handle)

    def close(self) -> None:
        """Closes the file; to do so twice changes nothing."""
        if self._open:
            self._open = False
            os.close(self._handle)
