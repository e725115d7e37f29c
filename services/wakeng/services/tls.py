"""The arena's side of TLS: its certificate and key, and whose certificates its callers may show."""

from pathlib import Path

from wakeng.sdk.listening import server_credentials as credentials_of
from wakeng.sdk.polling import grpc
from wakeng.services.errors import ServiceError


class TlsError(ServiceError):
    """A certificate or key that is not there, or not what it should be."""


def server_credentials(cert: Path, key: Path, client_ca: Path | None = None) -> grpc.ServerCredentials:
    """TLS by a PEM certificate chain and its key; with `client_ca` callers must show a certificate signed by it."""
    try:
        return credentials_of(cert, key, client_ca)
    except ValueError as problem:
        raise TlsError(str(problem)) from None
    except OSError as problem:
        raise TlsError(f"cannot read {problem.filename}: {problem.strerror}") from None
