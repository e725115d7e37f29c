"""Tournaments and their standings told to people, and as plain values to machines."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import click
import orjson
from google.protobuf.timestamp_pb2 import Timestamp
from rich.console import Console
from rich.table import Table

from wakeng.services.tournament.messages import state_word
from wakeng.services.tournament.spec import TournamentSpec
from wakeng.v1 import tournament_pb2

Standings = Mapping[str, Any]
"""As `Standings.to_dict` of the statistics has it, wherever they come from."""

_COLUMNS: Final = ("rank", "bot", "F", "interval", "blocks", "escapes", "lost", "faults")
_LEFT: Final = ("bot", "faults")


def print_json(value: Any) -> None:
    """One document on standard output."""
    click.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())


def console() -> Console:
    """Standard output, where nothing of a bot's name means anything."""
    return Console(markup=False, highlight=False, emoji=False)


# A tournament ---------------------------------------------------------------------------------------------------------


def summary(tournament: tournament_pb2.Tournament) -> dict[str, Any]:
    """One line of a list, for machines."""
    return {
        "tournament_id": tournament.tournament_id,
        "name": tournament.name,
        "state": state_word(tournament),
        "format": tournament.format,
        "bots": [bot.name for bot in tournament.bots],
        "planned_blocks": tournament.planned_blocks if tournament.HasField("planned_blocks") else None,
        "hands_recorded": tournament.hands_recorded,
        "created_at": tournament.create_time.ToJsonString(),
        "finished_at": tournament.finish_time.ToJsonString() if tournament.HasField("finish_time") else None,
        "reason": tournament.reason if tournament.HasField("reason") else None,
    }


def details(tournament: tournament_pb2.Tournament) -> dict[str, Any]:
    """All of it but the standings, for machines."""
    return {
        **summary(tournament),
        "prefix": tournament.prefix,
        "failed_blocks": [
            {"block": one.block, "failures": one.failures, "given_up": one.given_up, "reason": one.reason}
            for one in tournament.failed_blocks
        ],
        "hands_per_block": tournament.hands_per_block,
        "seed_commitment": tournament.commitment,
        "seed": tournament.seed if tournament.HasField("seed") else None,
        "spec": orjson.loads(tournament.spec),
    }


def tell_list(tournaments: Iterable[tournament_pb2.Tournament]) -> None:
    """A table, newest first."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for header in ("tournament", "name", "state", "format", "bots", "blocks", "hands", "created (UTC)"):
        table.add_column(header, justify="right" if header in ("bots", "blocks", "hands") else "left", overflow="fold")
    for one in tournaments:
        planned = f"{one.planned_blocks:,}" if one.HasField("planned_blocks") else "no end"
        hands, state = f"{one.hands_recorded:,}", state_word(one).lower()
        created = f"{one.create_time.ToDatetime():%Y-%m-%d %H:%M}"
        table.add_row(one.tournament_id, one.name, state, one.format, str(len(one.bots)), planned, hands, created)
    console().print(table)


def tell_tournament(tournament: tournament_pb2.Tournament) -> None:
    """What it is, and how far."""
    out = console()
    out.print(headline(tournament), soft_wrap=True)
    for bot in tournament.bots:
        kind = bot.seat.WhichOneof("player") or ""
        out.print(f"  {bot.name}: {kind} {getattr(bot.seat, kind, '')}", soft_wrap=True)
    tell_failed(tournament)
    out.print(f"created   {_time(tournament.create_time)}")
    if tournament.HasField("finish_time"):
        out.print(f"ended     {_time(tournament.finish_time)}")
    out.print(f"seed commitment  {tournament.commitment}", soft_wrap=True)
    if tournament.HasField("seed"):
        out.print(f"seed             {tournament.seed}", soft_wrap=True)


def tell_failed(tournament: tournament_pb2.Tournament) -> None:
    """The blocks that workers failed at."""
    for failed in tournament.failed_blocks:
        console().print(f"block {failed.block} {_failed(failed)}", soft_wrap=True)


def _failed(block: tournament_pb2.FailedBlock) -> str:
    if block.given_up:
        return f"was given up and is struck off for all: {block.reason}"
    return f"failed {block.failures} times and is tried again, last: {block.reason}"


def spec_of(tournament: tournament_pb2.Tournament) -> TournamentSpec:
    """Its spec, on no seed: that is told apart."""
    return TournamentSpec.from_dict(orjson.loads(tournament.spec), seed=bytes(32))


def headline(tournament: tournament_pb2.Tournament) -> str:
    """Which tournament, and how far it is."""
    of = f" of {tournament.planned_blocks:,}" if tournament.HasField("planned_blocks") else ""
    why = f" ({tournament.reason})" if tournament.reason else ""
    return (
        f"{tournament.name}: {tournament.format}, {tournament.rules.preset}, {len(tournament.bots)} bots; "
        f"{state_word(tournament).lower()}{why}, {tournament.prefix:,}{of} blocks complete"
    )


def _time(stamp: Timestamp) -> str:
    return f"{stamp.ToDatetime():%Y-%m-%d %H:%M:%S} UTC"


# Standings ------------------------------------------------------------------------------------------------------------


def tell_standings(tournament: tournament_pb2.Tournament, standings: Standings) -> None:
    """The standings with all that must be known to believe them."""
    out = console()
    out.print(headline(tournament), soft_wrap=True)
    for table in standings_tables(standings):
        out.print(table)
    for line in remarks(standings, spec_of(tournament)):
        out.print(line, soft_wrap=True)
    if tournament.HasField("seed"):
        out.print(f"seed             {tournament.seed}", soft_wrap=True)


def standings_tables(standings: Standings) -> Iterator[Table]:
    """A table for each group of bots that meet each other."""
    for rows in standings["groups"]:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for name in _COLUMNS:
            left = name in _LEFT
            table.add_column(name, justify="left" if left else "right", overflow="fold", no_wrap=not left)
        tied = False
        for row in rows:
            table.add_row(*_cells(row, tied=tied))
            tied = bool(row["tied_with_next"])
        yield table


def _cells(row: Mapping[str, Any], *, tied: bool) -> Sequence[str]:
    faults = ", ".join(f"{fault} {count}" for fault, count in sorted(row["faults"].items()))
    return (
        f"{row['rank']}{'=' if tied else ' '}",
        row["bot"],
        "-" if row["f"] is None else f"{row['f']:+.3f}",
        interval(row),
        f"{row['blocks']:,}",
        str(row["escapes"]),
        f"{row['points_lost_by_escapes']:g}",
        faults or "-",
    )


def interval(row: Mapping[str, Any]) -> str:
    """A bot's interval, or why it has none."""
    if row["alike"] and row["blocks"]:
        return f"no difference in {row['blocks']:,} deals"
    if row["low"] is not None:
        return f"{row['low']:+.3f} to {row['high']:+.3f}"
    return "provisional" if row["provisional"] else "-"


def remarks(standings: Standings, spec: TournamentSpec) -> Iterator[str]:
    """Whatever a reader must know beside the table, a line each."""
    rows = [row for group in standings["groups"] for row in group]
    if standings["sprt"] is not None:
        yield sprt_line(standings["sprt"], spec)
    if len(standings["groups"]) > 1:
        yield "no tables link these groups of bots, so each is ranked by itself"
    yield from _remarks_on_rows(rows)
    level, watched = standings["interval"]["level"], standings["interval"]["watched"]
    until = "which hold at every moment of the tournament at once" if watched else "for the length fixed beforehand"
    units = "" if spec.rules.base == 1 else f", in units of the base, {spec.rules.base}"
    yield f"F: points a hand against the field{units}; intervals of {100 * level:g} %, {until}"
    yield f"counted: k = {standings['prefix']:,} blocks, the completed prefix of the schedule ({_blocks(standings)})"
    chosen = ", ".join(f"{name} = {_value(value)}" for name, value in standings["options"].items())
    yield f"options: {chosen or 'all at their defaults'}"
    yield f"seed commitment  {standings['seed_commitment']}"
    yield from standings["remarks"]
    yield from leaks(standings)


def _remarks_on_rows(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if any(row["tied_with_next"] for row in rows):
        yield "=  tied with the bot above: the interval of their difference holds 0"
    if any(row["provisional"] for row in rows):
        yield "provisional: too few blocks for an interval; ranked by a shrunk F"


def _blocks(standings: Standings) -> str:
    told = f"{standings['hands']:,} hands"
    dirty = standings["dirty_blocks"]
    return f"{told}; in {dirty:,} blocks a bot left" if dirty else told


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


def sprt_line(sprt: Mapping[str, Any], spec: TournamentSpec) -> str:
    """What a test says, in one line; points as they are scored."""
    first, second = (bot.name for bot in spec.bots)
    blocks, base = sprt["blocks"], spec.rules.base
    if not blocks:
        return f"{first} against {second}: no deal is complete"
    if sprt["alike"]:
        return f"{first} against {second}: no difference in {blocks:,} deals, d = 0 throughout"
    said = {
        "A stronger": f"{first} is stronger than {second}",
        "B stronger": f"{second} is stronger than {first}",
        "not stronger by d1": f"{first} is not stronger than {second} by {base * spec.margins[1]:g}",
        "no difference": f"{first} against {second}: no difference",
        "open": f"{first} against {second}: open",
        "running": f"{first} against {second}: undecided so far",
    }[sprt["verdict"]]
    mean, low, high = (base * sprt[name] for name in ("mean", "low", "high"))
    return f"{said}: {mean:+.3f} points a hand, {low:+.3f} to {high:+.3f}, {blocks:,} deals"


def leaks(standings: Standings) -> Iterator[str]:
    """The bots that play suspiciously well on deals that they have seen."""
    for bot, leak in standings["leak_check"].items():
        if leak["suspicious"]:
            yield (
                f"leak check: {bot} gains {leak['gain']:+.3f} points a hand on deals that it has seen before; "
                "set duplicate = false"
            )


def tell_experiments(report: Mapping[str, Any]) -> None:
    """What came of simulated tournaments, a table for each experiment."""
    out = console()
    out.print(f"seed {report['seed']}, {report['runs']:,} runs", soft_wrap=True)
    for name, rows in report["experiments"].items():
        out.print(f"\n{name.replace('_', ' ')}")
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in rows[0]:
            table.add_column(column.replace("_", " "), overflow="fold")
        for row in rows:
            table.add_row(*(f"{value:.4g}" if isinstance(value, float) else str(value) for value in row.values()))
        out.print(table)
