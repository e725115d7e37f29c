"""A tournament on a running arena: asked for, followed to its end, and told like one that was played here."""

import asyncio
import secrets
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256

import click

from wakeng.services.commands.arena_client import ArenaClient, ArenaOptions
from wakeng.services.commands.common import Refused
from wakeng.services.commands.interrupts import INTERRUPTED
from wakeng.services.commands.tournament_board import Board
from wakeng.services.commands.tournament_tell import details, print_json, tell_standings
from wakeng.services.commands.tournaments import OfArena
from wakeng.services.tournament.messages import standings_dict, state_word
from wakeng.v1 import tournament_pb2


async def run_text(
    text: str, arena: ArenaOptions, *, tournament_id: str | None, seed: bytes | None, as_json: bool
) -> int:
    """Play the tournament of a TOML text there, or go on with it; the command's exit status."""
    request = tournament_pb2.CreateTournamentRequest(
        # Under a given id the request is the same each time, and so finds the tournament that it made before.
        request_id=sha256(f"run {tournament_id}".encode()).hexdigest() if tournament_id else secrets.token_hex(16),
        spec=text,
        tournament_id=tournament_id,
        seed=seed.hex() if seed else None,
    )
    async with ArenaClient(arena) as client:
        there = OfArena(client)
        try:
            made = await there.create(request)
        except Refused as problem:
            if problem.message.startswith(("request_id:", "tournament_id:")):
                raise Refused(f"{tournament_id} is another tournament there; take another --id") from None
            raise
        return await _follow_on(there, made.tournament_id, arena, as_json=as_json)


async def resume(tournament_id: str, arena: ArenaOptions, *, as_json: bool) -> int:
    """Go on with a tournament there; the command's exit status."""
    async with ArenaClient(arena) as client:
        return await _follow_on(OfArena(client), tournament_id, arena, as_json=as_json)


async def _follow_on(there: OfArena, tournament_id: str, arena: ArenaOptions, *, as_json: bool) -> int:
    """Have it played if it is not, follow it, and tell how it went."""
    began = time.monotonic()
    tournament = await there.resume(tournament_id)
    paused = False
    try:
        with _pausing(there, tournament_id):
            await _follow(there, tournament)
    except _Paused:
        paused = True
    tournament, standings = await there.standings(tournament_id)
    state = state_word(tournament)
    if state in ("FAILED", "CANCELLED"):
        raise Refused(f"the tournament {tournament_id} was {state.lower()} in the arena: {tournament.reason}")
    if as_json:
        complete, seconds = state == "FINISHED", round(time.monotonic() - began, 3)
        print_json({**details(tournament), "complete": complete, "standings": standings, "seconds": seconds})
    else:
        tell_standings(tournament, standings)
        click.echo(f"tournament {tournament_id}   arena {arena.address}")
    if not paused:
        return 0
    click.echo(f"paused; go on with: wakeng tournament resume {tournament_id} --arena {arena.address}", err=True)
    return INTERRUPTED


class _Paused(Exception):
    """It does not go on: somebody has paused it."""


async def _follow(there: OfArena, tournament: tournament_pb2.Tournament) -> None:
    """Watch the tournament to its end, with its progress on a terminal; _Paused if it does not get there."""
    planned = tournament.planned_blocks if tournament.HasField("planned_blocks") else None
    last = tournament
    try:
        with Board(planned=planned) as board:
            async for news in there.watch(tournament.tournament_id):
                last = news.tournament
                standings = standings_dict(news.standings) if news.HasField("standings") else None
                board.update(prefix=last.prefix, hands=last.hands_recorded, standings=standings)
    except Refused as problem:
        last = await there.get(tournament.tournament_id)
        if state_word(last) == "PAUSED":
            raise _Paused from None
        raise Refused(f"{problem}; the tournament {tournament.tournament_id} may go on there") from None


@contextmanager
def _pausing(there: OfArena, tournament_id: str) -> Iterator[None]:
    """The first Ctrl-C pauses the tournament, whose hands in play are waited for; the second ends the command."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None
    pausing: list[asyncio.Task[None]] = []

    async def pause() -> None:
        try:
            await there.pause(tournament_id)
        except Refused as problem:
            click.echo(problem.message, err=True)

    def interrupt() -> None:
        if pausing:
            task.cancel()
            return
        click.echo("pausing the tournament; Ctrl-C again to leave at once", err=True)
        pausing.append(loop.create_task(pause()))

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupt)
    try:
        yield
    except asyncio.CancelledError:
        raise SystemExit(INTERRUPTED) from None
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
