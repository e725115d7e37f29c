"""`wakeng serve`: the arena as a server."""

import asyncio
import os
import signal
from pathlib import Path

import click

from wakeng.sdk.options import ADDRESS
from wakeng.services.commands.common import DB_OPTION, database, guarded, journal_file


@click.command("serve")
@click.option(
    "--listen",
    type=ADDRESS,
    default="127.0.0.1:50050",
    show_default=True,
    help="Where to serve gRPC; port 0 picks one.",
)
@click.option("--metrics", type=ADDRESS, metavar="ADDR", help="Serve Prometheus metrics at http://ADDR/metrics.")
@click.option("--journal", type=click.Path(dir_okay=False, path_type=Path), help="Where every decision is logged.")
@click.option(
    "--grace", type=click.FloatRange(0), default=30.0, show_default=True, help="Seconds hands in play may take to end."
)
@DB_OPTION
@guarded
def command(*, listen: str, metrics: str | None, journal: Path | None, grace: float, db: str | None) -> int:
    """Serve matches over gRPC: MatchService, health and reflection.

    \b
    wakeng serve --metrics 127.0.0.1:9090
    wakeng serve --listen 127.0.0.1:0 --db sqlite:///club.db

    Unfinished matches of an earlier run go on. SIGTERM or Ctrl-C lets the hands in play end (--grace) and exits 0;
    a second signal ends at once, and nothing that was recorded is lost.
    """
    return asyncio.run(_serve(listen, metrics, journal_file(journal, "arena"), grace, database(db)))


async def _serve(listen: str, metrics_at: str | None, journal: Path, grace: float, db: str) -> int:
    from contextlib import AsyncExitStack

    from wakeng.services.arena import Arena
    from wakeng.services.journal import Journal
    from wakeng.services.metrics import Metrics, serve_metrics
    from wakeng.services.server import ArenaServer
    from wakeng.services.store import Store

    async with AsyncExitStack() as parts:
        store = await parts.enter_async_context(await Store.open(db))
        log = parts.enter_context(Journal.open(journal))
        metrics = Metrics()
        if metrics_at is not None:
            served = serve_metrics(metrics, metrics_at)
            parts.callback(served.close)
            click.echo(f"metrics on http://{served.address}/metrics")
        arena = Arena(store=store, journal=log, metrics=metrics)
        parts.callback(arena.close)
        server = await ArenaServer(arena).start(listen)
        click.echo(f"listening on {server.address}")
        await _wait_for_signal()
        click.echo("stopping; a second signal ends at once", err=True)
        await server.stop(grace)
    return 0


async def _wait_for_signal() -> None:
    """Return at the first SIGTERM or SIGINT; a second one then ends the process where it stands."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stopped() -> None:
        if stop.is_set():
            os._exit(130)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped)
    await stop.wait()
