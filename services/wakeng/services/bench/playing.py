"""An arena with all that it has in earnest, store, journal and metrics, and a match on it without end."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from wakeng.engine import PRESETS
from wakeng.services.arena import Arena, MatchRun
from wakeng.services.bench.child import ChildFailed
from wakeng.services.floor import Watcher
from wakeng.services.journal import Journal
from wakeng.services.metrics import Metrics
from wakeng.services.spec import MOST_HANDS, MatchSpec, SeatKind, SeatSpec, TimeControl
from wakeng.services.store import Store

LOOK_EVERY: Final = 0.02
"""Seconds between looks at whether a match has come so far."""


@asynccontextmanager
async def arena() -> AsyncIterator[Arena]:
    """An arena whose store and journal lie in a folder of their own, gone with it."""
    async with AsyncExitStack() as parts:
        folder = Path(parts.enter_context(TemporaryDirectory(prefix="wakeng-bench-")))
        store = await parts.enter_async_context(await Store.open(f"sqlite:///{folder / 'wakeng.db'}"))
        metrics = Metrics()
        journal = parts.enter_context(Journal.open(folder / "journal.jsonl", on_lines=metrics.journal_lines.inc))
        made = Arena(store=store, journal=journal, metrics=metrics)
        parts.callback(made.close)
        yield made


@dataclass(frozen=True, slots=True)
class Match:
    """A match in play, whose three seats are one bot."""

    arena: Arena
    run: MatchRun
    playing: "asyncio.Task[object]"

    @property
    def tables(self) -> int:
        """Hands in play."""
        return 0 if self.run.runner is None else self.run.runner.floor.running

    def decisions(self) -> int:
        """Decisions so far, as the arena's metrics have them."""
        return int(total(self.arena.metrics, "wakeng_decisions_total"))

    async def until(self, there: Callable[[], bool]) -> None:
        """Return once it is so; ChildFailed if the match does not get there."""
        while not there():
            self.check()
            await asyncio.sleep(LOOK_EVERY)

    def check(self) -> None:
        """ChildFailed if the match has come to an end, which it should not."""
        if self.playing.done():
            raise ChildFailed("the benchmark's match came to an end") from self.playing.exception()


@asynccontextmanager
async def match(
    arena: Arena,
    address: str,
    *,
    tables: int,
    time_control: TimeControl | None = None,
    watchers: Sequence[Watcher] = (),
) -> AsyncIterator[Match]:
    """A match of `xian` against the bot at an address in every seat, broken off at the end."""
    spec = MatchSpec(
        match_id=f"bench-{tables}-{len(watchers)}",
        rules=PRESETS["xian"],
        seats=(SeatSpec(SeatKind.ADDRESS, address),) * 3,
        hands=MOST_HANDS,
        seed=bytes(32),
        time_control=time_control or TimeControl(),
        tables=tables,
    )
    await arena.store.create_match(
        match_id=spec.match_id,
        spec=spec.to_dict(),
        seed=spec.seed.hex(),
        commitment=spec.commitment,
        hands=spec.hands,
    )
    run = MatchRun(arena, spec, watchers=watchers)
    playing = asyncio.create_task(run.play())
    try:
        yield Match(arena, run, playing)
    finally:
        playing.cancel()
        with suppress(asyncio.CancelledError):
            await playing


def total(metrics: Metrics, sample: str, **labels: str) -> float:
    """The sum of all samples of a metric that bear these labels."""
    return sum(
        one.value
        for family in metrics.registry.collect()
        for one in family.samples
        if one.name == sample and labels.items() <= one.labels.items()
    )
