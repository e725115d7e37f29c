"""`expert` at all seats of a hand of the engine, without messages: what measures its bars needs many hands."""

from collections.abc import Callable, Sequence

from wakeng.bots.bids import Bidder, sure_to_lead
from wakeng.bots.judge import Position
from wakeng.bots.seen import position, unseen
from wakeng.engine import Deal, Hand, Phase
from wakeng.engine.hand import NOBODY


def answer(bidder: Bidder, hand: Hand) -> int:
    """The action that `expert` takes at a hand's question."""
    return bidder.judge.choose(seen(hand)) if hand.phase is Phase.PLAY else _ANSWERS[hand.phase](bidder, hand)


def play_out(bidder: Bidder, hand: Hand) -> Sequence[int]:
    """Play a hand to its end; gives the scores."""
    while hand.phase is not Phase.END:
        hand.apply(answer(bidder, hand))
    assert hand.result is not None
    return hand.result.scores


def after(hand: Hand, *actions: int) -> Hand:
    """A copy of the hand with these actions more; that none of it was a match's later hand is taken for granted."""
    deal: Deal = hand.deal
    copy = Hand(hand.rules, deal)
    for _, _, action in hand.decisions:
        copy.apply(action)
    for action in actions:
        copy.apply(action)
    return copy


def seen(hand: Hand) -> Position:
    """What the seat to play looks at."""
    seat, held = hand.turn, hand.planes[hand.turn]
    return position(
        held,
        open_or_unseen(hand),
        hand.table,
        seat=seat,
        digger=hand.digger,
        lying=None if hand.lying == NOBODY else hand.lying,
        left=[hand.count(other) for other in range(hand.rules.players)],
        holder=hand.holder,
    )


def open_or_unseen(hand: Hand) -> int:
    """U of the seat that is asked, packed."""
    if hand.opened and hand.turn != hand.digger:
        return hand.planes[hand.digger]
    return unseen(hand.rules, hand.planes[hand.turn], hand.history)


def leads(hand: Hand) -> bool:
    """Whether the seat that is asked can know that it will lead."""
    seat = hand.turn
    return sure_to_lead(hand.rules, hand.phase.value, seat, hand.cards(seat), hand.history)


def _bid(bidder: Bidder, hand: Hand) -> int:
    return bidder.bid(hand.planes[hand.turn], leads=leads(hand), standing=hand.bid)


def _grab(bidder: Bidder, hand: Hand) -> int:
    return bidder.grab(hand.planes[hand.turn], leads=leads(hand), blind=hand.blind)


def _open(bidder: Bidder, hand: Hand) -> int:
    most = max(hand.count(seat) for seat in range(hand.rules.players) if seat != hand.turn)
    return bidder.open(hand.planes[hand.turn], open_or_unseen(hand), most, leads=leads(hand))


_ANSWERS: dict[Phase, Callable[[Bidder, Hand], int]] = {
    Phase.BLIND: lambda _, __: 0,
    Phase.BID: _bid,
    Phase.GRAB: _grab,
    Phase.OPEN: _open,
    Phase.BURY: lambda bidder, hand: bidder.bury(hand.planes[hand.turn]),
    Phase.LIE_DOWN_ASK: lambda bidder, hand: bidder.ask(hand.planes[hand.turn]),
    Phase.LIE_DOWN_CONSENT: lambda bidder, hand: bidder.consent(hand.planes[hand.turn]),
}
