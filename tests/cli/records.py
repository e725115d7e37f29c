"""Records made for these tests: hands played at random by the engine, with everything a record may hold."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wakeng.engine import (
    TOKENS,
    Bidding,
    Hand,
    Phase,
    blind_first_seat,
    commitment,
    deal_members,
    encode,
    hand_seed,
    result_members,
    rule_set,
)

MATCH_SEED = bytes(31) + b"\x01"
TIME_CONTROL = {"move_ms": 1000, "bank_ms": 1000, "ready_ms": 5000, "reconnect_ms": 2000, "max_strikes": 3}
HOSTILE = "[red]\x1b[31m\u202eevil[/red] :smile:"


def played(
    preset: str = "xian", index: int = 0, overrides: Mapping[str, object] | None = None, *, escapes: bool = False
) -> dict[str, Any]:
    """A hand of the match of MATCH_SEED, played at random; one that escapes has two strikes before its last."""
    rules = rule_set(preset, overrides)
    seed = hand_seed(MATCH_SEED, index)
    first = blind_first_seat(rules, MATCH_SEED, index)
    assigned = 1 if rules.bidding is Bidding.ASSIGNED else None
    hand = Hand.from_seed(rules, seed, blind_first_seat=first, assigned_digger=assigned)
    record: dict[str, Any] = {
        "record_version": 1,
        "match_id": "m1",
        "hand_index": index,
        "attempt": 0,
        "rules": rules.to_dict(),
        "seed": seed.hex(),
        "match_commitment": commitment(MATCH_SEED),
        "time_control": TIME_CONTROL,
        "seats": [{"bot": f"bot{seat}", "version": "1.0"} for seat in range(rules.players)],
        "deal": deal_members(hand.deal),
        "decisions": _play(hand, random.Random(f"{preset} {index}"), escapes=escapes),
    }
    record |= {"blind_first_seat": first} if first is not None else {}
    record |= {"assigned_digger": assigned} if assigned is not None else {}
    if escapes:
        leaver = hand.turn
        hand.escape(leaver)
        record["faults"] = [{"seat": leaver, "fault": "DEADLINE", "count": 1}]
    assert hand.result is not None
    return record | {"result": result_members(hand.result)}


def _play(hand: Hand, dice: random.Random, *, escapes: bool) -> list[dict[str, Any]]:
    """Decisions to the end, or until it is the turn of a seat with two strikes."""
    decisions: list[dict[str, Any]] = []
    leaver = -1
    while hand.phase is not Phase.END:
        if escapes and hand.phase is Phase.PLAY and leaver < 0:
            leaver = hand.turn
        if hand.turn == leaver and sum("fault" in decision for decision in decisions) == 2:
            break
        fault = {"fault": "MALFORMED", "offered": HOSTILE} if hand.turn == leaver else {}
        action = hand.default_action() if fault else dice.choice(hand.legal)
        seat, phase = hand.turn, hand.phase
        hand.apply(action)
        decisions.append(
            {"seat": seat, "phase": phase.value, "action": TOKENS[phase][action], "latency_us": 1500} | fault
        )
    return decisions


def write(path: Path, *records: Mapping[str, Any]) -> Path:
    """A file of these records."""
    path.write_bytes(b"".join(encode(record) + b"\n" for record in records))
    return path
