"""Checks of what is reached by a network: our own ports, certificates, NATS, the receiver of traces."""

import asyncio
import json
import socket
import ssl
from collections.abc import AsyncGenerator
from contextlib import closing, suppress
from importlib.util import find_spec
from typing import Any, Final
from urllib.parse import urlsplit

from wakeng.services.dialling import listens_here_only
from wakeng.services.doctor.finding import Finding, good, wrong
from wakeng.services.settings import Settings
from wakeng.services.settings.kinds import masked

_CONNECT_S: Final = 3.0
_NATS_PORT: Final = 4222
_OLDEST_NATS: Final = (2, 9)
_MOST_LINE: Final = 1 << 16


async def ports(settings: Settings) -> AsyncGenerator[Finding, None]:
    """Whether the arena could listen where it is told to."""
    if not listens_here_only(settings.serve.listen):
        for problem in _exposed(settings):
            yield wrong("ports", f"serve.listen is {settings.serve.listen}, {problem[0]}", problem[1])
    for key, address in (("serve.listen", settings.serve.listen), ("metrics.listen", settings.metrics.listen)):
        if address is None or address.startswith("unix:"):
            continue
        if await _answers(address):
            if key == "serve.listen" and await _serves(address):
                yield good("ports", f"{key}: an arena serves at {address}")
            else:
                yield wrong("ports", f"{key}: something else listens at {address}", f"stop it, or set {key}")
        elif reason := _cannot_bind(address):
            yield wrong(
                "ports", f"{key}: {address} is not to be had: {reason}", f"set {key} to an address of this machine"
            )
        else:
            yield good("ports", f"{key}: {address} is free")


def _exposed(settings: Settings) -> list[tuple[str, str]]:
    found = []
    if settings.tls.cert is None and not settings.tls.insecure:
        found.append(
            ("which others reach, and there is no TLS", "set tls.cert and tls.key, or tls.insecure behind a proxy")
        )
    if settings.access.auth is False:
        found.append(("which others reach, and every caller would be an admin", "take access.auth = false away"))
    return found


async def _answers(address: str) -> bool:
    host, port = _host_port(address)
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(host, port), _CONNECT_S)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True


async def _serves(address: str) -> bool:
    """Whether an arena answers there; one that demands TLS is one too, as far as this can tell."""
    from wakeng.services.commands.arena_client import ArenaOptions
    from wakeng.services.commands.health import ask

    _, serves = await ask(ArenaOptions(address=address, insecure=True), service="", within=_CONNECT_S)
    return serves


def _cannot_bind(address: str) -> str:
    host, port = _host_port(address)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with closing(socket.socket(family)) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind((host, port))
    except OSError as problem:
        return problem.strerror or str(problem)
    return ""


def _host_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host.removeprefix("[").removesuffix("]"), int(port)


async def certificates(settings: Settings) -> AsyncGenerator[Finding, None]:
    """Whether certificates and keys can be read and belong together."""
    for section, pair in (("tls", settings.tls), ("bots", settings.bots)):
        if pair.cert is None or pair.key is None:
            continue
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            context.load_cert_chain(pair.cert, pair.key)
        except (OSError, ssl.SSLError) as problem:
            yield wrong(
                "certificates", f"{section}: {pair.cert} and {pair.key}: {problem}", "make a pair that belongs together"
            )
        else:
            yield good("certificates", f"{section}: {pair.cert}")


async def nats(settings: Settings) -> AsyncGenerator[Finding, None]:
    """Whether the queue is there, and is one that keeps what it is given."""
    if settings.nats.url is None:
        return
    for url in settings.nats.url.split(","):
        yield await _nats(url.strip())


async def _nats(url: str) -> Finding:
    shown, parts = masked(url), urlsplit(url)
    try:
        info = await _nats_info(parts.hostname or "", parts.port or _NATS_PORT)
    except (OSError, ValueError, TimeoutError) as problem:
        return wrong("nats", f"{shown}: {_reason(problem)}", "start it (nats-server --jetstream), or set nats.url")
    said = f"{shown}, NATS {info.get('version')}"
    numbers = [int(part) for part in str(info.get("version", "")).split(".")[:2] if part.isdecimal()]
    if tuple(numbers) < _OLDEST_NATS:
        return wrong("nats", said, "take NATS 2.9 or later")
    if not info.get("jetstream"):
        return wrong("nats", f"{said}, without JetStream", "start it with --jetstream and --store_dir")
    return good("nats", f"{said} with JetStream")


def _reason(problem: Exception) -> str:
    return str(problem) or "no answer"


async def _nats_info(host: str, port: int) -> dict[str, Any]:
    """What a server says of itself before anything else."""
    reader, writer = await asyncio.wait_for(asyncio.open_connection(host, port, limit=_MOST_LINE), _CONNECT_S)
    try:
        line = await asyncio.wait_for(reader.readline(), _CONNECT_S)
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
    word, _, told = line.decode("utf-8", "replace").partition(" ")
    if word != "INFO":
        raise ValueError("what answers there is no NATS server")
    info: dict[str, Any] = json.loads(told)
    return info


async def traces(settings: Settings) -> AsyncGenerator[Finding, None]:
    """Whether traces have somewhere to go."""
    endpoint = settings.traces.endpoint
    if endpoint is None:
        return
    if find_spec("opentelemetry") is None:
        yield wrong(
            "traces", "OpenTelemetry is not installed", "pip install 'wakeng[otel]', or take traces.endpoint away"
        )
        return
    parts = urlsplit(endpoint)
    if await _answers(f"{parts.hostname}:{parts.port or 4317}"):
        yield good("traces", endpoint)
    else:
        yield wrong("traces", f"nobody takes traces at {endpoint}", "start the receiver, or set traces.endpoint")
