"""The arena's side of TLS: its certificate and key, and whose certificates its callers may show."""

import ssl
from pathlib import Path

import grpc

from wakeng.services.errors import ServiceError


class TlsError(ServiceError):
    """A certificate or key that is not there, or not what it should be."""


def server_credentials(cert: Path, key: Path, client_ca: Path | None = None) -> grpc.ServerCredentials:
    """TLS by a PEM certificate chain and its key; with `client_ca` callers must show a certificate signed by it."""
    # gRPC takes whatever it is given and then fails each handshake in silence, so Python looks at it first.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(cert, key)
        if client_ca is not None:
            context.load_verify_locations(client_ca)
        chain, private = cert.read_bytes(), key.read_bytes()
        roots = client_ca.read_bytes() if client_ca is not None else None
    except ssl.SSLError as problem:
        raise TlsError(f"{cert}, {key}{f' or {client_ca}' if client_ca else ''}: {problem.reason or problem}") from None
    except OSError as problem:
        shown = ", ".join(map(str, filter(None, (cert, key, client_ca))))
        raise TlsError(f"cannot read one of {shown}: {problem.strerror}") from None
    return grpc.ssl_server_credentials([(private, chain)], roots, require_client_auth=roots is not None)
