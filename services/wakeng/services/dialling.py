"""Which addresses the arena dials for those who ask it to: checked after the name is resolved, and dialled as checked.

An arena that dials what strangers type is a hole: they would have it knock at its own machine's services, its network's
routers, its cloud's metadata. So a name is resolved once, each of its addresses is judged, one bad address damns the
name, and what is dialled are the addresses that were judged, not the name, which may mean others a moment later.

An IPv6 address may hold an IPv4 one that is reached by it. A mapped one is judged as the IPv4 address it is; behind the
others (NAT64, 6to4, Teredo) nothing may hide that is never dialled. Hosts that look like numbers and are not an address
as everybody writes it (`127.1`, `0x7f000001`, `2130706433`, `0177.0.0.1`) are refused unresolved (docs/protocol.md 5).
"""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from wakeng.services.errors import ServiceError

IPAddress = IPv4Address | IPv6Address
IPNetwork = IPv4Network | IPv6Network
Resolve = Callable[[str, int], Awaitable[Sequence[IPAddress]]]

RESOLVE_WITHIN: Final = 5.0
_MOST_ADDRESSES: Final = 16
_LABEL: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,62}")
_NUMBER: Final = re.compile(r"(0[xX][0-9a-fA-F]*|[0-9]+)")

_NEVER: Final = tuple(
    (ip_network(network), why)
    for network, why in (
        ("0.0.0.0/8", "is unspecified"),
        ("169.254.0.0/16", "is link-local"),
        ("224.0.0.0/4", "is multicast"),
        ("240.0.0.0/4", "is reserved or broadcast"),
        ("::/128", "is unspecified"),
        ("fe80::/10", "is link-local"),
        ("fec0::/10", "is site-local"),
        ("ff00::/8", "is multicast"),
        ("fd00:ec2::/32", "is a cloud's metadata"),
    )
)
_NAT64: Final = IPv6Network("64:ff9b::/96")
_COMPATIBLE: Final = IPv6Network("::/96")


class BadAddress(ServiceError):
    """A text that is no address, or a name that leads nowhere."""


class NotAllowed(ServiceError):
    """An address that the arena does not dial for who asked."""


@dataclass(frozen=True, slots=True)
class Target:
    """What to dial."""

    address: str
    """For gRPC: the addresses that were checked, and the port, with no name left to resolve."""
    host: str
    """The host as it was given, which a TLS certificate must name."""


@dataclass(frozen=True, slots=True)
class DiallingPolicy:
    """The networks that the operator allows."""

    networks: tuple[IPNetwork, ...] = ()

    @classmethod
    def parse(cls, networks: Iterable[str]) -> "DiallingPolicy":
        """Of networks such as `10.0.0.0/8` or `2001:db8::/32`; BadAddress names one that is none."""
        return cls(tuple(map(_network, networks)))

    def refusal(self, address: IPAddress, *, admin: bool) -> str | None:
        """Why an address is not dialled, None where it is."""
        address = _unmapped(address)
        for inner in (address, *_embedded(address)):
            for network, why in _NEVER:
                if inner in network:
                    return why
            if inner.is_loopback and (inner is not address or not admin):
                return "is the arena's own machine, which only admins may have it dial"
        if address.is_loopback or any(address in network for network in self.networks):
            return None
        return "is in no network that the arena may dial (`wakeng serve --allow-net`)"

    def choose(self, host: str, port: int, addresses: Sequence[IPAddress], *, admin: bool) -> Target:
        """What to dial for a host of these addresses; NotAllowed if one of them may not be dialled."""
        for address in addresses:
            if why := self.refusal(address, admin=admin):
                shown = f"{host}: {address}" if host != str(address) else host
                raise NotAllowed(f"{shown} {why}")
        # gRPC takes several addresses of one kind; a bot that listens to both is found by the first.
        found = list(dict.fromkeys(map(_unmapped, addresses)))[:_MOST_ADDRESSES]
        old = [f"{address}:{port}" for address in found if address.version == 4]
        new = [f"[{address}]:{port}" for address in found if address.version == 6]
        return Target(f"ipv4:{','.join(old)}" if old else f"ipv6:{','.join(new)}", host)

    async def target(self, address: str, *, admin: bool, resolve: "Resolve | None" = None) -> Target:
        """What to dial for `HOST:PORT`, as of now; BadAddress or NotAllowed, in words for who asked."""
        host, port = parse_address(address)
        literal = _literal(host)
        if literal is None:
            return self.choose(host, port, await (resolve or resolved)(host, port), admin=admin)
        return self.choose(host, port, [literal], admin=admin)


def parse_address(text: str) -> tuple[str, int]:
    """Host and port of `HOST:PORT` or `[IPV6]:PORT`; BadAddress if it is neither, `unix:` paths included."""
    host, colon, digits = text.rpartition(":")
    if not colon or not re.fullmatch("[0-9]{1,5}", digits) or not 1 <= int(digits) <= 65535:
        raise BadAddress(f"{text[:80]!r} is no HOST:PORT with a port of 1 to 65535")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
        if not isinstance(_literal(host), IPv6Address):
            raise BadAddress(f"{text[:80]!r}: in brackets stands an IPv6 address, without a zone")
    elif _literal(host) is None and not _is_name(host):
        raise BadAddress(f"{text[:80]!r}: the host is no name, IPv4 address or IPv6 address in brackets")
    elif isinstance(_literal(host), IPv6Address):
        raise BadAddress(f"{text[:80]!r}: an IPv6 address stands in brackets")
    return host, int(digits)


async def resolved(host: str, port: int) -> Sequence[IPAddress]:
    """Every address that a name has at present; BadAddress if it has none, or nobody says so in time."""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(RESOLVE_WITHIN):
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (TimeoutError, OSError, UnicodeError):
        raise BadAddress(f"{host!r} cannot be resolved") from None
    addresses = [ip_address(str(sockaddr[0])) for _, _, _, _, sockaddr in found]
    if not addresses:
        raise BadAddress(f"{host!r} has no address")
    return addresses


def listens_here_only(listen: str) -> bool:
    """Whether what listens at `HOST:PORT` or `unix:PATH` is reached from this machine alone, for all one can tell."""
    if listen.startswith("unix:"):
        return True
    host = listen.rpartition(":")[0].strip("[]")
    literal = _literal(host)
    return host == "localhost" if literal is None else literal.is_loopback


def _is_name(host: str) -> bool:
    labels = host.removesuffix(".").split(".")
    return len(host) <= 253 and all(map(_LABEL.fullmatch, labels)) and not _NUMBER.fullmatch(labels[-1])


def _literal(host: str) -> IPAddress | None:
    try:
        return None if "%" in host else ip_address(host)
    except ValueError:
        return None


def _network(text: str) -> IPNetwork:
    try:
        return ip_network(text)
    except ValueError:
        raise BadAddress(f"{text[:80]!r} is no network, such as 10.0.0.0/8 or 2001:db8::/32") from None


def _unmapped(address: IPAddress) -> IPAddress:
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return address if mapped is None else mapped


def _embedded(address: IPAddress) -> list[IPv4Address]:
    """The IPv4 addresses that an IPv6 one may lead to."""
    if isinstance(address, IPv4Address) or address.is_loopback:
        return []
    found = [address.sixtofour, *(address.teredo or ())]
    if address in _NAT64 or address in _COMPATIBLE:
        found.append(IPv4Address(int(address) & 0xFFFF_FFFF))
    return [inner for inner in found if inner is not None]
