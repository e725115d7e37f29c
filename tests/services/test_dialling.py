"""What the arena dials for those who ask: exactly the addresses that were judged, and none that it should not."""

import socket
from collections.abc import Sequence
from ipaddress import ip_address

import pytest

from wakeng.services.dialling import (
    BadAddress,
    DiallingPolicy,
    IPAddress,
    NotAllowed,
    Target,
    listens_here_only,
    parse_address,
    resolved,
)

ANYWHERE = DiallingPolicy.parse(["0.0.0.0/0", "::/0"])
CLUB = DiallingPolicy.parse(["203.0.113.0/24", "10.1.0.0/16", "2001:db8::/32"])
NOWHERE = DiallingPolicy()

# Never, whoever asks and whatever the operator allows.
NEVER = """
    0.0.0.0 0.1.2.3 255.255.255.255 240.0.0.1 224.0.0.1 239.255.255.255 169.254.0.1 169.254.169.254
    :: fe80::1 febf::1 fec0::1 ff02::1 ff05::1:3 fd00:ec2::254
    ::ffff:0.0.0.0 ::ffff:169.254.169.254 ::ffff:224.0.0.1 ::ffff:255.255.255.255
    64:ff9b::169.254.169.254 64:ff9b::127.0.0.1 64:ff9b::0.0.0.0 64:ff9b::224.0.0.1
    2002:7f00:1:: 2002:a9fe:a9fe:: 2002:e000:1:: ::127.0.0.1 ::169.254.169.254
    2001:0:4136:e378:8000:63bf:80ff:fffe
""".split()
LOOPBACK = ["127.0.0.1", "127.255.255.254", "127.1.2.3", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1"]


def refusal(policy: DiallingPolicy, address: str, *, admin: bool) -> str | None:
    return policy.refusal(ip_address(address), admin=admin)


@pytest.mark.parametrize("address", NEVER)
@pytest.mark.parametrize("admin", [False, True])
def test_some_addresses_are_never_dialled(address: str, admin: bool) -> None:  # noqa: FBT001 - a parameter of the test
    assert refusal(ANYWHERE, address, admin=admin)


@pytest.mark.parametrize("address", LOOPBACK)
def test_loopback_is_for_admins_only_whatever_is_allowed(address: str) -> None:
    for policy in (NOWHERE, CLUB, ANYWHERE):
        assert refusal(policy, address, admin=True) is None
        assert "only admins" in (refusal(policy, address, admin=False) or "")


@pytest.mark.parametrize(
    "address", ["203.0.113.0", "203.0.113.255", "10.1.2.3", "2001:db8::5", "::ffff:203.0.113.7", "::ffff:10.1.0.1"]
)
def test_what_the_operator_allows_is_dialled_for_everyone(address: str) -> None:
    for admin in (False, True):
        assert refusal(CLUB, address, admin=admin) is None
        assert "--allow-net" in (refusal(NOWHERE, address, admin=admin) or "")


@pytest.mark.parametrize("address", ["203.0.112.255", "10.2.0.1", "192.168.1.1", "8.8.8.8", "2001:db9::1", "fd12::1"])
def test_nothing_else_is_dialled_for_anyone(address: str) -> None:
    for admin in (False, True):
        assert "no network" in (refusal(CLUB, address, admin=admin) or "")


def test_a_link_local_address_of_an_interface_is_one_all_the_same() -> None:
    assert "link-local" in (refusal(ANYWHERE, "fe80::1%eth0", admin=True) or "")


# Texts --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("bots.example:50051", "bots.example", 50051),
        ("localhost:1", "localhost", 1),
        ("x:65535", "x", 65535),
        ("my_bot-1.svc.cluster.local.:80", "my_bot-1.svc.cluster.local.", 80),
        ("10.0.0.1:443", "10.0.0.1", 443),
        ("[2001:db8::1]:50051", "2001:db8::1", 50051),
        ("[::ffff:127.0.0.1]:50051", "::ffff:127.0.0.1", 50051),
        ("1and1.example:80", "1and1.example", 80),
        ("7.bots:80", "7.bots", 80),
    ],
)
def test_an_address_is_a_host_and_a_port(text: str, host: str, port: int) -> None:
    assert parse_address(text) == (host, port)


@pytest.mark.parametrize(
    "text",
    [
        # No port, or none that is one.
        "", ":", "host", "host:", ":50051", "host:0", "host:65536", "host:99999", "host:-1", "host:+1", "host:1e3",
        "host:0x50", "host: 80", "host:80 ", "host:\uff18\uff10", "host:080080",
        # Other kinds of targets that gRPC knows.
        "unix:/run/docker.sock", "unix:///run/docker.sock:1", "unix:x:1", "unix-abstract:x:1", "dns:///host:80",
        "dns:host:80", "ipv4:1.2.3.4:80", "ipv6:[::1]:80", "vsock:1:2", "xds:///x:1", "http://host:80", "//host:80",
        # Addresses as few people write them.
        "127.1:80", "127.0.1:80", "2130706433:80", "0x7f000001:80", "0x7f.0.0.1:80", "0177.0.0.1:80", "017700000001:80",
        "127.0.0.01:80", "1.2.3.4.5:80", "256.1.1.1:80", "1.2.3.4.:80", "0:80", "0x:80", "x.1:80", "x.0x7f:80",
        "::1:80", "fe80::1:80", "[fe80::1%eth0]:80", "[::1%lo]:80", "[127.0.0.1]:80", "[host]:80", "[]:80", "[::1:80",
        "::1]:80", "[::1]]:80",
        # What is no name.
        "a b:80", "a\tb:80", "a\nb:80", "a\0b:80", "a/b:80", "a@b:80", "a,b:80", "a%b:80", "-a:80", ".a:80", "a..b:80",
        "a:b:80", "é:80", "\uff11\uff12\uff17.0.0.1:80", "①:80", "a" * 64 + ":80", "a." * 127 + "aa:80", "*:80",
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused_unresolved(text: str) -> None:
    with pytest.raises(BadAddress):
        parse_address(text)


@pytest.mark.parametrize("text", ["10.0.0.0/33", "10.0.0.1/8", "club", "", "::/129", "1.2.3.4-5"])
def test_what_is_no_network_is_refused(text: str) -> None:
    with pytest.raises(BadAddress, match="no network"):
        DiallingPolicy.parse([text])


# Names --------------------------------------------------------------------------------------------


def names(**known: str) -> "Resolver":
    return Resolver(known)


class Resolver:
    """Names and what they resolve to, and how often each was asked for."""

    def __init__(self, known: dict[str, str]) -> None:
        self._known = known
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[IPAddress]:
        self.asked.append(host)
        return [ip_address(address) for address in self._known[host].split()]


async def test_what_was_checked_is_what_is_dialled() -> None:
    resolve = names(bots="203.0.113.5")
    assert await CLUB.target("bots:50051", admin=False, resolve=resolve) == Target("ipv4:203.0.113.5:50051", "bots")
    assert resolve.asked == ["bots"]


async def test_every_address_of_a_name_is_judged() -> None:
    resolve = names(both="203.0.113.5 203.0.113.6", one_bad="203.0.113.5 169.254.169.254", mapped="::ffff:127.0.0.1")
    target = await CLUB.target("both:1", admin=False, resolve=resolve)
    assert target.address == "ipv4:203.0.113.5:1,203.0.113.6:1"
    for admin in (False, True):
        with pytest.raises(NotAllowed, match=r"one_bad: 169\.254\.169\.254 is link-local"):
            await CLUB.target("one_bad:1", admin=admin, resolve=resolve)
    with pytest.raises(NotAllowed, match="only admins"):
        await CLUB.target("mapped:1", admin=False, resolve=resolve)
    assert (await CLUB.target("mapped:1", admin=True, resolve=resolve)).address == "ipv4:127.0.0.1:1"


async def test_of_two_kinds_of_addresses_the_older_is_dialled_and_of_the_newer_alone_that() -> None:
    resolve = names(both="2001:db8::5 203.0.113.5", new="2001:db8::5 2001:db8::6 2001:db8::5")
    assert (await CLUB.target("both:1", admin=False, resolve=resolve)).address == "ipv4:203.0.113.5:1"
    assert (await CLUB.target("new:1", admin=False, resolve=resolve)).address == "ipv6:[2001:db8::5]:1,[2001:db8::6]:1"


async def test_an_address_needs_no_resolving() -> None:
    resolve = names()
    assert (await CLUB.target("10.1.2.3:9", admin=False, resolve=resolve)).address == "ipv4:10.1.2.3:9"
    assert (await CLUB.target("[2001:db8::1]:9", admin=False, resolve=resolve)).address == "ipv6:[2001:db8::1]:9"
    assert (await CLUB.target("[::ffff:10.1.2.3]:9", admin=False, resolve=resolve)).address == "ipv4:10.1.2.3:9"
    assert resolve.asked == []


async def test_a_name_that_leads_nowhere_is_said_to() -> None:
    with pytest.raises(BadAddress, match="cannot be resolved"):
        await resolved("wakeng.invalid", 80)


async def test_this_machine_has_a_name() -> None:
    found = await resolved("localhost", 80)
    assert all(address.is_loopback for address in found)


async def test_the_system_resolver_is_asked_once_and_what_it_says_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def getaddrinfo(host: str, port: int, *_: object, **__: object) -> list[tuple[object, ...]]:
        asked.append(host)
        return [(socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("fe80::1%2", port, 0, 2))]

    monkeypatch.setattr("socket.getaddrinfo", getaddrinfo)
    with pytest.raises(NotAllowed, match="link-local"):
        await ANYWHERE.target("rebinds.example:80", admin=True)
    assert asked == ["rebinds.example"]


# Listening ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "127.9.9.9:1", "[::1]:5", "localhost:1", "unix:/tmp/x", "unix:x"])
def test_this_machine_alone_is_served_there(listen: str) -> None:
    assert listens_here_only(listen)


@pytest.mark.parametrize(
    "listen", ["0.0.0.0:1", "[::]:1", "10.0.0.1:1", "example.org:1", "localhost.evil:1", "127.1:1"]
)
def test_others_may_be_served_there(listen: str) -> None:
    assert not listens_here_only(listen)
