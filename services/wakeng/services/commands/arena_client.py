"""How commands speak to an arena that runs somewhere: its options, the connection, and errors in one line."""

import os
from collections.abc import AsyncIterable, AsyncIterator, Callable
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any, Final, Self, TypeVar

import click

from wakeng.sdk.options import ADDRESS
from wakeng.services.commands.common import Command, Refused

TOKEN_VARIABLE: Final = "WAKENG_TOKEN"
CALL_WITHIN: Final = 30.0

_Answer = TypeVar("_Answer")
_FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArenaOptions:
    """Where an arena is, and what to show it."""

    address: str
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    token: str | None = field(default=None, repr=False)
    insecure: bool = False

    @property
    def by_tls(self) -> bool:
        """Whether to speak TLS: always to other machines, unless told not to; on this one where a CA is named."""
        from wakeng.services.dialling import listens_here_only

        return not self.insecure and (self.ca is not None or not listens_here_only(self.address))


def arena_options(*, without: str) -> Callable[[Command], Command]:
    """`--arena` and what goes with it, as one argument `arena`, None where it is absent; `without` says what then."""

    def decorate(command: Command) -> Command:
        @click.option(
            "--arena",
            "arena_address",
            type=ADDRESS,
            metavar="ADDR",
            help=f"A running arena (`wakeng serve`), HOST:PORT; {without} if absent.",
        )
        @click.option("--ca", type=_FILE, help="PEM certificates that the arena's must be signed by; so: by TLS.")
        @click.option("--cert", type=_FILE, help="A PEM certificate to show the arena, where it demands one.")
        @click.option("--key", type=_FILE, help="The key of --cert.")
        @click.option("--token-file", type=_FILE, help=f"A file that holds your token; ${TOKEN_VARIABLE} if absent.")
        @click.option("--insecure", is_flag=True, help="No TLS, though the arena is on another machine.")
        @wraps(command)
        def with_arena(arena_address: str | None, **others: Any) -> Any:
            given = {name: others.pop(name) for name in ("ca", "cert", "key", "token_file", "insecure")}
            return command(arena=_read(arena_address, **given), **others)

        return with_arena

    return decorate


def _read(address: str | None, *, token_file: Path | None, **given: Any) -> ArenaOptions | None:
    if address is None:
        if token_file or any(given.values()):
            raise click.UsageError("--ca, --cert, --key, --token-file and --insecure go with --arena")
        return None
    if (given["cert"] is None) != (given["key"] is None):
        raise click.UsageError("--cert and --key go together")
    if given["insecure"] and (given["ca"] or given["cert"]):
        raise click.UsageError("--insecure means no TLS, so no --ca, --cert or --key")
    text = token_file.read_text("utf-8", "replace") if token_file else os.environ.get(TOKEN_VARIABLE, "")
    token = text.strip()
    if token and not (token.isascii() and token.isprintable() and len(token) <= 1000):
        raise click.UsageError(f"what {token_file or '$' + TOKEN_VARIABLE} holds is no token")
    return ArenaOptions(address=address, token=token or None, **given)


class ArenaClient:
    """A connection to an arena. Whatever it is refused becomes one line on standard error."""

    def __init__(self, options: ArenaOptions) -> None:
        from wakeng.v1 import match_pb2_grpc, registry_pb2_grpc, tournament_pb2_grpc

        self.options = options
        self._channel = open_channel(options)
        self.matches = match_pb2_grpc.MatchServiceStub(self._channel)
        self.tournaments = tournament_pb2_grpc.TournamentServiceStub(self._channel)
        self.bots = registry_pb2_grpc.BotRegistryServiceStub(self._channel)
        self._metadata = (("authorization", f"Bearer {options.token}"),) if options.token else ()

    async def call(self, method: Callable[..., Any], request: object) -> Any:
        """The answer to one call."""
        from wakeng.sdk.polling import grpc

        try:
            return await method(request, metadata=self._metadata, timeout=CALL_WITHIN)
        except grpc.aio.AioRpcError as error:
            raise self._refused(error) from None

    async def stream(self, method: Callable[..., AsyncIterable[_Answer]], request: object) -> AsyncIterator[_Answer]:
        """The answers of a call that streams them, for as long as it lasts."""
        from wakeng.sdk.polling import grpc

        try:
            async for answer in method(request, metadata=self._metadata):
                yield answer
        except grpc.aio.AioRpcError as error:
            raise self._refused(error) from None

    def _refused(self, error: Any) -> Refused:
        from wakeng.sdk.polling import grpc

        said = str(error.details() or error.code().name)
        if error.code() is grpc.StatusCode.UNAVAILABLE:
            how = "by TLS" if self.options.by_tls else "without TLS"
            return Refused(f"no arena answers at {self.options.address} {how}: {said}")
        if error.code() is grpc.StatusCode.UNAUTHENTICATED:
            return Refused(f"{said}; give it in a file by --token-file, or in ${TOKEN_VARIABLE}")
        return Refused(said)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._channel.close()


def open_channel(options: ArenaOptions) -> Any:
    """A channel to the arena, by TLS or not."""
    from wakeng.sdk.polling import grpc

    if options.by_tls:
        return grpc.aio.secure_channel(options.address, _credentials(options))
    return grpc.aio.insecure_channel(options.address)


def _credentials(options: ArenaOptions) -> Any:
    from wakeng.sdk.polling import grpc

    def read(path: Path | None) -> bytes | None:
        return None if path is None else path.read_bytes()

    return grpc.ssl_channel_credentials(read(options.ca), read(options.key), read(options.cert))
