"""uvicorn in the event loop of the arena, begun and ended by whoever runs that loop.

uvicorn takes SIGTERM and SIGINT for itself, which would keep the arena from draining; here it takes none, and stops
when it is told.
"""

import asyncio
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from wakeng.services.arena import Arena
from wakeng.services.dialling import listens_here_only
from wakeng.services.server import CannotListen
from wakeng.services.settings.structs import Tls, Web
from wakeng.services.store import Store
from wakeng.services.web import connections
from wakeng.services.web.app import application
from wakeng.services.web.gate import Gate
from wakeng.services.web.hub import Hub
from wakeng.services.web.site import InPlay, MatchesInPlay, Site


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As ever, and whoever waits for it is told."""
        await super().startup(sockets)
        self.ready.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """None."""
        yield


class WebServer:
    """Serves an app until it is stopped."""

    def __init__(
        self,
        app: ASGIApp,
        hub: Hub,
        *,
        proxies: Sequence[str] = (),
        cert: Path | None = None,
        key: Path | None = None,
    ) -> None:
        """`proxies` are believed when they say for whom they ask."""
        self.address = ""
        """Where it listens, HOST:PORT, with the port it was given."""
        self.hub = hub
        self._tls = cert is not None
        self._server = _Server(
            uvicorn.Config(
                app,
                http=connections.Connection,
                log_config=None,
                access_log=False,
                lifespan="off",
                ws="none",
                server_header=False,
                proxy_headers=bool(proxies),
                forwarded_allow_ips=list(proxies),
                limit_concurrency=connections.MOST,
                h11_max_incomplete_event_size=16 << 10,
                timeout_keep_alive=30,
                timeout_graceful_shutdown=3,
                ssl_certfile=cert,
                ssl_keyfile=key,
            )
        )
        self._serving: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        """For a browser."""
        return f"{'https' if self._tls else 'http'}://{self.address}/"

    async def start(self, listen: str) -> "WebServer":
        """Listen; CannotListen if the address cannot be had. Port 0 takes a free one."""
        listening = _socket(listen)
        host, port = listening.getsockname()[:2]
        self.address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self._serving = asyncio.create_task(self._server.serve(sockets=[listening]), name="web")
        ready = asyncio.create_task(self._server.ready.wait())
        await asyncio.wait([self._serving, ready], return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if self._serving.done():
            await self._serving
        return self

    async def stop(self) -> None:
        """End every viewer's stream, let requests in work finish, and close."""
        self.hub.close()
        self._server.should_exit = True
        if self._serving is not None:
            await self._serving


async def open_site(
    store: Store,
    web: Web,
    *,
    tls: Tls,
    trusting: bool,
    clock: Callable[[], float] = time.monotonic,
    arena: Arena | None = None,
    matches: MatchesInPlay | None = None,
    tournaments: InPlay | None = None,
) -> WebServer:
    """Serve the pages of a store, and of the arena that plays on it; CannotListen if they may not be served there.

    `trusting` makes an admin of who shows no token, as the arena itself does on this machine; never where something
    may ask for others.
    """
    assert web.listen is not None
    here_only = listens_here_only(web.listen)
    if not here_only and tls.cert is None and not tls.insecure:
        raise CannotListen(
            f"{web.listen} is reached by other machines, and so needs TLS: give --tls-cert and --tls-key, "
            "or --insecure if something before it sees to that"
        )
    for_others = bool(web.hosts or web.proxies) or not here_only
    gate = Gate(store.tokens, private=web.private, trusting=trusting and not for_others, clock=clock)
    site = Site(store, gate, Hub(), arena, matches, tournaments)
    host = web.listen.rpartition(":")[0].strip("[]").lower()
    hosts = {*web.hosts, host} if here_only or web.hosts else set()
    app = application(site, hosts=hosts)
    return await WebServer(app, site.hub, proxies=web.proxies, cert=tls.cert, key=tls.key).start(web.listen)


def _socket(listen: str) -> socket.socket:
    host, _, port = listen.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, int(port)))
        connections.drop_who_does_not_read(made)
        made.listen(512)
        made.setblocking(False)
    except (OSError, OverflowError) as problem:
        made.close()
        said = getattr(problem, "strerror", problem)
        raise CannotListen(f"cannot serve pages at {listen}: {said}; --web names another address") from problem
    return made
