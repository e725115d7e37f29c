"""A copy of a store while it is in use, of one moment: SQLite's own online copy, or PostgreSQL's pg_dump.

The copy is made beside its place and moved there when it is whole and on the disk: what bears the name is a backup.
"""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from sqlalchemy import URL

from wakeng.services.errors import BackupError

_PAGES_AT_ONCE: Final = 1024
Progress = Callable[[int, int], None]
"""Hears how many pages of how many are copied."""


def back_up(url: URL, target: Path, *, force: bool, progress: Progress) -> int:
    """Copies the store to a file, and returns its size; BackupError where that cannot be, and the file stays away.

    A file that is there already is replaced only by `force`. Blocks until it is done.
    """
    if target.exists() and not force:
        raise BackupError(f"{target} is there already; --force replaces it")
    part = target.with_name(f"{target.name}.part")
    try:
        if url.get_backend_name() == "sqlite":
            _copy_sqlite(Path(url.database or ""), part, progress)
        else:
            _dump_postgres(url, part)
        with part.open("rb+") as copied:
            os.fsync(copied.fileno())
        os.replace(part, target)
    except (OSError, sqlite3.Error) as problem:
        raise BackupError(f"cannot back up to {target}: {problem}") from problem
    finally:
        with suppress(OSError):
            part.unlink()
    return target.stat().st_size


def _copy_sqlite(source: Path, part: Path, progress: Progress) -> None:
    part.unlink(missing_ok=True)
    with (
        closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)) as reader,
        closing(sqlite3.connect(part)) as copy,
    ):
        # Within a transaction the copy is of the moment it began, and starts over for nobody's writes.
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
        reader.backup(copy, pages=_PAGES_AT_ONCE, progress=lambda _, left, all_: progress(all_ - left, all_), sleep=0)
        copy.execute("PRAGMA journal_mode = DELETE")  # One file, whole in itself.
        (found,) = copy.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise BackupError(f"the copy is not sound: {found} (wakeng db check)")


def _dump_postgres(url: URL, part: Path) -> None:
    program = shutil.which("pg_dump")
    if program is None:
        raise BackupError("pg_dump is not on PATH; install the client programs of PostgreSQL, or back up at the server")
    # The password goes by the environment, since every user of a machine sees the arguments of every program.
    plain = url.set(drivername="postgresql", password=None).render_as_string(hide_password=False)
    environment = os.environ | ({"PGPASSWORD": str(url.password)} if url.password else {})
    command = [program, "--format=custom", f"--file={part}", f"--dbname={plain}", "--no-password"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        raise BackupError(f"pg_dump has failed: {done.stderr.strip()}")
