"""Records for tests of what keeps them: hands really played, at random, from a seed."""

import random
from typing import Any

from wakeng.engine import Hand, Phase, deal_members, derive, hand_seed, result_members, rule_set

SEED = bytes(32)


def played(
    match_id: str = "m1",
    hand_index: int = 0,
    *,
    attempt: int = 0,
    preset: str = "three_feature",
    escaped_seat: int | None = None,
    latency_us: int = 100,
) -> dict[str, Any]:
    """The record of a hand; with `escaped_seat`, of one which that seat forfeited before the first question."""
    rules = rule_set(preset)
    blind_first = 0 if rules.has_blind else None
    hand = Hand.from_seed(rules, hand_seed(SEED, hand_index), blind_first_seat=blind_first)
    record: dict[str, Any] = {
        "record_version": 1,
        "match_id": match_id,
        "hand_index": hand_index,
        "attempt": attempt,
        "rules": {"preset": preset},
        "seed": hand_seed(SEED, hand_index).hex(),
        "time_control": {
            "move_ms": 1000,
            "bank_ms": 1000,
            "ready_ms": 5000,
            "reconnect_ms": 2000,
            "max_strikes": 3,
        },
        "seats": [{"bot": bot} for bot in ("greedy", "lowest", "random", "random")[: rules.players]],
        "deal": deal_members(hand.deal),
    }
    if blind_first is not None:
        record["blind_first_seat"] = blind_first
    if escaped_seat is None:
        record["decisions"] = _play(hand, latency_us)
    else:
        hand.escape(escaped_seat)
        record["faults"] = [{"seat": escaped_seat, "fault": "NOT_READY", "count": 1}]
    assert hand.result is not None
    return {**record, "result": result_members(hand.result)}


def _play(hand: Hand, latency_us: int) -> list[dict[str, Any]]:
    choice = random.Random(derive(SEED, "choices", 0))
    decisions = []
    while hand.phase is not Phase.END:
        said = {"seat": hand.turn, "phase": hand.phase.value, "action": choice.choice(hand.legal_tokens())}
        decisions.append({**said, "latency_us": latency_us})
        hand.apply_token(said["action"])
    return decisions
