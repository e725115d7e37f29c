"""Certificates for tests, by the openssl command: an authority, and what it signs for this machine."""

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its key, both PEM files."""

    cert: Path
    key: Path


class Authority:
    """Whose certificates are believed."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self.pair = Pair(folder / f"{name}.pem", folder / f"{name}.key")
        _openssl("req", "-x509", *_key(self.pair.key), "-out", self.pair.cert, "-days", "2", "-subj", f"/CN={name}")

    def sign(self, name: str, *, hosts: str = "DNS:localhost,IP:127.0.0.1") -> Pair:
        """A certificate for these hosts."""
        pair = Pair(self._folder / f"{self._name}-{name}.pem", self._folder / f"{self._name}-{name}.key")
        asked, extensions = pair.cert.with_suffix(".csr"), pair.cert.with_suffix(".ext")
        extensions.write_text(f"subjectAltName={hosts}\n", "utf-8")
        _openssl("req", *_key(pair.key), "-out", asked, "-subj", f"/CN={name}")
        by = ("-CA", self.pair.cert, "-CAkey", self.pair.key, "-CAcreateserial")
        _openssl("x509", "-req", "-in", asked, *by, "-out", pair.cert, "-days", "2", "-extfile", extensions)
        return pair


def _key(path: Path) -> tuple[str | Path, ...]:
    return ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", path)


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)
