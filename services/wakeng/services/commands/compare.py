"""`wakeng compare`: which of two bots is the stronger one, by a test that stops as soon as it knows."""

import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import click

from wakeng.engine import RuleSet
from wakeng.sdk.options import PRESET, SEED, SET_OPTION, read_rules
from wakeng.services.commands.bot_tls import BotTlsFactory, bot_tls_options
from wakeng.services.commands.common import DB_OPTION, database, guarded, run_loop
from wakeng.services.spec import SeatSpec, SpecError

_RULES: Final = "xian"


@click.command("compare")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("--rules", "preset", type=PRESET, default=_RULES, show_default=True, metavar="PRESET", help="The rules.")
@SET_OPTION
@click.option(
    "--margin",
    type=click.FloatRange(0, min_open=True),
    metavar="POINTS",
    help="A difference worth finding, in points a hand; 0.2 with an auction, 0.4 without, times the base, if absent.",
)
@click.option("--two-sided", is_flag=True, help='Ask "who, if anyone" instead of "is A the stronger one".')
@click.option(
    "--max-blocks",
    type=click.IntRange(1, 5_000_000),
    metavar="N",
    help="Deals after which the question stays open; 5,040 for a margin of 0.2, fewer for a greater one.",
)
@click.option("--seed", type=SEED, metavar="HEX", help="64 hex digits that fix every deal; drawn if absent.")
@DB_OPTION
@click.option("--in-process", is_flag=True, help="Seat built-in bots in this process: faster, for trusted bots.")
@click.option("--journal", type=click.Path(dir_okay=False, path_type=Path), help="Where every decision is logged.")
@bot_tls_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else on standard output.")
@guarded
def command(
    *,
    first: str,
    second: str,
    preset: str,
    overrides: tuple[tuple[str, str], ...],
    margin: float | None,
    two_sided: bool,
    max_blocks: int | None,
    seed: bytes | None,
    db: str | None,
    in_process: bool,
    journal: Path | None,
    bots_tls: BotTlsFactory | None,
    as_json: bool,
) -> int:
    """Say in one line whether bot A is stronger than bot B, from as few hands as that takes.

    \b
    wakeng compare greedy lowest
    wakeng compare localhost:50051 greedy --rules four_feature --margin 0.1

    Each deal is played twice: A alone against copies of B, and B in A's place against copies of A. Bots are built-in
    ones, or yours by HOST:PORT or unix:PATH. What was played is kept in the store (--db) as a tournament of format
    "sprt", and goes on after Ctrl-C by `wakeng tournament resume`.
    """
    from wakeng.services.commands import compare_play
    from wakeng.services.commands.tournament_play import Local

    read_rules(preset, overrides)  # Says what is wrong with them.
    asked = compare_play.Asked(
        bots=(_seat("A", first), _seat("B", second)),
        rules=_rules(preset, overrides),
        margin=margin,
        two_sided=two_sided,
        max_blocks=max_blocks,
        seed=seed or secrets.token_bytes(32),
    )
    local = Local(db=database(db), journal=journal, in_process=in_process, bots_tls=bots_tls, as_json=as_json)
    return run_loop(compare_play.compare(asked, local))


def _seat(which: str, text: str) -> SeatSpec:
    from wakeng.services.tournament.entry import unknown_builtin

    try:
        seat = SeatSpec.parse(text)
    except SpecError as problem:
        raise click.UsageError(f"{which}: {str(problem).partition(': ')[2]}") from None
    if (wrong := unknown_builtin(seat)) is not None:
        raise click.UsageError(f"{which}: {wrong}")
    return seat


def _rules(preset: str, overrides: Iterable[tuple[str, str]]) -> RuleSet:
    from wakeng.services.tournament.spec import tournament_rules

    return tournament_rules(preset, dict(overrides))
