"""The arena that a command plays in itself: a store, a journal and the bots' trust, for as long as it runs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from wakeng.services.arena import Arena
from wakeng.services.commands.bot_tls import BotTlsFactory
from wakeng.services.commands.common import bots_trust
from wakeng.services.commands.settings_options import ambient
from wakeng.services.journal import Journal
from wakeng.services.logging import log_of, log_to
from wakeng.services.metrics import Metrics
from wakeng.services.store import Store


@asynccontextmanager
async def local_arena(store: Store, journal: Path, bots_tls: BotTlsFactory | None) -> AsyncIterator[Arena]:
    """An arena over the store, which stays the caller's."""
    settings = ambient().settings
    with log_to(log_of(settings.log), level="warning"), Journal.open(journal) as log:
        tls = bots_tls() if bots_tls is not None else bots_trust(settings.bots)
        arena = Arena(store=store, journal=log, metrics=Metrics(), tls=tls)
        try:
            yield arena
        finally:
            arena.close()
