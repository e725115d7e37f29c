"""`wakeng worker`: plays blocks of tournaments that a coordinator elsewhere has queued."""

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import click

from wakeng.services.commands.common import bots_trust, data_places, guarded, nats_of, run_loop
from wakeng.services.commands.settings_options import settings_options
from wakeng.services.settings import Loaded, Settings

if TYPE_CHECKING:
    from wakeng.services.journal import Journal
    from wakeng.services.metrics import Metrics
    from wakeng.services.workers.worker import Worker


@click.command("worker")
@settings_options("nats", "worker", "access", "bots", "store", "data", "journal", "metrics", "log", "traces")
@guarded
def command(*, loaded: Loaded) -> int:
    """Play blocks of tournaments, with any number of other workers.

    \b
    wakeng worker --nats nats://queue.example:4222 --db postgresql://wakeng@db.example/wakeng
    wakeng worker --nats nats://127.0.0.1:4222 --db sqlite:///club.db --tables 32

    The tournaments are those of `wakeng tournament run --nats` and `wakeng serve --nats` with the same store. Workers
    may come and go at any time. SIGTERM or Ctrl-C ends the blocks in hand (--drain), gives back the rest and exits 0; a
    second signal ends at once. A worker that dies loses nothing: its blocks go to others. docs/workers.md tells more.
    """
    if loaded.settings.nats.url is None:
        raise click.UsageError("give --nats URL (nats.url): where blocks are queued")
    return run_loop(_work(loaded.settings))


async def _work(settings: Settings) -> int:
    from wakeng.services.commands.serve import stop_signal
    from wakeng.services.journal import Journal
    from wakeng.services.logging import log_of, log_to
    from wakeng.services.metrics import Metrics, serve_metrics
    from wakeng.services.pulse import Pulse

    stop, name = stop_signal(), worker_name(settings.worker.name)
    async with AsyncExitStack() as parts:
        parts.enter_context(log_to(log_of(settings.log), level=settings.log.level))
        metrics = Metrics()
        journal = Journal.open(
            data_places(settings).journal(f"worker-{name}"),
            on_lines=metrics.journal_lines.inc,
            on_failure=metrics.journal_failures.inc,
        )
        parts.enter_context(journal)
        if settings.metrics.listen is not None:
            served = serve_metrics(metrics, settings.metrics.listen)
            parts.callback(served.close)
            click.echo(f"metrics on http://{served.address}/metrics")
        parts.callback(Pulse(metrics.loop_delay.observe).close)
        worker = await _worker(settings, name, parts, journal=journal, metrics=metrics)
        click.echo(f"worker {name} takes blocks for {settings.worker.tables} tables")
        await worker.run(stop, grace=settings.worker.drain)
    return 0


async def _worker(
    settings: Settings, name: str, parts: AsyncExitStack, *, journal: "Journal", metrics: "Metrics"
) -> "Worker":
    """The worker, with all that it stands on entered into `parts`."""
    from dataclasses import replace

    from wakeng.services.arena import Arena
    from wakeng.services.commands.serve import trace
    from wakeng.services.dialling import DiallingPolicy
    from wakeng.services.store import Store
    from wakeng.services.workers.ids import unique_ids
    from wakeng.services.workers.leases import SharedLeases
    from wakeng.services.workers.presence import Presence
    from wakeng.services.workers.queue import Queue
    from wakeng.services.workers.worker import Plan, Worker

    told, options = settings.worker, nats_of(settings)
    assert options is not None
    store = await parts.enter_async_context(await Store.open(data_places(settings).db))
    queue = await Queue.open(
        options,
        who=f"worker {name}",
        redeliver_after=told.redeliver_after,
        on_event=lambda event, reason: journal.event(event, reason=reason),
    )
    parts.push_async_callback(queue.close)
    arena = Arena(
        store=store, journal=journal, metrics=metrics, tls=bots_trust(settings.bots), ids=await unique_ids(queue)
    )
    parts.callback(arena.close)
    trace(settings, parts, arena)
    presence = await Presence.open(queue)
    own = arena.seating
    arena.seating = replace(own, policy=DiallingPolicy.parse(settings.access.allow_net))
    return Worker(
        arena,
        Plan(name=name, tables=told.tables, in_process=told.in_process, most_attempts=told.attempts),
        queue=queue,
        presence=presence,
        leases=await SharedLeases.open(queue, name, look=presence.live),
        own_seating=own,
    )


def worker_name(told: str | None) -> str:
    """The worker's, or one that is drawn; only what a key of NATS may hold."""
    import os
    import re
    import secrets
    import socket

    drawn = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"
    return re.sub(r"[^A-Za-z0-9_=-]", "-", told or drawn)[:100]
