"""The `wakeng` command: a table of what it can do, of which only the part that is asked for gets imported.

Commands of the arena are found by entry point (group `wakeng.commands`), so that nothing here imports the arena and a
bot author's install works without it. The table holds their one-line helps, for the same reason.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click
from click.shell_completion import CompletionItem

from wakeng.cli.errors import READER_GONE, guard, silence_stdout

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS: Final = "wakeng.commands"


class Entry(NamedTuple):
    """A command: the section of the help it stands in, its one line there, and `module:attribute` or an extra."""

    section: str
    help: str
    target: str = ""
    extra: str = ""


_PLAY: Final = "Play"
_LOOK: Final = "Look"
_WRITE: Final = "Write a bot"
_OPERATE: Final = "Operate"
_MEASURE: Final = "Measure"
_MORE: Final = "More, of other packages"

COMMANDS: Final[Mapping[str, Entry]] = {
    "demo": Entry(_PLAY, "A short match of three bots, each a server of its own.", extra="server"),
    "match": Entry(_PLAY, "A match between bots: built-in ones, or yours by address.", extra="server"),
    "tournament": Entry(_PLAY, "A tournament from a file, its standings with intervals.", extra="server"),
    "compare": Entry(_PLAY, "Which of two bots is the stronger one, in one line.", extra="server"),
    "show": Entry(_LOOK, "A recorded hand, told move by move.", "wakeng.cli.show:command"),
    "verify": Entry(_LOOK, "Play recorded hands again and say whether they are true.", "wakeng.cli.verify:command"),
    "analyse": Entry(_LOOK, "Endings of recorded hands with open cards: who wins.", "wakeng.cli.analyse:command"),
    "web": Entry(_LOOK, "Pages of a store: standings, bots, replays.", extra="server"),
    "rules": Entry(_LOOK, "The ten rule sets, one of them in words, the ids of plays.", "wakeng.cli.rules:command"),
    "deal": Entry(_LOOK, "The cards that a seed deals.", "wakeng.cli.deal:command"),
    "bots": Entry(_WRITE, "The built-in bots to play against.", "wakeng.cli.bots:command"),
    "serve-bot": Entry(_WRITE, "Serve a built-in bot over gRPC.", "wakeng.cli.serve_bot:command"),
    "join-bot": Entry(_WRITE, "Have a built-in bot dial an arena.", "wakeng.cli.join_bot:command"),
    "check-bot": Entry(_WRITE, "Try your bot as the arena would, check by check.", "wakeng.cli.check_bot:command"),
    "train": Entry(_WRITE, "What the built-in bots know of strength, measured anew.", "wakeng.cli.train:command"),
    "serve": Entry(_OPERATE, "The arena as a server.", extra="server"),
    "worker": Entry(_OPERATE, "Plays blocks of tournaments, beside any number of others.", extra="server"),
    "db": Entry(_OPERATE, "The store: upgraded, checked, backed up, pruned.", extra="server"),
    "bot": Entry(_OPERATE, "Bots registered under names, for seats to ask for.", extra="server"),
    "token": Entry(_OPERATE, "Who may call the arena: tokens made and taken back.", extra="server"),
    "config": Entry(_OPERATE, "Settings from file and environment: checked, shown.", extra="server"),
    "doctor": Entry(_OPERATE, "What is wrong with an installation, and what to do.", extra="server"),
    "health": Entry(_OPERATE, "Whether an arena answers and serves; for probes.", extra="server"),
    "bench": Entry(_MEASURE, "How fast engine, arena and store are on this machine.", extra="server"),
    "loadtest": Entry(_MEASURE, "How much a bot bears: latency against load, and the knee.", extra="server"),
}
"""Every command of this distribution. One without a target is found by entry point, and needs its extra."""

EXAMPLES: Final = (
    ("wakeng demo", "see bots play"),
    ("wakeng rules xian --set bombs=off", "read a variant's rules"),
    ("wakeng serve-bot greedy --listen 127.0.0.1:50051", "serve an opponent"),
)


class Arena(click.Group):
    """The group of all commands. Names and helps come from the table; a command is imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every name, in the order of the help."""
        return list(_entries())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name; None if there is none, UsageError if it needs an extra."""
        entry = COMMANDS.get(cmd_name)
        if entry is not None and entry.target:
            module, _, attribute = entry.target.partition(":")
            return _command(getattr(import_module(module), attribute))
        plugged = _plugged().get(cmd_name)
        if plugged is None:
            return None if entry is None else _refuse(ctx, cmd_name, entry.extra)
        extra = entry.extra if entry else ", ".join(plugged.extras)
        return _load(ctx, plugged, extra)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, with the nearest command where there is none of that name."""
        name = args[0]
        if not name.startswith("-") and name not in _entries():
            near = get_close_matches(name, _entries(), 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(_entries())}"
            ctx.fail(f"no command {name[:80]!r}; {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands by section, from the table alone."""
        entries = _entries()
        width = max(map(len, entries))
        for section in dict.fromkeys(entry.section for entry in entries.values()):
            extra = next((entry.extra for entry in entries.values() if entry.section == section), "")
            with formatter.section(section + (f" (with wakeng[{extra}])" if extra else "")):
                rows = [(name.ljust(width), entry.help) for name, entry in entries.items() if entry.section == section]
                formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Examples to begin with."""
        width = max(len(line) for line, _ in EXAMPLES)
        with formatter.section("Examples"):
            for line, meaning in EXAMPLES:
                formatter.write(f"{'':{formatter.current_indent}}{line:{width}}  # {meaning}\n")
        formatter.write("\n`wakeng COMMAND --help` says more about each.\n")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names and helps from the table, so that pressing TAB imports no command."""
        entries = _entries().items()
        names = [CompletionItem(name, help=entry.help) for name, entry in entries if name.startswith(incomplete)]
        return names + click.Command.shell_complete(self, ctx, incomplete)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what it wrote is out before its exit status is known."""
        try:
            status = super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()
        except BrokenPipeError:
            silence_stdout()
            return READER_GONE
        return status

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = "wakeng",
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001, FBT002 - click's signature
        **extra: Any,
    ) -> Any:
        """Run a command line. A command's integer result is its exit status; errors become one line (errors.py)."""

        def act() -> Any:
            return super(Arena, self).main(args, prog_name, complete_var, standalone_mode=False, **extra)

        if not standalone_mode:
            return act()
        sys.exit(guard(act))


def _entries() -> Mapping[str, Entry]:
    """The table, and behind it the commands that other packages plug in."""
    strangers = sorted(_plugged().items())
    return {**COMMANDS} | {
        name: Entry(_MORE, f"See {point.value}.") for name, point in strangers if name not in COMMANDS
    }


def _plugged() -> "dict[str, EntryPoint]":
    """The installed entry points by name. Reading them takes longer than most commands, so only who must asks."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}


def _load(ctx: click.Context, point: "EntryPoint", extra: str) -> click.Command:
    try:
        return _command(point.load())
    except ImportError as problem:
        if (problem.name or "").partition(".")[0] in ("", "wakeng"):
            raise  # Our own mistake, which a hint to install something would hide.
        return _refuse(ctx, point.name, extra, missing=str(problem.name))


def _command(found: object) -> click.Command:
    assert isinstance(found, click.Command), found
    return found


def _refuse(ctx: click.Context, name: str, extra: str, *, missing: str = "") -> click.Command:
    what = f"{name} needs {missing}, which is not installed" if missing else f"{name} is not installed here"
    ctx.fail(f"{what}; try: pip install 'wakeng[{extra}]'" if extra else what)


@click.command(cls=Arena, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="wakeng", message="wakeng %(version)s")
@click.pass_context
def wakeng(ctx: click.Context) -> None:
    """Wakeng Arena: bots play Xi'an Wakeng, a climbing game, over gRPC."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> None:
    """The entry point of the console script."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # Its C core talks to stderr; what matters comes as a status.
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    wakeng()
