"""`wakeng bench fairness`: what one slow bot costs the others in a tournament (docs/tournaments.md).

Five bots, all line-ups, in two runs of the same seed: in one the fifth takes as long as the rest for an answer, in the
other fifty times as long. Both play the same hands, so what the others lose in hands a second is what the runs take
longer; the whole run's figure, with its beginning and its end, stands beside it. The bots are gRPC servers in this
process and take 4,096 questions at once, so that the slow one could keep up; an answer costs them time, not work.
"""

import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from wakeng.engine import Fault
from wakeng.sdk.bot import Bot
from wakeng.sdk.decision import Decision
from wakeng.sdk.server import start
from wakeng.services.arena import Arena
from wakeng.services.bench.figures import Figure, Say, interleave, ratio
from wakeng.services.journal import Journal
from wakeng.services.metrics import Metrics
from wakeng.services.spec import SeatSpec
from wakeng.services.store import Store
from wakeng.services.table import Decided, Table
from wakeng.services.tournament.run import TournamentRun, create
from wakeng.services.tournament.spec import Entrant, TournamentSpec, tournament_rules

QUICK_S: Final = 0.001
SLOWER: Final = 50
_OTHERS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much to play."""

    rounds: int = 3
    blocks: int = 3_000
    tables: int = 256


QUICK: Final = Effort(rounds=1, blocks=20, tables=16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Hands a second of one tournament."""

    steady: float
    """Between the first and the last eighth of its hands: while the bots' limits are found at the beginning, and while
    the slow one's last hands are played out at the end, there is nothing else to do."""
    whole: float


class HandClock:
    """Notes when each hand ended."""

    def __init__(self) -> None:
        self._ends: list[float] = []

    def hand_started(self, table: Table) -> None:
        """Nothing."""

    def decided(self, told: Sequence[Decided]) -> None:
        """Nothing."""

    def faulted(self, table: Table, seat: int, fault: Fault) -> None:
        """Nothing."""

    def hand_ended(self, table: Table) -> None:
        """Now."""
        self._ends.append(time.perf_counter())

    def hand_voided(self, table: Table, reason: str) -> None:
        """Nothing."""

    def steady(self) -> float:
        """Hands a second in the middle of the run."""
        edge = len(self._ends) // 8
        first, last = self._ends[edge], self._ends[-1 - edge]
        return (len(self._ends) - 1 - 2 * edge) / (last - first)


class Late(Bot):
    """Plays the first legal action after so many seconds, however many questions it has."""

    version = "1"
    max_decisions = 4_096

    def __init__(self, latency: float) -> None:
        self._latency = latency

    async def choose_batch(self, decisions: Sequence[Decision]) -> list[str]:
        """The first of each."""
        await asyncio.sleep(self._latency)
        return [decision.legal[0] for decision in decisions]


async def bench_fairness(effort: Effort, say: Say) -> dict[str, Any]:
    """The figures of the section `fairness`."""

    async def level() -> Run:
        return await _run(effort, QUICK_S)

    async def slowed() -> Run:
        return await _run(effort, QUICK_S * SLOWER)

    samples = await interleave({"level": level, "one slow bot": slowed}, rounds=effort.rounds, say=say)
    without, beside = (Figure.of(run.steady for run in samples[name]) for name in ("level", "one slow bot"))
    whole = [Figure.of(run.whole for run in samples[name]) for name in ("one slow bot", "level")]
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
        "fall_of_whole_run": round(1 - ratio(*whole).median, 3),
    }


async def _run(effort: Effort, last: float) -> Run:
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
        clock = HandClock()
        began = time.perf_counter()
        await TournamentRun(arena, tournament, watchers=(clock,)).play()
        whole = spec.hands_per_block * effort.blocks / (time.perf_counter() - began)
        return Run(steady=clock.steady(), whole=whole)
