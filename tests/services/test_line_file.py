"""A file of lines has whole lines only, whatever was done to its writer."""

import errno
import os
from pathlib import Path

import pytest

from wakeng.services.errors import LineFileError
from wakeng.services.linefile import LineFile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lines"


@pytest.mark.parametrize(
    ("left", "kept"),
    [
        (b"", b""),
        (b"one\ntwo\n", b"one\ntwo\n"),
        (b"one\ntw", b"one\n"),
        (b"on", b""),
        (b"one\n" + b"x" * 200_000, b"one\n"),
        (b"x" * 200_000, b""),
    ],
)
def test_a_line_that_a_crash_cut_short_is_cut_off(path: Path, left: bytes, kept: bytes) -> None:
    path.write_bytes(left)
    file = LineFile(path)
    file.append(b"next\n")
    assert file.size == len(kept) + 5
    file.close()
    assert path.read_bytes() == kept + b"next\n"


def test_lines_that_the_disk_takes_in_part_are_taken_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = LineFile(path)
    file.append(b"one\n")
    write, calls = os.write, iter([2])

    def fill_up(handle: int, data: bytes) -> int:
        for size in calls:
            return write(handle, data[:size])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", fill_up)
        with pytest.raises(LineFileError, match="No space left"):
            file.append(b"two\n")
    assert path.read_bytes() == b"one\n"
    file.append(b"two\n")
    file.close()
    assert path.read_bytes() == b"one\ntwo\n"


def test_a_file_has_one_writer(path: Path) -> None:
    file = LineFile(path)
    with pytest.raises(LineFileError, match="another writer"):
        LineFile(path)
    file.close()
    file.close()
    LineFile(path).close()


def test_a_file_that_cannot_be_is_named(tmp_path: Path) -> None:
    with pytest.raises(LineFileError, match="nowhere"):
        LineFile(tmp_path / "nowhere" / "lines")


def test_what_is_no_file_but_takes_lines_will_do() -> None:
    file = LineFile(os.devnull)
    assert not file.regular
    file.append(b"one\n")
    file.sync()
    file.close()
