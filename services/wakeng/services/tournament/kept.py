"""The standings of a tournament, kept in the store for whoever looks: pages read them there, wherever it is played.

They are made anew over the whole prefix, in a thread; so not before the last ones have cost no more than a small share
of the time. With them goes how the scores went: each bot's mean over the clean blocks so far, at a bounded number of
places along the schedule.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

import orjson

from wakeng.services.errors import StoreError
from wakeng.services.floor import Record
from wakeng.services.store import Store
from wakeng.services.tournament.play import progress_of
from wakeng.services.tournament.prefix import Progress
from wakeng.services.tournament.spec import TournamentSpec
from wakeng.services.tournament.statistics import Block, HandResult
from wakeng.services.tournament.verdicts import names, standings_over

if TYPE_CHECKING:
    from wakeng.services.tournament.run import Stored, TournamentRun

MOST_PLACES: Final = 200
"""Places of a series."""
_SHARE: Final = 0.02
"""Of the time, at most, that may go into it."""
_LEAST_S: Final = 1.0

Results = Sequence[tuple[Any, Block | None]]
"""The prefix in schedule order, with None for blocks struck off."""


@asynccontextmanager
async def kept(store: Store, run: "TournamentRun") -> AsyncIterator[None]:
    """While a run plays, its standings are kept now and then."""
    keeping = asyncio.create_task(_keep_on(store, run))
    try:
        yield
    finally:
        keeping.cancel()
        with suppress(asyncio.CancelledError):
            await keeping


async def _keep_on(store: Store, run: "TournamentRun") -> None:
    told = -1
    while True:
        await asyncio.sleep(_LEAST_S)
        progress = run.runner.progress if run.runner is not None else None
        if progress is None or progress.prefix == told:
            continue
        told = progress.prefix
        began = time.monotonic()
        # A store that is away for a moment costs pages their news, and the tournament nothing.
        with suppress(StoreError):
            await keep(store, run.id, run.spec, progress)
        await asyncio.sleep((time.monotonic() - began) * (1 / _SHARE - 1))


async def keep(store: Store, tournament_id: str, spec: TournamentSpec, progress: Progress[HandResult, Block]) -> None:
    """Make the standings of this moment, and keep them."""
    results, prefix = list(progress.results), progress.prefix
    hands = (await store.pages.hands_of([tournament_id]))[tournament_id]
    made = await asyncio.to_thread(_make, spec, results, prefix)
    await store.pages.keep_standings(tournament_id, hands, **made)


async def keep_from_records(store: Store, tournament: "Stored") -> None:
    """The same from the records: of tournaments broken off, or played before anything was kept."""
    spec = tournament.spec
    records = [_slim(orjson.loads(line)) async for line in store.records(tournament.id)]
    progress = await asyncio.to_thread(progress_of, spec, records, await store.voids(tournament.id))
    del records
    await keep(store, tournament.id, spec, progress)


def _slim(record: Record) -> Record:
    """A record without the decisions that results do not look at, which are nearly all of it."""
    told = [one for one in record.get("decisions", ()) if one["phase"] == "BID" or "fault" in one]
    return {**record, "decisions": told}


def _make(spec: TournamentSpec, results: Results, prefix: int) -> Mapping[str, Any]:
    blocks = [block for _, block in results if block is not None]
    return {
        "standings_": standings_over(spec, blocks, prefix=prefix).to_dict(),
        "series": series(blocks, names(spec)),
    }


def series(blocks: Sequence[Block], bots: Iterable[str], *, most: int = MOST_PLACES) -> dict[str, Any]:
    """Each bot's mean over the clean blocks so far, in units of the base, at some places; None before its first."""
    places = sorted({max(1, round(len(blocks) * (n + 1) / most)) for n in range(most)}) if blocks else []
    sums = {bot: [0.0, 0] for bot in bots}
    lines: dict[str, list[float | None]] = {bot: [] for bot in sums}
    done = 0
    for place in places:
        for block in blocks[done:place]:
            for bot, value in block.values.items() if block.clean else ():
                sums[bot][0] += value
                sums[bot][1] += 1
        done = place
        for bot, (total, count) in sums.items():
            lines[bot].append(round(total / count, 4) if count else None)
    return {"blocks": places, "bots": lines}
