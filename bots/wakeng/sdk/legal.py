"""Which actions are legal, worked out from what a seat is told: for bots that spare the arena the list.

The engine's own tables do the work (`wakeng.engine.plays`); a test holds this against the engine at every question.
"""

from collections.abc import Iterable

from wakeng.engine import PLAY_ID, TOKENS, Phase, RuleSet
from wakeng.engine.plays import FIRST_QUAD, FIRST_RUN, FOLLOWS, PAIRS, QUADS, SINGLES, TRIPLES

PASS = 0
_RANKS = (1 << 13) - 1
_RUN_RANKS = (1 << 10) - 1
_OFFER = (0, 1)


def leads(rules: RuleSet, hand: int) -> tuple[int, ...]:
    """The ids of every play that a packed hand can lead, ascending."""
    planes = [hand >> shift & _RANKS for shift in (0, 13, 26, 39)]
    groups = (row[plane] for row, plane in zip((SINGLES, PAIRS, TRIPLES, QUADS), planes, strict=True))
    runs = (row[plane & _RUN_RANKS] for row, plane in zip(rules.run_leads, planes, strict=True))
    return (*_joined(groups), *_joined(runs))


def follows(rules: RuleSet, hand: int, table: int) -> tuple[int, ...]:
    """The ids of every legal answer to the play `table`, ascending."""
    shift, above, row = FOLLOWS[table]
    beating = row[hand >> shift & above][1:]
    if rules.bombs and not FIRST_QUAD <= table < FIRST_RUN:
        beating = tuple(sorted(beating + QUADS[hand >> 39]))
    return beating if rules.must_beat and beating else (PASS, *beating)


def legal_tokens(rules: RuleSet, phase: str, hand: int, *, table: str, bid: int) -> tuple[str, ...]:
    """Every legal token of a seat's question, in vocabulary order; ValueError for a phase that is not known here."""
    tokens = TOKENS[Phase(phase)]
    return tuple(tokens[action] for action in _legal(rules, Phase(phase), hand, PLAY_ID.get(table, PASS), bid))


def _legal(rules: RuleSet, phase: Phase, hand: int, table: int, bid: int) -> tuple[int, ...]:
    match phase:
        case Phase.PLAY:
            return follows(rules, hand, table) if table else leads(rules, hand)
        case Phase.BID:
            return (PASS, *range(bid + 1, rules.max_bid + 1))
        case Phase.BURY:
            return (PASS, *(rank + 1 for rank in range(13) if hand >> rank & 1))
        case _:
            return _OFFER


def _joined(parts: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(play for part in parts for play in part)
