"""`wakeng bench`: how fast the engine, the arena and the store are here, beside baselines of the same run."""

from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, Final

import click

from wakeng.services.commands.common import Command, ReportFile, guarded, run_loop, write_report

Say = Callable[[str], None]

_JSON: Final = click.option(
    "--json",
    "json_file",
    type=ReportFile(),
    metavar="FILE",
    help="Write the figures to this file.",
)
_QUICK: Final = click.option("--quick", is_flag=True, help="See that it works; the figures mean little.")


@click.group("bench")
def command() -> None:
    """Measure this machine: absolute figures, and ratios to baselines measured in the same run, by turns.

    \b
    wakeng bench engine --json engine.json
    wakeng bench arena
    wakeng bench store
    wakeng bench web
    wakeng bench fairness
    wakeng bench workers

    A ratio is the median over the rounds of a run, and says more than the figures, which drift with the machine. Let
    nothing else run meanwhile.
    """


def _options(command: Command) -> Command:
    return _JSON(_QUICK(guarded(command)))


@command.command("engine", short_help="Random hands a second, beside other simulators.")
@_options
def engine(*, json_file: Path | None, quick: bool) -> None:
    """Random hands a second through the public, validated API, in 2 minutes.

    Beside a naive engine, and OpenSpiel's and RLCard's dou dizhu where they are installed (wakeng[bench]).
    """
    from wakeng.services.bench.engine import QUICK, Effort, bench_engine

    effort = QUICK if quick else Effort()

    async def work(say: Say) -> Mapping[str, Any]:
        return {"engine": await bench_engine(effort, say)}

    _run(work, json_file)


@command.command("arena", short_help="Decisions a second, a lone table, 10,000 tables.")
@_options
def arena(*, json_file: Path | None, quick: bool) -> None:
    """Decisions a second of one arena and one bot, with journal, records and metrics on, in 4 minutes.

    Beside plain gRPC calls and a bare stream; how soon a lone table goes on; and what 10,000 tables take up.
    """
    from wakeng.services.bench.arena import QUICK, Effort, bench_arena

    effort = QUICK if quick else Effort()

    async def work(say: Say) -> Mapping[str, Any]:
        return await bench_arena(effort, say)

    _run(work, json_file)


@command.command("store", short_help="Hands a second into SQLite.")
@_options
def store(*, json_file: Path | None, quick: bool) -> None:
    """Hands a second into SQLite, and how late the event loop is meanwhile, in 1 minute.

    Beside a transaction for each hand. The database lies in the system's folder for temporary files ($TMPDIR).
    """
    from wakeng.services.bench.store import QUICK, Effort, bench_store

    effort = QUICK if quick else Effort()

    async def work(say: Say) -> Mapping[str, Any]:
        return {"store": await bench_store(effort, say)}

    _run(work, json_file)


@command.command("web", short_help="How soon pages come; what viewers cost.")
@_options
def web(*, json_file: Path | None, quick: bool) -> None:
    """Pages of a store of 100,000 hands, and decisions a second with 200 viewers of a table, in 3 minutes."""
    from wakeng.services.bench.web import QUICK, Effort, bench_web

    effort = QUICK if quick else Effort()

    async def work(say: Say) -> Mapping[str, Any]:
        return await bench_web(effort, say)

    _run(work, json_file)


@command.command("fairness", short_help="What one slow bot costs the others.")
@_options
def fairness(*, json_file: Path | None, quick: bool) -> None:
    """Hands a second of a tournament with and without a bot that takes 50 times as long, in 4 minutes."""
    from wakeng.services.bench.fairness import QUICK, Effort, bench_fairness

    effort = QUICK if quick else Effort()

    async def work(say: Say) -> Mapping[str, Any]:
        return {"fairness": await bench_fairness(effort, say)}

    _run(work, json_file)


@command.command("workers", short_help="What a second worker brings.")
@_options
def workers(*, json_file: Path | None, quick: bool) -> None:
    """Hands a second of two workers on two cores beside one on one core, in 3 minutes.

    Coordinator, NATS server (nats-server must be installed) and store are real and share the cores; built-in bots sit
    in the workers.
    """
    from wakeng.services.bench.workers import QUICK, Effort, bench_workers

    effort = QUICK if quick else Effort()

    async def work(say: Say) -> Mapping[str, Any]:
        return {"workers": await bench_workers(effort, say)}

    _run(work, json_file)


def _run(work: Callable[[Say], Coroutine[Any, Any, Mapping[str, Any]]], json_file: Path | None) -> None:
    """Measure, say meanwhile what, and tell what was found."""
    import orjson
    from rich.console import Console

    from wakeng.services.bench.machine import conditions
    from wakeng.services.bench.telling import tell

    machine = conditions()
    with Console(stderr=True, markup=False).status("starting") as status:
        found = {**run_loop(work(status.update)), "machine": machine}
    try:
        write_report(json_file, orjson.dumps(found, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    finally:  # Neither a full disk nor a closed pipe takes all of it.
        tell(found)
