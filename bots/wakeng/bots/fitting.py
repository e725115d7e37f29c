"""Measures the bars of `expert`: every answer to a question is played out from the same cards.

For each deal the hand is played by `expert` in all seats. At every question of the phase in hand each legal answer is
played out to the end, all later choices being `expert`'s own, and a *sample* keeps what the seat looks at and what each
answer won over the first one, which is no or a pass. Chance is the same for all answers of a question, so it cancels,
and one set of samples serves every bar: what a bar is worth is the sum of what the answers it chooses won, per hand and
seat, against answering no. Its standard error is that of the deals' sums.

Bars of one phase are measured with the others as they stand in wakeng.bots.bids; after a change measure again. Asking a
partner to lie down and his consent are one measurement, since neither does anything alone.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import sqrt
from typing import Final, NamedTuple

from wakeng.bots.bids import Bidder, bars_of
from wakeng.bots.judge import Judge
from wakeng.bots.self_play import after, answer, leads, play_out
from wakeng.engine import Hand, Phase, RuleSet, derive
from wakeng.engine.plays import rank_count

_ACE, _TWO, _THREE = 10, 11, 12

Bar = Mapping[str, int]
"""Values of fields of wakeng.bots.bids.Bars."""


class Sample(NamedTuple):
    """A question, and by answer what it won over the first one, for the seat that was asked."""

    deal: int
    looks: tuple[int, ...]
    gains: Mapping[int, int]


class Tried(NamedTuple):
    """What a bar is worth: points a hand and seat over always answering no, and how often it answers otherwise."""

    bar: Bar
    points: float
    error: float
    share: float
    """Of the questions."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How a phase is measured."""

    phase: Phase
    occurs: Callable[[RuleSet], bool]
    looks: Callable[[Bidder, Hand], tuple[int, ...]]
    answers: Callable[[Hand, tuple[int, ...]], Sequence[tuple[int, ...]]]
    """The answers that are played out, the first one excepted, each as the actions that it takes."""
    choose: Callable[[Bar, tuple[int, ...]], int]
    """Which of them a bar chooses, counted from 1; 0 for the first one."""
    bars: Sequence[Bar]
    blind_digs: bool = False
    """Whether the first seat that is asked digs blindly, which `expert` never does."""


def sample(fit: Fit, rules: RuleSet, seed: bytes, deal: int) -> Iterator[Sample]:
    """The samples of one deal."""
    bidder = Bidder(Judge(rules), bars_of(rules))
    hand = Hand.from_seed(rules, derive(seed, "deal", deal))
    while hand.phase not in (Phase.PLAY, Phase.END):
        if hand.phase is fit.phase:
            looks, seat = fit.looks(bidder, hand), hand.turn
            answers = fit.answers(hand, looks)
            if answers:
                least = play_out(bidder, after(hand, 0))[seat]
                won = [play_out(bidder, after(hand, *actions))[seat] - least for actions in answers]
                yield Sample(deal, looks, dict(enumerate(won, 1)))
        digs = fit.blind_digs and hand.phase is Phase.BLIND
        hand.apply(1 if digs else answer(bidder, hand))


def measure(fit: Fit, samples: Sequence[Sample], *, deals: int, players: int) -> list[Tried]:
    """What each bar is worth."""
    return [value(fit, bar, samples, deals=deals, players=players) for bar in fit.bars]


def best(tried: Sequence[Tried]) -> Tried:
    """The bar that is worth most; of equal ones the one that answers no more often."""
    return max(tried, key=lambda found: (found.points, -found.share))


def in_use(fit: Fit, rules: RuleSet) -> Bar:
    """The bar that `expert` goes by."""
    bars = bars_of(rules)
    return {name: getattr(bars, name) for name in fit.bars[0]}


def value(fit: Fit, bar: Bar, samples: Sequence[Sample], *, deals: int, players: int) -> Tried:
    """What a bar is worth."""
    sums: dict[int, int] = defaultdict(int)
    yes = 0
    for deal, looks, gains in samples:
        # An answer that is not to be had, since the bid is there already, is the pass.
        chosen = fit.choose(bar, looks)
        sums[deal] += gains.get(chosen, 0)
        yes += chosen in gains
    mean = sum(sums.values()) / deals
    spread = sum((won - mean) ** 2 for won in sums.values()) + (deals - len(sums)) * mean**2
    error = sqrt(spread / max(deals - 1, 1) / deals)
    return Tried(bar, mean / players, error / players, yes / max(len(samples), 1))


# The phases ----------------------------------------------------------------------------------------------------------


def _strength(bidder: Bidder, hand: Hand) -> tuple[int, ...]:
    return (bidder.strength(hand.planes[hand.turn], leads=leads(hand)),)


def _bid_looks(bidder: Bidder, hand: Hand) -> tuple[int, ...]:
    return (*_strength(bidder, hand), hand.bid)


def _bid_answers(hand: Hand, looks: tuple[int, ...]) -> Sequence[tuple[int, ...]]:
    """2 and 3, where the rules and the bids so far allow them; 1 is never worth it."""
    return [(2,), (3,)] if hand.bid < 2 else [(3,), (3,)]


def _bid_choice(bar: Bar, looks: tuple[int, ...]) -> int:
    worth, standing = looks
    if worth > bar["bid3"]:
        return 2
    return 1 if worth > bar["bid2"] and standing < 2 else 0


def _yes(hand: Hand, looks: tuple[int, ...]) -> Sequence[tuple[int, ...]]:
    return [(1,)]


def _above(name: str) -> Callable[[Bar, tuple[int, ...]], int]:
    return lambda bar, looks: int(looks[0] > bar[name])


def _bury_looks(bidder: Bidder, hand: Hand) -> tuple[int, ...]:
    """The action that buries the lowest lone card that costs a turn, of any rank; 0 if there is none."""
    return (bidder.lone_card(hand.planes[hand.turn], below=13),)


def _bury_answers(hand: Hand, looks: tuple[int, ...]) -> Sequence[tuple[int, ...]]:
    return [looks] if looks[0] else []


def _lie_down_looks(bidder: Bidder, hand: Hand) -> tuple[int, ...]:
    own, partner = (hand.planes[seat] for seat in (hand.turn, _partner(hand)))
    turns = bidder.judge.table.turns
    return turns(own), rank_count(own, _TWO) + rank_count(own, _THREE), turns(partner)


def _partner(hand: Hand) -> int:
    return next(seat for seat in range(3) if seat not in (hand.turn, hand.digger))


def _lie_down_answers(hand: Hand, looks: tuple[int, ...]) -> Sequence[tuple[int, ...]]:
    """Yes of both; one yes alone is a refusal, as a no is."""
    return [(1, 1)]


def _lie_down_choice(bar: Bar, looks: tuple[int, ...]) -> int:
    turns, controls, partners = looks
    asks = turns <= bar["ask_turns"] and controls >= bar["ask_controls"]
    return int(asks and partners >= bar["consent_turns"])


_STEPS: Final = range(-400, 1_501, 100)

FITS: Final[Mapping[str, Fit]] = {
    "BID": Fit(
        Phase.BID,
        lambda rules: rules.bidding.value == "auction" and rules.max_bid == 3,
        _bid_looks,
        _bid_answers,
        _bid_choice,
        [{"bid3": bar, "bid2": bar - less} for bar, less in product(range(-400, 1_201, 50), (0, 150, 300))],
    ),
    "GRAB": Fit(
        Phase.GRAB, lambda rules: rules.grab, _strength, _yes, _above("grab"), [{"grab": bar} for bar in _STEPS]
    ),
    "GRAB_BLIND": Fit(
        Phase.GRAB,
        lambda rules: rules.grab and rules.blind_dig,
        _strength,
        _yes,
        _above("grab_blind"),
        [{"grab_blind": bar} for bar in _STEPS],
        blind_digs=True,
    ),
    "OPEN": Fit(
        Phase.OPEN, lambda rules: rules.open, _strength, _yes, _above("open"), [{"open": bar} for bar in _STEPS]
    ),
    "BURY": Fit(
        Phase.BURY,
        lambda rules: rules.bury,
        _bury_looks,
        _bury_answers,
        lambda bar, looks: int(looks[0] <= bar["bury_below"]),
        [{"bury_below": rank} for rank in range(14)],
    ),
    "LIE_DOWN": Fit(
        Phase.LIE_DOWN_ASK,
        lambda rules: rules.lie_down,
        _lie_down_looks,
        _lie_down_answers,
        _lie_down_choice,
        [
            {"ask_turns": turns, "ask_controls": controls, "consent_turns": partners}
            for turns, controls, partners in product(range(3, 11), (2, 3, 4), range(4, 11))
        ],
    ),
}
"""By name; LIE_DOWN is LIE_DOWN_ASK and LIE_DOWN_CONSENT, GRAB_BLIND what grabs a blind dig."""
