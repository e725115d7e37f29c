"""Kinds of values that settings have and the command line does not: click's parameter types, so that one reader serves
flags, the environment and files."""

import re
from ipaddress import ip_network
from typing import Any, Final

import click

_URL: Final = re.compile(r"[a-z][a-z0-9+.-]*:\S+", re.IGNORECASE)
_PASSWORD: Final = re.compile(r"([a-z][a-z0-9+.-]*)://([^@/\s]*)@", re.IGNORECASE)
_TOKENS: Final = frozenset({"nats", "tls", "ws", "wss"})
"""Schemes of NATS, which takes a token in place of a name."""


class UrlType(click.ParamType):  # type: ignore[type-arg]
    """SCHEME:…, without a look at what is behind it: who uses it knows better."""

    name = "url"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The URL itself. What is wrong is told without it, since it may hold a password."""
        if not _URL.fullmatch(value):
            self.fail("this is no URL, which looks like postgresql://USER:PASSWORD@HOST/NAME", param, ctx)
        return str(value)


class NetworkType(click.ParamType):  # type: ignore[type-arg]
    """A network, such as 10.0.0.0/8."""

    name = "cidr"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The network itself."""
        try:
            ip_network(value)
        except ValueError as problem:
            self.fail(f"{str(value)[:80]!r} is no network such as 10.0.0.0/8: {problem}", param, ctx)
        return str(value)


URL: Final = UrlType()
NETWORK: Final = NetworkType()


def masked(url: str) -> str:
    """A URL that may be shown: who is named before the host keeps the name and loses the password."""

    def mask(found: re.Match[str]) -> str:
        scheme, (name, colon, _) = found[1], found[2].partition(":")
        if colon:
            return f"{scheme}://{name}:***@"
        return f"{scheme}://***@" if scheme.lower() in _TOKENS else found[0]

    return _PASSWORD.sub(mask, url)
