"""The bots of a load test, reached as an arena reaches them; built-in ones are started as processes."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from random import Random
from typing import Final

from wakeng.services.deadlines import Deadlines
from wakeng.services.errors import ServiceError
from wakeng.services.ids import Ids
from wakeng.services.loadtest.plan import LoadPlan
from wakeng.services.loadtest.seats import PacedSeat, Steady, Unheard, filler
from wakeng.services.processes import BotProcess
from wakeng.services.remote import remote
from wakeng.services.roster import Chair
from wakeng.services.seat import NotReady, Seat
from wakeng.services.seating import BotTls
from wakeng.services.spec import SeatKind, SeatSpec, TimeControl

_START_S: Final = 30.0
_MOST_STRIKES: Final = 1_000
"""No hand of a load test ends because the bot is slow."""
MOST_ESCAPES: Final = 1_000_000


class TargetNotReady(ServiceError):
    """A bot under test could not be started, reached, or made ready."""


@dataclass(frozen=True, slots=True)
class Target:
    """A bot under test."""

    name: str
    """As it was named: a built-in bot, or an address."""
    chair: Chair
    seat: PacedSeat
    counts: Unheard


@dataclass(frozen=True, slots=True)
class Seated:
    """Everybody is ready."""

    targets: tuple[Target, ...]
    filler: Chair
    time_control: TimeControl


@asynccontextmanager
async def seated(plan: LoadPlan, tls: BotTls | None = None) -> AsyncIterator[Seated]:
    """The bots of the plan, made ready, and let go at the end; TargetNotReady says which is not there, and why."""
    times = TimeControl(move_ms=plan.move_ms, bank_ms=0, max_strikes=_MOST_STRIKES)
    deadlines = Deadlines(asyncio.get_running_loop(), time.monotonic)
    ids = Ids(int(time.time()))
    async with AsyncExitStack() as parts:
        parts.callback(deadlines.close)
        other = Seat("filler", filler(Random(0)), ids=ids, deadlines=deadlines, counts=Unheard())
        other.leases = Steady()
        parts.push_async_callback(other.close)
        chair = Chair(other, max_escapes=MOST_ESCAPES)
        await chair.make_ready(plan.rules, times)
        targets = []
        for name in plan.targets:
            address = await parts.enter_async_context(_address(SeatSpec.parse(name)))
            target = _target(name, address, tls or BotTls(), ids, deadlines)
            parts.push_async_callback(target.seat.close)
            if not await target.chair.make_ready(plan.rules, times):
                raise TargetNotReady(f"{name}: {target.chair.not_ready}")
            targets.append(target)
        yield Seated(tuple(targets), chair, times)


@asynccontextmanager
async def _address(named: SeatSpec) -> AsyncIterator[str]:
    """Where the bot is; a built-in one is a process for as long as the context lasts."""
    if named.kind is SeatKind.ADDRESS:
        yield named.bot
        return
    try:
        process = await BotProcess.start(named.bot, seed=bytes(32), within=_START_S)
    except NotReady as problem:
        raise TargetNotReady(str(problem)) from None
    try:
        yield process.address
    finally:
        await process.stop()


def _target(name: str, address: str, tls: BotTls, ids: Ids, deadlines: Deadlines) -> Target:
    try:
        credentials = tls.credentials(address)
    except OSError as problem:
        raise TargetNotReady(f"{name}: {problem.filename}: {problem.strerror}") from None
    counts = Unheard()
    opener = remote(address, credentials=credentials)
    seat = PacedSeat(name, opener, ids=ids, deadlines=deadlines, counts=counts)
    seat.leases = Steady()  # An arena would give it fewer hands when it is slow; this is to see how slow it gets.
    return Target(name, Chair(seat, max_escapes=MOST_ESCAPES), seat, counts)
