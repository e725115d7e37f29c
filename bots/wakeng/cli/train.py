"""`wakeng train`: what the reference opponents know of strength, measured and learned anew."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import click

from wakeng.cli.cards import rules_line
from wakeng.cli.terminal import QUIET, console, grid, print_json
from wakeng.cli.train_net import net
from wakeng.engine import RuleSet
from wakeng.sdk.options import SEED, rule_options

if TYPE_CHECKING:
    from wakeng.bots.fitting import Sample, Tried

PHASES: Final = ("BID", "GRAB", "GRAB_BLIND", "OPEN", "BURY", "LIE_DOWN")
_SHOWN: Final = 8


@click.group("train")
def command() -> None:
    """Measure or learn anew what the reference opponents know.

    \b
    wakeng train bids --rules xian --deals 2000
    wakeng train net --minutes 50 --seed 8
    """


command.add_command(net)


@command.command("bids", short_help="The bars of expert's bids and offers.")
@rule_options
@click.option(
    "--phase", "phases", type=click.Choice(PHASES), multiple=True, help="Only this one; else all the rules have."
)
@click.option(
    "--deals", type=click.IntRange(2, 1_000_000), default=4_000, show_default=True, help="For each phase, twice."
)
@click.option("--seed", type=SEED, default="0" * 64, metavar="HEX", help="The deals' seed; all zeros if not given.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every bar that was tried.")
def bids(rules: RuleSet, phases: tuple[str, ...], deals: int, seed: bytes, *, as_json: bool) -> int:
    """Measure from which hands on `expert` should bid, grab, lay open, bury and lie down.

    For each deal every answer to a question is played out from the same cards, by `expert` in all seats. A bar is
    worth what its answers win over answering no, in points a hand and seat. The best bar flatters itself; so it is
    measured again on as many fresh deals. About 2 to 5 ms a deal.

    The bars in use stand in wakeng/bots/bids.py. A line begins with * for the best bar, and with = for the one in use.

    \b
    wakeng train bids --rules four_feature --phase OPEN --phase GRAB
    wakeng train bids --rules xian --set grab=on --json
    """
    from wakeng.bots.fitting import FITS

    wanted = [name for name in PHASES if FITS[name].occurs(rules) and (not phases or name in phases)]
    if missing := sorted(set(phases) - set(wanted)):
        raise click.BadParameter(f"{missing[0]} is no choice under these rules", param_hint="'--phase'")
    found = {name: _fit(name, rules, seed, deals) for name in wanted}
    if as_json:
        print_json({"rules": rules.to_dict(), "seed": seed.hex(), "deals": deals, "phases": found})
    else:
        _report(rules, found, deals)
    return 0


def _fit(name: str, rules: RuleSet, seed: bytes, deals: int) -> dict[str, Any]:
    """What was found of a phase, as plain values."""
    from wakeng.bots.fitting import FITS, best, in_use, measure, value

    fit = FITS[name]
    first = _sampled(name, rules, seed, range(deals))
    fresh = _sampled(name, rules, seed, range(deals, 2 * deals))
    tried = measure(fit, first, deals=deals, players=rules.players)
    chosen, used = best(tried), in_use(fit, rules)
    return {
        "questions": len(first),
        "best": _plain(chosen),
        "best_on_fresh_deals": _plain(value(fit, chosen.bar, fresh, deals=deals, players=rules.players)),
        "in_use": _plain(value(fit, used, first, deals=deals, players=rules.players)),
        "in_use_on_fresh_deals": _plain(value(fit, used, fresh, deals=deals, players=rules.players)),
        "tried": [_plain(found) for found in tried],
    }


def _sampled(name: str, rules: RuleSet, seed: bytes, deals: range) -> "Sequence[Sample]":
    from wakeng.bots.fitting import FITS, sample

    with _progress(f"{name} of {rules.preset}", deals) as counted:
        return [found for deal in counted for found in sample(FITS[name], rules, seed, deal)]


@contextmanager
def _progress(what: str, deals: range) -> Iterator[Iterable[int]]:
    """The deals, with a bar on the terminal for who watches."""
    out = console(stderr=True)
    if not out.is_terminal:
        yield deals
        return
    from rich.progress import track

    yield track(deals, what, console=out, transient=True)


def _plain(tried: "Tried") -> dict[str, Any]:
    figures = {"points": tried.points, "error": tried.error, "share": tried.share}
    return {**tried.bar, **{name: round(figure, 5) for name, figure in figures.items()}}


def _report(rules: RuleSet, found: Mapping[str, Mapping[str, Any]], deals: int) -> None:
    out = console()
    out.print(rules_line(rules))
    for name, fit in found.items():
        out.print(f"\n{name}: {fit['questions']:,} questions in {deals:,} deals, points a hand and seat")
        bars = [key for key in fit["best"] if key not in ("points", "error", "share")]
        table = grid("", *bars, "points", "+-", "fresh deals", "+-", "share of yes")
        for mark, kind in (("*", "best"), ("=", "in_use")):
            again = fit[f"{kind}_on_fresh_deals"]
            table.add_row(mark, *_row(bars, fit[kind], again))
        for tried in sorted(fit["tried"], key=lambda tried: -tried["points"])[1:_SHOWN]:
            table.add_row("", *_row(bars, tried))
        out.print(table)
    out.print("\nThe fresh deals are the honest figure: the best of many flatters itself.", style=QUIET)


def _row(bars: Sequence[str], tried: Mapping[str, Any], again: Mapping[str, Any] | None = None) -> list[str]:
    fresh = ["", ""] if again is None else [f"{again['points']:+.3f}", f"{again['error']:.3f}"]
    return [
        *(str(tried[bar]) for bar in bars),
        f"{tried['points']:+.3f}",
        f"{tried['error']:.3f}",
        *fresh,
        f"{tried['share']:.1%}",
    ]
