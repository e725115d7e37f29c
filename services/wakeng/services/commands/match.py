"""`wakeng match`: seats bots, plays them a match and says how it went."""

import secrets
from pathlib import Path
from typing import Any

import click

from wakeng.engine import RuleSet
from wakeng.sdk.options import SEED, rule_options
from wakeng.services.commands.arena_client import ArenaOptions, arena_options
from wakeng.services.commands.bot_tls import BotTlsFactory, bot_tls_options
from wakeng.services.commands.common import (
    DB_OPTION,
    TIME_OPTIONS,
    database,
    guarded,
    journal_file,
    run_loop,
    time_control,
)
from wakeng.services.spec import DEFAULT_TABLES, MatchSpec, SeatSpec


def _seats(ctx: click.Context, param: click.Parameter, text: str) -> tuple[SeatSpec, ...]:
    try:
        return tuple(SeatSpec.parse(seat.strip()) for seat in text.split(","))
    except ValueError as problem:
        raise click.BadParameter(str(problem), ctx, param) from None


@click.command("match")
@rule_options
@click.option(
    "--seats",
    callback=_seats,
    required=True,
    metavar="A,B,C[,D]",
    help="Who plays, seat 0 first: built-in bots by name (`wakeng bots`), yours by HOST:PORT or unix:PATH; with "
    "--arena registered ones by name.",
)
@click.option("--hands", type=click.IntRange(1, 10_000_000), default=100, show_default=True, help="Hands to play.")
@click.option("--seed", type=SEED, metavar="HEX", help="64 hex digits that fix every deal; drawn and told if absent.")
@TIME_OPTIONS
@click.option(
    "--tables",
    type=click.IntRange(1, 100_000),
    default=DEFAULT_TABLES,
    show_default=True,
    help="Hands side by side; the results do not depend on it.",
)
@click.option(
    "--records",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the records to this file in the order of hands, one line each; what it held is replaced.",
)
@click.option("--journal", type=click.Path(dir_okay=False, path_type=Path), help="Where every decision is logged.")
@DB_OPTION
@click.option("--in-process", is_flag=True, help="Seat built-in bots in this process: faster, for trusted bots.")
@bot_tls_options
@arena_options(without="this command plays the match itself")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
@guarded
def command(
    *,
    rules: RuleSet,
    seats: tuple[SeatSpec, ...],
    hands: int,
    seed: bytes | None,
    tables: int,
    records: Path | None,
    journal: Path | None,
    db: str | None,
    in_process: bool,
    arena: ArenaOptions | None,
    bots_tls: BotTlsFactory | None,
    as_json: bool,
    **times: Any,
) -> int:
    """Play a match and print its scores.

    \b
    wakeng match --rules xian --seats greedy,lowest,random --hands 200
    wakeng match --rules four_feature --seats localhost:50051,greedy,greedy,random --records r.jsonl
    wakeng match --rules xian --set bidding=assigned --seats greedy,random,random --in-process
    wakeng match --rules xian --seats mine,greedy,random --arena arena.example:50050 --token-file my.token

    Every hand is recorded in the store (--db) and can be verified (`wakeng verify`) and read (`wakeng show`). A bot
    that does not answer costs its own seat, never the match. Ctrl-C lets the hands in play finish and keeps what was
    played; a second one ends at once. With --arena the match is played there, and Ctrl-C cancels it.
    """
    spec = MatchSpec(
        match_id=f"m{secrets.token_hex(8)}",
        rules=rules,
        seats=seats,
        hands=hands,
        seed=seed or secrets.token_bytes(32),
        time_control=time_control(times),
        tables=tables,
    )
    if arena is not None:
        if db or journal or in_process or bots_tls:
            own = "--db, --journal, --in-process, --bots-ca, --bots-cert, --bots-key and --insecure-bots"
            raise click.UsageError(f"{own} are the arena's own affair with --arena")
        from wakeng.services.commands.match_remote import run_remote

        return run_loop(run_remote(spec, arena, drawn=seed is None, records=records, as_json=as_json))
    from wakeng.services.commands.match_run import run

    return run_loop(
        run(
            spec,
            db=database(db),
            records=records,
            journal=journal_file(journal, spec.match_id),
            in_process=in_process,
            bots_tls=bots_tls,
            as_json=as_json,
        )
    )
