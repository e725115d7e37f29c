"""`wakeng tournament`: tournaments from a file, played, resumed, looked at and exported."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from wakeng.sdk.options import SEED
from wakeng.services.commands.arena_client import ArenaOptions, arena_options
from wakeng.services.commands.bot_tls import BotTlsFactory, bot_tls_options
from wakeng.services.commands.common import DB_OPTION, Command, Refused, database, guarded, nats_of, run_loop
from wakeng.services.commands.settings_options import config_file, flag
from wakeng.services.settings import load, settings_by_key
from wakeng.services.spec import SpecError

if TYPE_CHECKING:
    from wakeng.services.commands.tournament_play import Local
    from wakeng.services.commands.tournaments import Tournaments
    from wakeng.services.workers.connection import NatsOptions

_JSON: Final = click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else on standard output.")
_ID: Final = click.argument("tournament_id", metavar="ID")
_OUT: Final = click.Path(dir_okay=False, path_type=Path)


@click.group("tournament")
def command() -> None:
    """Tournaments: a schedule of blocks, and standings with intervals.

    \b
    wakeng tournament run docs/examples/round-robin.toml --id spring
    wakeng tournament standings spring
    wakeng tournament export spring --records spring.jsonl --csv spring.csv

    A tournament that was interrupted or killed goes on with `resume ID`, to the same standings. Everywhere --arena
    means a running arena; without it tournaments are those of the store on this machine (--db). What a file may say is
    told in docs/tournaments.md.
    """


def _where(act: Command) -> Command:
    """`--arena` or `--db`, as the arguments `arena` and `db`."""
    return arena_options(without="the store of --db")(DB_OPTION(act))


def _playing(act: Command) -> Command:
    """What a command that plays can be told, as the arguments `arena` and, for play of its own, `local`."""

    @arena_options(without="this command plays the tournament itself")
    @DB_OPTION
    @click.option("--in-process", is_flag=True, help="Seat built-in bots in this process: for trusted bots.")
    @click.option("--journal", type=_OUT, help="Where every decision is logged.")
    @flag(settings_by_key()["nats.url"])
    @bot_tls_options
    @_JSON
    def command(
        *,
        arena: ArenaOptions | None,
        db: str | None,
        in_process: bool,
        journal: Path | None,
        nats_url: str | None,
        bots_tls: BotTlsFactory | None,
        as_json: bool,
        **others: Any,
    ) -> Any:
        if arena is not None and (db or journal or in_process or bots_tls or nats_url):
            own = "--db, --journal, --in-process, --nats, --bots-ca, --bots-cert, --bots-key and --insecure-bots"
            raise click.UsageError(f"{own} are the arena's own affair with --arena")
        if nats_url is not None and (in_process or bots_tls):
            own = "--in-process, --bots-ca, --bots-cert, --bots-key and --insecure-bots"
            raise click.UsageError(f"{own} are the workers' own affair with --nats")

        def local() -> "Local":
            from wakeng.services.commands.tournament_play import Local

            return Local(
                db=database(db),
                journal=journal,
                in_process=in_process,
                bots_tls=bots_tls,
                as_json=as_json,
                nats=_nats(nats_url, own=in_process or bots_tls is not None),
            )

        return act(arena=arena, local=local, as_json=as_json, **others)

    command.__doc__, command.__name__ = act.__doc__, act.__name__
    return command


def _nats(url: str | None, *, own: bool) -> "NatsOptions | None":
    """Where workers are told of the tournament, if they are to play it; `own` says that this process is to."""
    if own:
        return None
    return nats_of(load(config_file(), flags={} if url is None else {"nats.url": url}).settings)


def _checked_id(ctx: click.Context, param: click.Parameter, text: str | None) -> str | None:
    from wakeng.services.tournament.entry import check_id

    try:
        return None if text is None else check_id(text)
    except SpecError as problem:
        raise click.BadParameter(str(problem).partition(": ")[2], ctx, param) from None


@command.command("run")
@click.argument("spec", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="SPEC.toml")
@click.option(
    "--id", "tournament_id", metavar="ID", callback=_checked_id, help="What to call it; drawn and told if absent."
)
@click.option("--seed", type=SEED, metavar="HEX", help="64 hex digits that fix every deal; drawn if absent.")
@_playing
@guarded
def run(
    *,
    spec: Path,
    tournament_id: str | None,
    seed: bytes | None,
    arena: ArenaOptions | None,
    local: "Callable[[], Local]",
    as_json: bool,
) -> int:
    """Play the tournament of a file and print its standings.

    With the --id of a tournament that there is already, and the same file, that one goes on. Ctrl-C lets the hands in
    play finish and keeps what was played; a second one ends at once. Either way it can be resumed.
    """
    try:
        text = spec.read_text("utf-8")
    except UnicodeDecodeError as problem:
        raise Refused(f"{spec} is no text in UTF-8: {problem.reason} at byte {problem.start}") from None
    if arena is not None:
        from wakeng.services.commands import tournament_remote

        there = tournament_remote.run_text(text, arena, tournament_id=tournament_id, seed=seed, as_json=as_json)
        return run_loop(there)
    from wakeng.services.commands import tournament_play
    from wakeng.services.tournament.spec_file import BadSpec

    try:
        return run_loop(tournament_play.run_text(text, local(), tournament_id=tournament_id, seed=seed))
    except BadSpec as problem:
        raise Refused(f"{spec}: {problem}") from None


@command.command("resume")
@_ID
@_playing
@guarded
def resume(*, tournament_id: str, arena: ArenaOptions | None, local: "Callable[[], Local]", as_json: bool) -> int:
    """Go on with a tournament and print its standings."""
    if arena is not None:
        from wakeng.services.commands import tournament_remote

        return run_loop(tournament_remote.resume(tournament_id, arena, as_json=as_json))
    from wakeng.services.commands import tournament_play

    return run_loop(tournament_play.resume(tournament_id, local()))


@command.command("standings")
@_ID
@_where
@_JSON
@guarded
def standings(*, tournament_id: str, arena: ArenaOptions | None, db: str | None, as_json: bool) -> None:
    """The standings over the completed prefix, computed anew from the records."""
    from wakeng.services.commands import tournament_tell as tell

    tournament, found = _act(arena, db, lambda there: there.standings(tournament_id))
    if as_json:
        known = tell.details(tournament)
        tell.print_json({name: known[name] for name in ("tournament_id", "name", "state")} | found)
    else:
        tell.tell_standings(tournament, found)


@command.command("list")
@_where
@_JSON
@guarded
def list_(*, arena: ArenaOptions | None, db: str | None, as_json: bool) -> None:
    """All tournaments, newest first."""
    from wakeng.services.commands import tournament_tell as tell

    async def all_of(there: "Tournaments") -> list[Any]:
        return [tournament async for tournament in there.list()]

    found = _act(arena, db, all_of)
    if as_json:
        tell.print_json([tell.summary(tournament) for tournament in found])
    elif not found:
        click.echo("there are no tournaments (wakeng tournament run)", err=True)
    else:
        tell.tell_list(found)


@command.command("show")
@_ID
@_where
@_JSON
@guarded
def show(*, tournament_id: str, arena: ArenaOptions | None, db: str | None, as_json: bool) -> None:
    """One tournament: its field, its options, and how far it is."""
    _show(_act(arena, db, lambda there: there.get(tournament_id)), as_json=as_json)


@command.command("export")
@_ID
@click.option("--records", type=_OUT, help="Write the records to this file, one line each, in the order of hands.")
@click.option("--csv", "table", type=_OUT, help="Write a table to this file, one row for each seat of each hand.")
@_where
@_JSON
@guarded
def export(
    *,
    tournament_id: str,
    records: Path | None,
    table: Path | None,
    arena: ArenaOptions | None,
    db: str | None,
    as_json: bool,
) -> None:
    """Write a tournament's hands to files, replacing what those held.

    Of a tournament that goes on in an arena, blocks that are not complete are given to admins only.
    """
    if records is None and table is None:
        raise click.UsageError("give --records FILE or --csv FILE, or both")
    from wakeng.services.commands.tournament_tell import print_json
    from wakeng.services.tournament import export as files

    async def write(there: "Tournaments") -> int:
        tournament = await there.get(tournament_id)
        size, prefix = tournament.hands_per_block, tournament.prefix
        lines = there.records(tournament_id)
        return await files.export(lines, records=records, table=table, hands_per_block=size, prefix=prefix)

    hands = _act(arena, db, write)
    written = {name: str(path) for name, path in (("records", records), ("csv", table)) if path is not None}
    if as_json:
        print_json({"tournament_id": tournament_id, "hands": hands, **written})
    else:
        click.echo(f"{hands:,} hands in {' and '.join(written.values())}")


@command.command("pause")
@_ID
@arena_options(without="a tournament that a command plays is paused by Ctrl-C")
@_JSON
@guarded
def pause(*, tournament_id: str, arena: ArenaOptions | None, as_json: bool) -> None:
    """Have an arena begin no further hand of a tournament, until it is resumed."""
    if arena is None:
        raise click.UsageError("give --arena; a tournament that a command plays is paused by Ctrl-C there")
    from wakeng.services.commands.arena_client import ArenaClient
    from wakeng.services.commands.tournaments import OfArena

    async def acting() -> Any:
        async with ArenaClient(arena) as client:
            return await OfArena(client).pause(tournament_id)

    _show(asyncio.run(acting()), as_json=as_json)


@command.command("cancel")
@_ID
@click.option("--reason", default="", metavar="TEXT", help="Why; it is kept.")
@_where
@_JSON
@guarded
def cancel(*, tournament_id: str, reason: str, arena: ArenaOptions | None, db: str | None, as_json: bool) -> None:
    """End a tournament for good; what was played stays."""
    _show(_act(arena, db, lambda there: there.cancel(tournament_id, reason or "cancelled")), as_json=as_json)


@command.command("simulate")
@click.option("--seed", type=SEED, metavar="HEX", default="0" * 64, help="64 hex digits; all zeros if absent.")
@click.option("--runs", type=click.IntRange(1, 100_000), default=2000, show_default=True, help="Of each experiment.")
@_JSON
@guarded
def simulate(*, seed: bytes, runs: int, as_json: bool) -> None:
    """Whether the statistics hold what they promise, tried on simulated bots of known strength.

    The same seed and number of runs give the same figures, those of docs/statistics.md; 2000 runs take some minutes.
    """
    from wakeng.services.commands.tournament_tell import print_json, tell_experiments
    from wakeng.services.tournament.simulation import simulate as run_all

    def say(name: str, place: int, of: int) -> None:
        if name and sys.stderr.isatty():
            click.echo(f"{place + 1} of {of}: {name}", err=True)

    report = run_all(seed, runs=runs, progress=say).to_dict()
    if as_json:
        print_json(report)
    else:
        tell_experiments(report)


def _show(tournament: Any, *, as_json: bool) -> None:
    from wakeng.services.commands import tournament_tell as tell

    if as_json:
        tell.print_json(tell.details(tournament))
    else:
        tell.tell_tournament(tournament)


def _act(arena: ArenaOptions | None, db: str | None, act: "Callable[[Tournaments], Awaitable[Any]]") -> Any:
    if arena is not None and db is not None:
        raise click.UsageError("give either --arena or --db")
    from wakeng.services.commands.tournaments import open_tournaments

    async def acting() -> Any:
        async with open_tournaments(arena, "" if arena else database(db)) as there:
            return await act(there)

    return asyncio.run(acting())
