"""What a hand is worth: stake, scores, task bonuses and the price of leaving (docs/rules.md 4)."""

from enum import Enum
from typing import Final, NamedTuple

from wakeng.engine.rules import RuleSet


class Winner(Enum):
    """How a hand ended."""

    DIGGER = "DIGGER"
    DEFENDERS = "DEFENDERS"
    ESCAPED = "ESCAPED"


# Names of their own, since before Python 3.12 a member of an enum takes nine times as long to find.
_DIGGER: Final = Winner.DIGGER
_DEFENDERS: Final = Winner.DEFENDERS


class Terms(NamedTuple):
    """The factors of the stake as they stand once there is a digger.

    `bid` 1..4, `bombs` all that were played, `grabs` 0..n-1, `blind` a blind dig that nobody grabbed.
    """

    digger: int
    bid: int
    bombs: int = 0
    grabs: int = 0
    opened: bool = False
    lying_seat: int | None = None
    blind: bool = False


class Result(NamedTuple):
    """A settled hand, by seat. In a hand escaped before there was a digger, `digger` to `blind` are None."""

    winner: Winner
    scores: tuple[int, ...]
    digger: int | None = None
    bid: int | None = None
    stake: int | None = None
    bombs: int | None = None
    grabs: int | None = None
    opened: bool | None = None
    lying_seat: int | None = None
    blind: bool | None = None
    task_bonus: tuple[int, ...] | None = None
    escaped_seat: int | None = None


def stake_of(rules: RuleSet, terms: Terms, *, digger_wins: bool) -> int:
    """base x bid x capped bombs x every doubling; a standing blind dig doubles only what its digger wins."""
    _, bid, bombs, grabs, opened, lying_seat, blind = terms
    doublings = grabs + opened + (lying_seat is not None) + (blind and digger_wins)
    return rules.base * bid * min(1 << min(bombs, 32), rules.bomb_cap) << doublings


def settle(rules: RuleSet, terms: Terms, *, digger_wins: bool, task_bonus: tuple[int, ...] | None = None) -> Result:
    """A hand that was played out: the digger wins or loses (n - 1) x stake, each defender the opposite of stake."""
    stake = stake_of(rules, terms, digger_wins=digger_wins)
    defender = -stake if digger_wins else stake
    scores = [defender] * rules.players
    scores[terms.digger] = -defender * (rules.players - 1)
    return _result(_DIGGER if digger_wins else _DEFENDERS, tuple(scores), terms, stake, task_bonus)


def settle_escape(rules: RuleSet, terms: Terms | None, leaver: int) -> Result:
    """A hand that `leaver` left; `terms` is None before there is a digger (GRAB included)."""
    scores = [0] * rules.players
    scores[leaver] = -rules.escape_factor * rules.base
    if terms is None:
        return Result(Winner.ESCAPED, tuple(scores), escaped_seat=leaver)
    digger_left = leaver == terms.digger
    stake = stake_of(rules, terms, digger_wins=not digger_left)
    if rules.escape_settles:
        scores[leaver] = min(scores[leaver], -(rules.players - 1) * stake)
        if digger_left:
            scores = [stake if seat != leaver else score for seat, score in enumerate(scores)]
        else:
            scores[terms.digger] = (rules.players - 1) * stake
    return _result(Winner.ESCAPED, tuple(scores), terms, stake, escaped_seat=leaver)


def _result(
    winner: Winner,
    scores: tuple[int, ...],
    terms: Terms,
    stake: int,
    task_bonus: tuple[int, ...] | None = None,
    escaped_seat: int | None = None,
) -> Result:
    digger, bid, bombs, grabs, opened, lying, blind = terms
    return Result(winner, scores, digger, bid, stake, bombs, grabs, opened, lying, blind, task_bonus, escaped_seat)
