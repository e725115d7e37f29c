"""`wakeng show`: a recorded hand for people, from the deal to what everybody won."""

from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import click
import orjson
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from wakeng.cli.cards import card_row, rules_line
from wakeng.cli.errors import NotThere
from wakeng.cli.record_files import FILE, Line, lines, opened
from wakeng.cli.settlement import spelled_out
from wakeng.cli.story import Chapter, tell
from wakeng.cli.terminal import HEAD, MARK, QUIET, RED, console, grid
from wakeng.cli.text import clean
from wakeng.cli.verify import check
from wakeng.engine import RecordError, RuleSet, parse_cards
from wakeng.engine.record import rules_of

_BOT_WIDTH = 22
PAGES = "wakeng.pages"
"""The group of entry points in which the arena offers its pages."""


@click.command("show")
@click.argument("file", type=FILE)
@click.option("--hand", "index", type=click.IntRange(min=0), metavar="N", help="The hand_index; else the first hand.")
@click.option("--match", "match_id", metavar="ID", help="The match_id, for a file that holds several.")
@click.option("--json", "as_json", is_flag=True, help="Print the record itself, as it stands in the file.")
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write a replay to this file, to be looked at in any browser (with wakeng[server]).",
)
@click.option(
    "--lang", type=click.Choice(("en", "zh")), default="en", help="The language of --html; English if absent."
)
def command(file: str, index: int | None, match_id: str | None, *, as_json: bool, html: Path | None, lang: str) -> int:
    """Tell a recorded hand of FILE (- for standard input) move by move.

    Seats are numbers in the direction of play, the digger's with a star. The record is verified first.

    \b
    wakeng show r.jsonl --hand 7
    wakeng show r.jsonl --hand 7 --html hand-7.html
    """
    line = _find(file, index, match_id)
    try:
        record = check(line)
    except RecordError as problem:
        click.echo(f"{clean(file)}: line {line.number}: {clean(str(problem))}; no true record to show", err=True)
        return 1
    if html is not None:
        _write(html, _replay(record, lang))
    elif as_json:
        click.echo(line.text)
    else:
        console().print(page(record))
    return 0


def _replay(record: Mapping[str, Any], lang: str) -> str:
    """The replay as a file; the pages that draw it belong to the arena, and are found where they are installed."""
    from importlib.metadata import entry_points

    try:
        (point,) = entry_points(group=PAGES, name="replay")
        made: str = point.load()(record, lang)
    except (ValueError, ImportError) as missing:
        if isinstance(missing, ImportError) and (missing.name or "").startswith("wakeng"):
            raise  # Our own mistake, which a hint to install something would hide.
        raise click.UsageError("--html needs the pages of the arena; try: pip install 'wakeng[server]'") from None
    return made


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, "utf-8")
    except OSError as problem:
        raise NotThere(f"cannot write {clean(str(path))}: {problem.strerror}") from None
    click.echo(f"{clean(str(path))}: the replay; open it in a browser")


def _find(path: str, index: int | None, match_id: str | None) -> Line:
    """The line asked for; without a wish the first, whatever it is."""
    with opened(path) as file:
        for line in lines(file):
            if (index is None and match_id is None) or fits(line.text, index, match_id):
                return line
    wish = "" if index is None else f" with hand_index {index}"
    wish += "" if match_id is None else f" of match {clean(match_id)[:80]}"
    raise NotThere(f"no hand{wish} in {clean(path)}")


def fits(text: bytes | None, index: int | None, match_id: str | None) -> bool:
    """Whether a line seems to be the record of that hand and match; None wishes for none."""
    try:
        record = orjson.loads(text or b"")
    except orjson.JSONDecodeError:
        return False
    if not isinstance(record, dict):
        return False
    return index in (None, record.get("hand_index")) and match_id in (None, record.get("match_id"))


# The page -----------------------------------------------------------------------------------------------------------


def page(record: Mapping[str, Any]) -> RenderableType:
    """Everything about a verified record."""
    rules = rules_of(record)
    parts = (_heading(record, rules), _deal(record), _story(record), _result(record, rules))
    return Group(*chain.from_iterable((part, Text()) for part in parts[:-1]), parts[-1])


def _heading(record: Mapping[str, Any], rules: RuleSet) -> Text:
    attempt = f", attempt {record['attempt']}" if record["attempt"] else ""
    where = record.get("schedule")
    tournament = f"\ntournament {clean(where['tournament_id'])}, block {where['block']}" if where else ""
    return Text.assemble(
        (f"Hand {record['hand_index']} of match {clean(record['match_id'])}{attempt}", HEAD),
        "\n",
        rules_line(rules),
        tournament,
        (f"\nseed {record['seed']}", QUIET),
    )


def _deal(record: Mapping[str, Any]) -> Table:
    table = grid("seat", "bot", "dealt")
    deal, result = record["deal"], record["result"]
    table.columns[1].no_wrap, table.columns[1].overflow, table.columns[1].max_width = True, "ellipsis", _BOT_WIDTH
    for seat, cards in enumerate(deal["hands"]):
        table.add_row(_seat(seat, result), _bot(record["seats"][seat]), card_row(parse_cards(cards)))
    table.add_row("kitty", "", card_row(parse_cards(deal["kitty"])))
    if "marked_card" in deal:
        table.add_row("marked", "", card_row(parse_cards(deal["marked_card"])))
    return table


def _seat(seat: int, result: Mapping[str, Any]) -> Text:
    digs = seat == result.get("digger")
    return Text(f"{seat}*" if digs else str(seat), MARK if digs else "")


def _bot(seat: Mapping[str, Any]) -> Text:
    return Text(clean(f"{seat['bot']} {seat.get('version', '')}".strip()))


def _story(record: Mapping[str, Any]) -> Table:
    table = grid("", "what happened", "slowest")
    table.columns[0].no_wrap = table.columns[2].no_wrap = True
    table.columns[1].ratio = 1
    table.columns[2].justify = "right"
    table.expand = True
    for chapter in tell(record):
        time = "" if chapter.slowest_us is None else f"{chapter.slowest_us / 1000:,.1f} ms"
        table.add_row(Text(chapter.title, MARK), _moves(chapter), Text(time, QUIET))
    return table


def _moves(chapter: Chapter) -> Text:
    text = Text(chapter.text)
    for remark in chapter.remarks:
        text.append(f"\n{remark}", RED if remark.startswith("!") else QUIET)
    return text


def _result(record: Mapping[str, Any], rules: RuleSet) -> RenderableType:
    result = record["result"]
    columns = {"score": result["scores"]} | ({"bonus": result["task_bonus"]} if "task_bonus" in result else {})
    table = grid("seat", "bot", *columns)
    for seat, bot in enumerate(record["seats"]):
        points = [f"{column[seat]:+d}" if column[seat] else "0" for column in columns.values()]
        table.add_row(_seat(seat, result), _bot(bot), *points)
    for column in table.columns[2:]:
        column.justify = "right"
    return Group(*(Text(line) for line in spelled_out(rules, result)), Text(), table)
