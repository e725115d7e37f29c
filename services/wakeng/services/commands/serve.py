"""`wakeng serve`: the arena as a server."""

import asyncio
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from wakeng.sdk.options import ADDRESS
from wakeng.services.commands.bot_tls import BotTlsFactory, bot_tls_options
from wakeng.services.commands.common import DB_OPTION, database, guarded, journal_file, run_loop

if TYPE_CHECKING:
    from wakeng.services.arena import Arena
    from wakeng.services.server import ArenaServer

_FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)


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
@click.option("--tls-cert", type=_FILE, help="The PEM certificate, with its chain, to serve TLS by.")
@click.option("--tls-key", type=_FILE, help="The key of --tls-cert.")
@click.option("--client-ca", type=_FILE, help="Demand of every caller a certificate that is signed by one of these.")
@click.option(
    "--insecure", is_flag=True, help="Serve other machines without TLS; something before it must see to that."
)
@click.option(
    "--auth/--no-auth",
    default=None,
    help="Whether callers need tokens (`wakeng token`); without, every caller is an admin, so only this machine may "
    "be served. On by default where others are.",
)
@click.option(
    "--allow-net",
    "networks",
    metavar="CIDR",
    multiple=True,
    help="A network where the arena may dial bots that callers name, such as 10.0.0.0/8; else only this machine, "
    "for admins.",
)
@bot_tls_options
@DB_OPTION
@guarded
def command(
    *,
    listen: str,
    metrics: str | None,
    journal: Path | None,
    grace: float,
    auth: bool | None,
    networks: tuple[str, ...],
    db: str | None,
    **trust: Any,
) -> int:
    """Serve matches and bots over gRPC, with health and reflection.

    \b
    wakeng serve --metrics 127.0.0.1:9090
    wakeng serve --listen 127.0.0.1:0 --db sqlite:///club.db
    wakeng serve --listen 0.0.0.0:50050 --tls-cert arena.pem --tls-key arena.key --allow-net 203.0.113.0/24

    On this machine alone whoever calls is an admin, unless --auth demands tokens. For other machines tokens and TLS
    are demanded; the first token is made by `wakeng token add admin`.

    Unfinished matches of an earlier run go on. SIGTERM or Ctrl-C lets the hands in play end (--grace) and exits 0;
    a second signal ends at once, and nothing that was recorded is lost.
    """
    options = Options(
        listen=listen,
        metrics_at=metrics,
        journal=journal_file(journal, "arena"),
        grace=grace,
        db=database(db),
        auth=auth,
        networks=networks,
        **trust,
    )
    return run_loop(_serve(options))


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command was told."""

    listen: str
    metrics_at: str | None
    journal: Path
    grace: float
    db: str
    auth: bool | None
    networks: tuple[str, ...]
    tls_cert: Path | None
    tls_key: Path | None
    client_ca: Path | None
    insecure: bool
    bots_tls: BotTlsFactory | None

    def __post_init__(self) -> None:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise click.UsageError("--tls-cert and --tls-key go together")
        if self.client_ca is not None and self.tls_cert is None:
            raise click.UsageError("--client-ca goes with --tls-cert and --tls-key")

    def server(self, arena: "Arena") -> "ArenaServer":
        """The server that was asked for."""
        from wakeng.services.dialling import DiallingPolicy, listens_here_only
        from wakeng.services.server import ArenaServer
        from wakeng.services.tls import server_credentials

        credentials = None
        if self.tls_cert is not None and self.tls_key is not None:
            credentials = server_credentials(self.tls_cert, self.tls_key, self.client_ca)
        return ArenaServer(
            arena,
            demand_tokens=not listens_here_only(self.listen) if self.auth is None else self.auth,
            credentials=credentials,
            policy=DiallingPolicy.parse(self.networks),
        )


async def _serve(options: Options) -> int:
    from contextlib import AsyncExitStack

    from wakeng.services.arena import Arena
    from wakeng.services.journal import Journal
    from wakeng.services.metrics import Metrics, serve_metrics
    from wakeng.services.store import Store

    stop = _stop_signal()
    async with AsyncExitStack() as parts:
        store = await parts.enter_async_context(await Store.open(options.db))
        log = parts.enter_context(Journal.open(options.journal))
        metrics = Metrics()
        if options.metrics_at is not None:
            served = serve_metrics(metrics, options.metrics_at)
            parts.callback(served.close)
            click.echo(f"metrics on http://{served.address}/metrics")
        bots_tls = options.bots_tls() if options.bots_tls is not None else None
        arena = Arena(store=store, journal=log, metrics=metrics, tls=bots_tls)
        parts.callback(arena.close)
        server = await options.server(arena).start(options.listen, insecure=options.insecure)
        click.echo(f"listening on {server.address}")
        await stop.wait()
        click.echo("stopping; a second signal ends at once", err=True)
        await server.stop(options.grace)
    return 0


def _stop_signal() -> asyncio.Event:
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
