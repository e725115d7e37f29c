"""`wakeng worker`: plays blocks of tournaments that a coordinator elsewhere has queued."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from wakeng.sdk.options import ADDRESS
from wakeng.services.commands.bot_tls import BotTlsFactory, bot_tls_options
from wakeng.services.commands.common import DB_OPTION, database, guarded, journal_file, run_loop
from wakeng.services.commands.nats import NatsFactory, nats_options

if TYPE_CHECKING:
    from contextlib import AsyncExitStack

    from wakeng.services.journal import Journal
    from wakeng.services.metrics import Metrics
    from wakeng.services.store import Store
    from wakeng.services.workers.worker import Worker

_OUT: Final = click.Path(dir_okay=False, path_type=Path)


@click.command("worker")
@nats_options(required=True, meaning="Where blocks are queued: nats://HOST:4222 or tls://HOST:4222, several by commas.")
@click.option(
    "--tables", type=click.IntRange(1, 10_000), default=64, show_default=True, help="Hands in play at once, at most."
)
@click.option("--name", "worker", help="Of this worker, unique among all; drawn from host and process if absent.")
@click.option("--in-process", is_flag=True, help="Seat built-in bots in this process: for trusted bots.")
@click.option(
    "--attempts",
    type=click.IntRange(1, 1000),
    default=3,
    show_default=True,
    help="After so many that failed by themselves, by an error or the worker's death, a block is struck off.",
)
@click.option(
    "--redeliver-after",
    type=click.FloatRange(1, 3600),
    metavar="S",
    help="Seconds of silence after which a worker's blocks go to others, for all workers; 10 if nobody says.",
)
@click.option(
    "--grace", type=click.FloatRange(0), default=20.0, show_default=True, help="Seconds blocks in hand may take to end."
)
@click.option("--metrics", type=ADDRESS, metavar="ADDR", help="Serve Prometheus metrics at http://ADDR/metrics.")
@click.option("--journal", type=_OUT, help="Where every decision is logged.")
@click.option(
    "--allow-net",
    "networks",
    metavar="CIDR",
    multiple=True,
    help="A network where bots may be dialled that callers of the arena named; give what the arena is given.",
)
@bot_tls_options
@DB_OPTION
@guarded
def command(
    *,
    nats: NatsFactory,
    tables: int,
    worker: str | None,
    in_process: bool,
    attempts: int,
    redeliver_after: float | None,
    grace: float,
    metrics: str | None,
    journal: Path | None,
    networks: tuple[str, ...],
    bots_tls: BotTlsFactory | None,
    db: str | None,
) -> int:
    """Play blocks of tournaments, with any number of other workers.

    \b
    wakeng worker --nats nats://queue.example:4222 --db postgresql://wakeng@db.example/wakeng
    wakeng worker --nats nats://127.0.0.1:4222 --db sqlite:///club.db --tables 32

    The tournaments are those of `wakeng tournament run --nats` and `wakeng serve --nats` with the same store. Workers
    may come and go at any time. SIGTERM or Ctrl-C ends the blocks in hand (--grace), gives back the rest and exits 0; a
    second signal ends at once. A worker that dies loses nothing: its blocks go to others. docs/workers.md tells more.
    """
    options = _Options(
        nats=nats,
        worker=worker,
        tables=tables,
        in_process=in_process,
        attempts=attempts,
        redeliver_after=redeliver_after,
        grace=grace,
        metrics_at=metrics,
        journal=journal,
        networks=networks,
        bots_tls=bots_tls,
        db=database(db),
    )
    return run_loop(_work(options))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    nats: NatsFactory
    worker: str | None
    tables: int
    in_process: bool
    attempts: int
    redeliver_after: float | None
    grace: float
    metrics_at: str | None
    journal: Path | None
    networks: tuple[str, ...]
    bots_tls: BotTlsFactory | None
    db: str

    @property
    def name(self) -> str:
        """Of the worker; only what a key of NATS may hold."""
        import os
        import re
        import secrets
        import socket

        drawn = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"
        return re.sub(r"[^A-Za-z0-9_=-]", "-", self.worker or drawn)[:100]


async def _work(options: _Options) -> int:
    from contextlib import AsyncExitStack

    from wakeng.services.commands.serve import stop_signal
    from wakeng.services.journal import Journal
    from wakeng.services.metrics import Metrics, serve_metrics
    from wakeng.services.store import Store

    stop, name = stop_signal(), options.name
    async with AsyncExitStack() as parts:
        metrics = Metrics()
        log = parts.enter_context(
            Journal.open(journal_file(options.journal, f"worker-{name}"), on_lines=metrics.journal_lines.inc)
        )
        store = await parts.enter_async_context(await Store.open(options.db))
        if options.metrics_at is not None:
            served = serve_metrics(metrics, options.metrics_at)
            parts.callback(served.close)
            click.echo(f"metrics on http://{served.address}/metrics")
        worker = await _worker(options, name, parts, store=store, log=log, metrics=metrics)
        click.echo(f"worker {name} takes blocks for {options.tables} tables")
        await worker.run(stop, grace=options.grace)
    return 0


async def _worker(
    options: _Options, name: str, parts: "AsyncExitStack", *, store: "Store", log: "Journal", metrics: "Metrics"
) -> "Worker":
    """The worker, with all that it stands on entered into `parts`."""
    from dataclasses import replace

    from wakeng.services.arena import Arena
    from wakeng.services.dialling import DiallingPolicy
    from wakeng.services.workers.ids import unique_ids
    from wakeng.services.workers.leases import SharedLeases
    from wakeng.services.workers.presence import Presence
    from wakeng.services.workers.queue import Queue
    from wakeng.services.workers.worker import Plan, Worker

    queue = await Queue.open(
        options.nats(),
        who=f"worker {name}",
        redeliver_after=options.redeliver_after,
        on_event=lambda event, reason: log.event(event, reason=reason),
    )
    parts.push_async_callback(queue.close)
    leases = await SharedLeases.open(queue, name)
    bots_tls = options.bots_tls() if options.bots_tls is not None else None
    arena = Arena(store=store, journal=log, metrics=metrics, tls=bots_tls, ids=await unique_ids(queue))
    parts.callback(arena.close)
    own = arena.seating
    arena.seating = replace(own, policy=DiallingPolicy.parse(options.networks))
    return Worker(
        arena,
        Plan(name=name, tables=options.tables, in_process=options.in_process, most_attempts=options.attempts),
        queue=queue,
        presence=await Presence.open(queue),
        leases=leases,
        own_seating=own,
    )
