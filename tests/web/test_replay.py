"""The replay: what is drawn at every step, from every point of view, is what the engine says is there to be seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from playwright.async_api import Page

from tests.web.browsing import Browser
from tests.web.conftest import store_url
from wakeng.engine import CARD_NAMES, PLAYS, Hand, replay
from wakeng.engine.hand import NOBODY
from wakeng.engine.phases import HIDDEN
from wakeng.services.store import Store
from wakeng.services.web.serving import WebServer

DRAWN = """() => ({
  seats: [...document.querySelectorAll('.seat')].map((seat) => ({
    seat: Number(seat.dataset.seat),
    cards: [...seat.querySelectorAll('.held [data-card]')].map((card) => card.dataset.card),
    backs: seat.querySelectorAll('.held .back').length,
    left: seat.querySelector('.left').textContent,
    digs: seat.classList.contains('digs'), lies: seat.classList.contains('lies'),
    decides: seat.classList.contains('decides'), holds: seat.classList.contains('holds'),
  })),
  kitty: [...document.querySelectorAll('.kitty [data-card]')].map((card) => card.dataset.card),
  table: document.querySelector('.on-table')?.dataset.token ?? null,
  legal: [...document.querySelectorAll('.legal li')].map((option) => option.dataset.token),
  chosen: document.querySelector('.legal .chosen')?.dataset.token ?? null,
  step: Number(document.getElementById('replay').dataset.step),
})"""
"""What stands on the page, read back from what is drawn."""
STEP_BY_STEP = f"""(steps) => {{
  const press = (key) => document.body.dispatchEvent(new KeyboardEvent('keydown', {{ key, bubbles: true }}));
  const found = [];
  press('Home');
  for (let step = 0; step < steps; step++) {{ found.push(({DRAWN})()); press('ArrowRight'); }}
  return found;
}}"""
"""The same of every step, gone through by keys."""


async def record_of(furnished: Path, match_id: str, index: int) -> dict[str, Any]:
    async with await Store.open(store_url(furnished)) as store:
        line = await store.get_record(match_id, index)
    assert line is not None
    return dict(orjson.loads(line))


def names(cards: tuple[int, ...]) -> list[str]:
    return [CARD_NAMES[card] for card in cards]


def due(hand: Hand, view: int | None, decision: dict[str, Any] | None) -> dict[str, Any]:
    """What should be drawn, by what the engine lets the viewer see; None sees everything."""
    seen = None if view is None else hand.observe(view)
    seats = []
    for seat in range(hand.rules.players):
        open_hand = seen is None or (seat == view and hand.dealt) or (seen.opened and seat == seen.digger)
        cards = names(hand.cards(seat))
        seats.append(
            {
                "seat": seat,
                "cards": cards if open_hand else [],
                "backs": len(cards) if hand.dealt and not open_hand else 0,
                "left": str(len(cards)) if hand.dealt else "–",
                "digs": seat == hand.digger,
                "lies": seat == hand.lying,
                "decides": seat == hand.turn and (view in (None, seat) or hand.phase not in HIDDEN),
                "holds": bool(hand.table) and seat == hand.holder,
            }
        )
    asked = decision is not None and view in (None, hand.turn)
    return {
        "seats": seats,
        "kitty": names(hand.deal.kitty) if view is None or hand.digger != NOBODY else [],
        "table": PLAYS[hand.table].token if hand.table and hand.result is None else None,
        "legal": hand.legal_tokens() if asked else [],
        "chosen": decision["action"] if asked and decision is not None else None,
    }


async def drawn(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = await page.evaluate(DRAWN)
    return ordered(found)


def ordered(found: dict[str, Any]) -> dict[str, Any]:
    """Seats in order, which are drawn around the table."""
    return {**found, "seats": sorted(found["seats"], key=lambda seat: int(seat["seat"]))}


@pytest.mark.parametrize(("match_id", "index"), [("m-feature", 0), ("m-four", 1), ("m-long", 3)])
async def test_what_is_drawn_is_what_the_engine_says(
    browser: Browser, site: WebServer, furnished: Path, match_id: str, index: int
) -> None:
    record = await record_of(furnished, match_id, index)
    decisions: list[Any] = [*record["decisions"], None]
    hands = [replay(record, upto=step) for step in range(len(decisions))]
    async with browser.open(f"{site.url}hands/{match_id}/{index}") as window:
        page = window.page
        for view in [None, *range(len(record["seats"]))]:
            await page.keyboard.press("a" if view is None else str(view))
            found: list[dict[str, Any]] = await page.evaluate(STEP_BY_STEP, len(decisions))
            for step, (hand, decision) in enumerate(zip(hands, decisions, strict=True)):
                assert ordered(found[step]) == {**due(hand, view, decision), "step": step}, (view, step)


async def test_it_plays_by_itself_to_the_end_and_tells_what_the_hand_came_to(
    browser: Browser, site: WebServer, furnished: Path
) -> None:
    record = await record_of(furnished, "m-feature", 0)
    near_the_end = len(record["decisions"]) - 8
    async with browser.open(f"{site.url}hands/m-feature/0#{near_the_end}") as window:
        page = window.page
        await page.locator(".speed").select_option("160")
        await page.get_by_role("button", name="Play", exact=True).click()
        await page.locator(".verdict").wait_for()
        scores = [text.split(" ")[0] for text in await page.locator(".outcome").all_inner_texts()]
        told = [f"{score:+d}".replace("-", "−") if score else "0" for score in record["result"]["scores"]]
        assert sorted(scores) == sorted(told)
        assert f"Stake {record['result']['stake']} = " in await page.locator(".verdict").inner_text()


async def test_an_address_leads_to_a_moment_and_a_point_of_view(browser: Browser, site: WebServer) -> None:
    async with browser.open(f"{site.url}hands/m-four/1#12/seat2") as window:
        page = window.page
        assert (await drawn(page))["step"] == 12
        assert await page.locator(".viewpoint").input_value() == "2"
        await page.keyboard.press("ArrowRight")
        assert page.url.endswith("#13/seat2")
        await page.locator(".moves button").nth(4).click()
        assert page.url.endswith("/seat2") and (await drawn(page))["step"] == int(page.url.split("#")[1].split("/")[0])
        await page.evaluate("location.hash = '3'")
        await page.wait_for_function("document.getElementById('replay').dataset.step === '3'")
        assert await page.locator(".viewpoint").input_value() == "-1"


async def test_a_fault_is_told_with_what_was_answered_and_leads_to_its_moment(
    browser: Browser, site: WebServer, furnished: Path
) -> None:
    record = await record_of(furnished, "m-feature", 0)
    number = next(n for n, decision in enumerate(record["decisions"]) if "fault" in decision)
    async with browser.open(f"{site.url}hands/m-feature/0/faults/{number}") as window:
        page = window.page
        assert await page.locator(".offered").inner_text() == record["decisions"][number]["offered"]
        legal = await page.locator(".tokens code").all_inner_texts()
        assert legal == replay(record, upto=number).legal_tokens()
        await page.get_by_role("link", name="in the replay").click()
        await page.locator(".fault-line").first.wait_for()
        assert (await drawn(page))["step"] == number
        assert record["decisions"][number]["offered"] in await page.locator(".question").inner_text()


# Records that are dropped ---------------------------------------------------------------------------------------------


async def test_a_dropped_record_is_checked_and_shown_and_not_kept(
    browser: Browser, site: WebServer, furnished: Path, tmp_path: Path
) -> None:
    async with await Store.open(store_url(furnished)) as store:
        lines = [line async for line in store.records("m-long")]
        before = {line.bot: line.hands for line in await store.pages.bots(most=9)}
        file = tmp_path / "records.jsonl"
        file.write_bytes(b"\n".join(lines) + b"\n")
        async with browser.open(site.url + "replay") as window:
            page = window.page
            await page.locator("#file").set_input_files(file)
            await page.locator("#shown-head", has_text="Hand 0 of m-long").wait_for()
            await page.locator("#which").select_option(index=7)
            await page.locator("#shown-head", has_text="Hand 7 of m-long").wait_for()
            record = orjson.loads(lines[7])
            assert (await drawn(page))["legal"] == replay(record, upto=0).legal_tokens()
        assert {line.bot: line.hands for line in await store.pages.bots(most=9)} == before


async def test_a_record_that_is_not_true_is_refused_with_its_reason(
    browser: Browser, site: WebServer, furnished: Path, tmp_path: Path
) -> None:
    record = await record_of(furnished, "m-feature", 0)
    record["result"]["scores"][0] += 1
    file = tmp_path / "false.jsonl"
    file.write_bytes(orjson.dumps(record, option=orjson.OPT_SORT_KEYS))
    async with browser.open(site.url + "replay") as window:
        await window.page.locator("#file").set_input_files(file)
        await window.page.locator("#problem").wait_for()
        assert "checksum: does not fit the line" in await window.page.locator("#problem").inner_text()
        assert not await window.page.locator("#replay").is_visible()
        window.said.clear()  # The browser itself tells of the answer 422.
