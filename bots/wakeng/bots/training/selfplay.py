"""Hands that the network plays against itself, or against `expert`, and what they teach.

Each decision with more than one legal choice becomes a sample: the inputs of what was chosen, and the units that the
hand then brought to the chooser's side. Nothing is estimated from later estimates (deep Monte Carlo), so a hand that is
won teaches every choice on the way that it was good; over millions of hands that averages out to what is true.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wakeng.bots.compiled import expert
from wakeng.bots.compiled.cards import CARDS, VOCABULARY, Ints, remove
from wakeng.bots.compiled.chance import State, below, happens, shuffle
from wakeng.bots.compiled.dealing import FIRST, KITTY, deal
from wakeng.bots.compiled.dealing import LENGTH as DEAL_LENGTH
from wakeng.bots.compiled.features import of_choice, of_hand, put_bits, role, shared
from wakeng.bots.compiled.jit import fast_kernel
from wakeng.bots.compiled.judge import Bytes
from wakeng.bots.compiled.legal import legal
from wakeng.bots.compiled.state import COUNT, HAND, LENGTH, TABLE, TURN, begin, step, units, unseen
from wakeng.bots.network.layout import (
    BID_CALL,
    BID_UNITS,
    BIDDER,
    HIDDEN,
    MOST_ACTIVE,
    REST,
    ROLES,
    SECOND,
)
from wakeng.bots.training.learner import Floats, Net, learn, sum_rows, value_of_choice

NET, EXPERT = 0, 1
"""Who plays a seat."""
_A_HAND: Final = 160
"""More decisions than a hand has: 52 cards, and at most two passes for each play; and three bids."""
_SAMPLES: Final = 60
"""Room for each hand; 22 are usual, more while the network knows nothing."""


class Samples(NamedTuple):
    """What some hands taught. `filled[0]` of them count; the last ones are of the present hand."""

    inputs: NDArray[np.int16]
    counts: Ints
    roles: Ints
    seats: Ints
    targets: Floats
    filled: Ints


class Work(NamedTuple):
    """Room that kernels write into."""

    position: Ints
    deck: Ints
    dealt: Ints
    policies: Ints
    plays: Ints
    scratch: Ints
    shared: Ints
    chosen: Ints
    base: Floats
    total: Floats
    second: Floats
    learning: Floats
    order: Ints


class Manner(NamedTuple):
    """How the hands are played: shares of cases."""

    random_plays: float
    random_bids: float
    random_diggers: float
    expert_diggers: float
    expert_defenders: float


def samples(hands: int) -> Samples:
    """Room for the samples of so many hands."""
    room = hands * _SAMPLES + _A_HAND
    return Samples(
        inputs=np.zeros((room, MOST_ACTIVE), np.int16),
        counts=_ints(room),
        roles=_ints(room),
        seats=_ints(room),
        targets=np.zeros(room, np.float32),
        filled=_ints(1),
    )


def work(hands: int) -> Work:
    """The room."""
    return Work(
        position=_ints(LENGTH),
        deck=np.arange(52),
        dealt=_ints(DEAL_LENGTH),
        policies=_ints(3),
        plays=_ints(VOCABULARY),
        scratch=_ints(VOCABULARY),
        shared=_ints(MOST_ACTIVE),
        chosen=_ints(MOST_ACTIVE),
        base=np.zeros(HIDDEN, np.float32),
        total=np.zeros(HIDDEN, np.float32),
        second=np.zeros(SECOND, np.float32),
        learning=np.zeros(2 * HIDDEN + 2 * SECOND, np.float32),
        order=_ints(hands * _SAMPLES + _A_HAND),
    )


def _ints(size: int) -> Ints:
    return np.zeros(size, np.int64)


@fast_kernel
def keep(into: Samples, role: int, seat: int, first: Ints, count: int, second: Ints, start: int, stop: int) -> int:
    """Append a sample of two lists of inputs; where it ends in its row."""
    at = into.filled[0]
    row = into.inputs[at]
    for i in range(count):
        row[i] = first[i]
    for i in range(start, stop):
        row[count + i - start] = second[i]
    into.counts[at] = count + stop - start
    into.roles[at] = role
    into.seats[at] = seat
    into.filled[0] = at + 1
    return at


@fast_kernel
def choose(net: Net, table: Bytes, w: Work, chance: State, random: float, into: Samples, teach: bool) -> int:
    """The play with the highest value for the seat to move, now and then any; where it teaches it is kept."""
    s = w.position
    seat = s[TURN]
    hand = s[HAND + seat]
    count = legal(hand, s[TABLE], w.plays)
    if count == 1:
        return w.plays[0]
    for at in range(count):
        if w.plays[at] and CARDS[w.plays[at]] == s[COUNT + seat]:
            return w.plays[at]
    which, hidden = role(s, seat), unseen(s, seat)
    common = shared(s, seat, w.shared)
    best = w.plays[0]
    if random > 0 and happens(chance, random):
        best = w.plays[below(chance, count)]
    else:
        with_hand = put_bits(w.shared, common, REST, hand)
        sum_rows(net, which, w.shared, with_hand, w.base)
        best_value = -1e9
        for at in range(count):
            play = w.plays[at]
            stop = of_choice(table, s, seat, play, hidden, w.chosen, 0, w.scratch)
            rest = remove(hand, play) if play else hand
            worth = value_of_choice(net, which, w.base, hand & ~rest, w.chosen, 0, stop, w.total, w.second)
            if worth > best_value:
                best, best_value = play, worth
    if teach:
        stop = of_choice(table, s, seat, best, hidden, w.chosen, 0, w.scratch)
        stop = put_bits(w.chosen, stop, REST, remove(hand, best) if best else hand)
        keep(into, which, seat, w.shared, common, w.chosen, 0, stop)
    return best


@fast_kernel
def choose_bid(
    net: Net, table: Bytes, w: Work, chance: State, seat: int, place: int, best: int, random: float, into: Samples,
    teach: bool,
) -> int:  # fmt: skip
    """The bid with the highest value; 0 is a pass."""
    common = of_hand(table, w.dealt[seat], w.shared)
    call = BID_CALL + 12 * place + 4 * best
    chosen = 0
    if random > 0 and happens(chance, random):
        pick = below(chance, 4 - best)
        chosen = best + pick if pick else 0
    else:
        sum_rows(net, BIDDER, w.shared, common, w.base)
        highest = -1e9
        for offer in range(4):
            if offer == 0 or offer > best:
                w.chosen[0] = call + offer
                worth = value_of_choice(net, BIDDER, w.base, 0, w.chosen, 0, 1, w.total, w.second)
                if worth > highest:
                    chosen, highest = offer, worth
    if teach:
        w.chosen[0] = call + chosen
        keep(into, BIDDER, seat, w.shared, common, w.chosen, 0, 1)
    return chosen


@fast_kernel
def auction(
    net: Net, table: Bytes, w: Work, chance: State, random: float, into: Samples, teach: bool
) -> tuple[int, int]:
    """Digger and bid, each seat bidding by its policy; `w.dealt` is the deal."""
    first = w.dealt[FIRST]
    digger, best = first, 0
    for place in range(3):
        seat = (first + place) % 3
        if w.policies[seat] == EXPERT:
            offer = expert.bid(table, w.dealt[seat], best, place == 0)
        else:
            offer = choose_bid(net, table, w, chance, seat, place, best, random, into, teach)
        if offer:
            digger, best = seat, offer
        if best == 3:
            break
    return digger, max(best, 1)


@fast_kernel
def set_out(w: Work, digger: int, bid: int) -> None:
    """The position at the first lead of the deal."""
    for seat in range(3):
        w.position[HAND + seat] = w.dealt[seat]
    begin(w.position, digger, bid, w.dealt[KITTY], w.dealt[FIRST])


@fast_kernel
def play(net: Net, table: Bytes, w: Work, chance: State, random: float, into: Samples, teach: bool) -> int:
    """The cards are played to the end; the digger's units."""
    s = w.position
    while True:
        seat = s[TURN]
        if w.policies[seat] == EXPERT:
            chosen = expert.choose(table, s, w.plays, w.scratch)
        else:
            chosen = choose(net, table, w, chance, random, into, teach)
        if step(s, chosen):
            return units(s, seat)


@fast_kernel
def settle(into: Samples, start: int, digger: int, bid: int, result: int) -> None:
    """Tell the samples of a hand what it brought."""
    for at in range(start, into.filled[0]):
        own = into.seats[at] == digger
        if into.roles[at] == BIDDER:
            points = result * bid * (2 if own else -1)
            into.targets[at] = points / BID_UNITS
        else:
            into.targets[at] = result if own else -result


@fast_kernel
def one_hand(net: Net, table: Bytes, w: Work, chance: State, manner: Manner, into: Samples) -> None:
    """A hand from the deal to its samples."""
    start = into.filled[0]
    w.policies[:] = NET
    deal(chance, w.deck, w.dealt)
    if happens(chance, manner.random_diggers):
        digger, bid = below(chance, 3), 1 + below(chance, 3)
    else:
        digger, bid = auction(net, table, w, chance, manner.random_bids, into, True)
    if happens(chance, manner.expert_diggers):
        into.filled[0] = start
        w.policies[digger] = EXPERT
    elif happens(chance, manner.expert_defenders):
        into.filled[0] = start
        w.policies[:] = EXPERT
        w.policies[digger] = NET
    set_out(w, digger, bid)
    result = play(net, table, w, chance, manner.random_plays, into, True)
    settle(into, start, digger, bid, result)


@fast_kernel
def round_of_hands(
    net: Net, table: Bytes, w: Work, chance: State, hands: int, manner: Manner, rate: float, into: Samples
) -> float:
    """Play some hands, then learn from each of their samples once in random order; the mean squared error."""
    into.filled[0] = 0
    for _ in range(hands):
        if into.filled[0] + _A_HAND > into.counts.size:
            break
        one_hand(net, table, w, chance, manner, into)
    count = into.filled[0]
    for at in range(count):
        w.order[at] = at
    shuffle(chance, w.order, count)
    total = 0.0
    # The roles' networks share nothing, so one after the other is the same, and each fits the processor's cache.
    for which in range(ROLES):
        for i in range(count):
            at = w.order[i]
            if into.roles[at] == which:
                error = learn(net, which, into.inputs[at], into.counts[at], into.targets[at], rate, w.learning)
                total += error * error
    return total / max(count, 1)


@fast_kernel
def duel(net: Net, table: Bytes, w: Work, chance: State, deals: Ints, line_ups: Ints, points: Ints) -> None:
    """Each deal with each line-up (a row of policies by seat), bids included: points[deal, line-up, seat]."""
    into = Samples(
        np.zeros((1, 1), np.int16),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
        np.zeros(1, np.float32),
        np.zeros(1, np.int64),
    )
    for number in range(deals.shape[0]):
        w.dealt[:] = deals[number]
        for which in range(line_ups.shape[0]):
            w.policies[:] = line_ups[which]
            digger, bid = auction(net, table, w, chance, 0.0, into, False)
            set_out(w, digger, bid)
            stake = bid * play(net, table, w, chance, 0.0, into, False)
            for seat in range(3):
                points[number, which, seat] = 2 * stake if seat == digger else -stake
