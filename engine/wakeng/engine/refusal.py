"""Why a play is refused, in words for the author of the bot that offered it."""

from wakeng.engine.plays import Kind, Play, rank_count
from wakeng.engine.rules import RuleSet


def why_not(rules: RuleSet, hand: int, play: Play, table: Play) -> str:
    """The first rule of docs/rules.md 2 and 3.10 that a play breaks, given the packed hand and the play to beat."""
    word = repr(play.token)
    if play.kind is Kind.PASS:
        return _why_no_pass(table)
    if not rules.allows(play):
        return f"{word}: {_why_no_combination(rules, play)}"
    if any(rank_count(hand, rank) < play.size for rank in range(play.bottom, play.top + 1)):
        return f"{word}: the hand does not hold these cards"
    return f"{word} does not beat {table.token!r}: {_why_not_higher(play, table)}"


def _why_no_pass(table: Play) -> str:
    if table.kind is Kind.PASS:
        return "'pass': the leader must play"
    return f"'pass': must_beat is on and {table.token!r} can be beaten"


def _why_no_combination(rules: RuleSet, play: Play) -> str:
    shortest = rules.shortest_run(play.size)
    if shortest is None:
        return f"this rule set has no {play.kind.value}"
    return f"a {play.kind.value} needs {shortest} ranks here"


def _why_not_higher(play: Play, table: Play) -> str:
    if (play.kind, play.groups) != (table.kind, table.groups):
        return "it takes the same kind and the same number of cards"
    return "an equal or lower rank beats nothing"
