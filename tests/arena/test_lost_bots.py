"""Bots that die in the middle of a hand: the match ends without them, or plays on as if nothing had been."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.arena.playing import BotProcess, Told, bots, end_bot, faults, match, playing, start_bot, story, streaming
from wakeng.services.table import Decided

DEATH = 40
"""The decision at which a bot is killed: hands are in play at every table then."""


def at_decision(number: int, act: Callable[[], None]) -> Told:
    """A watcher that acts once, at that decision of the match."""
    decisions = 0

    def count(decided: Decided) -> None:
        nonlocal decisions
        decisions += 1
        if decisions == number:
            act()

    return Told(count)


def kill(bot: BotProcess, dead: asyncio.Event | None = None) -> None:
    bot.process.send_signal(signal.SIGKILL)
    if dead is not None:
        dead.set()


async def test_a_bot_killed_in_the_middle_of_a_hand_loses_its_hands_and_the_match_ends(tmp_path: Path) -> None:
    times: dict[str, Any] = {"move_ms": 200, "bank_ms": 0, "reconnect_ms": 200, "ready_ms": 30_000}
    with bots(streaming("lowest", 1)) as (victim,):
        async with playing(tmp_path) as arena:
            told = at_decision(DEATH, lambda: kill(victim))
            spec = match("greedy", victim.address, "random", hands=30, tables=10, **times)
            records = await arena.match(spec, in_process=True, watchers=[told])
    assert len(records) == 30
    found = faults(records)
    assert set(found) == {1}
    assert found[1] <= {"DISCONNECTED", "UNREACHABLE", "NOT_READY"}
    assert "DISCONNECTED" in found[1]
    escaped = [record["result"].get("escaped_seat") for record in records]
    assert set(escaped) <= {None, 1} and escaped[-1] == 1


async def test_a_bot_that_is_back_in_time_plays_on_as_if_nothing_had_been(tmp_path: Path) -> None:
    times: dict[str, Any] = {"move_ms": 30_000, "reconnect_ms": 30_000}
    names = ("greedy", "random", "lowest")
    with bots(streaming("random", 1)) as started:
        victim = started[0]
        again = streaming("random", 1, listen=victim.address)
        dead = asyncio.Event()
        async with playing(tmp_path) as arena:
            told = at_decision(DEATH, lambda: kill(victim, dead))
            spec = match(names[0], victim.address, names[2], hands=20, tables=10, **times)
            playing_on = asyncio.create_task(arena.match(spec, in_process=True, watchers=[told]))
            await dead.wait()
            await asyncio.to_thread(end_bot, victim)
            started[0] = await asyncio.to_thread(start_bot, again)
            records = await playing_on
            undisturbed = await arena.match(match(*names, hands=20, match_id="calm"), in_process=True)
    assert not faults(records)
    assert list(map(story, records)) == list(map(story, undisturbed))
    assert max(said["latency_us"] for record in records for said in record["decisions"]) > 50_000
