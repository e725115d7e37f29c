"""`wakeng join-bot`: a reference bot that dials an arena instead of being dialled, as from behind a router."""

import os
from pathlib import Path
from typing import Any, Final

import click

from wakeng.cli.errors import NotThere
from wakeng.cli.serve_bot import BotSeed, create_bot
from wakeng.sdk.options import ADDRESS

TOKEN_VARIABLE: Final = "WAKENG_TOKEN"
_FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("join-bot")
@click.argument("name")
@click.option("--arena", type=ADDRESS, required=True, metavar="ADDR", help="The arena to dial, HOST:PORT.")
@click.option("--token", metavar="T", help="The bot's own token; other users of this machine may see it here.")
@click.option("--token-file", type=_FILE, help=f"A file that holds it; ${TOKEN_VARIABLE} if neither is given.")
@click.option("--ca", type=_FILE, help="PEM certificates that the arena's must be signed by; so: by TLS.")
@click.option("--cert", type=_FILE, help="A PEM certificate to show the arena, where it demands one.")
@click.option("--key", type=_FILE, help="The key of --cert.")
@click.option("--insecure", is_flag=True, help="No TLS, though the arena is on another machine.")
@click.option(
    "--seed", type=BotSeed(), default="0", metavar="HEX|N", help="What its random choices follow from.  [default: 0]"
)
def command(name: str, arena: str, token: str | None, token_file: Path | None, seed: bytes, **trust: Any) -> None:
    """Have the built-in bot NAME (see `wakeng bots`) play for an arena that it dials, until SIGINT or SIGTERM.

    It must be registered there as a bot that dials in, and shows the token that was told then. `joined ADDR` on
    standard output says that it is there; when the connection is lost, it comes back by itself.

    \b
    wakeng join-bot greedy --arena 127.0.0.1:50050 --token-file greedy.token
    """
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    from wakeng.sdk import JoinRefused, join

    bot = create_bot(name, seed)
    try:
        join(bot, arena, _token(token, token_file), announce=_announce, **trust)
    except JoinRefused as problem:
        raise NotThere(str(problem)) from None
    except (TypeError, ValueError) as problem:
        raise click.UsageError(str(problem)) from None


def _token(token: str | None, file: Path | None) -> str:
    if token is not None and file is not None:
        raise click.UsageError("--token and --token-file say the same; give one")
    if token is None:
        token = os.environ.get(TOKEN_VARIABLE, "") if file is None else file.read_text("utf-8", "replace")
    if not token.strip():
        raise click.UsageError(f"the bot's own token is needed: --token-file FILE, or ${TOKEN_VARIABLE}")
    return token.strip()


def _announce(arena: str) -> None:
    click.echo(f"joined {arena}")
