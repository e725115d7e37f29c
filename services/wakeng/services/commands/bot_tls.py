"""How commands are told to trust the bots that the arena dials."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from wakeng.services.commands.common import Command

if TYPE_CHECKING:
    from wakeng.services.seating import BotTls

_FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)
_GIVEN: Final = {"bots_ca": "ca", "bots_cert": "cert", "bots_key": "key", "insecure_bots": "insecure"}

BotTlsFactory = Callable[[], "BotTls"]
"""Called once a command is sure to need it: a command's help needs none of gRPC."""


def bot_tls_options(command: Command) -> Command:
    """`--bots-ca` and its kind, as one argument `bots_tls`, which is None where none of them is given."""

    @click.option(
        "--bots-ca",
        type=_FILE,
        help="PEM certificates that those of bots at addresses must be signed by; the system's if absent. With it, or "
        "with --bots-cert, bots of this machine speak TLS too.",
    )
    @click.option("--bots-cert", type=_FILE, help="A PEM certificate to show to bots that demand one.")
    @click.option("--bots-key", type=_FILE, help="The key of --bots-cert.")
    @click.option("--insecure-bots", is_flag=True, help="No TLS to bots on other machines.")
    @wraps(command)
    def with_bots(**others: Any) -> Any:
        given = {meant: others.pop(name) for name, meant in _GIVEN.items()}
        return command(bots_tls=_factory(given) if any(given.values()) else None, **others)

    return with_bots


def _factory(given: dict[str, Any]) -> BotTlsFactory:
    if (given["cert"] is None) != (given["key"] is None):
        raise click.UsageError("--bots-cert and --bots-key go together")
    if given["insecure"] and (given["ca"] or given["cert"]):
        raise click.UsageError("--insecure-bots means no TLS, so no --bots-ca, --bots-cert or --bots-key")

    def make() -> "BotTls":
        from wakeng.services.seating import BotTls

        return BotTls(**given)

    return make
