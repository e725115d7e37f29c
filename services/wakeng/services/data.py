"""Where the arena keeps its data unless it is told otherwise: $WAKENG_DATA, or the user's data folder."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sqlalchemy import URL

from wakeng.services.errors import ServiceError


@dataclass(frozen=True, slots=True)
class DataFolder:
    """A folder and the places in it. Nothing is made before `create`."""

    path: Path

    @classmethod
    def default(cls, environment: Mapping[str, str] = os.environ, *, platform: str = sys.platform) -> Self:
        """$WAKENG_DATA if it is set, else the platform's place for a user's data."""
        told = environment.get("WAKENG_DATA")
        return cls(Path(told).expanduser() if told else _user_data(environment, platform) / "wakeng")

    @property
    def database(self) -> Path:
        """The store's file."""
        return self.path / "wakeng.db"

    @property
    def database_url(self) -> str:
        """The store's URL."""
        return URL.create("sqlite", database=str(self.database.absolute())).render_as_string()

    @property
    def journals(self) -> Path:
        """The folder of journals."""
        return self.path / "journal"

    def journal(self, name: str) -> Path:
        """The journal of one match or arena: one writer each, so that several may run at once."""
        return self.journals / f"{name}.jsonl"

    def create(self) -> Self:
        """Makes the folders where they are missing; ServiceError if that cannot be."""
        try:
            self.journals.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise ServiceError(f"cannot keep data in {self.path}: {problem.strerror}; set WAKENG_DATA") from problem
        return self


def _user_data(environment: Mapping[str, str], platform: str) -> Path:
    home = Path(environment.get("HOME") or Path.home())
    if platform == "darwin":
        return home / "Library" / "Application Support"
    if platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local")
    # A relative path is none by the XDG Base Directory Specification, and is to be ignored.
    told = Path(environment.get("XDG_DATA_HOME", ""))
    return told if told.is_absolute() else home / ".local" / "share"
