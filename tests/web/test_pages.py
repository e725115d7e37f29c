"""Every page, in both languages, light and dark, wide and narrow: it says nothing wrong and shuts nobody out."""

from pathlib import Path

import pytest

from tests.web import scenes
from tests.web.browsing import Browser
from tests.web.conftest import store_url
from wakeng.services.store import Store
from wakeng.services.web.rendering import part
from wakeng.services.web.serving import WebServer

PAGES = {
    "home": "",
    "tournaments": "tournaments",
    "tournament": f"tournaments/{scenes.TOURNAMENT}",
    "matches": "matches",
    "match": "matches/m-long",
    "running": "matches/m-running",
    "table": "matches/m-running/table",
    "hand": "hands/m-feature/0#20",
    "hand-four": "hands/m-four/1#30/seat1",
    "fault": "hands/m-feature/0/faults/{fault}",
    "bots": "bots",
    "bot": "bots/greedy",
    "hostile-bot": f"bots/{part(scenes.HARM)}",
    "replay": "replay",
    "rules": "rules",
    "preset": "rules/three_blind",
    "write-a-bot": "write-a-bot",
    "login": "login",
    "missing": "matches/none",
}
LOOKS = {"en": ("Tournaments", False, 1280), "zh": ("锦标赛", True, 390)}


@pytest.mark.parametrize("language", LOOKS)
async def test_every_page_is_whole(
    browser: Browser, site: WebServer, furnished: Path, shots: Path, language: str
) -> None:
    word, dark, width = LOOKS[language]
    async with await Store.open(store_url(furnished)) as store:
        fault = (await store.pages.faults_in("m-feature", 3))[-1].number
    async with browser.open("", language=language, dark=dark, width=width) as window:
        for name, path in PAGES.items():
            answer = await window.page.goto(site.url + path.format(fault=fault))
            assert answer is not None and answer.status == (404 if name == "missing" else 200), name
            if name == "missing":
                window.said.clear()  # The browser itself says that there is no such page.
            assert await window.page.locator("html").get_attribute("lang") == language
            assert word in await window.page.locator("nav.menu").inner_text()
            await window.page.screenshot(path=shots / f"{name}-{language}.png", full_page=True)
            await window.check_access()
            for narrow in (width, 390, 320):
                await window.page.set_viewport_size({"width": narrow, "height": 844})
                await window.check_width()
            await window.page.set_viewport_size({"width": width, "height": 844})
            window.check_silence()


async def test_language_and_colours_are_chosen_by_switches_and_kept(browser: Browser, site: WebServer) -> None:
    async with browser.open(site.url + "rules", language="zh") as window:
        page = window.page
        assert await page.locator("h1").inner_text() == "规则"
        await page.get_by_role("link", name="English").click()
        await page.wait_for_url(site.url + "rules")
        assert await page.locator("h1").inner_text() == "Rules"
        await page.get_by_role("link", name="Dark", exact=True).click()
        await page.wait_for_url(site.url + "rules")
        assert await page.locator("html").get_attribute("data-theme") == "dark"
        await page.goto(site.url)
        assert await page.locator("html").get_attribute("lang") == "en"
        assert await page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 20)"


async def test_hands_are_turned_by_pages_without_leaving_the_page(browser: Browser, site: WebServer) -> None:
    async with browser.open(site.url + "matches/m-long") as window:
        page = window.page
        await page.evaluate("window.stayed = true")
        await page.get_by_role("link", name="after").click()
        await page.wait_for_url("**/matches/m-long?from=25")
        assert await page.locator("#hands tbody th").all_inner_texts() == [str(index) for index in range(25, 40)]
        assert await page.evaluate("window.stayed")


async def test_one_can_go_everywhere_by_keyboard(browser: Browser, site: WebServer) -> None:
    async with browser.open(site.url + "tournaments") as window:
        page = window.page
        await page.keyboard.press("Tab")
        assert await page.evaluate("document.activeElement.className") == "skip"
        await page.keyboard.press("Enter")
        for _ in range(10):
            await page.keyboard.press("Tab")
            if await page.evaluate("document.activeElement.matches('tbody a.strong')"):
                break
        await page.keyboard.press("Enter")
        await page.wait_for_url(f"**/tournaments/{scenes.TOURNAMENT}")


async def test_names_and_notes_that_would_do_harm_stay_text(browser: Browser, site: WebServer) -> None:
    places = ("", "tournaments", f"tournaments/{scenes.TOURNAMENT}", "matches/m-long", "hands/m-feature/0", "bots")
    async with browser.open("") as window:
        page = window.page
        dialogs: list[str] = []
        page.on("dialog", lambda dialog: dialogs.append(dialog.message))
        for path in (*places, f"bots/{part(scenes.HARM)}"):
            await page.goto(site.url + path)
            assert scenes.HARM in await page.locator("body").inner_text(), path
            assert await page.locator("img").count() == 0
            assert "harm" not in await page.title()
        await page.goto(site.url + "hands/m-feature/0")
        last = int(await page.locator(".scrub").get_attribute("max") or 0)
        notes = set()
        for step in range(last + 1):
            await page.evaluate(f"location.hash = '{step}'")
            notes |= set(await page.locator(".note-text").all_inner_texts())
        assert notes == {scenes.NOTE}
        assert dialogs == []
