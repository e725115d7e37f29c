"""`wakeng deal`: the cards of a seed, for other languages to check their random stream against (docs/rules.md 7)."""

from typing import Any

import click
from rich.table import Table
from rich.text import Text

from wakeng.cli.cards import card_row, rules_line
from wakeng.cli.terminal import QUIET, console, grid, print_json
from wakeng.engine import CARD_NAMES, KITTY, Bidding, Deal, RuleSet, deal_cards, deal_members
from wakeng.sdk.options import SEED, rule_options


@click.command("deal")
@rule_options
@click.option("--seed", type=SEED, required=True, metavar="HEX", help="The hand's seed, 64 hex digits.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(rules: RuleSet, seed: bytes, *, as_json: bool) -> None:
    """Deal the cards of a hand's seed: hands, kitty, who calls and who leads.

    The hand stands alone, as the first of a match.

    \b
    wakeng deal --rules xian --seed $(printf %064d 1)
    """
    deal = deal_cards(rules, seed)
    if as_json:
        print_json({"rules": rules.to_dict(), "seed": seed.hex(), **deal_members(deal), **consequences(rules, deal)})
        return
    out = console()
    out.print(Text.assemble(rules_line(rules), (f"\nseed {seed.hex()}", QUIET)))
    out.print()
    out.print(_hands(deal))
    out.print()
    out.print(_facts(rules, deal))


def consequences(rules: RuleSet, deal: Deal) -> dict[str, Any]:
    """What follows from the cards alone; the names are those of the engine."""
    found: dict[str, Any] = {"first_leader": deal.lowest_heart_seat}
    if rules.bidding is Bidding.AUCTION:
        found["first_caller"] = deal.first_caller
    if rules.has_blind:
        found["blind_first_seat"] = deal.first_dealt_seat
    if deal.marked_seat is not None:
        found["marked_seat"] = "kitty" if deal.marked_seat == KITTY else deal.marked_seat
    return found


def _hands(deal: Deal) -> Table:
    table = grid("seat", "cards")
    for seat, cards in enumerate(deal.hands):
        table.add_row(str(seat), card_row(cards))
    table.add_row("kitty", card_row(deal.kitty))
    return table


def _facts(rules: RuleSet, deal: Deal) -> Table:
    table = grid("", "")
    table.add_row("dealt first", f"seat {deal.first_dealt_seat}")
    if rules.has_blind:
        table.add_row("asked first", f"seat {deal.first_dealt_seat}, before the deal, in the first hand of a match")
    if deal.marked_card is not None:
        where = "the kitty" if deal.marked_seat == KITTY else f"seat {deal.marked_seat}"
        table.add_row("marked card", f"{CARD_NAMES[deal.marked_card]}, dealt to {where}")
    if rules.bidding is Bidding.AUCTION:
        table.add_row("first caller", f"seat {deal.first_caller}")
    table.add_row("first lead", f"seat {deal.lowest_heart_seat}, dealt the lowest heart")
    if deal.task is not None:
        table.add_row("task", f"{deal.task.value}, bonus {deal.task.bonus * rules.base}")
    return table
