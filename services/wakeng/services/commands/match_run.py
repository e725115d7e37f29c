"""One match from the command line: its parts set up, its progress shown, its outcome told."""

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click
import orjson
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from wakeng.services.arena import Arena, MatchRun
from wakeng.services.commands.bot_tls import BotTlsFactory
from wakeng.services.commands.interrupts import INTERRUPTED, finishing
from wakeng.services.commands.record_file import OrderedRecordFile
from wakeng.services.journal import Journal
from wakeng.services.metrics import Metrics
from wakeng.services.seating import BotTls
from wakeng.services.spec import MatchSpec
from wakeng.services.store import MatchState, Store
from wakeng.services.tally import SeatTally, Tally

_REFRESH_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class Outcome:
    """A match that is over, or was broken off."""

    spec: MatchSpec
    tally: Tally
    seconds: float
    db: str | None
    """None, like the journal, where they are a running arena's own."""
    journal: Path | None
    records: Path | None
    not_ready: dict[int, str]

    @property
    def complete(self) -> bool:
        """Whether every hand was played."""
        return self.tally.hands == self.spec.hands


async def run(
    spec: MatchSpec,
    *,
    db: str,
    records: Path | None,
    journal: Path,
    in_process: bool,
    bots_tls: BotTlsFactory | None,
    as_json: bool,
) -> int:
    """Play the match and print how it went; the command's exit status."""
    tls = bots_tls() if bots_tls is not None else None
    outcome = await play(spec, db=db, records=records, journal=journal, in_process=in_process, tls=tls)
    return say(outcome, as_json=as_json)


def say(outcome: Outcome, *, as_json: bool) -> int:
    """Print how it went; the command's exit status."""
    if as_json:
        click.echo(orjson.dumps(to_dict(outcome), option=orjson.OPT_INDENT_2).decode())
    else:
        tell(outcome)
    return 0 if outcome.complete else INTERRUPTED


async def play(
    spec: MatchSpec, *, db: str, records: Path | None, journal: Path, in_process: bool, tls: BotTls | None = None
) -> Outcome:
    """Play the match with a store, a journal and a record file of its own, showing progress on a terminal."""
    async with AsyncExitStack() as parts:
        store = await parts.enter_async_context(await Store.open(db))
        log = parts.enter_context(Journal.open(journal))
        file = parts.enter_context(OrderedRecordFile(records)) if records else None
        arena = Arena(store=store, journal=log, metrics=Metrics(), tls=tls)
        parts.callback(arena.close)
        run_ = MatchRun(arena, spec, in_process=in_process, on_record=file.put if file else lambda record: None)
        await store.create_match(
            match_id=spec.match_id,
            spec=spec.to_dict(),
            seed=spec.seed.hex(),
            commitment=spec.commitment,
            hands=spec.hands,
        )
        began = time.monotonic()
        await _with_progress(run_)
        if run_.tally.hands < spec.hands:
            await store.set_state(spec.match_id, MatchState.CANCELLED, reason="interrupted")
        seconds = time.monotonic() - began
        not_ready = {place: chair.not_ready for place, chair in enumerate(run_.chairs) if chair.not_ready}
    return Outcome(spec, run_.tally, seconds, db, journal, records, not_ready)


async def _with_progress(run_: MatchRun) -> None:
    """Play to the end, or until it is interrupted."""
    playing = asyncio.create_task(run_.play())
    with finishing(run_, playing):
        await _show_progress(run_, playing)
        await playing


async def _show_progress(run_: MatchRun, playing: "asyncio.Task[Tally]") -> None:
    console = Console(stderr=True)
    if not console.is_terminal:
        await asyncio.wait([playing])
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("starting the bots", total=run_.spec.hands, speed="")
        began = time.monotonic()
        while not playing.done():
            await asyncio.wait([playing], timeout=_REFRESH_S)
            speed = run_.tally.decisions / (time.monotonic() - began)
            doing = "playing" if run_.runner else "starting the bots"
            progress.update(task, completed=run_.tally.hands, description=doing, speed=f"{speed:,.0f} decisions/s")


def to_dict(outcome: Outcome) -> dict[str, Any]:
    """The outcome for machines."""
    spec, tally = outcome.spec, outcome.tally
    return {
        "match_id": spec.match_id,
        "rules": spec.rules.to_dict(),
        "seed": spec.seed.hex(),
        "commitment": spec.commitment,
        "hands": tally.hands,
        "complete": outcome.complete,
        "seats": [
            {
                "bot": seat.bot,
                **of_seat.to_dict(),
                **({"not_ready": outcome.not_ready[i]} if i in outcome.not_ready else {}),
            }
            for i, (seat, of_seat) in enumerate(zip(spec.seats, tally.seats, strict=True))
        ],
        "decisions": tally.decisions,
        "seconds": round(outcome.seconds, 3),
        "decisions_per_s": round(tally.decisions / outcome.seconds) if outcome.seconds else None,
        "db": outcome.db,
        "journal": str(outcome.journal) if outcome.journal else None,
        "records": str(outcome.records) if outcome.records else None,
    }


def tell(outcome: Outcome) -> None:
    """The outcome for people."""
    spec, tally = outcome.spec, outcome.tally
    console = Console(markup=False, highlight=False, emoji=False)
    state = "" if outcome.complete else f" of {spec.hands:,}; interrupted, what was played is kept"
    console.print(f"{spec.rules.preset}: {tally.hands:,} hands{state}")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("seat", "bot", "score", "a hand", "as digger", "defender", "moves", "p50", "p99"):
        is_bot = name == "bot"  # The only one that gives way where the terminal is narrow.
        table.add_column(name, justify="left" if is_bot else "right", no_wrap=not is_bot, overflow="fold")
    for i, (seat, of_seat) in enumerate(zip(spec.seats, tally.seats, strict=True)):
        table.add_row(str(i), seat.bot, *_row(of_seat, tally.hands))
    console.print(table)
    for i, of_seat in enumerate(tally.seats):
        if of_seat.faults:
            console.print(f"seat {i}'s faults: {_faults(of_seat)}", soft_wrap=True)
    for i, reason in outcome.not_ready.items():
        console.print(f"seat {i} was not ready: {reason}")
    speed = tally.decisions / outcome.seconds if outcome.seconds else 0
    console.print(f"{tally.decisions:,} decisions in {outcome.seconds:.1f} s, {speed:,.0f} a second")
    console.print(f"match    {spec.match_id}   seed {spec.seed.hex()}", soft_wrap=True)
    if outcome.db:
        console.print(f"store    {outcome.db}", soft_wrap=True)
    if outcome.journal:
        console.print(f"journal  {outcome.journal}", soft_wrap=True)
    if outcome.records:
        console.print(f"records  {outcome.records}   (wakeng verify, wakeng show)", soft_wrap=True)


def _faults(seat: SeatTally) -> str:
    faults = ", ".join(f"{fault} {count:,}" for fault, count in sorted(seat.faults.items()))
    return f"{faults}; it left {seat.escapes:,} hands" if seat.escapes else faults


def _row(seat: SeatTally, hands: int) -> tuple[str, ...]:
    return (
        f"{seat.score:+,}",
        f"{seat.score / hands:+.2f}" if hands else "-",
        f"{seat.won_as_digger}/{seat.as_digger}",
        f"{seat.won_as_defender}/{seat.as_defender}",
        f"{seat.decisions:,}",
        _time(seat.latencies.percentile(50)),
        _time(seat.latencies.percentile(99)),
    )


def _time(microseconds: int | None) -> str:
    if microseconds is None:
        return "-"
    return f"{microseconds} us" if microseconds < 10_000 else f"{microseconds / 1000:,.0f} ms"
