"""How NATS is reached: the URL, who we are, what we trust; a connection that outlives its server."""

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from wakeng.services.errors import ServiceError

if TYPE_CHECKING:
    from nats.aio.client import Client

CONNECT_WITHIN_S: Final = 30.0
"""So long a server may take to come up before a process that needs it gives up."""
_RETRY_S: Final = 0.5
_SCHEMES: Final = ("nats", "tls", "ws", "wss")


class QueueError(ServiceError):
    """NATS cannot be reached, or not be used as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NatsOptions:
    """A NATS system and how to speak to it; QueueError where the parts do not fit together."""

    url: str = field(repr=False)
    """nats://HOST:PORT or tls://HOST:PORT, several by commas; user and password may stand before the host."""
    name: str = "wakeng"
    """Of this arena: several that share a NATS system each have one of their own, and so have all their workers."""
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    creds: Path | None = None
    """A credentials file of a decentralised account: its JWT and nkey."""
    nkey: Path | None = None
    """A file with an nkey seed."""
    ca: Path | None = None
    """PEM certificates that the server's must be signed by; the system's if absent."""
    cert: Path | None = None
    key: Path | None = None
    replicas: int = 1
    """Servers of a cluster that keep each message."""

    def __post_init__(self) -> None:
        for server in self.servers:
            parts = urlsplit(server)
            if parts.scheme not in _SCHEMES or not parts.hostname:
                raise QueueError(f"a URL of NATS looks like nats://HOST:4222, not {hidden(server)}")
        if not self.name.isidentifier() or not self.name.isascii():
            raise QueueError(f"an arena's name for NATS is letters, digits and _, not {self.name!r}")
        if (self.cert is None) != (self.key is None):
            raise QueueError("a certificate for NATS and its key go together")
        if (self.user is None) != (self.password is None):
            raise QueueError("a user for NATS and its password go together")
        ways = [way for way in ("user", "token", "creds", "nkey") if getattr(self, way) is not None]
        if len(ways) > 1:
            raise QueueError(f"one way to say who we are to NATS is enough, not {' and '.join(ways)}")

    @property
    def servers(self) -> list[str]:
        """One URL each."""
        return [server.strip() for server in self.url.split(",")]

    @property
    def shown(self) -> str:
        """The URL without secrets."""
        return ",".join(map(hidden, self.servers))

    def tls(self) -> ssl.SSLContext | None:
        """What to trust, None where the URL does not ask for TLS; QueueError if a file is not there."""
        if self.ca is None and self.cert is None and not any(urlsplit(url).scheme == "tls" for url in self.servers):
            return None
        try:
            context = ssl.create_default_context(cafile=self.ca)
            if self.cert is not None and self.key is not None:
                context.load_cert_chain(self.cert, self.key)
        except OSError as problem:  # ssl.SSLError is one.
            files = ", ".join(str(file) for file in (self.ca, self.cert, self.key) if file is not None)
            raise QueueError(f"no certificates for NATS in {files}: {problem.strerror or problem}") from None
        return context


def hidden(url: str) -> str:
    """A URL without user and password."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"


async def connect(
    options: NatsOptions,
    *,
    who: str,
    on_event: Callable[[str, str], None] = lambda event, reason: None,
    within: float = CONNECT_WITHIN_S,
) -> "Client":
    """A connection that comes back by itself whenever it is lost; QueueError if none is had within so many seconds.

    `who` is the name that the server's own tools show. `on_event` is told of losses, returns and errors.
    """
    try:
        import nats
        from nats.errors import Error
    except ModuleNotFoundError:
        raise QueueError("workers need the package nats-py: pip install 'wakeng[nats]'") from None
    last: list[str] = [""]

    async def failed(problem: Exception) -> None:
        last[0] = str(problem) or type(problem).__name__
        on_event("nats_error", last[0])

    async def lost() -> None:
        on_event("nats_lost", last[0])

    async def back() -> None:
        on_event("nats_back", "")

    try:
        async with asyncio.timeout(within):
            return await nats.connect(
                options.servers,
                name=who,
                error_cb=failed,
                disconnected_cb=lost,
                reconnected_cb=back,
                connect_timeout=5,
                reconnect_time_wait=_RETRY_S,
                max_reconnect_attempts=-1,
                ping_interval=5,
                max_outstanding_pings=2,
                pending_size=16 << 20,
                **_identity(options),
            )
    except TimeoutError:
        reason = f"no server within {within:g} s: {last[0] or 'no answer'}"
    except (Error, OSError, ValueError) as problem:
        reason = str(problem) or type(problem).__name__
    raise QueueError(f"cannot reach NATS at {options.shown}: {reason}") from None


def _identity(options: NatsOptions) -> dict[str, Any]:
    for file in (options.creds, options.nkey):
        if file is not None and not file.is_file():
            raise QueueError(f"there is no file {file}")
    given = {
        "user": options.user,
        "password": options.password,
        "token": options.token,
        "user_credentials": None if options.creds is None else str(options.creds),
        "nkeys_seed": None if options.nkey is None else str(options.nkey),
        "tls": options.tls(),
    }
    return {name: value for name, value in given.items() if value is not None}
