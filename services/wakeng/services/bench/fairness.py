"""`wakeng bench fairness`: what one slow bot costs the others in a tournament (docs/tournaments.md).

Five bots, all line-ups, in two runs of the same seed: in one the fifth takes as long as the rest for an answer, in the
other fifty times as long. Both play the same hands, so what the others lose in hands a second is what the runs take
longer. The bots are gRPC servers in this process and take any number of questions at once; an answer costs them time,
not work.
"""

import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from wakeng.sdk.bot import Bot
from wakeng.sdk.decision import Decision
from wakeng.sdk.server import start
from wakeng.services.arena import Arena
from wakeng.services.bench.figures import Figure, Say, interleave, ratio
from wakeng.services.journal import Journal
from wakeng.services.metrics import Metrics
from wakeng.services.spec import SeatSpec
from wakeng.services.store import Store
from wakeng.services.tournament.run import TournamentRun, create
from wakeng.services.tournament.spec import Entrant, TournamentSpec, tournament_rules

QUICK_S: Final = 0.001
SLOWER: Final = 50
_OTHERS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much to play."""

    rounds: int = 3
    blocks: int = 1_000
    tables: int = 256


QUICK: Final = Effort(rounds=1, blocks=20, tables=16)


class Late(Bot):
    """Plays the first legal action after so many seconds, however many questions it has."""

    version = "1"

    def __init__(self, latency: float) -> None:
        self._latency = latency

    async def choose_batch(self, decisions: Sequence[Decision]) -> list[str]:
        """The first of each."""
        await asyncio.sleep(self._latency)
        return [decision.legal[0] for decision in decisions]


async def bench_fairness(effort: Effort, say: Say) -> dict[str, Any]:
    """The figures of the section `fairness`."""

    async def level() -> float:
        return await _hands_per_s(effort, QUICK_S)

    async def slowed() -> float:
        return await _hands_per_s(effort, QUICK_S * SLOWER)

    samples = await interleave({"level": level, "one slow bot": slowed}, rounds=effort.rounds, say=say)
    without, beside = Figure.of(samples["level"]), Figure.of(samples["one slow bot"])
    kept = ratio(beside, without)
    return {
        "rounds": effort.rounds,
        "tables": effort.tables,
        "hands": 3 * effort.blocks,
        "slower": SLOWER,
        "hands_per_s": round(without.median, 1),
        "hands_per_s_beside_slow": round(beside.median, 1),
        "fall": round(1 - kept.median, 3),
        "fall_range": [round(1 - end, 3) for end in reversed(kept.range)],
    }


async def _hands_per_s(effort: Effort, last: float) -> float:
    async with AsyncExitStack() as parts:
        folder = Path(parts.enter_context(TemporaryDirectory(prefix="wakeng-bench-")))
        bots = [await parts.enter_async_context(await start(Late(s))) for s in (*(QUICK_S,) * _OTHERS, last)]
        store = await parts.enter_async_context(await Store.open(f"sqlite:///{folder / 'wakeng.db'}"))
        journal = parts.enter_context(Journal.open(folder / "journal.jsonl"))
        arena = Arena(store=store, journal=journal, metrics=Metrics())
        parts.callback(arena.close)
        spec = TournamentSpec(
            name="fairness",
            rules=tournament_rules("xian"),
            bots=tuple(Entrant(f"bot {i}", SeatSpec.parse(bot.address)) for i, bot in enumerate(bots)),
            seed=bytes(32),
            blocks=effort.blocks,
            tables=effort.tables,
        )
        tournament, _ = await create(store, "fairness", spec)
        began = time.perf_counter()
        await TournamentRun(arena, tournament).play()
        return spec.hands_per_block * effort.blocks / (time.perf_counter() - began)
