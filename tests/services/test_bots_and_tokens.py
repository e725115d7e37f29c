"""The store keeps registered bots and the hashes of tokens, each once."""

import asyncio
import hashlib
import re

import pytest

from tests.services.databases import Database
from wakeng.services.errors import BadPageToken, BotExists, UnknownBot, UnknownToken
from wakeng.services.registration import Registration, register
from wakeng.services.spec import SpecError
from wakeng.services.store import NewBot, RegisteredBot, Role, Store, StoredToken, downgrade
from wakeng.services.tokens import hash_token, new_token


def bot(name: str = "mine", **others: object) -> NewBot:
    return NewBot(**{"name": name, "address": None, "owner": "wei", "by_admin": False, **others})  # type: ignore[arg-type]


def a_hash(text: str = "x") -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# Bots ---------------------------------------------------------------------------------------------


async def test_a_bot_comes_back_as_it_was_registered(store: Store) -> None:
    made, _ = await store.bots.add(bot(address="h:1", by_admin=True, max_tables=5, max_decisions=7))
    assert made == await store.bots.get("mine")
    assert made == RegisteredBot(
        name="mine",
        address="h:1",
        owner="wei",
        by_admin=True,
        max_tables=5,
        max_decisions=7,
        created_us=1_000_000,
    )
    assert not made.dial_in


async def test_a_name_is_given_once(store: Store) -> None:
    first, _ = await store.bots.add(bot(), token_hash=a_hash("1"))
    for again in (bot(), bot(owner="li", address="h:1")):
        with pytest.raises(BotExists, match="name: mine is taken"):
            await store.bots.add(again, token_hash=a_hash("2"), owner_token_hash=a_hash("3"))
    assert await store.bots.get("mine") == first
    assert [token.hash for token in await store.tokens.list()] == [a_hash("1")]


async def test_of_many_who_want_a_name_at_once_one_gets_it(store: Store) -> None:
    made = await asyncio.gather(*(store.bots.add(bot()) for _ in range(10)), return_exceptions=True)
    assert sum(isinstance(one, BotExists) for one in made) == 9


async def test_a_forgotten_bot_is_gone_with_its_token_and_its_name_is_free(store: Store) -> None:
    await store.bots.add(bot(), token_hash=a_hash())
    assert (await store.bots.delete("mine")).name == "mine"
    assert await store.tokens.find(a_hash()) is None
    for gone in (store.bots.get("mine"), store.bots.delete("mine")):
        with pytest.raises(UnknownBot, match="name: no bot 'mine'"):
            await gone
    await store.bots.add(bot(owner="li"))


async def test_bots_come_by_pages_in_the_order_of_their_names(store: Store) -> None:
    for name in ("c", "a", "B", "e", "d"):
        await store.bots.add(bot(name, owner="li" if name == "d" else "wei"))
    first = await store.bots.list(2)
    second = await store.bots.list(2, first.next_page_token)
    third = await store.bots.list(2, second.next_page_token)
    found = [one.name for page in (first, second, third) for one in page.bots]
    assert (found, third.next_page_token) == (["B", "a", "c", "d", "e"], "")
    assert [one.name for one in (await store.bots.list(owner="li")).bots] == ["d"]
    assert (await store.bots.list(owner="nobody")).bots == ()
    await store.bots.delete("c")
    assert [one.name for one in (await store.bots.list(2, second.next_page_token)).bots] == ["e"]


@pytest.mark.parametrize("token", ["!", "a", "é", "gA==", "/w==", "AA==", "IA==", "YQ=", "YQ==\n"])
async def test_a_page_token_is_one_that_a_page_gave(store: Store, token: str) -> None:
    with pytest.raises(BadPageToken, match="page_token"):
        await store.bots.list(2, token)


async def test_what_a_bot_says_of_itself_is_kept(store: Store) -> None:
    await store.bots.add(bot())
    await store.bots.describe("mine", version="2", author="Wei", url="https://example.org")
    await store.bots.add(bot("loud"))
    await store.bots.describe("loud", version="1\0\x1b[2J\n", author="x" * 5000, url="")
    loud = await store.bots.get("loud")
    assert (loud.version, loud.author, loud.url) == (r"1\u0000\u001b[2J\u000a", "x" * 200, "")
    await store.bots.describe("nobody", version="1", author="", url="")
    now = await store.bots.get("mine")
    assert (now.version, now.author, now.url) == ("2", "Wei", "https://example.org")
    assert len((await store.bots.list()).bots) == 2


# Registering --------------------------------------------------------------------------------------


def asked(**others: object) -> Registration:
    return Registration(**{"name": "mine", "address": None, "owner": "wei", "by_admin": True, **others})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("field", "others"),
    [
        *(("name", {"name": name}) for name in ("", "a" * 65, "a b", "a:b", "é", "a/b", "a\n", "faulty:hang")),
        *(("name", {"name": name}) for name in ("greedy", "Greedy", "LOWEST", "random", "faulty")),
        *(("owner", {"owner": owner}) for owner in ("a b", "x" * 65, "wei\n")),
        *(("address", {"address": address}) for address in ("", "host", "unix:/x", "host:0", "127.1:80")),
        *(("max_tables", {"max_tables": count}) for count in (0, -1, 1_000_001)),
        *(("max_decisions", {"max_decisions": count}) for count in (0, 1_000_001)),
    ],
)
def test_an_impossible_registration_names_its_field(field: str, others: dict[str, object]) -> None:
    with pytest.raises(SpecError) as told:
        asked(**others)
    assert told.value.field == field


def test_a_path_is_for_operators_at_the_machine() -> None:
    assert asked(address="unix:/run/bot.sock", unix=True).address == "unix:/run/bot.sock"


async def test_a_bot_that_dials_in_gets_a_token_and_a_new_owner_one_too(store: Store) -> None:
    first = await register(store, asked(owner_is_new=True))
    second = await register(store, asked(name="second", owner_is_new=True))
    listens = await register(store, asked(name="third", address="h:1"))
    assert first.token and first.owner_token and second.token
    assert second.owner_token is None, "he has one"
    assert (listens.token, listens.owner_token) == (None, None)
    kept = {token.hash: (token.role, token.owner, token.bot) for token in await store.tokens.list()}
    assert kept == {
        hash_token(first.token): (Role.BOT, "wei", "mine"),
        hash_token(first.owner_token): (Role.AUTHOR, "wei", None),
        hash_token(second.token): (Role.BOT, "wei", "second"),
    }


# Tokens -------------------------------------------------------------------------------------------


def test_a_token_is_random_and_known_for_one() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert all(re.fullmatch(r"wk_[A-Za-z0-9_-]{43}", token) for token in tokens)
    assert all(hash_token(token) == hashlib.sha256(token.encode()).hexdigest() for token in tokens)


@pytest.mark.parametrize("text", ["", "wk_", "wk_" + "a" * 42, "wk_" + "a" * 44, "a" * 46, "wk_" + "é" * 43, "x\0y"])
def test_what_is_no_token_has_no_hash(text: str) -> None:
    assert hash_token(text) is None


async def test_a_token_is_found_by_its_hash_alone(store: Store) -> None:
    kept = await store.tokens.add(a_hash(), Role.AUTHOR, owner="wei")
    assert kept == StoredToken(a_hash(), Role.AUTHOR, "wei", None, 1_000_000)
    assert await store.tokens.find(a_hash()) == kept
    for other in ("", a_hash("y"), a_hash()[:12], "%", a_hash().upper()):
        assert await store.tokens.find(other) is None


async def test_a_bots_own_token_belongs_to_its_owner(store: Store) -> None:
    with pytest.raises(UnknownBot):
        await store.tokens.add(a_hash(), Role.BOT, bot="mine")
    await store.bots.add(bot())
    assert (await store.tokens.add(a_hash(), Role.BOT, bot="mine")).owner == "wei"


async def test_a_token_is_taken_back_by_the_beginning_of_its_hash(store: Store) -> None:
    kept = [await store.tokens.add(digits.ljust(64, "0"), Role.VIEWER) for digits in ("aa1", "aa2", "b")]
    for wrong, told in (("aa", "more than one"), ("c", "no token"), ("", "token"), ("%", "no"), ("_", "no")):
        with pytest.raises(UnknownToken, match=told):
            await store.tokens.remove(wrong)
    assert await store.tokens.list() == tuple(kept)
    assert await store.tokens.remove("aa1") == kept[0]
    assert await store.tokens.list() == (kept[1], kept[2])


# The schema ---------------------------------------------------------------------------------------


async def test_going_back_a_schema_and_on_again_keeps_the_matches(database: Database) -> None:
    async with await Store.open(database.url) as store:
        await store.create_match(match_id="m1", spec={}, seed="0", commitment="0", hands=1)
        await store.bots.add(bot(), token_hash=a_hash())
    await downgrade(database.url, to="0001")
    assert not any(name in sql for name in ("bots", "tokens") for sql in database.definitions())
    async with await Store.open(database.url) as store:
        assert (await store.get_match("m1")).match_id == "m1"
        assert (await store.bots.list()).bots == ()
