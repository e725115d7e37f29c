"""`wakeng serve`: the arena as a server."""

import asyncio
import logging
import os
import signal
from typing import TYPE_CHECKING

import click

from wakeng.services.commands.common import bots_trust, data_places, guarded, nats_of, run_loop
from wakeng.services.commands.settings_options import settings_options
from wakeng.services.settings import Loaded, Settings

if TYPE_CHECKING:
    from contextlib import AsyncExitStack

    from wakeng.services.arena import Arena
    from wakeng.services.server import ArenaServer
    from wakeng.services.web import WebServer
    from wakeng.services.workers.coordinator import Workers

log = logging.getLogger("wakeng.services")


@click.command("serve")
@settings_options(
    "serve", "tls", "access", "bots", "store", "data", "journal", "web", "metrics", "nats", "log", "traces"
)
@guarded
def command(*, loaded: Loaded) -> int:
    """Serve matches and bots over gRPC, with health and reflection.

    \b
    wakeng serve --web 127.0.0.1:8080 --metrics 127.0.0.1:9090
    wakeng serve --listen 127.0.0.1:0 --db sqlite:///club.db
    wakeng serve --listen 0.0.0.0:50050 --tls-cert arena.pem --tls-key arena.key --allow-net 203.0.113.0/24
    wakeng serve --config arena.toml

    On this machine alone whoever calls is an admin, unless --auth demands tokens. For other machines tokens and TLS
    are demanded; the first token is made by `wakeng token add admin`.

    With --nats tournaments are played by workers, except those of bots that dial in, which only this process hears.

    Unfinished matches of an earlier run go on. SIGTERM or Ctrl-C lets the hands in play end (--grace) and exits 0;
    a second signal ends at once, and nothing that was recorded is lost.
    """
    return run_loop(_serve(loaded.settings))


async def _serve(settings: Settings) -> int:
    from contextlib import AsyncExitStack

    from wakeng.services.arena import Arena
    from wakeng.services.journal import Journal
    from wakeng.services.logging import log_of, log_to
    from wakeng.services.metrics import Metrics, serve_metrics
    from wakeng.services.pulse import Pulse
    from wakeng.services.store import Store

    stop = stop_signal()
    places = data_places(settings)
    async with AsyncExitStack() as parts:
        parts.enter_context(log_to(log_of(settings.log), level=settings.log.level))
        store = await parts.enter_async_context(await Store.open(places.db))
        metrics = Metrics()
        journal = Journal.open(
            places.journal("arena"), on_lines=metrics.journal_lines.inc, on_failure=metrics.journal_failures.inc
        )
        parts.enter_context(journal)
        if settings.metrics.listen is not None:
            served = serve_metrics(metrics, settings.metrics.listen)
            parts.callback(served.close)
            click.echo(f"metrics on http://{served.address}/metrics")
        parts.callback(Pulse(metrics.loop_delay.observe).close)
        workers, ids = None, None
        if (nats := nats_of(settings)) is not None:
            from wakeng.services.workers.coordinator import Workers
            from wakeng.services.workers.ids import unique_ids

            workers = await Workers.open(nats, store=store, journal=journal)
            parts.push_async_callback(workers.close)
            ids = await unique_ids(workers.queue)
        arena = Arena(store=store, journal=journal, metrics=metrics, tls=bots_trust(settings.bots), ids=ids)
        parts.callback(arena.close)
        trace(settings, parts, arena)
        server = await _server(settings, arena, workers).start(settings.serve.listen, insecure=settings.tls.insecure)
        click.echo(f"listening on {server.address}")
        log.info("the arena is open", extra={"address": server.address, "pid": os.getpid()})
        pages = await _web(settings, arena, server)
        await stop.wait()
        click.echo("stopping; a second signal ends at once", err=True)
        await server.stop(settings.serve.grace)
        if pages is not None:
            await pages.stop()  # Until now they have shown the hands in play ending.
        log.info("the arena is closed")
    return 0


def _server(settings: Settings, arena: "Arena", workers: "Workers | None") -> "ArenaServer":
    from wakeng.services.dialling import DiallingPolicy, listens_here_only
    from wakeng.services.server import ArenaServer
    from wakeng.services.tls import server_credentials

    tls, access = settings.tls, settings.access
    credentials = None
    if tls.cert is not None and tls.key is not None:
        credentials = server_credentials(tls.cert, tls.key, tls.client_ca)
    return ArenaServer(
        arena,
        demand_tokens=not listens_here_only(settings.serve.listen) if access.auth is None else access.auth,
        credentials=credentials,
        policy=DiallingPolicy.parse(access.allow_net),
        elsewhere=workers,
    )


def trace(settings: Settings, parts: "AsyncExitStack", arena: "Arena") -> None:
    """Traces of what is played, if they are wanted, until `parts` are closed."""
    if settings.traces.endpoint is not None:
        from wakeng.services.tracing import open_traces

        traces = open_traces(settings.traces.endpoint, sample=settings.traces.sample)
        parts.push_async_callback(asyncio.to_thread, traces.close)
        arena.watchers.append(traces)


async def _web(settings: Settings, arena: "Arena", server: "ArenaServer") -> "WebServer | None":
    if settings.web.listen is None:
        return None
    from wakeng.services.web.serving import open_site

    pages = await open_site(
        arena.store,
        settings.web,
        tls=settings.tls,
        trusting=not server.demands_tokens,
        arena=arena,
        matches=server.matches,
        tournaments=server.tournaments,
    )
    click.echo(f"pages on {pages.url}")
    return pages


def stop_signal() -> asyncio.Event:
    """Set by the first SIGTERM or SIGINT from now on; a second one ends the process where it stands."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stopped() -> None:
        if stop.is_set():
            os._exit(130)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped)
    return stop
