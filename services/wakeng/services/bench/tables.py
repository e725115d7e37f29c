"""Ten thousand tables in one process: what each takes up, and whether the arena keeps its own deadlines fair.

Measured in a process of its own, since a heap that was used before has holes to grow into. The bot answers every
message after a few milliseconds, any number of decisions at once, under a limit of a second and without a bank: a
DEADLINE that it earns is the arena's making.
"""

import asyncio
import gc
import time
from statistics import median
from typing import Any, Final

from wakeng.engine import PRESETS, RuleSet, hand_seed
from wakeng.sdk.process import loop_factory
from wakeng.services.arena import Arena
from wakeng.services.bench.machine import memory_kib
from wakeng.services.bench.playing import Match, arena, match, total
from wakeng.services.deadlines import Deadlines
from wakeng.services.floor import Floor, Record
from wakeng.services.ids import Ids
from wakeng.services.loadtest.seats import Steady
from wakeng.services.metrics import Metrics
from wakeng.services.questions import Question
from wakeng.services.roster import Chair
from wakeng.services.seat import Seat, Transport
from wakeng.services.spec import TimeControl
from wakeng.services.table import HandSpec

LIMIT: Final = TimeControl(move_ms=1_000, bank_ms=0)
_FOREVER: Final = TimeControl(move_ms=3_600_000)
_WARM_TABLES: Final = 64
_LOOK_EVERY: Final = 0.25
_BEATS: Final = 25


def measure(address: str, tables: int, seconds: float) -> dict[str, Any]:
    """Of so many tables against the bot at an address, watched for so long once all have begun."""
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        return runner.run(_measure(address, tables, seconds))


async def _measure(address: str, tables: int, seconds: float) -> dict[str, Any]:
    async with arena() as made:
        async with match(made, address, tables=_WARM_TABLES, time_control=LIMIT) as warm:
            await warm.until(lambda: warm.decisions() > 20 * _WARM_TABLES)
        idle = _settled_memory_kib()
        decided = total(made.metrics, "wakeng_decisions_total")
        async with match(made, address, tables=tables, time_control=LIMIT) as playing:
            began = time.perf_counter()
            await playing.until(lambda: playing.tables == tables and playing.decisions() - decided > tables)
            lag = Lag()
            memory = [await _look(playing, lag) - idle for _ in range(max(1, int(seconds / _LOOK_EVERY)))]
            decisions = playing.decisions() - decided
            elapsed = time.perf_counter() - began
        return {
            "tables": tables,
            "kib_each": round(median(memory) / tables, 2),
            "kib_each_most": round(max(memory) / tables, 2),
            "decisions": int(decisions),
            "decisions_per_s": round(decisions / elapsed),
            "seconds": round(elapsed, 1),
            "loop_lag_most_ms": round(1e3 * lag.most_s, 1),
            **_faults(made),
        }


def _settled_memory_kib() -> float:
    gc.collect()
    return memory_kib()


class Lag:
    """How late the loop was at most."""

    def __init__(self) -> None:
        self.most_s = 0.0

    async def sleep(self, seconds: float) -> None:
        """Sleep, and see how late it ends."""
        due = time.perf_counter() + seconds
        await asyncio.sleep(seconds)
        self.most_s = max(self.most_s, time.perf_counter() - due)


async def _look(playing: Match, lag: Lag) -> float:
    for _ in range(_BEATS):
        await lag.sleep(_LOOK_EVERY / _BEATS)
    playing.check()
    return memory_kib()


def _faults(arena: Arena) -> dict[str, int]:
    deadlines = int(total(arena.metrics, "wakeng_faults_total", fault="DEADLINE"))
    return {
        "false_deadlines": deadlines,
        "other_faults": int(total(arena.metrics, "wakeng_faults_total")) - deadlines,
        "late_answers": int(total(arena.metrics, "wakeng_late_answers_total")),
    }


# Tables that wait -------------------------------------------------------------------------------------------------


def measure_idle(tables: int) -> float:
    """KiB of each of so many tables that stand at their first question, in a process of its own."""
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        return runner.run(_measure_idle(tables))


async def _measure_idle(tables: int) -> float:
    rules = PRESETS["xian"]
    chair = Chair(_silent_seat(tables), max_escapes=1)
    await chair.make_ready(rules, _FOREVER)
    floor = Floor([chair], watchers=(), wake=lambda: None)
    floor.open()
    _begin(floor, chair, rules, range(_WARM_TABLES))
    before = _settled_memory_kib()
    _begin(floor, chair, rules, range(_WARM_TABLES, _WARM_TABLES + tables))
    await asyncio.sleep(0)
    taken = _settled_memory_kib() - before
    floor.close()
    await chair.seat.close()
    return round(taken / tables, 2)


def _begin(floor: Floor, chair: Chair, rules: RuleSet, indices: range) -> None:
    for index in indices:
        hand = HandSpec(
            match_id="bench-idle",
            hand_index=index,
            rules=rules,
            seed=hand_seed(bytes(32), index),
            time_control=_FOREVER,
            names=(chair.seat.name,) * rules.players,
        )
        begun = floor.begin(hand, (chair,) * rules.players, _Unheard(), ready_ms=_FOREVER.ready_ms)
        assert begun, "the bot that never answers takes any number of hands"


def _silent_seat(tables: int) -> Seat:
    async def open_(seat: Seat, rules: RuleSet, time_control: TimeControl) -> Transport:
        most = tables + _WARM_TABLES
        seat.describe(version="", max_tables=most, max_decisions=most, wants_legal_actions=True)
        return _Silent()

    loop = asyncio.get_running_loop()
    seat = Seat("silent", open_, ids=Ids(0), deadlines=Deadlines(loop), counts=Metrics().bot("silent"))
    seat.leases = Steady()
    return seat


class _Silent(Transport):
    """A bot that never answers."""

    def transmit(self, questions: list[Question]) -> None:
        """Nothing."""

    async def close(self) -> None:
        """Nothing."""


class _Unheard:
    """Nobody waits for these hands."""

    def ended(self, record: Record) -> None:
        """Does not happen."""

    def voided(self, reason: str) -> None:
        """Nothing."""
