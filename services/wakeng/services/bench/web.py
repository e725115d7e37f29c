"""`wakeng bench web`: how soon pages come from a store of 100,000 hands, and what viewers cost the arena they watch.

The store has one large tournament and one match, written by the store's own way, so that its figures are counted as
ever. A page is asked for over HTTP, by one who has nothing in his cache.

Viewers watch the table of a match that is played as fast as the arena can, from a process of their own on the bot's
core. Their cost is told twice: by decisions a second, and by the arena's processor time for each.
"""

import asyncio
import http.client
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final

from wakeng.engine import derive
from wakeng.services.arena import MatchRun
from wakeng.services.bench.arena import _WARM_DECISIONS, Throughput
from wakeng.services.bench.child import Served, announce, served
from wakeng.services.bench.figures import Figure, Say, interleave, ratio
from wakeng.services.bench.machine import Sides
from wakeng.services.bench.playing import Match, arena, match
from wakeng.services.bench.store import played
from wakeng.services.floor import Record
from wakeng.services.settings.structs import Tls, Web
from wakeng.services.spec import MatchSpec, SeatKind, SeatSpec
from wakeng.services.store import MatchState, Store
from wakeng.services.tournament.kept import keep_from_records
from wakeng.services.tournament.run import create, get
from wakeng.services.tournament.spec_file import read_spec
from wakeng.services.web.serving import open_site

_BOTS: Final = tuple(f"bot-{letter}" for letter in "abcdefgh")
_TOURNAMENT: Final = "large"
_MATCH: Final = "long"
_MATCH_HANDS: Final = 10_000
_AT_ONCE: Final = 256

PAGES: Final[Mapping[str, str]] = {
    "home": "/",
    "tournaments": "/tournaments",
    "tournament": f"/tournaments/{_TOURNAMENT}",
    "hands_far_on": f"/tournaments/{_TOURNAMENT}?from=60000",
    "matches": "/matches",
    "match": f"/matches/{_MATCH}",
    "hand": f"/hands/{_TOURNAMENT}/150",
    "bots": "/bots",
    "bot": f"/bots/{_BOTS[0]}",
    "replay": "/replay",
    "rules": "/rules",
    "rule_set": "/rules/three_blind",
    "write_a_bot": "/write-a-bot",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much to measure, in seconds where nothing else is said."""

    hands: int = 100_000
    requests: int = 30
    rounds: int = 5
    tables: int = 512
    viewers: int = 200
    seconds: float = 6.0


QUICK: Final = Effort(hands=300, requests=2, rounds=1, tables=8, viewers=5, seconds=0.5)


async def bench_web(effort: Effort, say: Say) -> dict[str, dict[str, Any]]:
    """The sections `pages` and `viewers`."""
    return {"pages": await _pages(effort, say), "viewers": await _viewers(effort, say)}


# Pages --------------------------------------------------------------------------------------------------------------


async def _pages(effort: Effort, say: Say) -> dict[str, Any]:
    with TemporaryDirectory(prefix="wakeng-bench-") as folder:
        async with await Store.open(f"sqlite:///{Path(folder) / 'wakeng.db'}") as store:
            say(f"writing {effort.hands:,} hands")
            await furnish(store, effort.hands)
            pages = await open_site(store, Web(listen="127.0.0.1:0"), tls=Tls(), trusting=True)
            found = {}
            for name, path in PAGES.items():
                say(f"page {name}")
                times = await asyncio.to_thread(_ask, pages.address, path, effort.requests)
                found[f"{name}_p50_ms"] = round(median(times), 1)
                await asyncio.sleep(0.05 * effort.requests)  # A host may ask so often, and no oftener.
            await pages.stop()
    return {"hands": effort.hands, "requests_each": effort.requests, "slowest_p50_ms": max(found.values()), **found}


def _ask(address: str, path: str, requests: int) -> list[float]:
    """Milliseconds of each request."""
    connection = http.client.HTTPConnection(address, timeout=60)
    times = []
    for _ in range(requests):
        began = time.perf_counter()
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        times.append(1e3 * (time.perf_counter() - began))
        assert answer.status == 200, (path, answer.status)
    connection.close()
    return times


async def furnish(store: Store, hands: int) -> None:
    """A tournament of most of the hands, and a match of the rest, both over."""
    pool = played()
    of_match = min(_MATCH_HANDS, hands // 3)
    blocks = (hands - of_match) // 3
    bots = [{"name": name, "builtin": "random"} for name in _BOTS]
    spec = read_spec(
        {"name": "Large", "rules": "xian", "format": "balanced", "blocks": blocks, "bots": bots}, seed=bytes(32)
    )
    await create(store, _TOURNAMENT, spec)
    await _write(store, _of_tournament(pool, blocks))
    await keep_from_records(store, await get(store, _TOURNAMENT))
    seats = tuple(SeatSpec(SeatKind.REGISTERED, name) for name in _BOTS[:3])
    long = MatchSpec(match_id=_MATCH, rules=spec.rules, seats=seats, hands=of_match, seed=bytes(32))
    await store.create_match(
        match_id=_MATCH, spec=long.to_dict(), seed=long.seed.hex(), commitment=long.commitment, hands=of_match
    )
    await _write(store, _of_match(pool, of_match))
    for match_id in (_TOURNAMENT, _MATCH):
        await store.set_state(match_id, MatchState.RUNNING)
        await store.set_state(match_id, MatchState.FINISHED)


def _of_tournament(pool: Sequence[Record], blocks: int) -> Iterator[Record]:
    for block in range(blocks):
        first = int.from_bytes(derive(bytes(32), "line-up", block)[:2])
        line_up = [_BOTS[(first + step) % len(_BOTS)] for step in (0, 1, 3)]
        for rotation in range(3):
            index = 3 * block + rotation
            seats = [{"bot": line_up[(seat - rotation) % 3], "version": "1"} for seat in range(3)]
            place = {"tournament_id": _TOURNAMENT, "block": block, "deal": block, "rotation": rotation}
            record = pool[index % len(pool)]
            yield {**record, "match_id": _TOURNAMENT, "hand_index": index, "seats": seats, "schedule": place}


def _of_match(pool: Sequence[Record], hands: int) -> Iterator[Record]:
    seats = [{"bot": name, "version": "1"} for name in _BOTS[:3]]
    for index in range(hands):
        yield {**pool[index % len(pool)], "match_id": _MATCH, "hand_index": index, "seats": seats}


async def _write(store: Store, records: Iterator[Record]) -> None:
    batch: list[Record] = []
    for record in records:
        batch.append(record)
        if len(batch) == _AT_ONCE:
            await store.add_records(batch)
            batch = []
    await store.add_records(batch)


# Viewers ------------------------------------------------------------------------------------------------------------


class _InPlay:
    """The one match that is played here, where pages look for matches in play."""

    def __init__(self, playing: Match) -> None:
        self._playing = playing
        self.in_play = 1

    def run_of(self, match_id: str) -> MatchRun | None:
        """That one."""
        return self._playing.run if match_id == self._playing.run.spec.match_id else None


async def _viewers(effort: Effort, say: Say) -> dict[str, Any]:
    async with AsyncExitStack() as parts:
        sides = parts.enter_context(Sides())
        with sides.answering():
            bot = await parts.enter_async_context(served("bot"))
        samples = await interleave(
            {
                "alone": lambda: _watched(bot, sides, effort, viewers=0),
                "watched": lambda: _watched(bot, sides, effort, viewers=effort.viewers),
            },
            rounds=effort.rounds,
            say=say,
        )
    alone, watched = samples["alone"], samples["watched"]
    speed = ratio(*(Figure.of(one.decisions_per_s for one in found) for found in (watched, alone)))
    cost = ratio(*(Figure.of(one.arena_us for one in found) for found in (watched, alone)))
    return {
        "viewers": effort.viewers,
        "tables": effort.tables,
        "decisions_per_s": round(median(one.decisions_per_s for one in alone)),
        "decisions_per_s_watched": round(median(one.decisions_per_s for one in watched)),
        "vs_alone": round(speed.median, 3),
        "vs_alone_range": [round(value, 3) for value in speed.range],
        "cpu_vs_alone": round(cost.median, 3),
        "cpu_vs_alone_range": [round(value, 3) for value in cost.range],
    }


async def _watched(bot: Served, sides: Sides, effort: Effort, *, viewers: int) -> Throughput:
    """Play against the bot, with so many looking on; decisions a second, and the arena's time for each."""
    async with AsyncExitStack() as parts:
        made = await parts.enter_async_context(arena())
        playing = await parts.enter_async_context(match(made, bot.address, tables=effort.tables))
        pages = await open_site(
            made.store, Web(listen="127.0.0.1:0"), tls=Tls(), trusting=True, arena=made, matches=_InPlay(playing)
        )
        parts.push_async_callback(pages.stop)
        if viewers:
            path = f"/matches/{playing.run.spec.match_id}/live"
            with sides.answering():
                await parts.enter_async_context(served("viewers", address=pages.address, path=path, viewers=viewers))
        await playing.until(
            lambda: (
                playing.tables == effort.tables
                and playing.decisions() >= _WARM_DECISIONS * effort.tables
                and pages.hub.viewers == viewers
            )
        )
        before = (playing.decisions(), time.perf_counter(), time.process_time())
        await asyncio.sleep(effort.seconds)
        decisions, elapsed, arena_s = (
            late - early
            for late, early in zip((playing.decisions(), time.perf_counter(), time.process_time()), before, strict=True)
        )
    return Throughput(decisions / elapsed, 1e6 * arena_s / decisions, None)


def serve_viewers(address: str, path: str, viewers: int) -> None:
    """Be the viewers: look until standard input ends."""
    asyncio.run(_look(address, path, viewers))


async def _look(address: str, path: str, viewers: int) -> None:
    looking = [asyncio.create_task(_one(address, path)) for _ in range(viewers)]
    announce(str(viewers))
    await asyncio.to_thread(sys.stdin.read)
    for viewer in looking:
        viewer.cancel()


async def _one(address: str, path: str) -> None:
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n".encode())
    while await reader.read(1 << 16):
        pass
