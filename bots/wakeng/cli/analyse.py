"""`wakeng analyse`: the endings of recorded hands with open cards, and the choices that threw them away."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import click
from rich.text import Text

from wakeng.cli.errors import NotThere
from wakeng.cli.record_files import FILE, lines, opened
from wakeng.cli.show import fits
from wakeng.cli.terminal import HEAD, QUIET, console, grid, print_json
from wakeng.cli.text import clean, counted
from wakeng.cli.verify import check
from wakeng.engine import RecordError, RuleSet
from wakeng.engine.record import rules_of

if TYPE_CHECKING:
    from wakeng.bots.analysis import Analysis
    from wakeng.bots.solver import Solver

CAVEAT: Final = "A slip need not be a mistake: the cards are hidden from who plays."
_SOLVERS: Final = 4
"""Kept at a time, for as many rule sets; each has tables of 60 MB."""


@dataclass
class Tally:
    """What a bot did in one role with endings that were its side's."""

    choices: int = 0
    slips: int = 0


@dataclass
class Told:
    """What was found in a file."""

    cards: int
    hands: int = 0
    left_out: int = 0
    """Hands whose rules the solver is not made for."""
    bots: dict[tuple[str, str], Tally] = field(default_factory=lambda: defaultdict(Tally))
    """By bot and role."""

    def add(self, record: Mapping[str, Any], found: "Analysis") -> None:
        """Count a hand."""
        self.hands += 1
        for moment in found.moments:
            if moment.digger_wins is (moment.seat == found.digger) and not moment.fault:
                tally = self.bots[record["seats"][moment.seat]["bot"], _role(moment.seat, found)]
                tally.choices += 1
                tally.slips += moment.slip


@click.command("analyse")
@click.argument("file", type=FILE)
@click.option("--hand", "index", type=click.IntRange(min=0), metavar="N", help="Only hands with this hand_index.")
@click.option("--cards", type=click.IntRange(1, 52), default=24, show_default=True, help="Of an ending, at most.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(file: str, index: int | None, cards: int, *, as_json: bool) -> int:
    """Say of the recorded hands of FILE (- for standard input) who wins their endings with open cards.

    From the end of a hand backwards every moment is solved, as long as it has few enough cards and the search ends in
    time. Told are the moment from which on the hand was the winner's, and the slips: choices that gave away what the
    chooser's side had won, had all cards been open and all played right. They are hidden, so a slip need not be a
    mistake. Each record is verified first. It needs wakeng[search], and some seconds to begin.

    \b
    wakeng match --rules xian --seats expert,greedy,greedy --records r.jsonl
    wakeng analyse r.jsonl
    wakeng analyse r.jsonl --hand 7 --json
    """
    from wakeng.bots.extras import MissingExtra, demand

    try:
        demand("wakeng analyse", extra="search", modules=("numba",))
    except MissingExtra as problem:
        raise NotThere(str(problem)) from None
    told, hands = Told(cards), list[dict[str, Any]]()
    with opened(file) as records:
        for line in lines(records):
            if index is not None and not fits(line.text, index, None):
                continue
            try:
                record = check(line)
            except RecordError as problem:
                click.echo(f"{clean(file)}: line {line.number}: {clean(str(problem))}", err=True)
                return 1
            found = _analysed(record, told)
            if as_json and found:
                hands.append(_plain(record, found))
            elif found:
                _tell(record, found)
    if not told.hands and not told.left_out:
        raise NotThere(f"no hand{'' if index is None else f' with hand_index {index}'} in {clean(file)}")
    if as_json:
        print_json({"cards": cards, "hands": hands, "left_out": told.left_out, "bots": _plain_bots(told)})
    else:
        _sum_up(told)
    return 0


def _analysed(record: Mapping[str, Any], told: Told) -> "Analysis | None":
    """The hand's ending, counted; None where the rules are not the solver's."""
    from wakeng.bots.analysis import analyse
    from wakeng.bots.solver import Unsolvable

    try:
        found = analyse(record, _solver(rules_of(record)), most_cards=told.cards)
    except Unsolvable:
        told.left_out += 1
        return None
    told.add(record, found)
    return found


@lru_cache(maxsize=_SOLVERS)
def _solver(rules: RuleSet) -> "Solver":
    from wakeng.bots.solver import Solver

    return Solver(rules)


def _role(seat: int, found: "Analysis") -> str:
    return "digger" if seat == found.digger else "defender"


def _side(*, digger_wins: bool) -> str:
    return "digger" if digger_wins else "defenders"


# What is told -------------------------------------------------------------------------------------------------------


def _tell(record: Mapping[str, Any], found: "Analysis") -> None:
    """A hand in one line, and one for each slip."""
    out = console()
    line = Text(f"hand {record['hand_index']}: ", HEAD)
    if not found.moments:
        line.append("nothing to solve", "")
    elif found.settled is None:
        line.append("thrown away by the last choice", "")
    else:
        moment = found.settled
        since = f"from decision {moment.decision} on ({moment.cards} cards left)"
        line.append(f"the {_side(digger_wins=moment.digger_wins)} {since}", "")
        if moment is found.moments[0]:
            line.append(" or earlier", "")
    out.print(line)
    for slip in found.slips:
        fault = ", for a fault" if slip.fault else ""
        bot = clean(record["seats"][slip.seat]["bot"])
        did = f"  decision {slip.decision}: seat {slip.seat} ({bot}, {_role(slip.seat, found)}) {slip.action}{fault}"
        out.print(f"{did}, {slip.cards} cards left: gave away a won ending")


def _sum_up(told: Told) -> None:
    out = console()
    if told.bots:
        table = grid("bot", "role", "choices from won endings", "slips", "share")
        for (bot, role), tally in sorted(told.bots.items()):
            share = f"{tally.slips / tally.choices:.1%}"
            table.add_row(Text(clean(bot)), role, f"{tally.choices:,}", f"{tally.slips:,}", share)
        out.print()
        out.print(table)
    out.print(
        f"\n{counted(told.hands, 'hand')}, endings of at most {counted(told.cards, 'card')}. {CAVEAT}", style=QUIET
    )
    if told.left_out:
        out.print(f"{counted(told.left_out, 'hand')} left out: rules with must_beat are not solved.", style=QUIET)


def _plain(record: Mapping[str, Any], found: "Analysis") -> dict[str, Any]:
    settled = found.settled
    return {
        "match_id": record["match_id"],
        "hand_index": record["hand_index"],
        "winner": record["result"]["winner"],
        "digger": found.digger,
        "solved_from": found.moments[0].decision if found.moments else None,
        "settled_from": settled.decision if settled else None,
        "moments": [
            {
                "decision": moment.decision,
                "seat": moment.seat,
                "bot": record["seats"][moment.seat]["bot"],
                "action": moment.action,
                "cards": moment.cards,
                "wins": _side(digger_wins=moment.digger_wins).upper(),
                "slip": moment.slip,
                "fault": moment.fault,
            }
            for moment in found.moments
        ],
    }


def _plain_bots(told: Told) -> list[dict[str, Any]]:
    return [
        {"bot": bot, "role": role, "choices": tally.choices, "slips": tally.slips}
        for (bot, role), tally in sorted(told.bots.items())
    ]
