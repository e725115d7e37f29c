"""`wakeng demo`: a short match of three bots, and where to look afterwards."""

import secrets
from pathlib import Path
from typing import Final

import click

from wakeng.engine import PRESETS
from wakeng.sdk.options import ADDRESS
from wakeng.services.commands.common import guarded, run_loop, this_command
from wakeng.services.spec import MatchSpec, SeatSpec

_BOTS: Final = ("greedy", "lowest", "random")
_HANDS: Final = 100


@click.command("demo")
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the records, the journal and the store go; `demo` in the data folder if absent.",
)
@click.option("--serve", is_flag=True, help="Show the hands in the browser afterwards, until Ctrl-C.")
@click.option("--web", type=ADDRESS, default="127.0.0.1:8080", show_default=True, help="Where --serve shows them.")
@guarded
def command(*, folder: Path | None, serve: bool, web: str) -> int:
    """Seat three bots, each a gRPC server process of its own, and play 100 hands of Xi'an Wakeng.

    Ends with where the records, the journal and the store lie, and the commands to look into them; with --serve by
    showing the pages of that store.
    """
    from wakeng.services.commands.interrupts import INTERRUPTED
    from wakeng.services.commands.match_run import play, tell
    from wakeng.services.data import DataFolder

    folder = folder or DataFolder.default().path / "demo"
    folder.mkdir(parents=True, exist_ok=True)
    spec = MatchSpec(
        match_id=f"demo-{secrets.token_hex(4)}",
        rules=PRESETS["xian"],
        seats=tuple(SeatSpec.parse(bot) for bot in _BOTS),
        hands=_HANDS,
        seed=secrets.token_bytes(32),
    )
    click.echo(f"{', '.join(_BOTS)}: each a gRPC server process; {_HANDS} hands of {spec.rules.preset}")
    records, journal = folder / "records.jsonl", folder / "journal.jsonl"
    outcome = run_loop(play(spec, db=_store(folder), records=records, journal=journal, in_process=False))
    tell(outcome)
    _where_to_look(folder)
    if outcome.complete and serve:
        return run_loop(_show(folder, web))
    return 0 if outcome.complete else INTERRUPTED


def _where_to_look(folder: Path) -> None:
    wakeng, records, journal = this_command(), folder / "records.jsonl", folder / "journal.jsonl"
    click.echo(
        f"\nNow look into it:\n"
        f"  {wakeng} verify {records}    play every hand again, trusting nothing in the records\n"
        f"  {wakeng} show {records} --hand 3    a hand told move by move\n"
        f"  head -3 {journal}    every decision as it was logged\n"
        f"  {wakeng} match --help    a match of your own\n"
        f"  {wakeng} web --db {_store(folder)}    all of it in a browser: hands, bots, replays"
    )


def _store(folder: Path) -> str:
    return f"sqlite:///{folder / 'wakeng.db'}"


async def _show(folder: Path, web: str) -> int:
    from wakeng.services.commands.web import show_store
    from wakeng.services.settings.structs import Tls, Web

    return await show_store(_store(folder), Web(listen=web), Tls())
