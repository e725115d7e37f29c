"""Tournaments for tests: spec files, and what commands make of them."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.arena.process import Ran, wakeng

HERE = Path(__file__).parent
SEED = "7" * 64
CALM = "time_control = { move_ms = 60000, bank_ms = 60000, ready_ms = 60000 }"
"""So that a busy machine makes no faults, which would be a difference between two runs."""
Standings = dict[str, Any]


def spec(*bots: str, lines: Sequence[str] = (), **fields: Any) -> str:
    """A spec file; `bots` are items of its list as TOML has them."""
    given = {"name": "test", "rules": "xian", "seed": SEED, **fields}
    told = [f"{name} = {json.dumps(value)}" for name, value in given.items() if value is not None]
    return "\n".join((*told, f"bots = [{', '.join(bots)}]", *lines, ""))


FIELD = ('"greedy"', '"lowest"', '"random"', '{ name = "random 2", builtin = "random" }')


@dataclass(frozen=True, slots=True)
class Place:
    """A store in a folder, and commands on it."""

    folder: Path

    @property
    def db(self) -> str:
        """Its URL."""
        return f"sqlite:///{self.folder / 'wakeng.db'}"

    @property
    def env(self) -> Mapping[str, str]:
        """Keeps journals in the folder."""
        return {"WAKENG_DATA": str(self.folder)}

    def write(self, text: str, name: str = "spec.toml") -> Path:
        """A file in it."""
        path = self.folder / name
        path.write_text(text, "utf-8")
        return path

    def tournament(self, *arguments: str) -> Ran:
        """`wakeng tournament` with this store."""
        return wakeng("tournament", *arguments, "--db", self.db, env=self.env)

    def told(self, *arguments: str) -> Any:
        """What it says with --json, having succeeded."""
        ran = self.tournament(*arguments, "--json")
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    def play(self, text: str, tournament_id: str = "t", *options: str) -> Standings:
        """Play a spec to its end, by bots in this process; its standings."""
        path = self.write(text)
        played = self.told("run", str(path), "--id", tournament_id, "--in-process", *options)
        assert played["complete"]
        return dict(played["standings"])

    def standings(self, tournament_id: str = "t") -> Standings:
        """The standings as they are computed anew from the records."""
        told = self.told("standings", tournament_id)
        return {name: value for name, value in told.items() if name not in ("tournament_id", "name", "state")}

    def signalled(self, moments: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """A `wakeng tournament` process that gets signals at moments of its own progress (killed.py)."""
        command = [sys.executable, str(HERE / "killed.py"), moments, "tournament", *arguments, "--db", self.db]
        return subprocess.run(
            command, check=False, capture_output=True, text=True, env={**os.environ, **self.env}, timeout=300
        )

    def killed(self, moment: str, *arguments: str) -> None:
        """The same where the process must be killed."""
        ran = self.signalled(moment, *arguments)
        assert ran.returncode == -9, (ran.returncode, ran.stderr)


def rows(standings: Standings) -> dict[str, dict[str, Any]]:
    """The rows by bot."""
    return {row["bot"]: row for group in standings["groups"] for row in group}


def timeless(value: Any) -> Any:
    """A document without what depends on time, which its keys tell."""
    if isinstance(value, list):
        return [timeless(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: timeless(item) for key, item in value.items() if not tells_time(key)}


def tells_time(key: str) -> bool:
    """Whether what a key holds may differ from run to run."""
    return any(word in key for word in ("latency", "time", "seconds")) or key.endswith("_at")
