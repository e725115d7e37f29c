"""Leases across workers on a real server: whatever happens at once, a bot's hands are never more than it takes."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest

from wakeng.services.leases import Leases
from wakeng.services.seat import Seat
from wakeng.services.workers import presence as presence_module
from wakeng.services.workers.leases import FENCE_AFTER_S, SharedLeases
from wakeng.services.workers.presence import Presence, WorkerNote
from wakeng.services.workers.queue import Queue

NAMES = ("a", "b", "c", "d")


def there(*names: str) -> Callable[[], Awaitable[set[str]]]:
    """These workers are, whoever looks."""

    async def look() -> set[str]:
        return set(names)

    return look


class FakeSeat:
    """What leases see of a bot's seat."""

    def __init__(self, limit: int) -> None:
        self.leases = Leases()
        self.leases.state(limit)
        self.on_free: set[Callable[[], None]] = set()
        self.max_decisions = 2 * limit
        self.window = self
        self.questions = 0

    def cap(self, most: int) -> None:
        """How many questions it may be asked at once."""
        self.questions = most


class Hands:
    """Hands in play at once, with all workers together."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.in_play = 0
        self.played = dict.fromkeys(NAMES, 0)

    def begin(self) -> None:
        self.in_play += 1
        assert self.in_play <= self.limit

    def end(self, worker: str) -> None:
        self.in_play -= 1
        self.played[worker] += 1


class Player:
    """A worker that plays as many hands side by side as it may, until it has played enough."""

    def __init__(self, shared: SharedLeases, hands: Hands, *, most: int, enough: int) -> None:
        self.seat = FakeSeat(hands.limit)
        self._shared = shared
        self._hands = hands
        self._most = most
        self._left = enough
        self._wake = asyncio.Event()
        self._running: set[asyncio.Task[None]] = set()
        self.seat.on_free.add(self._wake.set)
        shared.share("bot", cast(Seat, self.seat), self.need)

    def need(self) -> int:
        return min(self._most, self._left + len(self._running))

    async def play(self) -> None:
        luck = random.Random(self._shared.worker)
        while self._left or self._running:
            self._wake.clear()
            while self._left and len(self._running) < self._most and self.seat.leases.free:
                self._left -= 1
                self.seat.leases.take()
                self._hands.begin()
                task = asyncio.create_task(self._hand(luck.randrange(4)))
                self._running.add(task)
                task.add_done_callback(self._running.discard)
            await self._wake.wait()
        await self._shared.unshare("bot", self.need)

    async def _hand(self, turns: int) -> None:
        for _ in range(turns):
            await asyncio.sleep(0)
        self._hands.end(self._shared.worker)
        self.seat.leases.give_back()
        self._running.discard(cast(Any, asyncio.current_task()))
        for wake in list(self.seat.on_free):
            wake()


@pytest.mark.parametrize("limit", [1, 3, 9])
async def test_four_workers_share_a_bot_and_nobody_starves(queue: Queue, limit: int) -> None:
    hands, enough = Hands(limit), 60
    shared = [await SharedLeases.open(queue, name, look=there(*NAMES)) for name in NAMES]
    players = [Player(leases, hands, most=5, enough=enough) for leases in shared]
    async with asyncio.timeout(60):
        await asyncio.gather(*(player.play() for player in players))
    assert hands.played == dict.fromkeys(NAMES, enough)
    for leases in shared:
        await leases.close()


async def test_what_a_worker_held_that_is_gone_is_free(queue: Queue) -> None:
    first = await SharedLeases.open(queue, "a", look=there("a", "b"))
    second = await SharedLeases.open(queue, "b", look=there("b"))
    held, waiting = FakeSeat(4), FakeSeat(4)
    first.share("bot", cast(Seat, held), lambda: 4)
    await reaches(held, 4)
    for _ in range(4):
        held.leases.take()
    second.share("bot", cast(Seat, waiting), lambda: 4)
    await reaches(waiting, 4)
    assert (held.questions, waiting.questions) == (8, 8)
    await second.close()


async def test_a_worker_that_cannot_say_that_it_lives_begins_nothing(queue: Queue) -> None:
    now = 0.0
    leases = await SharedLeases.open(queue, "a", look=there("a"), clock=lambda: now)
    seat = FakeSeat(4)
    leases.share("bot", cast(Seat, seat), lambda: 4)
    await reaches(seat, 4)
    now = FENCE_AFTER_S + 1
    leases.fence()
    assert not seat.leases.free
    leases.beat({"a"})
    await reaches(seat, 4)
    await leases.close()


async def reaches(seat: FakeSeat, share: int) -> None:
    """The seat's share becomes that."""
    async with asyncio.timeout(20):
        while seat.leases.share != share:  # noqa: ASYNC110 - the server's answers wake the loop
            await asyncio.sleep(0)


async def test_the_server_forgets_workers_that_fall_silent(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence_module, "GONE_AFTER_S", 1.0)
    presence = await Presence.open(queue)
    for name in ("silent", "lively", "leaving"):
        await presence.tell(note(name))
    assert await presence.live() == {"silent", "lively", "leaving"}
    assert [told.worker for told in await presence.notes()] == ["leaving", "lively", "silent"]
    await presence.leave("leaving")
    assert await presence.live() == {"silent", "lively"}
    async with asyncio.timeout(20):
        while await presence.live() != {"lively"}:
            await presence.tell(note("lively"))


def note(name: str) -> WorkerNote:
    return WorkerNote(worker=name, host="here", pid=1, version="1", tables=4)
