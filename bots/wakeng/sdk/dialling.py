"""How to dial an arena or a bot: by TLS, unless it is on this machine or somebody insists (docs/protocol.md 5)."""

from dataclasses import dataclass
from ipaddress import ip_address
from os import PathLike
from pathlib import Path
from typing import Any

from wakeng.sdk.polling import grpc

File = str | PathLike[str]


def is_loopback(address: str) -> bool:
    """Whether an address for gRPC leads to this machine only; a name other than localhost is never trusted to."""
    if address.startswith(("unix:", "unix-abstract:")):
        return True
    host = address.rpartition(":")[0].removeprefix("dns:///").strip("[]")
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialling:
    """An address and how to trust who is there. ValueError where the parts do not fit together."""

    address: str
    ca: File | None = None
    """PEM certificates that the other side's must be signed by; with None the system's."""
    cert: File | None = None
    """A PEM certificate to show, where the other side demands one."""
    key: File | None = None
    insecure: bool = False
    """No TLS, wherever it is."""

    def __post_init__(self) -> None:
        if (self.cert is None) != (self.key is None):
            raise ValueError("cert and key go together")
        if self.insecure and (self.ca is not None or self.cert is not None):
            raise ValueError("insecure means no TLS, so no ca, cert or key")

    @property
    def by_tls(self) -> bool:
        """To other machines always, unless told not to; on this one where a certificate is named."""
        return not self.insecure and (self.ca is not None or self.cert is not None or not is_loopback(self.address))

    def credentials(self) -> grpc.ChannelCredentials | None:
        """For a channel by TLS, None for one without; OSError where a file cannot be read."""
        if not self.by_tls:
            return None
        return grpc.ssl_channel_credentials(_read(self.ca), _read(self.key), _read(self.cert))

    def channel(self, options: Any) -> grpc.aio.Channel:
        """A new channel, which connects when it is first used."""
        credentials = self.credentials()
        if credentials is None:
            return grpc.aio.insecure_channel(self.address, options=options)
        return grpc.aio.secure_channel(self.address, credentials, options=options)


def _read(file: File | None) -> bytes | None:
    return None if file is None else Path(file).read_bytes()
