"""Who may call what: every role against every call, tokens, how often, TLS, and what a port takes from strangers."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from google.protobuf import descriptor_pool
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2

from tests.arena.certificates import Authority, Pair
from tests.arena.serving import Client, Refusal, Served, bearer, refusal, refused, serving
from wakeng.services.auth import ACCESS, UNGUARDED, _host
from wakeng.services.ratelimit import RateLimit
from wakeng.services.server import SERVICES, CannotListen
from wakeng.services.store import NewBot, Role
from wakeng.services.tls import TlsError, server_credentials
from wakeng.services.tokens import new_token
from wakeng.v1 import match_pb2

# What each may call. `nobody` shows no token.
LOOK = (
    "GetMatch ListMatches WatchMatch GetHandRecord ListHandRecords "
    "GetTournament ListTournaments WatchTournament GetStandings ServerReflectionInfo"
)
MANAGE = (
    "CreateMatch CancelMatch CreateTournament PauseTournament ResumeTournament CancelTournament "
    "RegisterBot GetBot ListBots DeleteBot CheckBot"
)
MAY = {
    "nobody": LOOK.split(),
    "viewer": LOOK.split(),
    "author": f"{LOOK} {MANAGE}".split(),
    "admin": f"{LOOK} {MANAGE}".split(),
    "bot": f"{LOOK} Join".split(),
}


def calls() -> Iterator[tuple[str, Any]]:
    """Every call of every service that the arena serves, with its descriptor."""
    for file in (health_pb2, reflection_pb2):
        for service in file.DESCRIPTOR.services_by_name.values():
            yield from ((f"/{service.full_name}/{method.name}", method) for method in service.methods)
    pool: Any = descriptor_pool
    for name in SERVICES:
        service = pool.Default().FindServiceByName(name)
        yield from ((f"/{service.full_name}/{method.name}", method) for method in service.methods)


CALLS = dict(calls())


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with serving(tmp_path, demand_tokens=True) as arena:
        yield arena


# Roles --------------------------------------------------------------------------------------------


def test_the_table_knows_every_call_of_every_service_and_no_other() -> None:
    assert set(CALLS) <= set(ACCESS) | UNGUARDED
    assert set(ACCESS) <= set(CALLS)
    assert not set(ACCESS) & UNGUARDED
    assert all("/grpc.health.v1.Health/" in method for method in UNGUARDED)


async def attempt(client: Client, method: str) -> Refusal:
    """What comes of a call without a word in it."""
    described = CALLS[method]
    try:
        if described.client_streaming:
            call = client.channel.stream_stream(method)(metadata=client.metadata, timeout=20)
            await call.done_writing()
            await call.read()
        elif described.server_streaming:
            await client.channel.unary_stream(method)(b"", metadata=client.metadata, timeout=20).read()
        else:
            await client.channel.unary_unary(method)(b"", metadata=client.metadata, timeout=20)
    except grpc.aio.AioRpcError as error:
        return refusal(error)
    return Refusal("OK")


@pytest.mark.parametrize("who", MAY)
async def test_each_role_may_call_what_is_for_it_and_nothing_else(served: Served, who: str) -> None:
    await served.store.bots.add(NewBot(name="mine", address=None, owner="wei", by_admin=False))
    token = None
    if who != "nobody":
        token = await served.token(Role(who), owner="wei", bot="mine" if who == "bot" else None)
    kept_out = Refusal("UNAUTHENTICATED", "NO_TOKEN") if token is None else Refusal("PERMISSION_DENIED", "NOT_ALLOWED")
    async with Client(served.address, token) as client:
        for method in ACCESS:
            came = await attempt(client, method)
            shut = (came.code, came.reason) == (kept_out.code, kept_out.reason)
            assert shut == (method.rpartition("/")[2] not in MAY[who]), f"{who} {method}: {came}"


async def test_orchestrators_ask_for_health_without_a_token(served: Served) -> None:
    async with Client(served.address, "not even one") as client:
        for service in ("", *SERVICES):
            check = client.channel.unary_unary(
                "/grpc.health.v1.Health/Check", response_deserializer=health_pb2.HealthCheckResponse.FromString
            )
            request = health_pb2.HealthCheckRequest(service=service).SerializeToString()
            assert (await check(request, metadata=client.metadata)).status == health_pb2.HealthCheckResponse.SERVING


async def test_reflection_names_every_service(served: Served) -> None:
    async with Client(served.address) as client:
        call = client.channel.stream_stream("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")()
        await call.write(reflection_pb2.ServerReflectionRequest(list_services="").SerializeToString())
        await call.done_writing()
        answer: Any = await call.read()
    listed = reflection_pb2.ServerReflectionResponse.FromString(answer).list_services_response.service
    assert {service.name for service in listed} >= {*SERVICES, "grpc.health.v1.Health"}


async def test_an_arena_that_asks_for_no_tokens_takes_callers_for_admins_but_no_bad_token(tmp_path: Path) -> None:
    async with serving(tmp_path) as arena:
        viewer = await arena.token(Role.VIEWER)
        for token, shut in ((None, False), (viewer, True), (new_token(), True)):
            async with Client(arena.address, token) as client:
                came = await attempt(client, "/wakeng.v1.BotRegistryService/ListBots")
                assert (came.code != "OK") == shut
        async with Client(arena.address) as client:
            came = await attempt(client, "/wakeng.v1.BotGatewayService/Join")
            assert (came.code, came.reason) == ("UNAUTHENTICATED", "NO_TOKEN"), "which bot would it be?"


async def test_a_method_that_the_table_forgot_is_nobodys(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    method = "/wakeng.v1.MatchService/GetMatch"
    monkeypatch.setattr("wakeng.services.auth.ACCESS", {name: ACCESS[name] for name in ACCESS if name != method})
    async with Client(served.address, await served.token(Role.ADMIN)) as client:
        assert (await attempt(client, method)).code == "PERMISSION_DENIED"


# Tokens -------------------------------------------------------------------------------------------

GET = "/wakeng.v1.MatchService/ListMatches"


@pytest.mark.parametrize(
    "shown",
    [
        "Bearer ",
        "Bearer",
        "Bearer x",
        "Basic d2VpOnNlY3JldA==",
        f"Bearer wk_{'a' * 43}",
        f"Bearer wk_{'a' * 4000}",
        "Bearer wk_' or 1=1 --",
        f"Basic wk_{'a' * 43}",
        "wk_secret",
    ],
)
async def test_a_token_that_is_none_is_refused_and_not_repeated(served: Served, shown: str) -> None:
    async with Client(served.address) as client:
        came = await refused(client.channel.unary_unary(GET)(b"", metadata=(("authorization", shown),)))
    assert (came.code, came.reason) == ("UNAUTHENTICATED", "BAD_TOKEN")
    assert shown.partition(" ")[2] not in came.message or not shown.partition(" ")[2]


async def test_a_token_taken_back_is_good_no_more(served: Served) -> None:
    token = await served.token(Role.AUTHOR, owner="wei")
    async with Client(served.address, token) as client:
        assert (await attempt(client, GET)).code == "OK"
        (kept,) = await served.store.tokens.list()
        await served.store.tokens.remove(kept.token_id)
        assert (await attempt(client, GET)).reason == "BAD_TOKEN"


async def test_the_scheme_may_be_written_anyhow(served: Served) -> None:
    token = await served.token(Role.VIEWER)
    async with Client(served.address) as client:
        for scheme in ("Bearer", "bearer", "BEARER"):
            await client.channel.unary_unary(GET)(b"", metadata=(("authorization", f"{scheme} {token}"),))


# How often ----------------------------------------------------------------------------------------


class Clock:
    """Time that goes on when it is told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_who_calls_too_often_is_told_when_to_try_again(tmp_path: Path) -> None:
    clock = Clock()
    async with serving(tmp_path, demand_tokens=True, limit=RateLimit(clock, rate=2.0, burst=3.0)) as arena:
        one, other = [await arena.token(Role.VIEWER) for _ in range(2)]
        async with Client(arena.address, one) as client:
            assert [(await attempt(client, GET)).code for _ in range(3)] == ["OK"] * 3
            came = await attempt(client, GET)
            assert (came.code, came.reason, came.retry_s) == ("RESOURCE_EXHAUSTED", "RATE_LIMITED", 0.5)
            clock.now += came.retry_s
            assert (await attempt(client, GET)).code == "OK"
            assert (await attempt(client, GET)).reason == "RATE_LIMITED"
        async with Client(arena.address, other) as client:
            assert (await attempt(client, GET)).code == "OK", "each token has its own"


async def test_who_tries_tokens_is_slowed_down_and_others_at_his_host_are_not(tmp_path: Path) -> None:
    async with serving(tmp_path, demand_tokens=True, limit=RateLimit(Clock(), rate=1.0, burst=5.0)) as arena:
        token = await arena.token(Role.VIEWER)
        async with Client(arena.address, token) as good:
            assert (await attempt(good, GET)).code == "OK"
            reasons = []
            for _ in range(8):
                async with Client(arena.address, new_token()) as bad:
                    reasons.append((await attempt(bad, GET)).reason)
            assert reasons == ["BAD_TOKEN"] * 5 + ["RATE_LIMITED"] * 3
            assert (await attempt(good, GET)).code == "OK"
        async with Client(arena.address) as nobody:
            assert (await attempt(nobody, GET)).reason == "RATE_LIMITED"
            assert (await attempt(nobody, "/grpc.health.v1.Health/Check")).code == "OK"


async def test_an_arena_that_asks_for_no_tokens_does_not_count_its_own_machine(tmp_path: Path) -> None:
    async with serving(tmp_path, limit=RateLimit(Clock(), rate=1.0, burst=1.0)) as arena, Client(arena.address) as me:
        assert {(await attempt(me, GET)).code for _ in range(10)} == {"OK"}


@pytest.mark.parametrize(
    ("peer", "host"),
    [
        ("ipv4:192.0.2.1:54321", "host 192.0.2.1"),
        ("ipv6:[2001:db8:1:2:3:4:5:6]:54321", "host 2001:db8:1:2::/64"),
        ("ipv6:%5B2001:db8:1:2::9%5D:54321", "host 2001:db8:1:2::/64"),
        ("unix:", "host "),
        ("unix:/tmp/arena", "host "),
        ("", "host "),
    ],
)
def test_strangers_are_counted_by_host(peer: str, host: str) -> None:
    assert _host(peer) == host


# TLS ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"), "club")


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("other"), "stranger")


def credentials(authority: Authority, own: Pair | None = None) -> grpc.ChannelCredentials:
    if own is None:
        return grpc.ssl_channel_credentials(authority.pair.cert.read_bytes())
    return grpc.ssl_channel_credentials(authority.pair.cert.read_bytes(), own.key.read_bytes(), own.cert.read_bytes())


async def test_an_arena_speaks_tls_to_who_believes_its_authority(
    tmp_path: Path, authority: Authority, stranger: Authority
) -> None:
    pair = authority.sign("arena")
    async with serving(tmp_path, credentials=server_credentials(pair.cert, pair.key)) as arena:
        async with Client(arena.address, credentials=credentials(authority)) as client:
            assert (await attempt(client, GET)).code == "OK"
        async with Client(arena.address, credentials=credentials(stranger)) as client:
            assert (await attempt(client, GET)).code == "UNAVAILABLE"
        async with Client(arena.address) as client:
            assert (await attempt(client, GET)).code == "UNAVAILABLE"


async def test_a_certificate_for_another_host_is_not_believed(tmp_path: Path, authority: Authority) -> None:
    pair = authority.sign("elsewhere", hosts="DNS:elsewhere.example")
    async with (
        serving(tmp_path, credentials=server_credentials(pair.cert, pair.key)) as arena,
        Client(arena.address, credentials=credentials(authority)) as client,
    ):
        assert (await attempt(client, GET)).code == "UNAVAILABLE"


async def test_an_arena_may_demand_certificates_of_its_callers(
    tmp_path: Path, authority: Authority, stranger: Authority
) -> None:
    pair = authority.sign("arena")
    mutual = server_credentials(pair.cert, pair.key, authority.pair.cert)
    async with serving(tmp_path, credentials=mutual) as arena:
        for own, code in ((authority.sign("me"), "OK"), (stranger.sign("me"), "UNAVAILABLE"), (None, "UNAVAILABLE")):
            async with Client(arena.address, credentials=credentials(authority, own)) as client:
                assert (await attempt(client, GET)).code == code


def test_what_is_no_certificate_is_said_to_be_none(tmp_path: Path, authority: Authority, stranger: Authority) -> None:
    one, other = authority.sign("arena"), stranger.sign("arena")
    nonsense = tmp_path / "nonsense.pem"
    nonsense.write_text("certainly", "utf-8")
    for cert, key, ca in (
        (nonsense, one.key, None),
        (one.cert, nonsense, None),
        (one.cert, other.key, None),
        (one.cert, one.key, nonsense),
        (one.cert, tmp_path / "nothing", None),
        (one.cert, one.key, tmp_path / "nothing"),
    ):
        with pytest.raises(TlsError, match=r"\.pem|nothing"):
            server_credentials(cert, key, ca)


@pytest.mark.parametrize("listen", ["0.0.0.0:0", "[::]:0"])
async def test_other_machines_are_served_by_tls_and_tokens_or_not_at_all(
    tmp_path: Path, authority: Authority, listen: str
) -> None:
    pair = authority.sign("arena")
    tls = server_credentials(pair.cert, pair.key)
    with pytest.raises(CannotListen, match="needs TLS"):
        async with serving(tmp_path, listen=listen, demand_tokens=True):
            pass
    with pytest.raises(CannotListen, match="every caller is an admin"):
        async with serving(tmp_path, listen=listen, credentials=tls):
            pass
    async with serving(tmp_path, listen=listen, credentials=tls, demand_tokens=True) as arena:
        port = arena.address.rpartition(":")[2]
        async with Client(f"localhost:{port}", credentials=credentials(authority)) as client:
            assert (await attempt(client, GET)).code == "OK"


# What a port takes --------------------------------------------------------------------------------


async def test_a_message_over_the_limit_is_refused_and_the_server_goes_on(served: Served) -> None:
    async with Client(served.address, await served.token(Role.ADMIN)) as client:
        request = match_pb2.CreateMatchRequest(request_id="x" * (1 << 20))
        assert (await refused(client(client.matches.CreateMatch, request))).code == "RESOURCE_EXHAUSTED"
        assert (await attempt(client, GET)).code == "OK"


async def test_metadata_over_the_limit_is_refused_and_the_server_goes_on(served: Served) -> None:
    async with Client(served.address) as client:
        call = client.channel.unary_unary(GET)(b"", metadata=bearer("x" * 40_000))
        assert (await refused(call)).code == "RESOURCE_EXHAUSTED"
        assert (await attempt(client, GET)).code == "OK"


def frame(kind: int, flags: int = 0, payload: bytes = b"") -> bytes:
    """An HTTP/2 frame of the connection itself."""
    return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + b"\0\0\0\0" + payload


async def test_who_pings_without_end_is_sent_away_and_who_pings_now_and_then_is_not(served: Served) -> None:
    host, port = served.address.split(":")
    hello = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4)
    for pings, sent_away in ((1, False), (20, True)):
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(hello + frame(6, payload=b"whatever") * pings)
        await writer.drain()
        writer.write_eof()
        heard = await reader.read()
        writer.close()
        assert (b"too_many_pings" in heard) == sent_away


@pytest.mark.parametrize("noise", [b"GET / HTTP/1.1\r\n\r\n", b"\0" * 10_000, b"\xff" * 10_000, b"\x16\x03\x01" * 500])
async def test_noise_at_the_port_costs_the_connection_and_no_more(served: Served, noise: bytes) -> None:
    host, port = served.address.split(":")
    with socket.create_connection((host, int(port))) as plain:
        plain.sendall(noise)
        async with Client(served.address) as client:
            assert (await attempt(client, GET)).code == "OK"
