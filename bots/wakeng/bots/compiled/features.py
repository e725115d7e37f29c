"""The network's inputs of a position (`wakeng.bots.network.layout`), written as the list of those that are on."""

from wakeng.bots.compiled.cards import CARDS, Ints, remove
from wakeng.bots.compiled.expert import fewest, most
from wakeng.bots.compiled.jit import bit_count, highest_bit, kernel, lowest_bit
from wakeng.bots.compiled.judge import Bytes, runs_out, turns, unbeaten
from wakeng.bots.compiled.state import BOMBS, COUNT, DIGGER, HAND, HOLDER, KITTY, PASSED, PLAYED, TABLE, unseen
from wakeng.bots.network import layout


@kernel
def role(s: Ints, seat: int) -> int:
    """Which network values this seat's choices."""
    if seat == s[DIGGER]:
        return layout.DIGGER
    return layout.BEFORE if (seat + 1) % 3 == s[DIGGER] else layout.AFTER


@kernel
def put_bits(found: Ints, count: int, first: int, bits: int) -> int:
    """Append `first + b` for each set bit b; the new length."""
    while bits:
        found[count] = first + lowest_bit(bits)
        count += 1
        bits &= bits - 1
    return count


@kernel
def shared(s: Ints, seat: int, found: Ints) -> int:
    """Write the inputs that all choices of a seat have in common; how many."""
    following, previous = (seat + 1) % 3, (seat + 2) % 3
    hidden = unseen(s, seat)
    count = put_bits(found, 0, layout.UNSEEN, hidden)
    count = put_bits(found, count, layout.PLAYED_NEXT, s[PLAYED + following])
    count = put_bits(found, count, layout.PLAYED_PREVIOUS, s[PLAYED + previous])
    if seat != s[DIGGER]:
        count = put_bits(found, count, layout.KITTY, s[KITTY])
    found[count] = layout.TABLE + s[TABLE]
    found[count + 1] = layout.CARDS_NEXT + s[COUNT + following]
    found[count + 2] = layout.CARDS_PREVIOUS + s[COUNT + previous]
    found[count + 3] = layout.PASSED_NEXT + s[PASSED + following]
    found[count + 4] = layout.PASSED_PREVIOUS + s[PASSED + previous]
    found[count + 5] = layout.BOMBS + min(s[BOMBS], layout.MOST_BOMBS)
    count += 6
    if s[TABLE]:
        found[count] = layout.HOLDER + (0 if s[HOLDER] == following else 1)
        count += 1
    if hidden >> 39:
        found[count] = layout.QUAD_POSSIBLE
        count += 1
    return count


@kernel
def of_choice(table: Bytes, s: Ints, seat: int, play: int, hidden: int, found: Ints, start: int, scratch: Ints) -> int:
    """Append a choice's inputs but for the cards that it leaves (`layout.REST`); the new length."""
    rest = remove(s[HAND + seat], play) if play else s[HAND + seat]
    left = turns(table, rest)
    tops = bit_count((rest & 8191) >> (highest_bit(hidden & 8191) if hidden else 0))
    excess = max(left - tops, 0)
    enemy = most(s, seat)
    out = excess <= layout.RUN_OUT_EXCESS and runs_out(table, rest, hidden, enemy, scratch)
    found[start] = layout.PLAY + play
    found[start + 1] = layout.TURNS + min(left, layout.MOST_TURNS)
    found[start + 2] = layout.LEFT + s[COUNT + seat] - CARDS[play]
    found[start + 3] = layout.TOPS + min(tops, layout.MOST_TOPS)
    found[start + 4] = layout.QUADS + bit_count(rest >> 39)
    found[start + 5] = layout.EXCESS + min(excess, layout.MOST_EXCESS)
    count = start + 6
    if out:
        found[count] = layout.RUNS_OUT
        count += 1
    if not play:
        return count
    if unbeaten(play, hidden, enemy):
        found[count] = layout.UNBEATEN
        count += 1
        if out:
            found[count] = layout.WINS
            count += 1
        return count
    least = fewest(s, seat)
    if CARDS[play] >= least:
        found[count] = layout.DANGER if CARDS[play] == least else layout.SAFE
        count += 1
    return count


@kernel
def of_hand(table: Bytes, hand: int, found: Ints) -> int:
    """Write the inputs of a hand to bid on; how many."""
    count = put_bits(found, 0, layout.BID_HAND, hand)
    found[count] = layout.BID_TURNS + min(turns(table, hand), layout.MOST_TURNS)
    found[count + 1] = layout.BID_QUADS + bit_count(hand >> 39)
    return count + 2
