"""The network's inputs and its shape: which number means what. Plain integers, for numpy and for compiled code alike.

**What it values.** Q(what a seat knows, a choice) = the units that its side should get (the digger's result per unit of
bid). There is a network for each role, since they play different games, and one for bids.

**Inputs** are binary and sparse: some 75 of 979 are on. A *thermometer* is 52 of them, a packed hand itself, so three
kings are the inputs "more than 0, 1 and 2 kings". The first block is the same for all choices of a question, the second
differs by choice; so the sum of the first layer over the shared block is made once a question.

**Shape.** 128 rectified units, 32 rectified units, one output.
"""

from typing import Final

VERSION: Final = 1
"""Of the inputs' meaning. A weights file bears it, and is refused by another."""

DIGGER, BEFORE, AFTER, BIDDER = range(4)
"""The roles: the digger; the defender who is followed by the digger; the one who follows him; a bidder."""
ROLES: Final = 4
HIDDEN: Final = 128
SECOND: Final = 32

HAND_BITS: Final = 52
PLAYS: Final = 151
SEAT_CARDS: Final = 21

# Shared by all choices. "Next" and "previous" are the seats in turn order.
UNSEEN: Final = 0
PLAYED_NEXT: Final = UNSEEN + HAND_BITS
PLAYED_PREVIOUS: Final = PLAYED_NEXT + HAND_BITS
KITTY: Final = PLAYED_PREVIOUS + HAND_BITS
"""The kitty's cards that the digger has not played."""
TABLE: Final = KITTY + HAND_BITS
HOLDER: Final = TABLE + PLAYS
"""+ 0: the next seat made the play on the table, + 1: the previous one."""
CARDS_NEXT: Final = HOLDER + 2
CARDS_PREVIOUS: Final = CARDS_NEXT + SEAT_CARDS
PASSED_NEXT: Final = CARDS_PREVIOUS + SEAT_CARDS
PASSED_PREVIOUS: Final = PASSED_NEXT + PLAYS
"""The last play that each of them passed on."""
BOMBS: Final = PASSED_PREVIOUS + PLAYS
QUAD_POSSIBLE: Final = BOMBS + 3
SHARED: Final = QUAD_POSSIBLE + 1

# By choice.
REST: Final = SHARED
"""The own cards that it leaves."""
PLAY: Final = REST + HAND_BITS
TURNS: Final = PLAY + PLAYS
LEFT: Final = TURNS + 16
TOPS: Final = LEFT + SEAT_CARDS
"""Own ranks at or above the highest that is unseen."""
QUADS: Final = TOPS + 6
UNBEATEN: Final = QUADS + 6
RUNS_OUT: Final = UNBEATEN + 1
WINS: Final = RUNS_OUT + 1
"""Both of the former."""
DANGER: Final = WINS + 1
"""It can be beaten, and has as many cards as the enemy with the fewest."""
SAFE: Final = DANGER + 1
"""It can be beaten, and has more."""
EXCESS: Final = SAFE + 1
"""Turns beyond those of the top ranks."""
INPUTS: Final = EXCESS + 13

MOST_TURNS, MOST_TOPS, MOST_QUADS, MOST_EXCESS, MOST_BOMBS = 15, 5, 5, 12, 2
RUN_OUT_EXCESS: Final = 2
"""Whether a hand runs out is looked at up to this excess."""

# Of a bidder.
BID_HAND: Final = 0
BID_TURNS: Final = BID_HAND + HAND_BITS
BID_QUADS: Final = BID_TURNS + 16
BID_CALL: Final = BID_QUADS + 6
"""+ 12 x place in the order + 4 x the best bid so far + this bid."""
BID_INPUTS: Final = BID_CALL + 36

MOST_ACTIVE: Final = 80
"""More than are ever on at once: one for each card of the deck, four of the kitty, 18 others."""
BID_UNITS: Final = 2
"""A bidder's output is points divided by this."""
