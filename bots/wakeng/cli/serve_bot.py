"""`wakeng serve-bot`: a reference bot as a gRPC server, for arenas to play against and for authors to try calls on."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from wakeng.cli.errors import NotThere
from wakeng.sdk.options import ADDRESS

if TYPE_CHECKING:
    from wakeng.sdk import Bot

SEED_BYTES: Final = 32
_FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)


class BotSeed(click.ParamType):  # type: ignore[type-arg]
    """A seed of 64 hex digits, or a whole number: 7 is short for the seed that ends in 07."""

    name = "seed"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> bytes:
        """The seed's 32 bytes."""
        if isinstance(value, bytes):
            return value
        is_hex = len(value) == 2 * SEED_BYTES and set(value) <= set("0123456789abcdefABCDEF")
        if not is_hex and not (value.isascii() and value.isdecimal() and len(value) <= 18):
            self.fail(f"{value[:80]!r} is no seed; 64 hex digits, or a number such as 7", param, ctx)
        return bytes.fromhex(value) if is_hex else int(value).to_bytes(SEED_BYTES, "big")


@click.command("serve-bot")
@click.argument("name")
@click.option("--listen", type=ADDRESS, required=True, metavar="ADDR", help="HOST:PORT (0: any free) or unix:PATH.")
@click.option(
    "--seed", type=BotSeed(), default="0", metavar="HEX|N", help="What its random choices follow from.  [default: 0]"
)
@click.option("--weights", type=_FILE, help="For net and search: another weights file, of `wakeng train net`.")
@click.option("--tls-cert", type=_FILE, help="The PEM certificate, with its chain, to serve TLS by.")
@click.option("--tls-key", type=_FILE, help="The key of --tls-cert.")
@click.option("--client-ca", type=_FILE, help="Demand of arenas a certificate that is signed by one of these.")
@click.option("--insecure", is_flag=True, help="No TLS, though other machines reach it.")
@click.option("--until-stdin-closes", is_flag=True, hidden=True)
def command(
    name: str, listen: str, seed: bytes, weights: Path | None, *, until_stdin_closes: bool, **trust: Any
) -> None:
    """Serve the built-in bot NAME (see `wakeng bots`) until SIGINT or SIGTERM.

    The first line of standard output is `listening on ADDR`, once it can be called. Its choices follow from the
    seed and from what it is asked, so it plays the same after a restart.

    \b
    wakeng serve-bot greedy --listen 127.0.0.1:50051
    wakeng serve-bot greedy --listen 0.0.0.0:443 --tls-cert b.pem --tls-key b.key
    """
    # gRPC's own log lines say nothing to people that our one line does not; who debugs it sets this otherwise.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    from wakeng.sdk import ListenError, serve

    bot = create_bot(name, seed, weights)
    try:
        # Before the address is told: an arena that calls would wait for it no longer than for any bot.
        bot.ready()
        serve(bot, listen, until_stdin_closes=until_stdin_closes, announce=_announce, **trust)
    except ListenError as problem:
        raise click.BadParameter(str(problem), param_hint="'--listen'") from None
    except ValueError as problem:
        raise click.UsageError(str(problem)) from None


def create_bot(name: str, seed: bytes, weights: Path | None = None) -> "Bot":
    """The built-in bot of that name; BadParameter says which there are, or what must be installed for it."""
    from wakeng.bots import UnknownBot, create
    from wakeng.bots.extras import MissingExtra

    try:
        return create(name, seed, weights=weights)
    except MissingExtra as problem:
        raise NotThere(str(problem)) from None
    except UnknownBot as problem:
        raise click.BadParameter(str(problem), param_hint="'NAME'") from None
    except ValueError as problem:
        raise click.BadParameter(str(problem), param_hint="'--weights'") from None


def _announce(address: str) -> None:
    """For programs that start bots: echo flushes, so that the line is out at once."""
    click.echo(f"listening on {address}")
