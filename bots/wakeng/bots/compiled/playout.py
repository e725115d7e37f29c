"""Hands played to the end by one policy in all seats, and worlds to play them in.

A policy sees what a seat may see, its own cards and what is public, whatever world it plays in: so a seat cannot play
otherwise in two worlds that it could not tell apart.
"""

from typing import Final

from wakeng.bots.compiled import expert, value
from wakeng.bots.compiled.cards import RANK_BITS, Ints, remove
from wakeng.bots.compiled.chance import State, shuffle
from wakeng.bots.compiled.jit import bit_count, fast_kernel, kernel, lowest_bit
from wakeng.bots.compiled.judge import Bytes
from wakeng.bots.compiled.state import COUNT, DIGGER, HAND, KITTY, TURN, step, units, unseen
from wakeng.bots.compiled.value import Room, Value

EXPERT: Final = 0
NET: Final = 1


@fast_kernel
def play_out(net: Value, table: Bytes, s: Ints, policy: int, room: Room) -> int:
    """Play a position to its end; the digger's units."""
    while True:
        seat = s[TURN]
        if policy == EXPERT:
            play = expert.choose(table, s, room.plays, room.scratch)
        else:
            play = value.choose(net, table, s, room)
        if step(s, play):
            return units(s, seat)


@kernel
def without(hand: int, part: int) -> int:
    """A hand without another that it holds."""
    for plane in range(4):
        ranks = part >> 13 * plane & RANK_BITS
        while ranks:
            hand = remove(hand, lowest_bit(ranks) + 1)
            ranks &= ranks - 1
    return hand


@kernel
def spread(hand: int, cards: Ints) -> int:
    """Write the rank of each card of a hand; how many."""
    count = 0
    for plane in range(4):
        ranks = hand >> 13 * plane & RANK_BITS
        while ranks:
            cards[count] = lowest_bit(ranks)
            count += 1
            ranks &= ranks - 1
    return count


@kernel
def gathered(hand: int, cards: Ints, start: int, stop: int) -> int:
    """A hand with some cards more."""
    for at in range(start, stop):
        bit = 1 << cards[at]
        while hand & bit:
            bit <<= 13
        hand |= bit
    return hand


@kernel
def deal_world(s: Ints, seat: int, chance: State, cards: Ints) -> None:
    """Fill in the hands of the two others: what the digger certainly holds is his, all else is dealt by chance."""
    one, other = (seat + 1) % 3, (seat + 2) % 3
    hidden = unseen(s, seat)
    first = second = 0
    if seat != s[DIGGER]:
        hidden = without(hidden, s[KITTY])
        if one == s[DIGGER]:
            first = s[KITTY]
        else:
            second = s[KITTY]
    count = spread(hidden, cards)
    shuffle(chance, cards, count)
    most = s[COUNT + one] - bit_count(first)
    s[HAND + one] = gathered(first, cards, 0, most)
    s[HAND + other] = gathered(second, cards, most, count)
