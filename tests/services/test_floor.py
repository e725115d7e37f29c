"""The floor tells of every decision once and in order, and moves or voids every table, whoever fails to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from tests.services.tables import table
from tests.services.virtual import in_virtual_time
from wakeng.engine import Fault
from wakeng.services.deadlines import Deadlines
from wakeng.services.floor import WATCH_EVERY, Floor, Record
from wakeng.services.ids import Ids
from wakeng.services.questions import Asker
from wakeng.services.roster import Chair
from wakeng.services.seat import Seat
from wakeng.services.table import Decided, Table

PATIENCE = 60 + 2 * 256 * 0.3
"""Seconds after which a table of these times has stood still for too long, whatever its questions wait for."""
TIMES = {"move_ms": 100, "bank_ms": 100, "reconnect_ms": 100}


class Mute(Seat):
    """Keeps who asks. It calls back when the test does, which for a floor is an arena that has lost a question."""

    def __init__(self) -> None:
        async def open_(*_: object) -> Any:
            raise AssertionError("nobody reaches it")

        loop = asyncio.get_running_loop()
        super().__init__("mute", open_, ids=Ids(0), deadlines=Deadlines(loop), counts=_Nothing())
        self.askers: list[Asker] = []

    def ask(self, asker: Asker) -> None:
        self.askers.append(asker)


class _Nothing:
    def late(self, count: int = 1) -> None:
        pass

    def stale(self, count: int = 1) -> None:
        pass


class Diary:
    """A watcher that writes down what it is told, and fails at decisions of the hands that it is told to fail at."""

    def __init__(self, *failing: int) -> None:
        self.told: list[str] = []
        self.failing = set(failing)

    def hand_started(self, table: Table) -> None:
        self.told.append(f"{table.spec.hand_index} started")

    def decided(self, told: Sequence[Decided]) -> None:
        if self.failing & {decided.table.spec.hand_index for decided in told}:
            raise OSError("the disk is full")
        self.told.append(" ".join(f"{decided.table.spec.hand_index}:{decided.action}" for decided in told))

    def faulted(self, table: Table, seat: int, fault: Fault) -> None:
        self.told.append(f"{table.spec.hand_index} {fault.value}")

    def hand_ended(self, table: Table) -> None:
        self.told.append(f"{table.spec.hand_index} ended")

    def hand_voided(self, table: Table, reason: str) -> None:
        self.told.append(f"{table.spec.hand_index} voided: {reason}")


class Ending:
    """Counts what a scheduler is told."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.voids: list[str] = []

    def ended(self, record: Record) -> None:
        self.records.append(record)

    def voided(self, reason: str) -> None:
        self.voids.append(reason)


class Scene:
    """A floor with one bot in all seats, and hands in play on it."""

    def __init__(self, *watchers: Diary, hands: int = 1) -> None:
        self.seat = Mute()
        self.ending = Ending()
        chair = Chair(self.seat, max_escapes=3)
        self.seat.leases.state(1000)
        self.floor = Floor([chair], watchers=watchers, wake=lambda: None)
        self.floor.open()
        for index in range(hands):
            spec = table(hand_index=index, times=TIMES).spec
            assert self.floor.begin(spec, [chair] * 3, self.ending, ready_ms=1000)

    def answer(self, *, last: bool = False) -> None:
        """Every table's question is answered by the first legal action, or the last."""
        askers, self.seat.askers = self.seat.askers, []
        assert askers, "nobody asks"
        for asker in askers:
            action = asker.table.hand.legal_tokens()[-1 if last else 0]
            asker.answered(action, latency_us=7, network_us=0, note=None)


@in_virtual_time
async def test_what_is_decided_in_one_turn_is_told_at_its_end_and_at_once() -> None:
    diary = Diary()
    scene = Scene(diary, hands=3)
    scene.answer()
    assert diary.told == ["0 started", "1 started", "2 started"]
    await asyncio.sleep(0)
    assert len(scene.seat.askers) == 3, "the next questions are out"
    assert diary.told[3:] == ["0:pass 1:pass 2:pass"]
    await asyncio.sleep(0)
    assert len(diary.told) == 4


@in_virtual_time
async def test_all_that_was_decided_is_told_before_a_fault_an_end_and_the_close() -> None:
    diary = Diary()
    scene = Scene(diary)
    scene.answer()
    (asker,) = scene.seat.askers
    asker.noted(Fault.STALE)
    assert diary.told[1:] == ["0:pass", "0 STALE"]
    while not scene.ending.records:
        scene.answer(last=True)
    told = [word for line in diary.told[3:-1] for word in line.split()]
    assert diary.told[-1] == "0 ended"
    assert len(told) == len(scene.ending.records[0]["decisions"]) - 1
    late = Scene(diary, hands=2)
    late.answer()
    late.floor.close()
    assert diary.told[-1] == "0:pass 1:pass"


@pytest.mark.parametrize("failing", [(1,), (0, 2)])
@in_virtual_time
async def test_the_hands_of_which_the_arena_fails_to_tell_are_void_and_no_others(failing: tuple[int, ...]) -> None:
    diary = Diary(*failing)
    scene = Scene(diary, hands=3)
    asked, scene.seat.askers = scene.seat.askers, []
    for asker in asked:
        asker.answered("pass", latency_us=7, network_us=0, note=None)
        await asyncio.sleep(0)  # Each in a turn of its own.
    assert scene.ending.voids == ["OSError: the disk is full"] * len(failing)
    assert scene.floor.running == 3 - len(failing)
    diary.failing.clear()
    while scene.floor.running:
        scene.answer(last=True)
    assert sorted(record["hand_index"] for record in scene.ending.records) == sorted({0, 1, 2} - set(failing))
    assert scene.floor.broken is None


@in_virtual_time
async def test_a_hand_whose_last_decision_cannot_be_told_is_void_too() -> None:
    whole = Scene()
    while not whole.ending.records:
        whole.answer(last=True)
    diary = Diary()
    scene = Scene(diary)
    for _ in range(len(whole.ending.records[0]["decisions"]) - 1):
        scene.answer(last=True)
    await asyncio.sleep(0)
    diary.failing = {0}
    scene.answer(last=True)
    assert scene.ending.voids == ["OSError: the disk is full"]
    assert scene.ending.records == [] and not scene.floor.running and scene.floor.broken is None


@in_virtual_time
async def test_a_table_that_nobody_moves_is_void_and_one_that_moves_is_not() -> None:
    diary = Diary()
    scene = Scene(diary, hands=2)
    lost, moved = scene.seat.askers
    while scene.floor.running == 2:
        await asyncio.sleep(WATCH_EVERY)
        if not moved.table.over:
            moved.answered(moved.table.hand.legal_tokens()[0], latency_us=7, network_us=0, note=None)
    assert scene.ending.voids == [f"no progress for {PATIENCE:.0f} s"]
    assert not lost.table.over and len(lost.table.hand.decisions) == 0
    assert asyncio.get_running_loop().time() <= PATIENCE + 3 * WATCH_EVERY
