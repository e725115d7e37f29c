"""What authors test their bots with: questions, whole hands, and old hands told anew."""

from __future__ import annotations

import pytest

from tests.sdk.asking import First
from wakeng.engine import PRESETS, Hand, IllegalAction, Phase, RecordError, derive
from wakeng.engine.record import deal_members, encode, result_members
from wakeng.sdk import Answer, Bot, Decision
from wakeng.sdk.testing import decision_for, play_hand, replay

SEED = derive(bytes(32), "hand", 0)


class Last(Bot):
    async def choose(self, decision: Decision) -> Answer:
        return Answer(decision.legal[-1], "as high as I can")


def record_of(hand: Hand, seed: bytes) -> bytes:
    """The record's line of a finished hand."""
    return encode(
        {
            "record_version": 1, "match_id": "m", "hand_index": 0, "attempt": 0,
            "rules": hand.rules.to_dict(), "seed": seed.hex(),
            "time_control": {"move_ms": 500, "bank_ms": 0, "ready_ms": 1, "reconnect_ms": 0, "max_strikes": 3},
            "seats": [{"bot": "b"}] * hand.rules.players,
            **({"blind_first_seat": hand.deal.first_dealt_seat} if hand.rules.has_blind else {}),
            "deal": deal_members(hand.deal),
            "decisions": [
                {"seat": seat, "phase": phase.value, "action": _token(hand, at), "latency_us": 1}
                for at, (seat, phase, _) in enumerate(hand.decisions)
            ],
            "result": result_members(hand.result),  # type: ignore[arg-type]
        }
    )  # fmt: skip


def _token(hand: Hand, at: int) -> str:
    from wakeng.engine import TOKENS

    _, phase, action = hand.decisions[at]
    return TOKENS[phase][action]


@pytest.mark.parametrize("preset", PRESETS)
def test_a_hand_is_played_to_its_end_by_bots_of_every_style(preset: str) -> None:
    first, last = First(), Last()
    hand = play_hand(preset, SEED, [first, last, first, last][: PRESETS[preset].players])
    assert hand.phase is Phase.END and hand.result is not None


def test_the_inputs_of_a_hand_can_be_given() -> None:
    rules = PRESETS["xian"].with_overrides({"bidding": "assigned"})
    hand = play_hand(rules, SEED, [First()] * 3, assigned_digger=2)
    assert hand.digger == 2
    assert play_hand("xian", SEED, [Last()] * 3, blind_first_seat=1).digger == 1, "the first yes digs"


def test_a_hand_needs_its_seats_and_legal_answers() -> None:
    class Wrong(Bot):
        def choose(self, decision: Decision) -> str:
            return "no" if decision.phase == "BLIND" else "bid9"

    with pytest.raises(ValueError, match="has 3 seats, not 2"):
        play_hand("xian", SEED, [First()] * 2)
    with pytest.raises(IllegalAction, match="bid9"):
        play_hand("xian", SEED, [Wrong()] * 3)


def test_a_question_is_put_to_the_seat_that_is_asked_alone() -> None:
    hand = Hand.from_seed(PRESETS["three_traditional"], SEED)
    other = (hand.turn + 1) % 3
    assert decision_for(hand, hand.turn).seat == hand.turn
    with pytest.raises(ValueError, match=f"seat {other} is asked nothing now"):
        decision_for(hand, other)
    with pytest.raises(ValueError, match="over"):
        decision_for(play_hand("xian", SEED, [First()] * 3))


@pytest.mark.parametrize("preset", ["xian", "three_blind", "four_feature"])
def test_a_record_tells_what_was_played_beside_what_the_bot_would_have(preset: str) -> None:
    hand = play_hand(preset, SEED, [Last()] * PRESETS[preset].players)
    line = record_of(hand, SEED)
    own = replay(line + b"\n", Last(), 1)
    assert own and all(recorded == offered for recorded, offered in own)
    assert len(own) == sum(seat == 1 for seat, _, _ in hand.decisions)
    others = replay(line.decode(), First(), 1)
    assert [recorded for recorded, _ in others] == [recorded for recorded, _ in own]
    assert any(recorded != offered for recorded, offered in others)


def test_what_is_no_record_is_refused() -> None:
    with pytest.raises(RecordError):
        replay("{}", First(), 0)
