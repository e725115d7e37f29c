"""What a seat can work out from what it is told: its packed hand, the cards it does not see, who is with whom."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from wakeng.bots.judge import Position
from wakeng.engine import PLAY_ID, PLAYS, RANKS, RuleSet
from wakeng.engine.phases import EVENTS, Phase
from wakeng.engine.plays import REMOVALS, pack
from wakeng.sdk.decision import Decision

_PLANE: Final = (1 << 13) - 1
_FULL: Final = (1 << 52) - 1
_FILL: Final = tuple((1 << 13 * size) - 1 for size in range(5))
"""By group size: the planes that a play fills from below."""
_BIT: Final = {rank: 1 << place for place, rank in enumerate(RANKS)}

Added = tuple[int, int, int, int]
"""What a play does to a packed hand that it joins: (ranks left alone, how far its own rise, these, its filling)."""


def _added(play: int) -> Added:
    rest, shift, mask = REMOVALS[play]
    return rest, shift, mask, _FILL[PLAYS[play].size] & mask


def _gone() -> dict[str, Added]:
    """By public event: the play whose cards it puts out of play. A buried card's is the SINGLE of its rank."""
    return {
        text: _added(action)
        for by_phase in EVENTS
        for phase in (Phase.PLAY, Phase.BURY)
        for action, text in enumerate(by_phase[phase])
        if action
    }


_GONE: Final = _gone()


def pack_words(cards: str) -> int:
    """The packed hand of cards as words, `4h5dKs`."""
    held = pairs = triples = quads = 0
    for rank in cards[::2]:
        bit = _BIT[rank]
        quads |= triples & bit
        triples |= pairs & bit
        pairs |= held & bit
        held |= bit
    return held | pairs << 13 | triples << 26 | quads << 39


def joined(one: int, other: int) -> int:
    """Two packed hands that lie apart in one: more than j of a rank when the two numbers reach j + 1 together."""
    a1, a2, a3, a4 = one & _PLANE, one >> 13 & _PLANE, one >> 26 & _PLANE, one >> 39
    b1, b2, b3, b4 = other & _PLANE, other >> 13 & _PLANE, other >> 26 & _PLANE, other >> 39
    pairs = a2 | b2 | a1 & b1
    triples = a3 | b3 | a2 & b1 | a1 & b2
    quads = a4 | b4 | a3 & b1 | a2 & b2 | a1 & b3
    return a1 | b1 | pairs << 13 | triples << 26 | quads << 39


def complement(known: int) -> int:
    """The deck of 52 without a packed hand: more than j of a rank are left where 4 - j are not known."""
    planes = known >> 39 | (known >> 26 & _PLANE) << 13 | (known >> 13 & _PLANE) << 26 | (known & _PLANE) << 39
    return planes ^ _FULL


def known(hand: int, history: Iterable[str]) -> int:
    """A packed hand with all that was played or buried."""
    for event in history:
        added = _GONE.get(event)
        if added:
            rest, shift, mask, filling = added
            hand = hand & rest | (hand << shift | filling) & mask
    return hand


def position(
    hand: int, unseen: int, table: int, *, seat: int, digger: int, lying: int | None, left: Sequence[int], holder: int
) -> Position:
    """What the judgement looks at; `left` are the seats' numbers of cards, `holder` is of no matter on the lead."""
    others = [(seat + step) % len(left) for step in range(1, len(left))]
    others = [other for other in others if other != lying]
    enemies = [left[other] for other in others if digger in (seat, other)]
    fewest, most = min(enemies), max(enemies)
    if not table:
        return Position(hand, unseen, table, fewest, most)
    with_me = [digger not in (seat, other) for other in others]
    at = others.index(holder)
    return Position(
        hand, unseen, table, fewest, most, left[holder], with_me[at], with_me[0], last_to_stop=not any(with_me[:at])
    )


def position_of(decision: Decision) -> Position:
    """The same of a question as it came."""
    seen = decision.message.observation
    return position(
        pack_words(seen.cards),
        unseen_by(decision),
        PLAY_ID[seen.table] if seen.table else 0,
        seat=seen.seat,
        digger=seen.digger,
        lying=seen.lying_seat if seen.HasField("lying_seat") else None,
        left=seen.cards_left,
        holder=seen.table_seat,
    )


def unseen_by(decision: Decision) -> int:
    """U of a question, packed. Before a digger who laid his cards open, U is these."""
    seen = decision.message.observation
    if seen.opened and seen.seat != seen.digger:
        return pack_words(seen.opened_cards)
    return unseen(decision.rules, pack_words(seen.cards), seen.history)


def unseen(rules: RuleSet, hand: int, history: Iterable[str]) -> int:
    """The deck without a packed hand and all that was played or buried."""
    placed = known(hand, history)
    return complement(joined(placed, _packed(rules.removed_cards)) if rules.removed_cards else placed)


@lru_cache(maxsize=64)
def _packed(cards: tuple[int, ...]) -> int:
    return pack(cards)
