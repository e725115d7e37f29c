"""An operator's doings to a store, each from its URL: it is opened, never made, and closed again."""

from collections.abc import Callable
from random import Random

from sqlalchemy import URL
from sqlalchemy.ext.asyncio import AsyncConnection

from wakeng.services.store.checking import Checking, Finding
from wakeng.services.store.database import existing, open_engine
from wakeng.services.store.pruning import Doomed, Retention
from wakeng.services.store.retries import Patience, Retries
from wakeng.services.store.schema import upgrade
from wakeng.services.store.store import IN_A_HURRY, Store, told_why
from wakeng.services.store.units import Unit
from wakeng.services.store.vacuum import vacuum

Progress = Callable[[int, int], None]
"""Hears how much of how much is done."""


async def upgraded(url: URL, *, patience: Patience = IN_A_HURRY) -> str | None:
    """Brings a store to the newest schema; the one it had, None where it was empty."""
    with told_why(url):
        return await upgrade(url, patience=patience)


async def checked(url: URL, *, sample: int | None, on_records: Progress) -> tuple[Finding, ...]:
    """All that the checks find; at most `sample` records are read, or all if it is None."""
    engine = await open_engine(existing(url), limited=False)
    try:
        with told_why(url):
            await Retries(IN_A_HURRY).until_done(Unit(engine, _greet).attempt)
        checking = Checking(engine, sample=sample, random=Random())
        return tuple([finding async for finding in checking.findings(on_records)])
    finally:
        await engine.dispose()


async def _greet(connection: AsyncConnection) -> None:
    await connection.exec_driver_sql("SELECT 1")


async def pruned(
    url: URL, retention: Retention, *, dry_run: bool, pack: bool, on_hands: Progress
) -> tuple[Doomed, ...]:
    """Deletes what the retention does not keep, or only says what; packs the database afterwards if asked."""
    plain = existing(url).render_as_string(hide_password=False)
    async with await Store.open(plain, migrate=False) as store:
        doomed = await store.pruning.doomed(retention)
        goal, gone = sum(match.hands for match in doomed), 0

        def note(hands: int) -> None:
            nonlocal gone
            gone += hands
            on_hands(gone, goal)

        if not dry_run:
            await store.pruning.prune(doomed, on_hands=note)
    if pack and not dry_run:
        await vacuum(url)
    return doomed
