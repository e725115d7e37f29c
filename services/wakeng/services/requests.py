"""Encoded requests: what a seat may know, wrapped for the wire."""

from wakeng.sdk.wire import observation_message
from wakeng.services.table import Table
from wakeng.v1 import bot_pb2


def decide_request(table: Table, decision_id: int, *, left_s: float, legal_actions: bool) -> bot_pb2.DecideRequest:
    """The present question of a table (docs/protocol.md 4), `left_s` seconds before its deadline, bank included."""
    hand, spec = table.hand, table.spec
    seat = hand.turn
    request = bot_pb2.DecideRequest(
        decision_id=decision_id,
        phase=hand.phase.value,
        observation=observation_message(hand.observe(seat)),
        legal_actions=hand.legal_tokens() if legal_actions else (),
        time_left_ms=max(0, min(spec.time_control.move_ms, int(1000 * left_s) - table.bank_us[seat] // 1000)),
        bank_left_ms=table.bank_us[seat] // 1000,
        match_id=spec.match_id,
        hand_index=spec.hand_index,
        attempt=spec.attempt,
    )
    if (last := table.last[seat]) is not None:
        request.last_latency_us, fault = last
        if fault is not None:
            request.last_fault = fault
    return request
