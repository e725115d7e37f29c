"""The hub: news is made once for all who look, told when it changes, and ends with whatever it is about."""

from __future__ import annotations

import asyncio

import pytest

from wakeng.services.web.hub import Full, Hub, News, encoded


class Source:
    """Makes news, and counts how often."""

    def __init__(self, *, over_after: int = 10**9) -> None:
        self.made = 0
        self.text = "first"
        self.often = asyncio.Event()
        self._over_after = over_after

    async def __call__(self) -> News:
        self.made += 1
        if self.made == 20:
            self.often.set()
        return News((("board", self.text),), over=self.made >= self._over_after)


async def test_news_is_sent_as_events_line_by_line() -> None:
    news = News((("board", "one\ntwo"), ("table", "{}")), over=True)
    assert (
        encoded(news.since({}))
        == b"event: board\ndata: one\ndata: two\n\nevent: table\ndata: {}\n\nevent: over\ndata: \n\n"
    )


async def test_a_hundred_viewers_cost_one_making() -> None:
    hub, source = Hub(least_s=0.01), Source()
    viewers = [hub.follow(("a",), source) for _ in range(100)]
    first = await asyncio.gather(*(anext(viewer) for viewer in viewers))
    assert set(first) == {b"event: board\ndata: first\n\n"}
    assert source.made < 10
    assert hub.viewers == 100
    for viewer in viewers:
        await viewer.aclose()
    assert hub.viewers == 0


async def test_what_has_not_changed_is_not_told_again() -> None:
    hub, source = Hub(least_s=0.001), Source()
    viewer = hub.follow(("a",), source)
    await anext(viewer)
    following = asyncio.ensure_future(anext(viewer))
    await source.often.wait()
    assert not following.done()
    source.text = "second"
    assert await following == b"event: board\ndata: second\n\n"
    await viewer.aclose()


async def test_only_what_has_changed_is_told_and_all_of_it_to_who_comes_later() -> None:
    texts = {"progress": "1", "board": "first"}

    async def make() -> News:
        return News(tuple(texts.items()))

    hub = Hub(least_s=0.001)
    viewer = hub.follow(("a",), make)
    assert await anext(viewer) == encoded(texts)
    texts["progress"] = "2"
    assert await anext(viewer) == encoded({"progress": "2"})
    later = hub.follow(("a",), make)
    assert await anext(later) == encoded(texts)
    for one in (viewer, later):
        await one.aclose()


async def test_it_ends_when_what_it_is_about_is_over() -> None:
    hub = Hub(least_s=0.001)
    told = [news async for news in hub.follow(("a",), Source(over_after=2))]
    assert told[-1].endswith(b"event: over\ndata: \n\n")


async def test_closing_the_hub_ends_every_stream_and_lets_nobody_in() -> None:
    hub = Hub()
    viewer = hub.follow(("a",), Source())
    await anext(viewer)
    following = asyncio.ensure_future(anext(viewer))
    await asyncio.sleep(0)
    hub.close()
    with pytest.raises(StopAsyncIteration):
        await following
    with pytest.raises(Full):
        hub.check_room()


async def test_there_is_room_for_so_many_and_no_more() -> None:
    hub = Hub(most_viewers=2)
    viewers = [hub.follow(("a",), Source()) for _ in range(2)]
    for viewer in viewers:
        hub.check_room()
        await anext(viewer)
    with pytest.raises(Full):
        hub.check_room()
    for viewer in viewers:
        await viewer.aclose()


async def test_the_more_look_the_less_often_they_are_told() -> None:
    hub = Hub(most_sends=10, least_s=0.01)
    viewers = [hub.follow(("a",), Source()) for _ in range(50)]
    await asyncio.gather(*(anext(viewer) for viewer in viewers))
    assert hub.interval == 5.0
    for viewer in viewers:
        await viewer.aclose()


async def test_a_source_that_fails_ends_its_viewers_streams(caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> News:
        raise RuntimeError("away")

    assert [news async for news in Hub().follow(("a",), fail)] == []
    assert "could not be made" in caplog.text
