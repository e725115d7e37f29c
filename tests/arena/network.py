"""Matches of fifty tables in the test's own loop, to whose bots a test does bad things at a moment of its choosing."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import grpc
import grpc.aio

from tests.arena.proxy import Proxy
from wakeng.bots.faulty.bad_servers import RawBot
from wakeng.engine import PRESETS, Fault, verify
from wakeng.sdk import Backoff, Bot, Decision, JoinedBot, start
from wakeng.services.arena import Arena, MatchRun
from wakeng.services.journal import Journal
from wakeng.services.loopback import loopback_works
from wakeng.services.metrics import Metrics
from wakeng.services.seat import Seat
from wakeng.services.server import ArenaServer
from wakeng.services.spec import MatchSpec, SeatKind, SeatSpec, TimeControl
from wakeng.services.store import MatchState, NewBot, Role, Store
from wakeng.services.table import Decided, Table
from wakeng.services.tokens import hash_token, new_token
from wakeng.v1 import bot_pb2

TABLES: Final = 50
PATIENCE: Final = TimeControl(move_ms=60_000, bank_ms=0, ready_ms=30_000, reconnect_ms=60_000)
"""Budgets that no test comes near: a fault under them is one by mistake."""
WAYS: Final = ("stream", "unary", "joined")
"""How a bot may be with an arena."""
_WITHIN: Final = 60.0
_BACKOFF: Final = Backoff(first=0.02, longest=0.05)


class Pulse:
    """Beats whenever something has happened that a test may wait for."""

    def __init__(self) -> None:
        self._beats: set[asyncio.Future[None]] = set()

    def beat(self) -> None:
        """Something has."""
        for waiting in self._beats:
            if not waiting.done():
                waiting.set_result(None)
        self._beats.clear()

    async def until(self, so: Callable[[], bool]) -> None:
        """Return once it is so. What does not beat is looked at now and then."""
        async with asyncio.timeout(_WITHIN):
            while not so():
                beat = asyncio.get_running_loop().create_future()
                self._beats.add(beat)
                await asyncio.wait([beat], timeout=0.02)


# Bots ----------------------------------------------------------------------------------------------------------------


class Holding:
    """Counts how often each question is put to a bot, and may hold back what it says to them."""

    def __init__(self, pulse: Pulse) -> None:
        self.asked: Counter[int] = Counter()
        self.held: set[int] = set()
        """Questions that it knows the answer to, and keeps it to itself."""
        self._may_go = asyncio.Event()
        self._pulse = pulse
        self.release()

    @property
    def holds(self) -> bool:
        """Whether it holds its answers back."""
        return not self._may_go.is_set()

    def hold(self) -> None:
        """Say nothing from now on."""
        self._may_go.clear()

    def release(self) -> None:
        """Say all that was held back, to whoever still listens, and everything at once from now on."""
        self._may_go.set()

    def heard(self, question: int) -> None:
        """A question was put."""
        self.asked[question] += 1
        self._pulse.beat()

    async def gone(self, question: int) -> None:
        """Return once its answer may be said."""
        self.held.add(question)
        self._pulse.beat()
        try:
            await self._may_go.wait()
        finally:
            self.held.discard(question)


class Streaming(Bot):
    """Plays the first legal token, in streams."""

    def __init__(self, answers: Holding) -> None:
        self._answers = answers

    def choose(self, decision: Decision) -> str | Awaitable[str]:
        self._answers.heard(decision.id)
        return self._later(decision) if self._answers.holds else decision.legal[0]

    async def _later(self, decision: Decision) -> str:
        await self._answers.gone(decision.id)
        return decision.legal[0]


class Unary(RawBot):
    """The same in single calls, as it has no stream."""

    def __init__(self, answers: Holding) -> None:
        super().__init__(b"")
        self._answers = answers

    async def decide(self, raw: bytes, context: Any) -> bytes:
        question = bot_pb2.DecideRequest.FromString(raw).decision_id
        self._answers.heard(question)
        if self._answers.holds:
            await self._answers.gone(question)
        return await super().decide(raw, context)

    async def play(self, requests: AsyncIterator[bytes], context: Any) -> None:
        await context.abort(grpc.StatusCode.UNIMPLEMENTED, "single calls only")


# The arena and its bots ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Distant:
    """A bot behind a proxy."""

    answers: Holding
    proxy: Proxy
    seat: SeatSpec


class Moments:
    """A watcher of tables that says how far things are."""

    def __init__(self, pulse: Pulse) -> None:
        self.decisions = 0
        self.hands = 0
        self.voided = 0
        self.faults: Counter[tuple[int, Fault]] = Counter()
        self.tables: set[Table] = set()
        """In play."""
        self._pulse = pulse

    def hand_started(self, table: Table) -> None:
        self.tables.add(table)

    def decided(self, told: Sequence[Decided]) -> None:
        self.decisions += len(told)
        self.faults.update((decided.seat, decided.fault) for decided in told if decided.fault is not None)
        self._pulse.beat()

    def faulted(self, table: Table, seat: int, fault: Fault) -> None:
        self.faults[seat, fault] += 1
        self._pulse.beat()

    def hand_ended(self, table: Table) -> None:
        self.hands += 1
        self.tables.discard(table)
        self._pulse.beat()

    def hand_voided(self, table: Table, reason: str) -> None:
        self.voided += 1
        self.tables.discard(table)
        self._pulse.beat()


@dataclass(slots=True)
class Network:
    """An arena, and bots that it reaches through proxies."""

    arena: Arena
    server: ArenaServer
    pulse: Pulse
    distant: list[Distant] = field(default_factory=list)
    matches: list["Match"] = field(default_factory=list)

    def match(self, *, hands: int, time: TimeControl = PATIENCE, **others: Any) -> "Match":
        """A match that has begun: the distant bots in the first seats, trusted ones in the others."""
        near = [SeatSpec(SeatKind.BUILTIN, name) for name in ("lowest", "greedy")]
        seats = (*(distant.seat for distant in self.distant), *near)[:3]
        spec = MatchSpec(
            match_id="m1",
            rules=PRESETS["xian"],
            seats=seats,
            hands=hands,
            seed=bytes(32),
            time_control=time,
            tables=TABLES,
            **others,
        )
        self.matches.append(Match(self, spec))
        return self.matches[-1]

    async def end_matches(self) -> None:
        """Leave none behind, where a test has failed."""
        for match in self.matches:
            await match.end()


class Match:
    """A match that goes on."""

    def __init__(self, network: Network, spec: MatchSpec) -> None:
        self.moments = Moments(network.pulse)
        self._network = network
        self._spec = spec
        self._run = MatchRun(network.arena, spec, in_process=True, watchers=[self.moments])
        self._playing = asyncio.ensure_future(self._play())

    async def _play(self) -> None:
        spec, store = self._spec, self._network.arena.store
        await store.create_match(
            match_id=spec.match_id,
            spec=spec.to_dict(),
            seed=spec.seed.hex(),
            commitment=spec.commitment,
            hands=spec.hands,
        )
        await self._run.play()

    async def end(self) -> None:
        """Break it off, if it still goes on."""
        self._playing.cancel()
        await asyncio.wait([self._playing])

    def seat(self, place: int) -> Seat:
        """The seat of the bot there."""
        return self._run.chairs[place].seat

    async def in_full_swing(self) -> None:
        """Return once every table is in play: a bot gets more of them as it goes."""
        await self.until(lambda: len(self.moments.tables) == TABLES)

    def full(self) -> bool:
        """Whether no table waits for its next hand."""
        return len(self.moments.tables) == min(TABLES, self._spec.hands - self.moments.hands)

    async def decisions(self, more: int) -> None:
        """Return after so many more decisions."""
        enough = self.moments.decisions + more
        await self.until(lambda: self.moments.decisions >= enough)

    async def until(self, so: Callable[[], bool]) -> None:
        """Return once it is so; the match must not end, or fail, before."""
        try:
            await self._network.pulse.until(lambda: self._playing.done() or so())
        except TimeoutError:
            raise AssertionError(f"it never came to that; {self._told()}") from None
        if self._playing.done():
            self._playing.result()
            assert so(), "the match is over, and it did not come to that"

    def _told(self) -> str:
        """How things are, for who wonders why a test waits."""
        told = [f"{len(self.moments.tables)} tables at {Counter(table.seat for table in self.moments.tables)}"]
        for place, distant in enumerate(self._network.distant):
            seat, answers = self.seat(place), distant.answers
            asked = {q.id: (answers.asked[q.id], q.tries, q.lost_at) for q in seat.outstanding()}
            unheard = {question: how for question, how in asked.items() if question not in answers.held}
            told.append(
                f"seat {place} {'up' if seat.up else 'down'}, {distant.proxy.standing} of {distant.proxy.accepted} "
                f"connections, owes {len(asked)}, holds {len(answers.held)}; not held (asked, tries, lost): {unheard}; "
                f"window {seat.window.limit}"
            )
        return "; ".join(told)

    async def records(self) -> list[dict[str, Any]]:
        """The records once the match is over: one of each hand, and each is true."""
        async with asyncio.timeout(_WITHIN):
            await self._playing
        store, match_id = self._network.arena.store, self._spec.match_id
        records = [verify(line) async for line in store.records(match_id)]
        assert [record["hand_index"] for record in records] == list(range(self._spec.hands))
        assert self.moments.hands == self._spec.hands, "no result is doubled"
        assert (await store.get_match(match_id)).state is MatchState.FINISHED
        assert faults(records) == {
            (seat, fault.value): count for (seat, fault), count in self.moments.faults.items()
        }, "what is told is what is recorded"
        return records


def faults(records: Iterable[Mapping[str, Any]]) -> Counter[tuple[int, str]]:
    """How often each fault stands in records, by seat."""
    found: Counter[tuple[int, str]] = Counter()
    for record in records:
        for decision in record.get("decisions", ()):
            if "fault" in decision:
                found[decision["seat"], decision["fault"]] += 1
        for noted in record.get("faults", ()):
            found[noted["seat"], noted["fault"]] += noted["count"]
    return found


@asynccontextmanager
async def network(
    folder: Path, ways: Sequence[str], *, loopback: Callable[[], Awaitable[bool]] = loopback_works
) -> AsyncIterator[Network]:
    """An arena with one distant bot for each of the ways."""
    async with AsyncExitStack() as parts:
        store = await parts.enter_async_context(await Store.open(f"sqlite:///{folder / 'wakeng.db'}"))
        journal = parts.enter_context(Journal.open(folder / "journal.jsonl"))
        arena = Arena(store=store, journal=journal, metrics=Metrics(), loopback=loopback)
        parts.callback(arena.close)
        server = await ArenaServer(arena).start("127.0.0.1:0")
        parts.push_async_callback(server.stop, 0)
        net = Network(arena, server, Pulse())
        for place, way in enumerate(ways):
            distant = _joined(net, place, parts) if way == "joined" else _listening(net, way, parts)
            net.distant.append(await distant)
        parts.push_async_callback(net.end_matches)
        yield net


async def _listening(net: Network, way: str, parts: AsyncExitStack) -> Distant:
    answers = Holding(net.pulse)
    served = await parts.enter_async_context(await start(Streaming(answers) if way == "stream" else Unary(answers)))
    proxy = await parts.enter_async_context(Proxy(served.address, heard=net.pulse.beat))
    return Distant(answers, proxy, SeatSpec(SeatKind.ADDRESS, proxy.address))


async def _joined(net: Network, place: int, parts: AsyncExitStack) -> Distant:
    name, token = f"distant{place}", new_token()
    await net.arena.store.bots.add(NewBot(name=name, address=None, owner="", by_admin=True))
    await net.arena.store.tokens.add(hash_token(token) or "", Role.BOT, bot=name)
    answers = Holding(net.pulse)
    proxy = await parts.enter_async_context(Proxy(net.server.address, heard=net.pulse.beat))
    joined = JoinedBot(Streaming(answers), proxy.address, token, backoff=_BACKOFF, jitter=lambda: 0.0)
    playing = asyncio.ensure_future(joined.run())
    parts.push_async_callback(_left, joined, playing)
    return Distant(answers, proxy, SeatSpec(SeatKind.REGISTERED, name))


async def _left(joined: JoinedBot, playing: "asyncio.Task[None]") -> None:
    await joined.leave(grace=0)
    await playing
