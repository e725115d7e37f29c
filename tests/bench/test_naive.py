"""The baseline of `wakeng bench engine` plays the same game as the engine, or their comparison would mean nothing."""

from random import Random

import pytest

from wakeng.engine import PRESETS, RANKS, Hand, Phase, hand_seed
from wakeng.services.bench.naive import Action, NaiveHand

BLIND = ("no", "yes")
BIDS = ("pass", "bid1", "bid2", "bid3")


def token(phase: str, action: Action) -> str:
    if phase != "PLAY":
        return (BLIND if phase == "BLIND" else BIDS)[action[0]]
    if not action:
        return "pass"
    size, groups, top = action
    return "".join(rank * size for rank in RANKS[top - groups + 1 : top + 1])


@pytest.mark.parametrize("digs_black", [False, True])
def test_the_naive_engine_asks_the_same_questions_and_settles_alike(*, digs_black: bool) -> None:
    random = Random(1)
    for index in range(150):
        hand = Hand.from_seed(PRESETS["xian"], hand_seed(bytes(32), index))
        deal = hand.deal
        naive = NaiveHand(deal.hands, deal.kitty, first_dealt_seat=deal.first_dealt_seat)
        while hand.phase is not Phase.END:
            assert (naive.phase, naive.turn) == (hand.phase.value, hand.turn)
            assert [token(naive.phase, action) for action in naive.legal] == hand.legal_tokens()
            choice = random.randrange(len(hand.legal))
            if hand.phase is Phase.BLIND and not digs_black:
                choice = 0
            hand.apply(hand.legal[choice])
            naive.apply(naive.legal[choice])
        assert hand.result is not None
        assert (naive.phase, naive.scores) == ("END", list(hand.result.scores))


def test_the_naive_engine_refuses_what_is_not_legal() -> None:
    hand = Hand.from_seed(PRESETS["xian"], bytes(32))
    naive = NaiveHand(hand.deal.hands, hand.deal.kitty, first_dealt_seat=0)
    with pytest.raises(ValueError, match="not legal"):
        naive.apply((2,))
