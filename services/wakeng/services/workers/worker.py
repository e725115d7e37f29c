"""A worker: pulls blocks, plays them, and acknowledges each once its records are in the store.

    pull ──> _accept ──> Session (per tournament) ──over──> _commit: flush records ──> acknowledge, notice
                            ^
    heartbeats for every block held, presence, shares of leases ┘

What a worker holds is lost with it and nothing else is: the hands it recorded stay, and the server hands the block to
another worker, which goes on at the first hand that is missing. While the store is away hands wait to be recorded, and
blocks to be acknowledged; while NATS is away the worker plays on what it holds.
"""

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from wakeng.services.arena import Arena
from wakeng.services.errors import UnknownMatch
from wakeng.services.seating import Seating
from wakeng.services.store import MatchState
from wakeng.services.tournament.docket import Work
from wakeng.services.tournament.run import Stored, get
from wakeng.services.version import ARENA_VERSION
from wakeng.services.workers.attempts import MOST_ATTEMPTS, suspect
from wakeng.services.workers.leases import SharedLeases
from wakeng.services.workers.notes import AttemptNotes, Key
from wakeng.services.workers.patience import patiently
from wakeng.services.workers.presence import GONE_AFTER_S, Presence, WorkerNote
from wakeng.services.workers.queue import BlockMessage, Queue
from wakeng.services.workers.session import IDLE_S, Session

if TYPE_CHECKING:
    from nats.aio.msg import Msg

DEFAULT_TABLES: Final = 64
_LINGER_S: Final = 0.05
"""Blocks that end together are committed together."""
_LOOK_S: Final = 1.0
_AGAIN_S: Final = 2.0
"""Before a block that failed is tried again, so that a passing trouble may pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a worker works."""

    name: str
    tables: int = DEFAULT_TABLES
    """Hands in play at once, and so blocks held, at most."""
    in_process: bool = False
    """Whether built-in bots sit in the worker's own process."""
    most_attempts: int = MOST_ATTEMPTS


class Worker:
    """Plays blocks of whatever tournaments there are, until it is told to stop."""

    def __init__(
        self,
        arena: Arena,
        plan: Plan,
        *,
        queue: Queue,
        presence: Presence,
        leases: SharedLeases,
        own_seating: Seating | None = None,
    ) -> None:
        """`own_seating` reaches the bots of tournaments that operators' commands made; by default the arena's does."""
        self.plan = plan
        self._arena = arena
        self._queue = queue
        self._presence = presence
        self._leases = leases
        self._own_seating = own_seating or arena.seating
        self._writer = arena.writer()
        self._sessions: dict[str, Session] = {}
        self._opening: dict[str, asyncio.Lock] = {}
        self._runs: set[asyncio.Task[None]] = set()
        self._held: dict[Key, Msg] = {}
        """Messages of blocks that are played here, or recorded and not acknowledged yet."""
        self._over: list[Key] = []
        self._attempts = AttemptNotes(arena, most=plan.most_attempts)
        self._alone = asyncio.Lock()
        """Held while a suspect is in play (attempts.py)."""
        self._tried: dict[Key, asyncio.Event] = {}
        """The suspect that is in play, or over and not acknowledged; set when it is, or was given back."""
        self._commit_due = asyncio.Event()
        self._room = asyncio.Event()
        self._draining = False
        self._noted = False
        """Whether the others were lately told that blocks are held here."""
        arena.metrics.worker_blocks_held.set_function(lambda: len(self._held))

    async def run(self, stop: asyncio.Event, *, grace: float) -> None:
        """Work until `stop`; then finish the blocks in hand within `grace` seconds, and give back the rest."""
        await patiently(self._arena.journal, "queue", self._beat)
        pull = self._queue.pull(self._accept, again=self._room.set)
        stopped = await self._queue.on_stop(self._let_go)
        ask = asyncio.create_task(self._keep_asking(pull.ask))
        tasks = [ask, *map(asyncio.create_task, (self._keep_beating(), self._keep_alive(), self._keep_committing()))]
        stopping = asyncio.create_task(stop.wait())
        try:
            done, _ = await asyncio.wait([stopping, *tasks], return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            self._draining = True
            ask.cancel()
            await self._drain(grace)
        finally:
            for task in (stopping, *tasks):
                task.cancel()
            await asyncio.gather(stopping, *tasks, return_exceptions=True)
            if not self._queue.client.is_closed:
                await pull.close()
                await stopped.unsubscribe()
            await self._close()

    # Blocks come ----------------------------------------------------------------------------------------------------

    async def _keep_asking(self, ask: Callable[[int], Awaitable[None]]) -> None:
        from nats.errors import Error

        while True:
            self._room.clear()
            with suppress(Error, OSError):
                await ask(self.plan.tables - len(self._held) + self._kept_waiting())
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_S):
                    await self._room.wait()

    def _kept_waiting(self) -> int:
        """Blocks that wait for slow bots, in whose place others may be played."""
        return sum(session.player.kept_waiting() for session in self._sessions.values() if session.player is not None)

    async def _accept(self, message: "Msg") -> None:
        """A block has come; whatever goes wrong with it, the worker goes on."""
        if self._draining:
            await message.nak()
            return
        try:
            told = BlockMessage.decode(message.data)
        except (ValueError, KeyError, TypeError) as problem:
            self._arena.journal.event("message_unreadable", subject=message.subject, reason=repr(problem))
            await message.term()
            return
        key = (told.tournament_id, told.block.index)
        if key in self._held:  # The server thought it lost here; it is not.
            self._held[key] = message
            return
        self._held[key] = message
        task = asyncio.create_task(self._begin(key, told, message.metadata.num_delivered or 1))
        self._runs.add(task)
        task.add_done_callback(self._runs.discard)

    async def _begin(self, key: Key, told: BlockMessage, deliveries: int) -> None:
        try:
            known = await self._attempts.get(key) if deliveries > 1 else None
            if known is not None and await self._attempts.gave_up(known):
                await self._answer(key, "ack")
                await self._tell_done(key[0], [key[1]])
            elif known is not None and suspect(known, deliveries):
                async with self._alone:
                    await self._attempts.begin(known)
                    answered = self._tried[key] = asyncio.Event()
                    await self._play(key, told, deliveries)
                    await answered.wait()
            else:
                await self._play(key, told, deliveries)
        except asyncio.CancelledError:
            raise
        except Exception as problem:
            await self._fail(key, f"{type(problem).__name__}: {problem}", own=True)

    async def _play(self, key: Key, told: BlockMessage, deliveries: int) -> None:
        session = await self._session(key[0])
        if session is None:
            await self._answer(key, "ack")
            return
        work = told.work(session.spec)
        if deliveries > 1:
            work = await self._recorded(session, work)
        if session.stopping:
            await self._answer(key, "nak", delay=_AGAIN_S)
            return
        session.begin(work)
        self._leases.touch()

    async def _recorded(self, session: Session, work: Work) -> Work:
        """What is left of a block that another worker may have begun."""
        store, size = self._arena.store, len(work.hands)
        numbers = [hand.number for hand in work.hands]
        lines = await patiently(self._arena.journal, "store", lambda: store.some_records(session.id, numbers))
        voids = await patiently(self._arena.journal, "store", lambda: store.voids(session.id))
        places = {number % size for number in lines}
        counts = {number % size: voids[number] for number in numbers if number in voids}
        return Work(work.block, work.hands, frozenset(places), counts)

    async def _session(self, tournament_id: str) -> Session | None:
        """The tournament's session, opened if need be; None where it is not played any more."""
        async with self._opening.setdefault(tournament_id, asyncio.Lock()):
            session = self._sessions.get(tournament_id)
            if session is not None and not session.stopping:
                return session
            store = self._arena.store
            tournament = await patiently(self._arena.journal, "store", lambda: get(store, tournament_id))
            if tournament.row.state not in (MatchState.RUNNING, MatchState.PENDING):
                return None
            session = await self._open(tournament)
            self._sessions[tournament_id] = session
            run = asyncio.create_task(self._run(session), name=f"tournament {tournament_id}")
            self._runs.add(run)
            run.add_done_callback(self._runs.discard)
            return session

    async def _open(self, tournament: Stored) -> Session:
        by_service = tournament.row.spec.get("origin") is not None
        session = Session(
            self._arena,
            tournament,
            seating=self._arena.seating if by_service else self._own_seating,
            leases=self._leases,
            writer=self._writer,
            tables=self.plan.tables,
            in_process=self.plan.in_process,
            over=self._is_over,
        )
        try:
            await session.open()
        except BaseException:
            await session.close()
            raise
        return session

    async def _run(self, session: Session) -> None:
        """A session that breaks takes its blocks with it, but no other's."""
        reason = ""
        try:
            await session.run()
        except Exception as problem:
            reason = f"{type(problem).__name__}: {problem}"
            self._arena.journal.event("tables_broken", match_id=session.id, reason=reason)
        finally:
            if self._sessions.get(session.id) is session:
                del self._sessions[session.id]
            session.stopping = True
            await session.close()
        for block in list(session.held):
            session.drop(block)
            if reason:
                await self._fail((session.id, block), reason, own=(session.id, block) in self._tried)
            elif not self._draining:
                await self._answer((session.id, block), "ack")  # It was stopped: nobody wants it played now.
        with suppress(Exception):  # The next beat tells it too.
            await self._beat()

    # Blocks go ------------------------------------------------------------------------------------------------------

    def _is_over(self, tournament_id: str, block: int) -> None:
        self._over.append((tournament_id, block))
        self._commit_due.set()

    async def _keep_committing(self) -> None:
        while True:
            await self._commit_due.wait()
            await asyncio.sleep(_LINGER_S)
            await self._commit()

    async def _commit(self) -> None:
        """Acknowledge the blocks that are over, once all their hands are in the store."""
        self._commit_due.clear()
        over, self._over = self._over, []
        if not over:
            return
        for session in list(self._sessions.values()):
            await session.settled()
        await patiently(self._arena.journal, "store", self._writer.flush)
        by_tournament: dict[str, list[int]] = {}
        for key in over:
            self._arena.metrics.worker_blocks.inc()
            by_tournament.setdefault(key[0], []).append(key[1])
            if key in self._tried:
                await self._attempts.passed(key)
            await self._answer(key, "ack")
        for tournament_id, blocks in by_tournament.items():
            await self._tell_done(tournament_id, blocks)
        if self._noted and not self._held:
            with suppress(Exception):  # The next beat tells it too.
                await self._beat()

    async def _tell_done(self, tournament_id: str, blocks: list[int]) -> None:
        from nats.errors import Error

        with suppress(Error, OSError):
            await self._queue.tell_done(tournament_id, blocks)

    async def _answer(self, key: Key, word: str, **how: float) -> None:
        """Say what became of a message; one that is not heard is delivered again, to the same end."""
        from nats.errors import Error

        message = self._held.pop(key, None)
        self._room.set()
        if key in self._tried:
            self._tried.pop(key).set()
        if message is not None:
            with suppress(Error, OSError):
                await getattr(message, word)(**how)

    async def _fail(self, key: Key, reason: str, *, own: bool) -> None:
        """An attempt has failed, or what it was in did; the block is tried again a little later, here or elsewhere."""
        try:
            await self._attempts.failed(key, reason, own=own, noted=key in self._tried)
        except UnknownMatch:
            await self._answer(key, "term")  # Nobody could ever play it.
            return
        await self._answer(key, "nak", delay=_AGAIN_S)

    def _let_go(self, tournament_id: str) -> None:
        """A tournament is stopped or over: hands in play end, no other begins."""
        session = self._sessions.get(tournament_id)
        if session is not None:
            session.stop()

    # Signs of life --------------------------------------------------------------------------------------------------

    async def _keep_alive(self) -> None:
        """The server does not take for lost what is played here."""
        from nats.errors import Error

        while True:
            await asyncio.sleep(self._queue.redeliver_after / 3)
            for message in list(self._held.values()):
                with suppress(Error, OSError):
                    await message.in_progress()

    async def _keep_beating(self) -> None:
        from nats.errors import Error

        while True:
            await asyncio.sleep(GONE_AFTER_S / 3)
            self._leases.fence()
            with suppress(Error, TimeoutError, OSError):
                await self._beat()
            self._close_idle()

    async def _beat(self) -> None:
        held: dict[str, int] = {}
        for tournament_id, _ in self._held:
            held[tournament_id] = held.get(tournament_id, 0) + 1
        note = WorkerNote(
            worker=self.plan.name,
            host=socket.gethostname(),
            pid=os.getpid(),
            version=ARENA_VERSION,
            tables=self.plan.tables,
            blocks=held,
            draining=self._draining,
        )
        await self._presence.tell(note)
        self._noted = bool(held)
        self._leases.beat(await self._presence.live())

    def _close_idle(self) -> None:
        now = asyncio.get_running_loop().time()
        for session in self._sessions.values():
            if not session.held and now - session.idle_since > IDLE_S:
                session.stop()

    # The end --------------------------------------------------------------------------------------------------------

    async def _drain(self, grace: float) -> None:
        """Play to their ends the blocks that can be within the grace; all that is recorded is acknowledged."""
        with suppress(TimeoutError):
            async with asyncio.timeout(grace):
                while self._held:
                    self._room.clear()
                    await self._room.wait()  # Set with each block that goes.
        for session in list(self._sessions.values()):
            if session.player is not None:
                session.player.end()
        with suppress(TimeoutError):
            async with asyncio.timeout(min(grace, 5) + 1):
                await self._commit()
                await self._give_back()

    async def _give_back(self) -> None:
        """The rest is another's, at once."""
        for key in list(self._held):
            with suppress(Exception):  # A count that is missed makes nothing wrong but a count.
                await self._attempts.given_back(key, noted=key in self._tried)
            await self._answer(key, "nak")

    async def _close(self) -> None:
        from nats.errors import Error

        for session in list(self._sessions.values()):
            if session.player is not None:
                session.player.end()
        for task in list(self._runs):
            if not task.get_name().startswith("tournament"):
                task.cancel()
        await asyncio.gather(*self._runs, return_exceptions=True)
        with suppress(Error, TimeoutError, OSError):
            async with asyncio.timeout(2):
                await self._leases.close()
                await self._presence.leave(self.plan.name)
        with suppress(TimeoutError):
            async with asyncio.timeout(5):
                await patiently(self._arena.journal, "store", self._writer.close)
        self._arena.done_with(self._writer)
        self._arena.journal.flush()
