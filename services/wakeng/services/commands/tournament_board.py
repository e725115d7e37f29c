"""How a tournament goes, on a terminal while it is played: its progress, and its standings so far."""

import time
from types import TracebackType
from typing import Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from wakeng.services.commands.tournament_tell import Standings, standings_tables


class Board:
    """Shown on standard error where that is a terminal, and gone once it is closed."""

    def __init__(self, *, planned: int | None, table: bool = True) -> None:
        """`planned` blocks, None for no end; without `table` no standings are shown."""
        console = Console(stderr=True, markup=False, highlight=False, emoji=False)
        self.shown = console.is_terminal
        """Whether anybody sees it."""
        self._table = table
        self._began: float | None = None
        self._before = 0
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("blocks {task.fields[speed]}"),
            TimeRemainingColumn(),
            console=console,
        )
        self._task = self._progress.add_task("starting the bots", total=planned, speed="")
        self._live = Live(self._progress, console=console, transient=True, refresh_per_second=5)

    def update(self, *, prefix: int, hands: int, standings: Standings | None, doing: str = "playing") -> None:
        """`hands` were played in all, this process's and those before."""
        if not self.shown:
            return
        if self._began is None:
            self._began, self._before = time.monotonic(), hands
        speed = (hands - self._before) / max(0.001, time.monotonic() - self._began)
        self._progress.update(self._task, completed=prefix, description=doing, speed=f"{speed:,.0f} hands/s")
        parts: list[Any] = [self._progress]
        if standings is not None and self._table:
            parts += standings_tables(standings)
        self._live.update(Group(*parts))

    def say(self, doing: str) -> None:
        """What goes on while nothing is played."""
        self._progress.update(self._task, description=doing)

    def __enter__(self) -> Self:
        if self.shown:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.shown:
            self._live.stop()
