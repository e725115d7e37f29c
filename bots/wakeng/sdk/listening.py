"""How to be dialled: by TLS, unless only this machine can do so or somebody insists (docs/protocol.md 5)."""

import ssl
from dataclasses import dataclass
from pathlib import Path

from wakeng.sdk.dialling import File, is_loopback
from wakeng.sdk.errors import ListenError
from wakeng.sdk.polling import grpc


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """Where a server listens, and by what certificate. ValueError where the parts do not fit together."""

    listen: str
    """"HOST:PORT", port 0 for any that is free, or "unix:PATH"."""
    tls_cert: File | None = None
    """A PEM certificate with its chain; without one there is no TLS."""
    tls_key: File | None = None
    client_ca: File | None = None
    """Callers must show a certificate that is signed by one of these; with None they need none."""
    insecure: bool = False
    """No TLS, whoever can reach it."""

    def __post_init__(self) -> None:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("tls_cert and tls_key go together")
        if self.client_ca is not None and self.tls_cert is None:
            raise ValueError("client_ca goes with tls_cert and tls_key")
        if self.insecure and self.tls_cert is not None:
            raise ValueError("insecure means no TLS, so no tls_cert, tls_key or client_ca")

    def check(self) -> None:
        """ListenError where strangers could listen in: other machines reach it, and there is no TLS."""
        if self.tls_cert is None and not self.insecure and not is_loopback(self.listen):
            raise ListenError(
                f"cannot listen on {self.listen!r} without TLS, as other machines reach it: give a certificate and "
                "its key (tls_cert, tls_key), or insecure if something before it sees to that"
            )

    def add_to(self, server: grpc.aio.Server) -> str:
        """Have a server listen; the address, with the port in use. ListenError says why it cannot be."""
        self.check()
        try:
            if self.tls_cert is None or self.tls_key is None:
                port = server.add_insecure_port(self.listen)
            else:
                port = server.add_secure_port(
                    self.listen, server_credentials(self.tls_cert, self.tls_key, self.client_ca)
                )
        except RuntimeError as error:
            raise ListenError(
                f"cannot listen on {self.listen!r}; is it an address of this machine, and free? ({error})"
            ) from None
        return self.listen if self.listen.startswith("unix:") else f"{self.listen.rpartition(':')[0]}:{port}"


def server_credentials(cert: File, key: File, client_ca: File | None = None) -> grpc.ServerCredentials:
    """TLS by a PEM certificate chain and its key; with `client_ca` callers must show a certificate signed by it.

    ValueError where a file holds something else, OSError where it cannot be read.
    """
    chain, private = Path(cert).read_bytes(), Path(key).read_bytes()
    roots = None if client_ca is None else Path(client_ca).read_bytes()
    # gRPC takes whatever it is given and then fails each handshake in silence, so Python looks at it first.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # The empty password keeps OpenSSL from asking for one at the terminal.
        context.load_cert_chain(cert, key, password="")
        if client_ca is not None:
            context.load_verify_locations(client_ca)
    except ssl.SSLError as problem:
        files = f"{cert}, {key}{f' or {client_ca}' if client_ca else ''}"
        raise ValueError(f"{files}: {problem.reason or problem}") from None
    return grpc.ssl_server_credentials([(private, chain)], roots, require_client_auth=roots is not None)
