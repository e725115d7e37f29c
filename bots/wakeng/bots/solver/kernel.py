"""The open-card search, compiled: does the side of the seat to move win, when all cards are known?

Depth first and two-valued, the defenders as one side: a seat wins if one of its choices wins for its side, so the first
that does ends the search there. Every play shortens a hand and a cleared table has to be led to, so no position comes
again and what is found of one is true for good; a table of 2^20 entries keeps it, each with its whole key.

Cut at once: a leader whose hand is one play wins; so does one with a run-out against the hands that his enemies truly
hold, where only quads count as unbeaten while an enemy has one. Order: leads by the turns left, then more cards;
followers try the lowest play first and the pass last, but the pass first on a partner's trick.

The function calls itself, which numba compiles only with its types written out, and cannot keep on disk: it is compiled
anew in each process, in some ten seconds. Types are int64 throughout, but for the tables.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import numba
import numpy as np
from numba import types

from wakeng.bots.solver.moves import (
    DIGGER,
    LIMIT,
    NODES,
    Bytes,
    Ints,
    allied,
    compiled,
    follows,
    leads,
    order_leads,
    remove,
    runs_out,
    turns_of,
)

ENTRIES: Final = 1 << 20
KEY: Final = 5
"""Four hands, and the rest of a position in one number."""
MOST_MOVES: Final = 192
DEEPEST: Final = 52 * 4
"""Decisions of a hand: each of 52 cards played singly, with three passes."""

DIGGER_WINS: Final = 1
DEFENDERS_WIN: Final = 0
UNKNOWN: Final = 2

F = TypeVar("F", bound=Callable[..., Any])
_INTS: Final = types.int64[::1]
_GRID: Final = types.int64[:, ::1]
_BYTES: Final = types.uint8[::1]
_FOUR: Final = (types.int64,) * 4
_SIGNATURE: Final = types.int64(*_FOUR, _INTS, _INTS, _INTS, _BYTES, _GRID, _GRID, _GRID, _BYTES)


def _typed(function: F) -> F:
    """Compile a function that calls itself, now."""
    made: F = numba.njit(_SIGNATURE)(function)  # type: ignore[assignment]  # a dispatcher, which acts as one
    return made


@compiled
def _rest(turn: int, play: int, holder: int, digger: int) -> int:
    """A position but for its hands."""
    return ((play * 4 + (holder if play else 0)) * 4 + turn) * 4 + digger


@compiled
def _slot(hands: Ints, rest: int) -> int:
    """Where a position is kept: its parts stirred together by multiplications and shifts of 64 bits."""
    mixed = np.uint64(rest)
    for seat in range(4):
        mixed = (mixed ^ np.uint64(hands[seat])) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return np.int64(mixed >> np.uint64(44))  # type: ignore[return-value]


@compiled
def _known(slot: int, hands: Ints, rest: int, kept_keys: Ints, kept: Bytes) -> int:
    """What is kept of a position; UNKNOWN where the place is empty, or another's."""
    if kept_keys[slot, 4] != rest:
        return UNKNOWN
    for seat in range(4):
        if kept_keys[slot, seat] != hands[seat]:
            return UNKNOWN
    return int(kept[slot])


@compiled
def _keep(slot: int, hands: Ints, rest: int, value: int, kept_keys: Ints, kept: Bytes) -> None:
    for seat in range(4):
        kept_keys[slot, seat] = hands[seat]
    kept_keys[slot, 4] = rest
    kept[slot] = value


@compiled
def _moves(
    turn: int, play: int, holder: int, hand: int, facts: Ints, table: Bytes, moves: Ints, keys: Ints
) -> tuple[int, int, int]:
    """Write the moves: how many, and from which place to which they are tried; a place outside is the pass."""
    if play:
        count = follows(hand, play, facts, moves)
        return (count, -1, count) if allied(turn, holder, facts) else (count, 0, count + 1)
    count = leads(hand, facts, moves)
    order_leads(hand, count, table, moves, keys)
    return count, 0, count


@_typed
def search(
    turn: int,
    play: int,
    holder: int,
    depth: int,
    hands: Ints,
    after: Ints,
    facts: Ints,
    table: Bytes,
    moves: Ints,
    keys: Ints,
    kept_keys: Ints,
    kept: Bytes,
) -> int:
    """Who wins: DIGGER_WINS, DEFENDERS_WIN, or UNKNOWN once the limit of nodes is reached."""
    facts[NODES] += 1
    if facts[NODES] > facts[LIMIT]:
        return UNKNOWN
    own = DIGGER_WINS if turn == facts[DIGGER] else DEFENDERS_WIN
    hand = hands[turn]
    if not play and (turns_of(table, hand) == 1 or runs_out(turn, hands, facts, table, moves[depth])):
        return own
    rest = _rest(turn, play, holder, facts[DIGGER])
    slot = _slot(hands, rest)
    known = _known(slot, hands, rest, kept_keys, kept)
    if known != UNKNOWN:
        return known
    value = 1 - own
    count, first, last = _moves(turn, play, holder, hand, facts, table, moves[depth], keys[depth])
    for at in range(first, last):
        passes = not 0 <= at < count
        chosen = play if passes else moves[depth, at]
        by = holder if passes else turn
        if not passes:
            hands[turn] = remove(hand, chosen)
        elif after[turn] == holder:
            chosen = 0
        if hands[turn]:
            found = search(after[turn], chosen, by, depth + 1, hands, after, facts, table, moves, keys, kept_keys, kept)
        else:
            found = own
        hands[turn] = hand
        if found == UNKNOWN:
            return UNKNOWN
        if found == own:
            value = own
            break
    _keep(slot, hands, rest, value, kept_keys, kept)
    return value
