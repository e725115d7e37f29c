"""Pages say the same of either kind of store, and take any address that somebody types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from tests.postgres import Server
from tests.services.databases import KINDS, Database, SQLiteFile, postgres_database
from tests.web import scenes
from tests.web.conftest import serving_store
from tests.web.test_access import ask
from tests.web.test_pages import PAGES
from wakeng.services.store import Store

ODD = (
    "bots/%00",
    "bots/%ff",
    "bots?after=%00",
    "matches/%00",
    "hands/%00/0",
    "matches?after=%00",
    "matches/m-feature?from=99999999999",
)


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    if request.param == "sqlite":
        yield SQLiteFile(tmp_path / "wakeng.db")
        return
    server: Server = request.getfixturevalue("postgres")
    with postgres_database(server) as made:
        yield made


async def test_every_page_is_shown_of_either_kind_of_store(database: Database, tmp_path: Path) -> None:
    async with await Store.open(database.url) as store:
        await scenes.play_tournament(store, tmp_path, blocks=6)
        await scenes.put_match(store, "m-feature", "three_feature")
        await scenes.put_match(store, "m-long", "xian", hands=40)
        fault = (await store.pages.faults_in("m-feature", 3))[-1].number
        async with serving_store(store) as pages:
            for name, path in PAGES.items():
                if "m-four" in path or "m-running" in path:
                    continue
                answer = await ask(pages.url + path.format(fault=fault))
                assert answer.status == (404 if name == "missing" else 200), name
            body = (await ask(pages.url + "bots/greedy")).body.decode()
            assert re.search(r"<dt>hands</dt><dd>\d", body)
            for path in ODD:
                assert (await ask(pages.url + path)).status in (200, 404), path


async def test_bots_are_listed_by_name_page_by_page(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wakeng.services.web.bots.A_PAGE", 2)
    async with await Store.open(database.url) as store:
        await scenes.play_tournament(store, tmp_path, blocks=6)
        every = [line.bot for line in await store.pages.bots(most=99)]
        assert every == sorted(every) and len(every) > 2
        async with serving_store(store) as pages:
            listed, path = [], "bots"
            while path:
                body = (await ask(pages.url + path)).body.decode()
                listed += [unescape(name) for name in re.findall(r'class="bot"[^>]*><bdi>(.*?)</bdi>', body)]
                further = re.search(r'href="/(bots\?after=[^"]*)"', body)
                path = unescape(further[1]) if further else ""
        assert listed == every
