"""A tournament played by a command: made or taken up again, its progress shown, its standings told."""

import asyncio
import secrets
import shlex
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from wakeng.services.arena import Arena
from wakeng.services.commands.bot_tls import BotTlsFactory
from wakeng.services.commands.common import Refused, journal_file
from wakeng.services.commands.interrupts import INTERRUPTED, finishing
from wakeng.services.commands.local_arena import local_arena
from wakeng.services.commands.tournament_board import Board
from wakeng.services.commands.tournament_tell import details, print_json, tell_failed, tell_standings
from wakeng.services.errors import UnknownMatch
from wakeng.services.spec import SpecError
from wakeng.services.store import BlockAttempts, MatchState, Store
from wakeng.services.store.rows import plain_spec
from wakeng.services.tournament.entry import check_id, read_tournament
from wakeng.services.tournament.live import LiveStandings
from wakeng.services.tournament.messages import tournament_message
from wakeng.services.tournament.run import Stored, TournamentRun, create, get, standings_now
from wakeng.services.tournament.spec import TournamentSpec
from wakeng.services.tournament.statistics import Standings
from wakeng.services.workers.connection import NatsOptions
from wakeng.services.workers.coordinator import Workers
from wakeng.v1 import tournament_pb2

_REFRESH_S: Final = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Local:
    """Where and how a command plays."""

    db: str
    journal: Path | None
    in_process: bool
    bots_tls: BotTlsFactory | None
    as_json: bool
    nats: NatsOptions | None = None
    """Where workers are told of it; None where this command plays."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A tournament that is over, or was broken off."""

    tournament: Stored
    standings: Standings
    hands_recorded: int
    not_ready: Mapping[str, str]
    seconds: float
    attempts: Sequence[BlockAttempts] = ()
    """Of blocks that workers failed at."""

    @property
    def complete(self) -> bool:
        """Whether it is over."""
        return self.tournament.row.state is MatchState.FINISHED

    def message(self) -> tournament_pb2.Tournament:
        """The tournament as it stands."""
        return tournament_message(
            self.tournament,
            hands_recorded=self.hands_recorded,
            prefix=self.standings.prefix,
            attempts=self.attempts,
        )


async def run_text(text: str, local: Local, *, tournament_id: str | None, seed: bytes | None) -> int:
    """Play the tournament of a TOML text, or go on with it; the command's exit status."""
    async with await Store.open(local.db) as store:
        tournament = await _take(store, text, tournament_id=tournament_id, seed=seed)
        return _say(await play(store, tournament, local), local)


async def resume(tournament_id: str, local: Local) -> int:
    """Go on with a tournament; the command's exit status."""
    async with await Store.open(local.db) as store:
        return _say(await play(store, await get(store, tournament_id), local), local)


async def _take(store: Store, text: str, *, tournament_id: str | None, seed: bytes | None) -> Stored:
    """The tournament of a text: as it is stored under the id, or a new one."""
    known = await _known(store, tournament_id)
    drawn = seed or (known.spec.seed if known else secrets.token_bytes(32))
    spec = await read_tournament(text, drawn_seed=drawn, store=store, dial_in=False)
    if seed is not None and spec.seed != seed:
        raise SpecError("seed", "the file has another than --seed")
    if known is not None:
        _check_same(known, spec)
        return known
    made, _ = await create(store, tournament_id or f"t{secrets.token_hex(8)}", spec)
    return made


async def _known(store: Store, tournament_id: str | None) -> Stored | None:
    if tournament_id is None:
        return None
    try:
        return await get(store, check_id(tournament_id))
    except UnknownMatch as problem:
        if "is a match" in str(problem):
            raise
        return None


def _check_same(known: Stored, spec: TournamentSpec) -> None:
    """An id stands for one tournament for ever."""
    old, new = known.spec.to_dict(), spec.to_dict()
    differing = [name for name in {**old, **new} if plain_spec({"": old.get(name)}) != plain_spec({"": new.get(name)})]
    if known.spec.seed != spec.seed:
        differing.append("seed")
    if differing:
        raise Refused(f"{known.id} is another tournament: {', '.join(differing)} differ; take another --id")


def check_resumable(tournament: Stored) -> None:
    """Refused where a command may not play it."""
    row = tournament.row
    if row.spec.get("origin") is not None:
        raise Refused(f"{tournament.id} is played by an arena, which alone may go on with it or end it (--arena)")
    if row.state in (MatchState.CANCELLED, MatchState.FAILED):
        raise Refused(f"{tournament.id} was {row.state.value.lower()} for good: {row.reason or 'no reason given'}")


async def play(store: Store, tournament: Stored, local: Local, *, table: bool = True) -> Outcome:
    """Play a tournament on, with its progress on a terminal; one that is over is only looked at."""
    check_resumable(tournament)
    not_ready: dict[str, str] = {}
    began = time.monotonic()
    if tournament.row.state is not MatchState.FINISHED:
        async with (
            local_arena(store, journal_file(local.journal, tournament.id), local.bots_tls) as arena,
            _workers(arena, local.nats) as workers,
        ):
            run = TournamentRun(arena, tournament, in_process=local.in_process, elsewhere=workers)
            await _with_progress(run, table=table)
            names = [bot.name for bot in run.spec.bots]
            not_ready = {
                name: chair.not_ready for name, chair in zip(names, run.chairs, strict=False) if chair.not_ready
            }
    seconds = time.monotonic() - began
    tournament = await get(store, tournament.id)
    standings = await standings_now(store, tournament)
    recorded, attempts = await store.count_hands(tournament.id), await store.attempts.list(tournament.id)
    return Outcome(tournament, standings, recorded, not_ready, seconds, attempts)


@asynccontextmanager
async def _workers(arena: Arena, nats: NatsOptions | None) -> AsyncIterator[Workers | None]:
    """The workers at NATS, None where there is to be none."""
    if nats is None:
        yield None
        return
    workers = await Workers.open(nats, store=arena.store, journal=arena.journal)
    try:
        yield workers
    finally:
        await workers.close()


async def _with_progress(run: TournamentRun, *, table: bool) -> None:
    """Play to the end, or until it is interrupted."""
    playing = asyncio.create_task(run.play())
    board = Board(planned=run.spec.planned_blocks, table=table)
    with finishing(run, playing):
        with board:
            await _show(run, playing, board)
        await playing


async def _show(run: TournamentRun, playing: "asyncio.Task[Standings]", board: Board) -> None:
    if not board.shown:
        await asyncio.wait([playing])
        return
    live = LiveStandings(run)
    while not playing.done():
        await asyncio.wait([playing], timeout=_REFRESH_S)
        if run.runner is not None:
            standings = await live.get()
            told = None if standings is None else standings.to_dict()
            doing = "finishing" if run.stopping else "playing"
            board.update(prefix=run.runner.progress.prefix, hands=run.hands, standings=told, doing=doing)


def _say(outcome: Outcome, local: Local) -> int:
    """Print how it went; the command's exit status."""
    if local.as_json:
        print_json(to_dict(outcome))
    else:
        message = outcome.message()
        tell_standings(message, outcome.standings.to_dict())
        tell_failed(message)
        for name, reason in outcome.not_ready.items():
            click.echo(f"{name} was not ready: {reason}")
        click.echo(f"tournament {outcome.tournament.id}   store {local.db}")
    return finish(outcome, local)


def to_dict(outcome: Outcome) -> dict[str, Any]:
    """The outcome for machines."""
    return {
        **details(outcome.message()),
        "complete": outcome.complete,
        "standings": outcome.standings.to_dict(),
        "not_ready": dict(outcome.not_ready),
        "seconds": round(outcome.seconds, 3),
    }


def finish(outcome: Outcome, local: Local) -> int:
    """The exit status; one that can go on is told how."""
    if outcome.complete:
        return 0
    again = f"wakeng tournament resume {outcome.tournament.id} --db {shlex.quote(local.db)}"
    click.echo(f"interrupted; go on with: {again}", err=True)
    return INTERRUPTED
