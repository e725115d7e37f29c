"""How commands are told of NATS, which carries the blocks of tournaments to workers."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from wakeng.services.commands.common import Command

if TYPE_CHECKING:
    from wakeng.services.workers.connection import NatsOptions

_FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)
_SECRETS: Final = {"password_file": "password", "token_file": "token"}

NatsFactory = Callable[[], "NatsOptions"]
"""Called once a command is sure to need it: a command's help needs nothing of NATS."""


def nats_options(*, required: bool, meaning: str) -> Callable[[Command], Command]:
    """`--nats` and its kind, as one argument `nats`, which is None where no URL is given."""

    def decorate(command: Command) -> Command:
        @click.option(
            "--nats", "nats_url", envvar="WAKENG_NATS", show_envvar=True, required=required, metavar="URL", help=meaning
        )
        @click.option(
            "--nats-name",
            "nats_name",
            envvar="WAKENG_NATS_NAME",
            show_envvar=True,
            default="wakeng",
            show_default=True,
            help="This arena's name there; arenas that share a NATS system each have their own.",
        )
        @click.option("--nats-user", "nats_user", help="Who we are, with --nats-password-file; or in the URL.")
        @click.option("--nats-password-file", "nats_password_file", type=_FILE, help="A file with the password.")
        @click.option("--nats-token-file", "nats_token_file", type=_FILE, help="A file with a token.")
        @click.option("--nats-creds", "nats_creds", type=_FILE, help="A credentials file: JWT and nkey.")
        @click.option("--nats-nkey", "nats_nkey", type=_FILE, help="A file with the seed of an nkey.")
        @click.option(
            "--nats-ca",
            "nats_ca",
            type=_FILE,
            help="PEM certificates that the server's must be signed by; with it TLS.",
        )
        @click.option("--nats-cert", "nats_cert", type=_FILE, help="A PEM certificate to show to the server.")
        @click.option("--nats-key", "nats_key", type=_FILE, help="The key of --nats-cert.")
        @click.option(
            "--nats-replicas",
            "nats_replicas",
            type=click.IntRange(1, 5),
            default=1,
            show_default=True,
            help="Servers of a cluster that keep the queue, where it is made.",
        )
        @wraps(command)
        def with_nats(**others: Any) -> Any:
            given = {name: others.pop(f"nats_{name}") for name in _GIVEN}
            return command(nats=_factory(given) if given["url"] else None, **others)

        return with_nats

    return decorate


_GIVEN: Final = (
    "url", "name", "user", "password_file", "token_file", "creds", "nkey", "ca", "cert", "key", "replicas",
)  # fmt: skip


def _factory(given: dict[str, Any]) -> NatsFactory:
    def make() -> "NatsOptions":
        from wakeng.services.workers.connection import NatsOptions

        told: dict[str, Any] = dict(given)
        for file, secret in _SECRETS.items():
            path: Path | None = told.pop(file)
            told[secret] = None if path is None else path.read_text("utf-8").strip()
        return NatsOptions(**told)

    return make
