"""`wakeng db`: an operator's care for a store, at the machine or over the wire to PostgreSQL."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import orjson

from wakeng.services.commands.common import DB_OPTION, database, guarded

if TYPE_CHECKING:
    from wakeng.services.store.checking import Finding

_UNITS: Final = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_SAMPLE: Final = 1000
JSON_OPTION: Final = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


class Age(click.ParamType[int]):
    """A time as `90d`, in microseconds."""

    name = "age"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Reads it."""
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"([0-9]{1,6})([mhdw])", value)
        if found is None:
            self.fail(f"{value!r} is no age; write it as 90d, 12h, 30m or 4w", param, ctx)
        return int(found[1]) * _UNITS[found[2]] * 1_000_000


@click.group("db")
def command() -> None:
    """Upgrade, check, back up and prune a store, in SQLite or PostgreSQL.

    \b
    wakeng db check --db sqlite:///club.db
    wakeng db backup club-monday.db --db sqlite:///club.db
    wakeng db prune --older-than 90d --dry-run --db postgresql://wakeng@db.example/club

    All but `upgrade` and `prune --vacuum` may run beside an arena that plays. Without --db it is the store of
    $WAKENG_STORE_URL, else that of the data folder.
    """


@command.command("upgrade")
@DB_OPTION
@JSON_OPTION
@guarded
def upgrade(*, db: str | None, as_json: bool) -> None:
    """Bring a store to the schema of this version, all of it or, on an error, nothing.

    An arena does so itself when it starts. Where several share a store, stop them, upgrade once, and start them again;
    and back the store up before, since a version that is older cannot read a newer schema.
    """
    from wakeng.services.store.database import database_url
    from wakeng.services.store.schema import newest_schema, steps
    from wakeng.services.store.upkeep import upgraded

    had = asyncio.run(upgraded(database_url(database(db))))
    known = steps()
    done = list(known[known.index(had) + 1 if had else 0 :])
    if as_json:
        _print({"from": had, "to": newest_schema(), "steps": done})
    elif not done:
        click.echo(f"the store has schema {had}, the newest: nothing to do")
    else:
        click.echo(f"the store had {f'schema {had}' if had else 'nothing in it'}; done: {', '.join(done)}")


@command.command("check")
@DB_OPTION
@click.option(
    "--records",
    default=str(_SAMPLE),
    show_default=True,
    metavar="N|all",
    help="Read so many records, drawn by lot, against their checksums.",
)
@JSON_OPTION
@guarded
def check(*, db: str | None, records: str, as_json: bool) -> None:
    """See whether a store is sound, and say what to do if it is not.

    The schema, SQLite's pages and indices, what refers to what, and records against their own checksums. Nothing is
    changed. The exit status is 1 where something is wrong.
    """
    if records != "all" and not re.fullmatch(r"[0-9]{1,9}", records):
        raise click.BadParameter("a number, or all", param_hint="--records")
    from wakeng.services.store.database import database_url
    from wakeng.services.store.upkeep import checked

    with _progress("records", as_json=as_json) as show:
        sample = None if records == "all" else int(records)
        findings = asyncio.run(checked(database_url(database(db)), sample=sample, on_records=show))
    sound = all(finding.ok for finding in findings)
    if as_json:
        _print({"sound": sound, "findings": [finding.to_dict() for finding in findings]})
    else:
        for finding in findings:
            _tell(finding)
    raise SystemExit(0 if sound else 1)


@command.command("backup")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@DB_OPTION
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@JSON_OPTION
@guarded
def backup(*, file: Path, db: str | None, force: bool, as_json: bool) -> None:
    """Copy a store to FILE as it is at this moment; an arena may play on meanwhile.

    \b
    SQLite      FILE is a store itself: to go back, stop the arena and put it in the store's place
                (remove what else begins with the store's name: -wal and -shm).
    PostgreSQL  FILE is what pg_dump writes in its custom format: to go back,
                pg_restore --clean --if-exists --dbname=URL FILE

    FILE appears when it is whole. It holds the seeds of what is being played: keep it as safe as the store.
    """
    from wakeng.services.store.backup import back_up
    from wakeng.services.store.database import database_url, existing

    url = existing(database_url(database(db)))
    with _progress("pages", as_json=as_json) as show:
        size = back_up(url, file, force=force, progress=show)
    if as_json:
        _print({"file": str(file), "bytes": size})
    else:
        click.echo(f"{file}: {size / 2**20:.1f} MiB")


@command.command("prune")
@DB_OPTION
@click.option("--older-than", type=Age(), metavar="AGE", help="What finished longer ago: 90d, 12h, 30m, 4w.")
@click.option("--keep", type=click.IntRange(0), metavar="N", help="All but the N matches and N tournaments of last.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@click.option("--vacuum", is_flag=True, help="Then give the space back; SQLite takes no writes meanwhile.")
@JSON_OPTION
@guarded
def prune(
    *, db: str | None, older_than: int | None, keep: int | None, dry_run: bool, vacuum: bool, as_json: bool
) -> None:
    """Delete finished matches and tournaments with their records, by age or number.

    With both options only what is both older and not among the last N goes. What is unfinished stays, and what finished
    within the last minute. Hands go a few at a time, so that an arena plays on. Ctrl-C loses nothing else: run it again
    to delete the rest. SQLite's file does not shrink, but its free space is used again; --vacuum makes it shrink.
    """
    if older_than is None and keep is None:
        raise click.UsageError("say what is to go: --older-than AGE, --keep N, or both")
    from wakeng.services.store import Retention
    from wakeng.services.store.database import database_url
    from wakeng.services.store.upkeep import pruned

    url, retention = database_url(database(db)), Retention(older_than_us=older_than, keep=keep)
    with _progress("hands", as_json=as_json) as show:
        doomed = asyncio.run(pruned(url, retention, dry_run=dry_run, pack=vacuum, on_hands=show))
    hands = sum(match.hands for match in doomed)
    if as_json:
        told = [{"id": match.match_id, "kind": match.kind.value, "hands": match.hands} for match in doomed]
        _print({"dry_run": dry_run, "hands": hands, "pruned": told})
        return
    if dry_run:
        for match in doomed:
            click.echo(f"{match.kind.value} {match.match_id}: {match.hands} hands")
    click.echo(f"{'would go' if dry_run else 'gone'}: {len(doomed)} matches and tournaments, {hands} hands")


def _print(told: Any) -> None:
    click.echo(orjson.dumps(told, option=orjson.OPT_INDENT_2).decode())


def _tell(finding: "Finding") -> None:
    click.echo(f"{'ok ' if finding.ok else 'BAD'} {finding.check}: {finding.told}")
    if finding.advice:
        click.echo(f"    {finding.advice}")


class _progress:  # noqa: N801 - used as a function is
    """A bar on standard error, where that is a terminal, and what moves it: so much of so much."""

    def __init__(self, what: str, *, as_json: bool) -> None:
        from rich.console import Console
        from rich.progress import Progress

        console = Console(stderr=True)
        self._bar = Progress(console=console, transient=True, disable=as_json or not console.is_terminal)
        self._task = self._bar.add_task(what, total=None)

    def __enter__(self) -> Callable[[int, int], None]:
        self._bar.start()
        return lambda done, goal: self._bar.update(self._task, completed=done, total=goal)

    def __exit__(self, *_: object) -> None:
        self._bar.stop()
