"""Workers as a place where tournaments are played: what a coordinator needs of them, on one connection."""

import os
import socket
from contextlib import suppress

from wakeng.services.errors import UnknownBot
from wakeng.services.journal import Journal
from wakeng.services.spec import SeatKind
from wakeng.services.store import Store
from wakeng.services.tournament.executor import Executor, Outcomes
from wakeng.services.tournament.run import Stored
from wakeng.services.tournament.spec import TournamentSpec
from wakeng.services.workers.connection import NatsOptions
from wakeng.services.workers.executor import BlockExecutor
from wakeng.services.workers.presence import Presence
from wakeng.services.workers.queue import Queue


class Workers:
    """The workers of an arena, however many there are."""

    def __init__(self, queue: Queue, presence: Presence, *, store: Store, journal: Journal) -> None:
        """For `open`."""
        self.queue = queue
        self.presence = presence
        self._store = store
        self._journal = journal

    @classmethod
    async def open(cls, options: NatsOptions, *, store: Store, journal: Journal) -> "Workers":
        """QueueError if NATS cannot be had."""
        who = f"{options.name} coordinator {socket.gethostname()} {os.getpid()}"
        queue = await Queue.open(options, who=who, on_event=lambda event, reason: journal.event(event, reason=reason))
        try:
            return cls(queue, await Presence.open(queue), store=store, journal=journal)
        except BaseException:
            await queue.close()
            raise

    async def close(self) -> None:
        """Whatever is queued goes on."""
        await self.queue.close()

    async def takes(self, spec: TournamentSpec) -> bool:
        """Whether workers can reach all bots: one that dials in reaches the arena's own process and no other."""
        for bot in spec.bots:
            if bot.seat.kind is SeatKind.REGISTERED:
                with suppress(UnknownBot):
                    if (await self._store.bots.get(bot.seat.bot)).address is None:
                        return False
        return True

    def executor(self, tournament: Stored, outcomes: Outcomes) -> Executor:
        """Has a tournament played by them."""
        return BlockExecutor(
            tournament.id,
            tournament.spec,
            outcomes,
            queue=self.queue,
            presence=self.presence,
            store=self._store,
            journal=self._journal,
        )
