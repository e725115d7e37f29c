"""Who sees which page, and what every answer carries, by plain HTTP."""

from __future__ import annotations

import asyncio
import sqlite3
import urllib.error
import urllib.request
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.web import scenes
from tests.web.conftest import shown
from wakeng.services.server import CannotListen
from wakeng.services.settings.structs import Tls, Web
from wakeng.services.store import Role, Store
from wakeng.services.tokens import hash_token, new_token
from wakeng.services.web.doors import _path
from wakeng.services.web.serving import WebServer, open_site

PRIVATE = "hands/m-running/0"


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Message
    body: bytes


def _stands_still() -> float:
    return 0.0


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


async def ask(url: str, *, body: bytes | None = None, method: str | None = None, **headers: str) -> Answer:
    """One request; a redirection is an answer like another."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url, data=body, headers=named, method=method)
    opener = urllib.request.build_opener(_Stay)

    def call() -> Answer:
        try:
            with opener.open(request, timeout=20) as found:
                return Answer(found.status, found.headers, found.read())
        except urllib.error.HTTPError as found:
            with found:
                return Answer(found.code, found.headers, found.read())

    return await asyncio.to_thread(call)


async def token(store: Store, role: Role, owner: str = "") -> str:
    made = new_token()
    await store.tokens.add(hash_token(made) or "", role, owner=owner)
    return made


async def session(pages: WebServer, shown_token: str) -> str:
    """The cookie that a token is exchanged for."""
    answer = await ask(pages.url + "login", body=urlencode({"token": shown_token, "to": "/bots"}).encode())
    assert answer.status == 303 and answer.headers["location"] == "/bots"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=lax" in cookie
    return str(cookie).partition(";")[0]


# Roles ----------------------------------------------------------------------------------------------------------------


async def test_records_of_a_match_in_play_are_for_its_owner_and_for_admins(furnished: Path) -> None:
    async with shown(furnished, trusting=False) as (pages, store):
        statuses = {}
        for who, role, owner in (
            ("ann", Role.AUTHOR, "ann"),
            ("bob", Role.AUTHOR, "bob"),
            ("viewer", Role.VIEWER, ""),
            ("admin", Role.ADMIN, ""),
        ):
            cookie = await session(pages, await token(store, role, owner))
            statuses[who] = (await ask(pages.url + PRIVATE, cookie=cookie)).status
        statuses["stranger"] = (await ask(pages.url + PRIVATE)).status
    assert statuses == {"ann": 200, "bob": 403, "viewer": 403, "admin": 200, "stranger": 403}


async def test_what_is_public_is_seen_by_strangers(furnished: Path) -> None:
    async with shown(furnished, trusting=False) as (pages, _):
        for path in ("", f"tournaments/{scenes.TOURNAMENT}", "hands/m-feature/0", "matches/m-running", "bots/greedy"):
            assert (await ask(pages.url + path)).status == 200, path


async def test_a_private_site_shows_a_stranger_the_door_and_nothing_else(furnished: Path) -> None:
    async with shown(furnished, private=True) as (pages, store):
        for path in ("", "bots", "hands/m-feature/0", f"tournaments/{scenes.TOURNAMENT}/live", "nonsense/x"):
            answer = await ask(pages.url + path)
            assert answer.status in (303, 404) and scenes.HARM.encode() not in answer.body
        assert (await ask(pages.url + "bots")).headers["location"] == "/login?to=%2Fbots"
        assert (await ask(pages.url + "replay", body=b"{}")).status == 303
        cookie = await session(pages, await token(store, Role.VIEWER))
        assert (await ask(pages.url + "bots", cookie=cookie)).status == 200


async def test_a_token_that_is_taken_back_takes_its_sessions_with_it(furnished: Path) -> None:
    async with shown(furnished, private=True) as (pages, store):
        mine = await token(store, Role.VIEWER)
        cookie = await session(pages, mine)
        stored = await store.tokens.find(hash_token(mine) or "")
        assert stored is not None
        await store.tokens.remove(stored.token_id)
        assert (await ask(pages.url + "bots", cookie=cookie)).status == 303


async def test_a_session_ends_when_one_leaves(furnished: Path) -> None:
    async with shown(furnished, private=True) as (pages, store):
        cookie = await session(pages, await token(store, Role.VIEWER))
        assert (await ask(pages.url + "logout", body=b"", cookie=cookie)).status == 303
        assert (await ask(pages.url + "bots", cookie=cookie)).status == 303


async def test_tokens_cannot_be_tried_without_end(furnished: Path) -> None:
    async with shown(furnished, private=True, clock=_stands_still) as (pages, store):
        good = await token(store, Role.VIEWER)
        for _ in range(10):
            assert (await ask(pages.url + "login", body=b"token=wk_nonsense")).status == 403
        assert (await ask(pages.url + "login", body=urlencode({"token": good}).encode())).status == 403


@pytest.mark.parametrize("others", [{"hosts": ("arena.example",)}, {"proxies": ("127.0.0.1/32",)}], ids=str)
async def test_nobody_is_an_admin_unasked_where_something_may_ask_for_others(
    furnished: Path, others: dict[str, tuple[str, ...]]
) -> None:
    async with shown(furnished, hosts=others.get("hosts", ()), proxies=others.get("proxies", ())) as (pages, _):
        assert (await ask(pages.url + PRIVATE)).status == 403


async def test_a_session_of_who_comes_by_tls_goes_by_tls_alone(furnished: Path) -> None:
    async with shown(furnished, proxies=("127.0.0.1/32",)) as (pages, store):
        body = urlencode({"token": await token(store, Role.VIEWER)}).encode()
        for scheme in ("http", "https"):
            cookie = (await ask(pages.url + "login", body=body, x_forwarded_proto=scheme)).headers["set-cookie"]
            assert ("Secure" in cookie) == (scheme == "https")


@pytest.mark.parametrize(
    ("told", "elsewhere"),
    [
        ({}, False),
        ({"origin": "http://evil.example"}, True),
        ({"origin": "null"}, True),
        ({"sec_fetch_site": "cross-site"}, True),
        ({"sec_fetch_site": "same-site"}, True),
        ({"sec_fetch_site": "same-origin", "origin": "https://name-before-the-proxy.example"}, False),
    ],
    ids=str,
)
async def test_what_a_page_elsewhere_sends_is_refused(
    site: WebServer, told: dict[str, str], *, elsewhere: bool
) -> None:
    answer = await ask(site.url + "login", body=b"token=wk_nonsense", **told)
    assert answer.status == 403 and (b"a page elsewhere" in answer.body) == elsewhere


@pytest.mark.parametrize("to", ["//evil.example/", "/\\evil.example", "https://evil.example", "/a\r\nb", "", "/x\\y"])
def test_coming_in_leads_nowhere_else(to: str) -> None:
    assert _path(to) == "/"


async def test_hands_of_a_tournament_in_play_are_told_of_only_up_to_its_prefix(tmp_path: Path) -> None:
    async with await Store.open(f"sqlite:///{tmp_path / 'wakeng.db'}") as store:
        await scenes.play_tournament(store, tmp_path, blocks=6)
    await scenes.reopen(tmp_path, prefix=2)
    async with shown(tmp_path, trusting=False) as (pages, _):
        body = (await ask(pages.url + f"tournaments/{scenes.TOURNAMENT}")).body
        told = [index for index in range(18) if f'/hands/{scenes.TOURNAMENT}/{index}"'.encode() in body]
        assert told == list(range(6))


async def test_a_bots_faults_are_told_of_only_up_to_the_prefix_of_a_tournament_in_play(tmp_path: Path) -> None:
    async with await Store.open(f"sqlite:///{tmp_path / 'wakeng.db'}") as store:
        await scenes.play_tournament(store, tmp_path, blocks=6)
    with closing(sqlite3.connect(tmp_path / "wakeng.db")) as connection, connection:
        for index in range(18):
            fault = (scenes.TOURNAMENT, index, 5, 0, "greedy", "DEADLINE", 1_000 + index)
            connection.execute(
                "insert into hand_faults (match_id, hand_index, number, seat, bot, fault, finished_us)"
                " values (?, ?, ?, ?, ?, ?, ?)",
                fault,
            )
    await scenes.reopen(tmp_path, prefix=2)
    async with shown(tmp_path, trusting=False) as (pages, _):
        body = (await ask(pages.url + "bots/greedy")).body
        told = [index for index in range(18) if f"/hands/{scenes.TOURNAMENT}/{index}/faults/5".encode() in body]
        assert told == list(range(6))


# What every answer carries --------------------------------------------------------------------------------------------


async def test_nothing_inline_runs_and_nothing_comes_from_elsewhere(site: WebServer) -> None:
    for path in ("", "hands/m-feature/0", "nonsense", "static/site.css"):
        policy = (await ask(site.url + path)).headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
    body = (await ask(site.url + f"tournaments/{scenes.TOURNAMENT}")).body.decode()
    assert " style=" not in body and "<style" not in body and " onclick" not in body


async def test_who_has_a_page_already_is_told_that_nothing_changed(site: WebServer) -> None:
    first = await ask(site.url + "bots")
    again = await ask(site.url + "bots", if_none_match=first.headers["etag"])
    assert (again.status, again.body) == (304, b"")
    other = await ask(site.url + "bots", if_none_match=first.headers["etag"], accept_language="zh")
    assert other.status == 200 and other.headers["etag"] != first.headers["etag"]


async def test_static_files_are_kept_for_good(site: WebServer) -> None:
    assert "immutable" in (await ask(site.url + "static/site.css?v=0")).headers["cache-control"]


async def test_another_name_that_leads_to_this_machine_is_refused(site: WebServer) -> None:
    assert (await ask(site.url, host="evil.example")).status == 421
    assert (await ask(site.url, host="localhost:1")).status == 200


async def test_choosing_a_language_leads_to_the_same_page_and_nowhere_else(site: WebServer) -> None:
    answer = await ask(site.url + "matches/m-long?from=25&lang=zh")
    assert answer.status == 303 and answer.headers["location"] == "/matches/m-long?from=25"
    assert (await ask(site.url + "/evil.example?lang=zh")).status == 404


@pytest.mark.parametrize("size", [1 << 20, (1 << 20) + 1])
async def test_a_record_of_any_size_is_answered_and_a_large_one_refused_unread(site: WebServer, size: int) -> None:
    answer = await ask(site.url + "replay", body=b"[" * size)
    assert answer.status == (413 if size > 1 << 20 else 422)


@pytest.fixture
def three_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages that a host may ask for."""
    monkeypatch.setattr("wakeng.services.web.gate.BURST", 3.0)


async def statuses(url: str, hosts: Iterable[str]) -> list[int]:
    """Of a page that is asked for in the name of these hosts."""
    return [(await ask(url, x_forwarded_for=host)).status for host in hosts]


@pytest.mark.usefixtures("three_at_once")
async def test_a_host_that_asks_too_often_is_told_to_wait(furnished: Path) -> None:
    async with shown(furnished, clock=_stands_still) as (pages, _):
        answers = [await ask(pages.url + "login") for _ in range(4)]
    assert [answer.status for answer in answers] == [200, 200, 200, 429]
    assert int(answers[-1].headers["retry-after"]) >= 1


@pytest.mark.usefixtures("three_at_once")
async def test_hosts_behind_a_proxy_are_told_apart_where_it_is_believed(furnished: Path) -> None:
    hosts = ["192.0.2.1"] * 4 + ["192.0.2.2"]
    async with shown(furnished, proxies=("127.0.0.1/32",), clock=_stands_still) as (pages, _):
        assert await statuses(pages.url + "login", hosts) == [200, 200, 200, 429, 200]
    async with shown(furnished, clock=_stands_still) as (pages, _):
        assert await statuses(pages.url + "login", hosts) == [200, 200, 200, 429, 429]


async def test_other_machines_are_not_served_in_plain_text(tmp_path: Path) -> None:
    async with await Store.open(f"sqlite:///{tmp_path / 'wakeng.db'}") as store:
        with pytest.raises(CannotListen, match="needs TLS"):
            await open_site(store, Web(listen="0.0.0.0:0"), tls=Tls(), trusting=True)
