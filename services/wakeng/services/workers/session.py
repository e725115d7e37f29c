"""One tournament at one worker: its bots, its tables, and the blocks of it that the worker holds."""

import asyncio
from collections.abc import Callable
from typing import Final

from wakeng.engine import derive
from wakeng.services.arena import Arena, check_bots
from wakeng.services.floor import Record
from wakeng.services.journal import Journal
from wakeng.services.roster import Chair
from wakeng.services.seating import Seating
from wakeng.services.spec import SeatKind
from wakeng.services.store import RecordWriter
from wakeng.services.tournament.docket import Work
from wakeng.services.tournament.run import Stored
from wakeng.services.tournament.statistics.results import HandResult
from wakeng.services.tournament.tables import Keeping, Tables
from wakeng.services.watchers import JournalWatcher, MetricsWatcher
from wakeng.services.workers.leases import SharedLeases
from wakeng.services.workers.patience import patiently

IDLE_S: Final = 30.0
"""So long bots are kept for a tournament of which there are no blocks here."""


class Session:
    """Plays blocks of one tournament; `over` is called with each that has nothing left to play."""

    def __init__(
        self,
        arena: Arena,
        tournament: Stored,
        *,
        seating: Seating,
        leases: SharedLeases,
        writer: RecordWriter,
        tables: int,
        in_process: bool,
        over: Callable[[str, int], None],
    ) -> None:
        self.id = tournament.id
        self.spec = tournament.spec
        self.held: dict[int, Work] = {}
        """Blocks that are played here."""
        self.stopping = False
        self.idle_since = asyncio.get_running_loop().time()
        self._arena = arena
        self._tournament = tournament
        self._seating = seating
        self._leases = leases
        self._writer = writer
        self._tables = tables
        self._in_process = in_process
        self._over = over
        self._keys: list[str] = []
        self._shared: list[str] = []
        self._chairs: list[Chair] = []
        self._voids: list[asyncio.Task[None]] = []
        self._left: dict[int, set[int]] = {}
        """By block held, the places of its hands that are not recorded."""
        self._voided: dict[int, dict[int, int]] = {}
        self.player: Tables | None = None

    @property
    def journal(self) -> Journal:
        """The worker's."""
        return self._arena.journal

    async def open(self) -> None:
        """Reach the bots; those that are not there are quarantined, as in any tournament."""
        check_bots([bot.seat for bot in self.spec.bots])
        seats = [bot.seat for bot in self.spec.bots]
        by_admin = bool(self._tournament.row.spec.get("by_admin", True))
        for place, bot in enumerate(self.spec.bots):
            key = self._seating.key(bot.seat, place=f"{self.id}/{place}")
            opener = self._seating.opener(
                bot.seat,
                seed=derive(self.spec.seed, "bot", seats.index(bot.seat)),
                by_admin=by_admin,
                in_process=self._in_process,
            )
            self._keys.append(key)
            seat = self._arena.roster.take(key, bot.name, opener)
            self._chairs.append(Chair(seat, max_escapes=self.spec.max_escapes))
        await asyncio.gather(*(chair.make_ready(self.spec.rules, self.spec.time_control) for chair in self._chairs))
        for bot, key, chair in zip(self.spec.bots, self._keys, self._chairs, strict=True):
            # A built-in bot is each worker's own; others are one bot, and all workers together keep to its limit.
            if bot.seat.kind is not SeatKind.BUILTIN and key not in self._shared:
                self._shared.append(key)
                self._leases.share(key, chair.seat, self.need)
            if chair.not_ready:
                self.journal.event("bot_not_ready", match_id=self.id, bot=bot.name, reason=chair.not_ready)
        self.player = Tables(
            self.id,
            self.spec,
            self._chairs,
            tables=self._tables,
            outcomes=self,
            keeping=Keeping(record=self._keep, void=self._note_void, room=self._room),
            watchers=[
                JournalWatcher(self.journal),
                MetricsWatcher(self._arena.metrics, self.spec.rules, [bot.name for bot in self.spec.bots]),
                *self._arena.watchers,
            ],
        )

    def need(self) -> int:
        """Hands it could play now."""
        return 0 if self.stopping else len(self.held)

    def begin(self, work: Work) -> None:
        """Play a block."""
        index = work.block.index
        self.held[index] = work
        self._left[index] = {hand.place for hand in work.hands} - work.done
        if work.over(self.spec.options.strike_off_after):
            self._close(index)
        elif self.player is not None:
            self.player.submit(work)

    def drop(self, block: int) -> None:
        """The block is no longer this worker's; a hand of it that is in play is recorded all the same."""
        self.held.pop(block, None)
        self._left.pop(block, None)
        if self.player is not None:
            self.player.docket.remove(block)
        self.idle_since = asyncio.get_running_loop().time()

    async def run(self) -> None:
        """Play what is begun, until `stop`."""
        assert self.player is not None
        self._arena.floors[self.player.floor] = self._tables
        try:
            await self.player.run()
        finally:
            del self._arena.floors[self.player.floor]

    def stop(self) -> None:
        """Begin no further hand."""
        self.stopping = True
        if self.player is not None:
            self.player.stop()

    async def close(self) -> None:
        """Let the bots go."""
        chairs = dict(zip(self._keys, self._chairs, strict=True))
        for key in self._shared:
            del chairs[key]
            await self._leases.unshare(key, self.need)
        await asyncio.gather(*(self._arena.roster.leave(key) for key in self._keys), return_exceptions=True)

    async def settled(self) -> None:
        """Voids so far are in the store."""
        while self._voids:
            await asyncio.shield(self._voids[0])
            del self._voids[0]

    # Called back by the tables --------------------------------------------------------------------------------------

    def ended(self, block: int, place: int, result: HandResult) -> None:
        """A hand of a block has its record, which is with the writer."""
        left = self._left[block]
        left.discard(place)
        if not left:
            self._close(block)

    def voided(self, block: int, place: int, voids: int) -> None:
        """The arena failed at a hand."""
        if voids >= self.spec.options.strike_off_after:
            self._close(block)

    def _close(self, block: int) -> None:
        self.drop(block)
        self._over(self.id, block)

    def _keep(self, record: Record) -> None:
        self._writer.put(record)

    def _note_void(self, hand: int, voids: int) -> None:
        store = self._arena.store
        self._voids.append(
            asyncio.create_task(
                patiently(self.journal, "store", lambda: store.add_void(self.id, hand, voids=voids)),
                name=f"void of {self.id}",
            )
        )

    async def _room(self) -> None:
        """No hand begins that may follow from a void which the store does not know of."""
        await self.settled()
        await patiently(self.journal, "store", self._writer.room)
