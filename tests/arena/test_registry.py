"""BotRegistryService over gRPC: bots registered, seen and forgotten, each by whom it belongs to."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.arena.serving import Client, Refusal, Served, bearer, refused, serving
from wakeng.bots import create
from wakeng.sdk.server import start
from wakeng.services.dialling import DiallingPolicy, Target
from wakeng.services.store import Role
from wakeng.v1 import bot_pb2, gateway_pb2, registry_pb2

POLICY = DiallingPolicy.parse(["203.0.113.0/24"])


@dataclass(frozen=True, slots=True)
class Club:
    """An arena, an admin and two authors."""

    arena: Served
    admin: Client
    wei: Client
    li: Client


@pytest.fixture
async def club(tmp_path: Path) -> AsyncIterator[Club]:
    async with serving(tmp_path, demand_tokens=True, policy=POLICY) as arena:
        admin = await arena.token(Role.ADMIN)
        wei, li = [await arena.token(Role.AUTHOR, owner=owner) for owner in ("wei", "li")]
        async with (
            Client(arena.address, admin) as by_admin,
            Client(arena.address, wei) as by_wei,
            Client(arena.address, li) as by_li,
        ):
            yield Club(arena, by_admin, by_wei, by_li)


async def register(client: Client, name: str = "mine", **others: Any) -> registry_pb2.RegisterBotResponse:
    how = {} if "address" in others else {"dial_in": True}
    answer: registry_pb2.RegisterBotResponse = await client(
        client.bots.RegisterBot, registry_pb2.RegisterBotRequest(name=name, **(how | others))
    )
    return answer


async def get(client: Client, name: str = "mine") -> registry_pb2.Bot:
    bot: registry_pb2.Bot = (await client(client.bots.GetBot, registry_pb2.GetBotRequest(name=name))).bot
    return bot


async def names(client: Client, **page: Any) -> list[str]:
    answer = await client(client.bots.ListBots, registry_pb2.ListBotsRequest(**page))
    return [bot.name for bot in answer.bots]


def told(refusal: Refusal) -> tuple[str, str, str]:
    return refusal.code, refusal.reason, refusal.field


# Registering --------------------------------------------------------------------------------------


async def test_a_bot_that_dials_in_is_given_a_token_once(club: Club) -> None:
    made = await register(club.wei, max_tables=8, max_decisions=3)
    assert re.fullmatch(r"wk_[\w-]{43}", made.token)
    assert not made.HasField("owner_token")
    bot = await get(club.wei)
    assert bot == made.bot
    assert (bot.name, bot.dial_in, bot.owner, bot.max_tables, bot.max_decisions) == ("mine", True, "wei", 8, 3)
    assert bot.status == registry_pb2.BOT_STATUS_ACTIVE
    assert bot.HasField("connected") and not bot.connected
    assert bot.create_time.seconds > 0
    assert not any(bot.HasField(name) for name in ("version", "author", "url"))


async def test_a_bot_that_listens_is_given_none(club: Club) -> None:
    made = await register(club.wei, address="203.0.113.7:50051")
    assert made.bot.address == "203.0.113.7:50051"
    assert not made.HasField("token") and not made.bot.HasField("connected")


async def test_a_taken_name_is_an_error_that_names_the_field(club: Club) -> None:
    await register(club.wei)
    for client in (club.wei, club.li, club.admin):
        assert told(await refused(register(client))) == ("ALREADY_EXISTS", "NAME_TAKEN", "name")


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        ({"dial_in": True}, "name"),
        ({"name": "greedy", "dial_in": True}, "name"),
        ({"name": "faulty:hang", "dial_in": True}, "name"),
        ({"name": "x\nINFO: all is well", "dial_in": True}, "name"),
        ({"name": "mine"}, "connection"),
        ({"name": "mine", "dial_in": False}, "dial_in"),
        ({"name": "mine", "address": ""}, "address"),
        ({"name": "mine", "address": "unix:/run/docker.sock"}, "address"),
        ({"name": "mine", "address": "dns:///x:1"}, "address"),
        ({"name": "mine", "address": "wakeng.invalid:50051"}, "address"),
        ({"name": "mine", "dial_in": True, "max_tables": 0}, "max_tables"),
        ({"name": "mine", "dial_in": True, "max_decisions": -1}, "max_decisions"),
        ({"name": "mine", "dial_in": True, "owner": "a b"}, "owner"),
    ],
)
async def test_an_impossible_request_names_its_field(club: Club, request_: dict[str, Any], field: str) -> None:
    call = club.admin(club.admin.bots.RegisterBot, registry_pb2.RegisterBotRequest(**request_))
    assert told(await refused(call)) == ("INVALID_ARGUMENT", "INVALID_FIELD", field)
    assert await names(club.admin) == []


async def test_what_may_not_be_dialled_is_not_registered(club: Club) -> None:
    no = ("PERMISSION_DENIED", "ADDRESS_NOT_ALLOWED", "address")
    for address in ("127.0.0.1:1", "[::1]:1", "[::ffff:127.0.0.1]:1", "localhost:1"):
        assert told(await refused(register(club.wei, address=address))) == no
    for address in ("169.254.169.254:80", "[fe80::1]:80", "0.0.0.0:80", "[::]:80", "8.8.8.8:80", "10.0.0.1:80"):
        for client in (club.wei, club.admin):
            assert told(await refused(register(client, address=address))) == no
    assert (await register(club.admin, "here", address="localhost:1")).bot.address == "localhost:1"


# Owners -------------------------------------------------------------------------------------------


async def test_an_admin_registers_for_others_who_get_a_token_with_their_first_bot(club: Club) -> None:
    first = await register(club.admin, "one", owner="chen")
    assert re.fullmatch(r"wk_[\w-]{43}", first.owner_token)
    assert not (await register(club.admin, "two", owner="chen")).HasField("owner_token")
    async with Client(club.arena.address, first.owner_token) as chen:
        assert await names(chen) == ["one", "two"]


async def test_an_author_registers_for_himself_alone(club: Club) -> None:
    assert (await register(club.wei, "one", owner="wei")).bot.owner == "wei"
    assert told(await refused(register(club.wei, "two", owner="li"))) == ("PERMISSION_DENIED", "NOT_OWNER", "owner")


async def test_an_author_sees_and_forgets_his_own_and_an_admin_all(club: Club) -> None:
    await register(club.wei, "a")
    await register(club.li, "b")
    await register(club.admin, "c")
    assert (await names(club.wei), await names(club.li)) == (["a"], ["b"])
    assert await names(club.admin) == ["a", "b", "c"]
    for name in ("b", "c"):
        for call in (
            get(club.wei, name),
            club.wei(club.wei.bots.DeleteBot, registry_pb2.DeleteBotRequest(name=name)),
            club.wei.bots.CheckBot(registry_pb2.CheckBotRequest(registered=name), metadata=club.wei.metadata).read(),
        ):
            assert told(await refused(call)) == ("PERMISSION_DENIED", "NOT_OWNER", "name")
    await club.wei(club.wei.bots.DeleteBot, registry_pb2.DeleteBotRequest(name="a"))
    await club.admin(club.admin.bots.DeleteBot, registry_pb2.DeleteBotRequest(name="b"))
    assert await names(club.admin) == ["c"]


async def test_what_is_not_registered_is_not_found(club: Club) -> None:
    for name in ("nobody", "", "a" * 10_000, "a b", "\0"):
        for call in (
            get(club.admin, name),
            club.admin(club.admin.bots.DeleteBot, registry_pb2.DeleteBotRequest(name=name)),
        ):
            came = await refused(call)
            assert (came.code, came.reason) == ("NOT_FOUND", "NOT_FOUND")
            assert len(came.message) < 200


async def test_bots_come_by_pages(club: Club) -> None:
    for name in "abcde":
        await register(club.wei, name)
    seen, token = [], ""
    while True:
        page = await club.wei(club.wei.bots.ListBots, registry_pb2.ListBotsRequest(page_size=2, page_token=token))
        seen.append([bot.name for bot in page.bots])
        if not (token := page.next_page_token):
            break
    assert seen == [["a", "b"], ["c", "d"], ["e"]]
    came = await refused(names(club.wei, page_token="b"))
    assert told(came) == ("INVALID_ARGUMENT", "INVALID_FIELD", "page_token")


# Dialled in ---------------------------------------------------------------------------------------


async def join(arena: Served, client: Client, token: str) -> Any:
    """A Join that has said hello and been asked for a sign of life."""
    call = client.channel.stream_stream("/wakeng.v1.BotGatewayService/Join")(metadata=bearer(token))
    hello = bot_pb2.DescribeResponse(protocol_version=1, name="Itself", version="1.2")
    await call.write(gateway_pb2.JoinRequest(hello=hello).SerializeToString())
    answer = gateway_pb2.JoinResponse.FromString(await call.read())
    assert answer.message.HasField("ping")
    return call


async def test_a_bot_that_has_dialled_in_is_connected_until_it_is_forgotten(club: Club) -> None:
    token = (await register(club.wei)).token
    call = await join(club.arena, club.wei, token)
    assert (await get(club.wei)).connected
    await club.wei(club.wei.bots.DeleteBot, registry_pb2.DeleteBotRequest(name="mine"))

    async def to_the_end() -> None:
        while await call.read():
            pass

    assert (await refused(to_the_end())).code == "PERMISSION_DENIED"
    again = club.wei.channel.stream_stream("/wakeng.v1.BotGatewayService/Join")(metadata=bearer(token))
    assert (await refused(again.read())).reason == "BAD_TOKEN"


# Checking -----------------------------------------------------------------------------------------


async def check(client: Client, **request: Any) -> list[registry_pb2.BotCheck]:
    call = client.bots.CheckBot(registry_pb2.CheckBotRequest(**request), metadata=client.metadata, timeout=60)
    return [answer.check async for answer in call]


async def test_a_check_is_told_part_by_part(tmp_path: Path) -> None:
    asked: list[tuple[Target, int]] = []

    async def checker(target: Target, request: registry_pb2.CheckBotRequest) -> AsyncIterator[registry_pb2.BotCheck]:
        asked.append((target, request.decisions))
        for name in ("describe", "legality"):
            yield registry_pb2.BotCheck(name=name, outcome=registry_pb2.CHECK_OUTCOME_PASSED)

    async with serving(tmp_path, checker=checker) as arena, Client(arena.address) as me:
        await register(me, "there", address="127.0.0.1:50051")
        for request in ({"registered": "there"}, {"address": "127.0.0.1:50051"}):
            assert [part.name for part in await check(me, **request, decisions=9)] == ["describe", "legality"]
        assert asked == [(Target("ipv4:127.0.0.1:50051", "127.0.0.1"), 9)] * 2


async def test_the_arena_checks_as_its_command_does(tmp_path: Path) -> None:
    server = await start(create("lowest"))
    async with server, serving(tmp_path) as arena, Client(arena.address) as me:
        parts = await check(me, address=server.address, decisions=20, presets=["four_blind"])
    outcomes = {part.name: part.outcome for part in parts}
    assert registry_pb2.CHECK_OUTCOME_FAILED not in outcomes.values(), parts
    assert outcomes["legality"] == registry_pb2.CHECK_OUTCOME_PASSED


async def test_who_is_checked_must_be_somebody_who_may_be_dialled(club: Club) -> None:
    await register(club.admin, "calls")
    for request, came in (
        ({}, ("INVALID_ARGUMENT", "INVALID_FIELD", "bot")),
        ({"registered": "nobody"}, ("NOT_FOUND", "NOT_FOUND", "")),
        ({"registered": "calls"}, ("UNIMPLEMENTED", "NOT_OFFERED", "registered")),
        ({"address": "169.254.169.254:80"}, ("PERMISSION_DENIED", "ADDRESS_NOT_ALLOWED", "address")),
        ({"address": "unix:/run/x"}, ("INVALID_ARGUMENT", "INVALID_FIELD", "address")),
    ):
        assert told(await refused(check(club.admin, **request))) == came
    assert told(await refused(check(club.wei, address="127.0.0.1:1")))[1] == "ADDRESS_NOT_ALLOWED"
