"""A furnished site, and a browser to look at it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.web import scenes
from tests.web.browsing import SHOTS, Browser, browsing
from wakeng.services.settings.structs import Tls, Web
from wakeng.services.store import MatchState, Store
from wakeng.services.web.serving import WebServer, open_site

HERE = Web(listen="127.0.0.1:0")


@pytest.fixture(scope="session")
def shots() -> Path:
    """Where screenshots go, to be looked at."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    return SHOTS


@pytest.fixture(scope="session")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a store with everything in it that pages show."""
    folder = tmp_path_factory.mktemp("site")

    async def furnish() -> None:
        async with await Store.open(store_url(folder)) as store:
            await scenes.play_tournament(store, folder)
            await scenes.put_match(store, "m-feature", "three_feature")
            await scenes.put_match(store, "m-four", "four_blind")
            await scenes.put_match(store, "m-long", "xian", hands=40)
            await scenes.put_match(store, "m-running", "three_blind", state=MatchState.RUNNING, owner="ann")

    asyncio.run(furnish())
    return folder


def store_url(folder: Path) -> str:
    """The store of a folder."""
    return f"sqlite:///{folder / 'wakeng.db'}"


@asynccontextmanager
async def serving_store(
    store: Store,
    web: Web = HERE,
    *,
    trusting: bool = True,
    clock: Callable[[], float] = time.monotonic,
) -> AsyncIterator[WebServer]:
    """The pages of a store."""
    pages = await open_site(store, web, tls=Tls(), trusting=trusting, clock=clock)
    try:
        yield pages
    finally:
        await pages.stop()


@asynccontextmanager
async def shown(
    folder: Path,
    *,
    trusting: bool = True,
    private: bool = False,
    hosts: tuple[str, ...] = (),
    proxies: tuple[str, ...] = (),
    clock: Callable[[], float] = time.monotonic,
) -> AsyncIterator[tuple[WebServer, Store]]:
    """The pages of the folder's store."""
    web = Web(listen="127.0.0.1:0", private=private, hosts=hosts, proxies=proxies)
    async with (
        await Store.open(store_url(folder)) as store,
        serving_store(store, web, trusting=trusting, clock=clock) as pages,
    ):
        yield pages, store


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    """A real one."""
    async with browsing() as made:
        yield made


@pytest.fixture
async def site(furnished: Path) -> AsyncIterator[WebServer]:
    """The furnished site, as its operator sees it."""
    async with shown(furnished) as (pages, _):
        yield pages
