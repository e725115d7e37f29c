"""What every answer carries: a policy that runs no script and draws no style but ours, and a tag by which it is cached.

Names and notes of bots are hostile input. They are escaped wherever they are written; the policy is for the day that is
forgotten once: nothing inline runs, nothing is fetched from elsewhere, and no page stands in another one's frame.
"""

import ipaddress
from collections.abc import Iterable
from hashlib import sha256
from typing import Any, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class Secured:
    """Adds the headers to every answer, and refuses what is asked of a name that is not ours."""

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str] = ()) -> None:
        """`hosts` are the names this server goes by, beside those of this machine; with none any name will do."""
        self._app = app
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        if scope["method"] == "POST" and not _from_here(headers):
            await PlainTextResponse("that was sent by a page elsewhere", 403)(scope, receive, with_headers)
            return
        # A page elsewhere whose name was made to lead to this machine would else read what only its user may.
        if self._hosts and not self._ours(headers.get("host", "")):
            await PlainTextResponse("this server does not go by that name", 421)(scope, receive, with_headers)
            return
        await self._app(scope, receive, with_headers)

    def _ours(self, host: str) -> bool:
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
        name = name.strip("[]").lower()
        if name in self._hosts or name == "localhost":
            return True
        try:
            return ipaddress.ip_address(name).is_loopback
        except ValueError:
            return False


def _from_here(headers: Headers) -> bool:
    """Whether what is sent comes of a page of ours, as far as browsers tell; nothing else needs to."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None:
        return site in ("same-origin", "none")
    return origin is None or origin.partition("://")[2] == headers.get("host")


class Tagged:
    """Tags whole answers by their content, and tells a browser which has one already that nothing changed."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        known = Headers(scope=scope).get("if-none-match", "")
        start: Message | None = None

        async def tagged(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            if start is None:
                await send(message)
                return
            headers = MutableHeaders(scope=start)
            whole = not message.get("more_body", False) and "etag" not in headers and start["status"] == 200
            if whole:
                headers["etag"] = tag = f'W/"{sha256(message.get("body", b"")).hexdigest()[:24]}"'
                if tag in {one.strip() for one in known.split(",")}:
                    start, message = _unchanged(start, headers)
            await send(start)
            start = None
            await send(message)

        await self._app(scope, receive, tagged)


def _unchanged(start: Message, headers: MutableHeaders) -> tuple[dict[str, Any], Message]:
    kept = [(name, value) for name, value in headers.raw if name not in (b"content-length", b"content-type")]
    return {**start, "status": 304, "headers": kept}, {"type": "http.response.body", "body": b""}
