"""What a hand came to, with every factor of the stake named (docs/rules.md 4)."""

from collections.abc import Iterator, Mapping
from typing import Any

from wakeng.cli.text import counted
from wakeng.engine import RuleSet


def spelled_out(rules: RuleSet, result: Mapping[str, Any]) -> Iterator[str]:
    """Sentences on a record's result."""
    escaped = result.get("escaped_seat")
    if escaped is None:
        who = "The digger wins." if result["winner"] == "DIGGER" else "The defenders win."
        yield f"{who} Stake {result['stake']} = {' x '.join(_factors(rules, result))}"
        return
    penalty = f"{rules.escape_factor} x base {rules.base}"
    if "stake" not in result:
        yield f"Seat {escaped} escaped before there was a digger and pays {penalty}."
        return
    yield f"Seat {escaped} escaped. Stake {result['stake']} = {' x '.join(_factors(rules, result))}"
    if rules.escape_settles:
        most = f"{penalty} or {rules.players - 1} x stake, whichever is more"
        yield f"It pays {most}; the other side gets what it would have won."
    else:
        yield f"It pays {penalty}, whatever the stake; the others get nothing."


def _factors(rules: RuleSet, result: Mapping[str, Any]) -> Iterator[str]:
    """Base and bid always, the others where they double anything; their product is the stake."""
    yield f"base {rules.base}"
    yield f"bid {result['bid']}"
    bombs = min(1 << min(result["bombs"], 32), rules.bomb_cap)
    if result["bombs"]:
        yield f"bombs {bombs} ({result['bombs']} played)"
    if result["grabs"]:
        yield f"grabs {1 << result['grabs']} ({counted(result['grabs'], 'grab')})"
    if result["opened"]:
        yield "open 2"
    if "lying_seat" in result:
        yield "lying down 2"
    if result["blind"] and _digger_won(result):
        yield "blind 2"


def _digger_won(result: Mapping[str, Any]) -> bool:
    """A hand that a defender leaves counts as won by the digger."""
    if result["winner"] == "ESCAPED":
        return bool(result["escaped_seat"] != result["digger"])
    return bool(result["winner"] == "DIGGER")
