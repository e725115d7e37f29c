"""One match on a running arena: asked for, followed to its end, and told like one that was played here."""

import asyncio
import secrets
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import click
import orjson
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from wakeng.bots import BUILTIN_BOTS
from wakeng.sdk.wire import rules_message
from wakeng.services.commands.arena_client import ArenaClient, ArenaOptions
from wakeng.services.commands.common import Refused
from wakeng.services.commands.interrupts import INTERRUPTED
from wakeng.services.commands.match_run import Outcome, say
from wakeng.services.commands.record_file import OrderedRecordFile
from wakeng.services.gist import Gist
from wakeng.services.spec import MatchSpec, SeatKind, SeatSpec
from wakeng.services.tally import Tally
from wakeng.v1 import match_pb2, rules_pb2

_FIELDS: Final = {SeatKind.ADDRESS: "address", SeatKind.BUILTIN: "builtin"}


async def run_remote(spec: MatchSpec, arena: ArenaOptions, *, drawn: bool, records: Path | None, as_json: bool) -> int:
    """Play a match there and print how it went; with `drawn` the arena draws the seed, not the spec."""
    async with ArenaClient(arena) as client:
        began = time.monotonic()
        match = await _create(client, spec, drawn=drawn)
        with _cancelling(client, match.match_id):
            await _follow(client, match)
        seconds = time.monotonic() - began
        match = await _get(client, match.match_id)
        tally = await _tally(client, match, players=spec.rules.players, records=records)
    if match.state == match_pb2.MATCH_STATE_FAILED:
        raise Refused(f"the match {match.match_id} failed in the arena: {match.reason}")
    played = replace(spec, match_id=match.match_id, seed=bytes.fromhex(match.seed))
    return say(Outcome(played, tally, seconds, None, None, records, {}), as_json=as_json)


def request_of(spec: MatchSpec, *, drawn: bool) -> match_pb2.CreateMatchRequest:
    """What asks an arena for the match."""
    return match_pb2.CreateMatchRequest(
        request_id=secrets.token_hex(16),
        rules=rules_message(spec.rules),
        seats=map(_seat, spec.seats),
        hands=spec.hands,
        seed=None if drawn else spec.seed.hex(),
        time_control=rules_pb2.TimeControl(**spec.time_control.to_dict()),
        tables=spec.tables,
    )


def _seat(seat: SeatSpec) -> match_pb2.SeatSpec:
    """A name that no built-in bot has is a registered bot's; only the arena knows those."""
    field = _FIELDS.get(seat.kind, "registered")
    if field == "builtin" and seat.bot not in BUILTIN_BOTS:
        field = "registered"
    return match_pb2.SeatSpec(**{field: seat.bot})


async def _create(client: ArenaClient, spec: MatchSpec, *, drawn: bool) -> match_pb2.Match:
    answer: match_pb2.CreateMatchResponse = await client.call(client.matches.CreateMatch, request_of(spec, drawn=drawn))
    return answer.match


async def _get(client: ArenaClient, match_id: str) -> match_pb2.Match:
    answer: match_pb2.GetMatchResponse = await client.call(
        client.matches.GetMatch, match_pb2.GetMatchRequest(match_id=match_id)
    )
    return answer.match


async def _follow(client: ArenaClient, match: match_pb2.Match) -> None:
    """Watch the match to its end, with its progress on a terminal."""
    request = match_pb2.WatchMatchRequest(match_id=match.match_id)
    events: AsyncIterator[match_pb2.WatchMatchResponse] = client.stream(client.matches.WatchMatch, request)
    columns = (TextColumn("playing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("playing", total=match.hands)
        try:
            async for told in events:
                if told.event.HasField("hand_ended"):
                    progress.advance(task)
        except Refused as problem:
            raise Refused(f"{problem}; the match {match.match_id} may go on there") from None


@contextmanager
def _cancelling(client: ArenaClient, match_id: str) -> Iterator[None]:
    """The first Ctrl-C cancels the match, whose end is then waited for; the second ends the command."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None
    request = match_pb2.CancelMatchRequest(match_id=match_id, reason="cancelled by who asked for it")
    cancelling: list[asyncio.Task[object]] = []

    def interrupt() -> None:
        if cancelling:
            task.cancel()
            return
        click.echo("cancelling the match; Ctrl-C again to leave at once", err=True)
        cancelling.append(loop.create_task(client.call(client.matches.CancelMatch, request)))

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupt)
    try:
        yield
    except asyncio.CancelledError:
        raise SystemExit(INTERRUPTED) from None
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


async def _tally(client: ArenaClient, match: match_pb2.Match, *, players: int, records: Path | None) -> Tally:
    """What the records come to, which also go to a file where one is asked for."""
    tally = Tally(players)
    file = OrderedRecordFile(records) if records else None
    try:
        request = match_pb2.ListHandRecordsRequest(match_id=match.match_id)
        lines: AsyncIterator[match_pb2.ListHandRecordsResponse] = client.stream(client.matches.ListHandRecords, request)
        async for answer in lines:
            record = orjson.loads(answer.line)
            tally.add(Gist.of(record))
            if file is not None:
                file.put(record)
    finally:
        if file is not None:
            file.close()
    return tally
