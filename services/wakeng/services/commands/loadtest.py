"""`wakeng loadtest`: how much a bot bears."""

import asyncio
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from wakeng.sdk.options import PRESET, SET_OPTION, read_rules
from wakeng.services.commands.bot_tls import BotTlsFactory, bot_tls_options
from wakeng.services.commands.common import ReportFile, guarded, run_loop, write_report
from wakeng.services.spec import MOST_TABLES, SeatSpec

if TYPE_CHECKING:
    from wakeng.services.loadtest import Load, LoadPlan

_INTERRUPTED: Final = 130
_FILE: Final = ReportFile()
_REFRESH_S: Final = 0.25


def _targets(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    from wakeng.bots import REFERENCE_BOTS
    from wakeng.services.spec import SeatKind

    for text in texts:
        try:
            seat = SeatSpec.parse(text)
        except ValueError as problem:
            raise click.BadParameter(str(problem), ctx, param) from None
        if seat.kind is SeatKind.BUILTIN and text not in REFERENCE_BOTS:
            known = ", ".join(REFERENCE_BOTS)
            raise click.BadParameter(f"{text[:80]!r} is neither HOST:PORT, unix:PATH nor one of {known}", ctx, param)
    return tuple(dict.fromkeys(texts))


@click.command("loadtest")
@click.argument("targets", metavar="TARGET...", nargs=-1, required=True, callback=_targets)
@click.option(
    "--tables", type=click.IntRange(1, MOST_TABLES), default=256, show_default=True, help="Hands in play at most."
)
@click.option(
    "--rate", type=click.FloatRange(0.1, 1_000_000), metavar="R", help="Open loop: R decisions a second, come what may."
)
@click.option("--closed", is_flag=True, help="Closed loop, the default: keep all tables busy.")
@click.option("--ramp", type=click.FloatRange(0), metavar="S", help="Rise for so long.  [default: half the duration]")
@click.option(
    "--duration",
    type=click.FloatRange(0.1, 86_400),
    default=30.0,
    show_default=True,
    metavar="S",
    help="Seconds in all, the ramp included.",
)
@click.option(
    "--rules", "preset", type=PRESET, default="xian", show_default=True, metavar="PRESET", help="One of `wakeng rules`."
)
@SET_OPTION
@click.option(
    "--move-ms",
    type=click.IntRange(1, 86_400_000),
    default=1_000,
    show_default=True,
    metavar="MS",
    help="The limit for a move; there is no bank.",
)
@bot_tls_options
@click.option("--json", "json_file", type=_FILE, metavar="FILE", help="Write the report as JSON.")
@click.option("--html", "html_file", type=_FILE, metavar="FILE", help="Write it as a page with a plot.")
@guarded
def command(
    *,
    targets: tuple[str, ...],
    tables: int,
    rate: float | None,
    closed: bool,
    ramp: float | None,
    duration: float,
    preset: str,
    overrides: tuple[tuple[str, str], ...],
    move_ms: int,
    bots_tls: BotTlsFactory | None,
    json_file: Path | None,
    html_file: Path | None,
) -> int:
    """Put one or more bots under load and say what they bear.

    \b
    wakeng loadtest 127.0.0.1:50051 --tables 1000
    wakeng loadtest 127.0.0.1:50051 --rate 5000 --move-ms 100 --html load.html
    wakeng loadtest greedy lowest --duration 20 --json load.json

    TARGET is HOST:PORT, unix:PATH, or a built-in bot, which is started as a process. Each table seats one TARGET; the
    other seats play at random in this process. The load rises in ten steps.

    In open loop (--rate) latency counts from when a decision was due, so what waits behind a slow answer counts too.
    The knee is the load at which p99 crosses --move-ms. Ctrl-C reports what was measured so far.
    """
    if closed and rate is not None:
        raise click.UsageError("--rate is open loop; give either it or --closed")
    from wakeng.services.loadtest import LoadPlan

    try:
        plan = LoadPlan(
            targets=targets,
            rules=read_rules(preset, overrides),
            tables=tables,
            rate=rate,
            ramp_s=duration / 2 if ramp is None else ramp,
            duration_s=duration,
            move_ms=move_ms,
        )
    except ValueError as problem:
        raise click.UsageError(str(problem)) from None
    return _say(run_loop(_run(plan, bots_tls)), json_file, html_file)


async def _run(plan: "LoadPlan", bots_tls: BotTlsFactory | None) -> Mapping[str, Any]:
    from wakeng.services.loadtest import Load, report, seated

    async with seated(plan, bots_tls() if bots_tls is not None else None) as found:
        load = Load(plan, found, seed=secrets.token_bytes(32))
        await _watch(load)
        return report(load)


def _say(told: Mapping[str, Any], json_file: Path | None, html_file: Path | None) -> int:
    """Write and print the report; the command's exit status."""
    import orjson

    from wakeng.services.loadtest.page import page
    from wakeng.services.loadtest.telling import tell

    try:
        write_report(json_file, orjson.dumps(told, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        if html_file is not None:
            write_report(html_file, page(told).encode())
    finally:  # Neither a full disk nor a closed pipe takes all of it.
        tell(told)
    return 0 if told["loadtest"]["complete"] else _INTERRUPTED


async def _watch(load: "Load") -> None:
    """Run it, with a view on a terminal; Ctrl-C ends it in order, a second one at once."""
    from rich.live import Live

    from wakeng.sdk.process import signals
    from wakeng.services.loadtest.telling import console, live

    screen = console(stderr=True)
    running = asyncio.create_task(load.run())
    with signals(load.stop):
        if not screen.is_terminal:
            await running
            return
        with Live(live(load), console=screen, auto_refresh=False, transient=True) as view:
            while not running.done():
                await asyncio.wait([running], timeout=_REFRESH_S)
                view.update(live(load), refresh=True)
        await running
