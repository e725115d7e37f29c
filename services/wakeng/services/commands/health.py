"""`wakeng health`: asks an arena's standard health service, as probes of containers do."""

import asyncio
from pathlib import Path
from typing import Final

import click

from wakeng.sdk.options import ADDRESS
from wakeng.services.commands.arena_client import ArenaOptions

_FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)
UNHEALTHY: Final = 1
CHECK: Final = "/grpc.health.v1.Health/Check"


@click.command("health")
@click.argument("address", type=ADDRESS)
@click.option("--service", default="", metavar="NAME", help="One service of the arena; all of it if absent.")
@click.option("--timeout", type=click.FloatRange(0.01, 600), default=3.0, show_default=True, help="Seconds to wait.")
@click.option("--ca", type=_FILE, help="PEM certificates that the arena's must be signed by; so: by TLS.")
@click.option("--cert", type=_FILE, help="A PEM certificate to show, where the arena demands one.")
@click.option("--key", type=_FILE, help="The key of --cert.")
@click.option("--insecure", is_flag=True, help="No TLS, though the arena is on another machine.")
def command(
    *,
    address: str,
    service: str,
    timeout: float,
    ca: Path | None,
    cert: Path | None,
    key: Path | None,
    insecure: bool,
) -> int:
    """Say whether the arena at ADDRESS serves: exit status 0 if it does, 1 if not or if nobody answers.

    \b
    wakeng health 127.0.0.1:50050
    wakeng health arena.example:50050 --service wakeng.v1.MatchService

    No token is needed. It is NOT_SERVING while an arena lets its last hands end.
    """
    if (cert is None) != (key is None):
        raise click.UsageError("--cert and --key go together")
    arena = ArenaOptions(address=address, ca=ca, cert=cert, key=key, insecure=insecure)
    status, good = asyncio.run(ask(arena, service=service, within=timeout))
    click.echo(status, err=not good)
    return 0 if good else UNHEALTHY


async def ask(arena: ArenaOptions, *, service: str, within: float) -> tuple[str, bool]:
    """The health of an arena in a word or a line, and whether that is good."""
    from wakeng.sdk.polling import grpc  # Before anybody else loads it.

    # isort: split
    from grpc_health.v1 import health_pb2

    from wakeng.services.commands.arena_client import open_channel

    async with open_channel(arena) as channel:
        request = health_pb2.HealthCheckRequest(service=service)
        try:
            check = channel.unary_unary(
                CHECK, health_pb2.HealthCheckRequest.SerializeToString, health_pb2.HealthCheckResponse.FromString
            )
            answer = await check(request, timeout=within)
        except grpc.aio.AioRpcError as error:
            return f"{arena.address}: {error.code().name}: {error.details()}", False
    status = health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status)
    return status, answer.status == health_pb2.HealthCheckResponse.SERVING
