"""`wakeng bots`: the bots that come with the project, opponents and broken ones."""

import click
from rich.text import Text

from wakeng.bots import BUILTIN_BOTS, FAULTY_BOTS, REFERENCE_BOTS
from wakeng.cli.terminal import MARK, QUIET, console, grid, print_json


@click.command("bots")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(*, as_json: bool) -> None:
    """The built-in bots: opponents for a match, and examples for your own.

    They play every rule set. All but net and search need nothing but this install. The faulty ones are broken on
    purpose, each in its own way: seat one to see what becomes of a match.
    """
    if as_json:
        print_json([{"name": name, "summary": bot.summary} for name, bot in BUILTIN_BOTS.items()])
        return
    out = console()
    for header, how, bots in (("bot", "how it plays", REFERENCE_BOTS), ("\nfaulty bot", "\nhow it fails", FAULTY_BOTS)):
        table = grid(header, how)
        for name, bot in bots.items():
            table.add_row(Text(name, MARK), bot.summary)
        out.print(table)
    out.print("\nServe one to play against: wakeng serve-bot NAME --listen 127.0.0.1:50051", style=QUIET)
