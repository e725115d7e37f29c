"""The rules of `expert`, compiled: docs/opponents.md tells what each term is for.

The terms are whole numbers of twentieths, as in the plain bot, so that sums are exact and ties are the same everywhere.
"""

from typing import Final

from wakeng.bots.compiled.cards import (
    AFTER_QUADS,
    BOTTOM,
    CARDS,
    FIRST_QUAD,
    FOUR_PLANES,
    GROUPS,
    SIZE,
    TOP,
    Ints,
    remove,
)
from wakeng.bots.compiled.jit import bit_count, kernel
from wakeng.bots.compiled.judge import Bytes, runs_out, turns, unbeaten
from wakeng.bots.compiled.legal import legal
from wakeng.bots.compiled.state import COUNT, DIGGER, HAND, HOLDER, TABLE, TURN, unseen

_TURN: Final = -220
_RUNS_OUT: Final = 20_000_000
_BOMB: Final = -1_000
_FREE_BOMB: Final = 2
"""Turns left from which on a bomb costs nothing."""
_PASS: Final = -16
_NOBODY_LEFT: Final = -160
_PARTNER: Final = 100
_URGENT: Final = -540


@kernel
def control(top: int, size: int, cards: int) -> int:
    """The price of high cards."""
    if top == 12:
        return -130 * size
    if top == 11:
        return -70 * size
    if top == 10 or (top == 9 and cards <= 2):
        return -20 * size
    return 0


@kernel
def fewest(s: Ints, seat: int) -> int:
    """The cards of the enemy that has fewest."""
    if seat == s[DIGGER]:
        return min(s[COUNT + (seat + 1) % 3], s[COUNT + (seat + 2) % 3])
    return s[COUNT + s[DIGGER]]


@kernel
def most(s: Ints, seat: int) -> int:
    """The cards of the enemy that has most."""
    if seat == s[DIGGER]:
        return max(s[COUNT + (seat + 1) % 3], s[COUNT + (seat + 2) % 3])
    return s[COUNT + s[DIGGER]]


@kernel
def score_pass(s: Ints, seat: int, left: int) -> int:
    """What it is worth to pass; `left` are the hand's turns."""
    score = _TURN * left + _PASS
    holder = s[HOLDER]
    held = s[COUNT + holder]
    next_seat = (seat + 1) % 3
    if seat != s[DIGGER] and holder != s[DIGGER]:
        return score + (2 * _PARTNER if held <= 2 else _PARTNER)
    if held <= 3:
        score += _URGENT * (4 - held)
    if seat == s[DIGGER] or next_seat == s[DIGGER]:
        score += _NOBODY_LEFT
    return score


@kernel
def score_play(table: Bytes, s: Ints, seat: int, play: int, seen_by_none: int, scratch: Ints) -> int:
    """What a play is worth that does not empty the hand."""
    rest = remove(s[HAND + seat], play)
    left = turns(table, rest)
    beatable = not unbeaten(play, seen_by_none, most(s, seat))
    if not beatable and runs_out(table, rest, seen_by_none, most(s, seat), scratch):
        return _RUNS_OUT - 200 * left
    cards, low = CARDS[play], BOTTOM[play]
    least = fewest(s, seat)
    score = _TURN * left + control(TOP[play], SIZE[play], cards)
    if FIRST_QUAD <= play < AFTER_QUADS and left > _FREE_BOMB:
        score += _BOMB
    if s[TABLE]:
        score -= 3 * low
        partner_next = seat != s[DIGGER] and (seat + 1) % 3 != s[DIGGER]
        if beatable and cards == least and not partner_next:
            score += 10 * low
        return score
    score += 3 * cards - 18 * low - 18 * GROUPS[play]
    if beatable and cards == least:
        score -= 2_000
    elif cards > least:
        score += 200
    if beatable and cards == 1 and least == 1:
        score += 40 * low
    return score


@kernel
def choose(table: Bytes, s: Ints, found: Ints, scratch: Ints) -> int:
    """The play of the seat to move; its own hand must stand in `s`."""
    seat = s[TURN]
    hand = s[HAND + seat]
    count = legal(hand, s[TABLE], found)
    if count == 1:
        return found[0]
    seen_by_none = unseen(s, seat)
    best, best_score = found[0], -(1 << 60)
    for at in range(count):
        play = found[at]
        if play and CARDS[play] == s[COUNT + seat]:
            return play
        if play:
            score = score_play(table, s, seat, play, seen_by_none, scratch)
        else:
            score = score_pass(s, seat, turns(table, hand))
        if score > best_score:
            best, best_score = play, score
    return best


@kernel
def held(hand: int, rank: int) -> int:
    """How many cards of a rank a hand holds."""
    return bit_count(hand >> rank & FOUR_PLANES)


@kernel
def worth(table: Bytes, hand: int, first: bool) -> int:
    """What a hand as dealt should bring to a digger, in thousandths of a unit."""
    cards = 355 * held(hand, 12) + 166 * held(hand, 11) + 90 * held(hand, 10) + 43 * held(hand, 9)
    quads, low = bit_count(hand >> 39), bit_count(hand & 15)
    return 40 - 145 * turns(table, hand) + cards + 580 * quads - 70 * low + (290 if first else 0)


@kernel
def bid(table: Bytes, hand: int, best: int, first: bool) -> int:
    """The bid on a hand as dealt, above `best`; 0 is a pass."""
    value = worth(table, hand, first)
    if value > 50:
        return 3
    return 2 if value > -100 and best < 2 else 0
