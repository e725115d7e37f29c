"""`wakeng show --html`: a replay in one file, which its own policy keeps from doing anything else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.arena.process import wakeng
from tests.web import scenes
from tests.web.browsing import Browser
from tests.web.test_replay import DRAWN, due, ordered, record_of
from wakeng.engine import encode, replay


@pytest.fixture
async def record(furnished: Path) -> dict[str, Any]:
    return await record_of(furnished, "m-four", 0)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_the_file_shows_the_hand_without_a_server(
    browser: Browser, record: dict[str, Any], tmp_path: Path, shots: Path, language: str
) -> None:
    (tmp_path / "r.jsonl").write_bytes(encode(record) + b"\n")
    html = tmp_path / "hand.html"
    ran = wakeng("show", str(tmp_path / "r.jsonl"), "--html", str(html), "--lang", language)
    assert ran.returncode == 0 and str(html) in ran.stdout
    async with browser.open(html.as_uri() + "#9") as window:
        page = window.page
        await page.locator(".seat").first.wait_for()
        found = ordered(await page.evaluate(DRAWN))
        assert found == {**due(replay(record, upto=9), None, record["decisions"][9]), "step": 9}
        await page.keyboard.press("End")
        await page.locator(".verdict").wait_for()
        assert await page.locator("html").get_attribute("lang") == language
        assert await page.locator("img").count() == 0
        await page.screenshot(path=shots / f"standalone-{language}.png", full_page=True)
        await window.check_access()


async def test_its_policy_allows_its_one_script_by_hash_and_what_a_bot_wrote_is_data(
    record: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "r.jsonl").write_bytes(encode(record) + b"\n")
    wakeng("show", str(tmp_path / "r.jsonl"), "--html", str(tmp_path / "hand.html"))
    text = (tmp_path / "hand.html").read_text("utf-8")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    assert policy[1].count("sha256-") == 2 and "'self'" not in policy[1] and "unsafe" not in policy[1]
    assert "default-src &#39;none&#39;" in policy[1] or "default-src 'none'" in policy[1]
    assert len(re.findall(r"<script(?! type=\"application/json\")", text)) == 1
    assert scenes.NOTE not in text and scenes.HARM not in text
    data = re.search(r'<script type="application/json" id="replay-data">(.*?)</script>', text, re.DOTALL)
    assert data is not None and orjson.loads(data[1])["seats"][0]["bot"] == scenes.HARM
    assert not re.search(r"""(?:src|href)=["'](?!#)""", text)
