"""Pages that stay open: standings that change, a table in play that shows what is public and nothing else."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.arena.hosts import Host
from tests.arena.process import serve
from tests.arena.serving import Client, Served, serving
from tests.arena.tournaments import CALM, spec
from tests.web.browsing import Browser
from tests.web.test_access import ask
from wakeng.sdk import BotServer, start
from wakeng.services.settings.structs import Tls, Web
from wakeng.services.store import Store
from wakeng.services.web.serving import WebServer, open_site
from wakeng.v1 import match_pb2, rules_pb2, tournament_pb2


@asynccontextmanager
async def arena_with_pages(folder: Path) -> AsyncIterator[tuple[Served, WebServer]]:
    async with serving(folder) as served:
        server = served.server
        pages = await open_site(
            served.store,
            Web(listen="127.0.0.1:0"),
            tls=Tls(),
            trusting=True,
            arena=server.arena,
            matches=server.matches,
            tournaments=server.tournaments,
        )
        try:
            yield served, pages
        finally:
            await pages.stop()


async def begin_match(client: Client, bot: BotServer, *, hands: int = 3, preset: str = "three_feature") -> str:
    asked = match_pb2.CreateMatchRequest(
        request_id="live",
        rules=rules_pb2.RuleSet(preset=preset),
        seats=[match_pb2.SeatSpec(address=bot.address)] * 3,
        hands=hands,
        time_control=rules_pb2.TimeControl(move_ms=120_000),
    )
    made: str = (await client(client.matches.CreateMatch, asked)).match.match_id
    return made


async def look(address: str, path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A stream of news, from which the first table has come."""
    reader, writer = await asyncio.open_connection(*address.rsplit(":", 1))
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n".encode())
    await reader.readuntil(b"event: table")
    return reader, writer


async def test_the_standings_of_a_tournament_in_play_change_on_a_page_that_stays_open(
    browser: Browser, tmp_path: Path, shots: Path
) -> None:
    host = Host(decisions=600)
    async with (
        arena_with_pages(tmp_path) as (served, pages),
        await start(host) as bot,
        Client(served.address) as client,
        browser.open("") as window,
    ):
        items = [f'{{ name = "{name}", address = "{bot.address}" }}' for name in ("a<b>", "b", "c")]
        text = spec(*items, lines=(CALM,), blocks=12, tables=1)
        asked = tournament_pb2.CreateTournamentRequest(request_id="live", spec=text, tournament_id="live")
        await client(client.tournaments.CreateTournament, asked)
        await host.reached.wait()
        page = window.page
        await page.goto(pages.url + "tournaments/live")
        await page.locator(".standings").wait_for()
        before = await page.locator(".progress-line").inner_text()
        standings = await page.locator(".standings tbody").inner_text()
        assert "running" in before and "block 12 " not in before
        await page.evaluate("window.stayed = true")
        await page.set_viewport_size({"width": 390, "height": 844})
        await page.evaluate("document.querySelector('.scroll').scrollLeft = 90")
        await page.evaluate("document.querySelector('.standings a[href=\"/bots/b\"]').focus({ preventScroll: true })")
        host.open.set()
        await page.locator(".progress-line", has_text="block 12 of 12").wait_for()
        await page.locator(".progress-line", has_text="finished").wait_for()
        assert await page.locator(".standings tbody tr").count() == 3
        assert await page.locator(".standings tbody").inner_text() != standings
        blocks = await page.locator(".standings tbody tr td:nth-child(5)").all_inner_texts()
        assert blocks == ["12", "12", "12"]
        assert await page.locator("figure.chart canvas").count() == 1
        assert await page.evaluate("window.stayed")
        assert await page.evaluate("document.querySelector('.scroll').scrollLeft") == 90
        assert await page.evaluate("document.activeElement.getAttribute('href')") == "/bots/b"
        await page.locator("#rest", has_text="told when it is over").wait_for(state="hidden")
        assert await page.locator("#hands tbody tr").count() == 25
        await page.set_viewport_size({"width": 1280, "height": 860})
        await page.screenshot(path=shots / "live-tournament.png", full_page=True)


async def test_a_table_in_play_shows_what_is_public_and_nothing_else(
    browser: Browser, tmp_path: Path, shots: Path
) -> None:
    host = Host(decisions=30)
    async with (
        arena_with_pages(tmp_path) as (served, pages),
        await start(host) as bot,
        Client(served.address) as client,
        browser.open("") as window,
    ):
        match_id = await begin_match(client, bot)
        await host.reached.wait()
        page = window.page
        await page.goto(f"{pages.url}matches/{match_id}/table")
        await page.locator(".seat").first.wait_for()
        run = served.server.matches.run_of(match_id)
        assert run is not None and run.runner is not None
        hands = {table.spec.hand_index: table.hand for table in run.runner.floor.tables}
        hand = hands[min(hands)]
        assert await page.locator(".held [data-card]").count() == 0
        counts = [int(text) for text in await page.locator(".left").all_inner_texts()]
        assert sorted(counts) == sorted(hand.observe(0).cards_left)
        await page.screenshot(path=shots / "live-table.png", full_page=True)
        assert await page.locator("#live-state").inner_text() == f"Hand {min(hands)}"
        await window.check_access()
        host.open.set()
        await page.locator("#board", has_text="finished").wait_for()
        assert await page.locator("#live-state", has_text="The match is over").count() == 1
        assert "hand 3 of 3" in await page.locator("#board").inner_text()


async def test_many_who_watch_one_table_are_told_the_same(tmp_path: Path) -> None:
    host = Host(decisions=20)
    async with (
        arena_with_pages(tmp_path) as (served, pages),
        await start(host) as bot,
        Client(served.address) as client,
    ):
        match_id = await begin_match(client, bot, hands=1)
        await host.reached.wait()
        watching = [await look(pages.address, f"/matches/{match_id}/live") for _ in range(8)]
        host.open.set()
        told = await asyncio.gather(*(reader.read() for reader, _ in watching))
        for _, writer in watching:
            writer.close()
        ends = {body[body.rindex(b"event: board") :] for body in told}
    assert len(ends) == 1
    assert b"event: over" in ends.pop()


async def test_an_arena_that_stops_ends_the_streams_of_its_pages(tmp_path: Path) -> None:
    host = Host(decisions=20)
    async with (
        arena_with_pages(tmp_path) as (served, pages),
        await start(host) as bot,
        Client(served.address) as client,
    ):
        match_id = await begin_match(client, bot)
        await host.reached.wait()
        reader, writer = await look(pages.address, f"/matches/{match_id}/live")
        await pages.stop()
        assert (await reader.read()).endswith(b"0\r\n\r\n")
        writer.close()
        host.open.set()


async def test_sigterm_lets_the_hands_in_play_end_and_then_the_streams_that_show_them(tmp_path: Path) -> None:
    (tmp_path / "arena.toml").write_text('[web]\nlisten = "127.0.0.1:0"\n', "utf-8")
    host = Host(decisions=20)
    with serve(tmp_path, "--config", str(tmp_path / "arena.toml"), "--grace", "60") as served:
        process = served.process
        assert process.stdout is not None
        address = process.stdout.readline().removeprefix("pages on http://").rstrip("/\n")
        home = await ask(f"http://{address}/")
        assert home.status == 200 and b"tables in play" in home.body
        async with await start(host) as bot, Client(served.address) as client:
            match_id = await begin_match(client, bot, hands=1)
            await host.reached.wait()
            viewers = [await look(address, f"/matches/{match_id}/live") for _ in range(3)]
            process.send_signal(signal.SIGTERM)
            host.open.set()
            told = [await reader.read() for reader, _ in viewers]
            for _, writer in viewers:
                writer.close()
            assert await asyncio.to_thread(process.wait, 60) == 0
        assert all(body.endswith(b"0\r\n\r\n") for body in told)
    async with await Store.open(served.db) as store:
        assert await store.get_record(match_id, 0) is not None
