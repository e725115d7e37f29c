"""Which fields a record has, by the words of docs/protocol.md 6 alone: nothing of the arena's code is asked."""

from collections.abc import Mapping
from typing import Any

from wakeng.engine import rule_set

ALWAYS = set(
    """
    record_version match_id hand_index attempt rules rules.preset seed time_control time_control.move_ms
    time_control.bank_ms time_control.ready_ms time_control.reconnect_ms time_control.max_strikes seats seats.bot
    deal deal.first_dealt_seat deal.hands deal.kitty result result.winner result.scores checksum
    """.split()
)
DUG = set("result.digger result.bid result.stake result.bombs result.grabs result.opened result.blind".split())
DECISIONS = set("decisions decisions.seat decisions.phase decisions.action decisions.latency_us".split())
FAULTS = set("faults faults.seat faults.fault faults.count".split())
SCHEDULE = {
    "schedule",
    *(f"schedule.{name}" for name in ("tournament_id", "block", "deal", "rotation", "line_up")),
}
MAYBE = set(
    """
    match_commitment seats.version blind_first_seat assigned_digger deal.marked_card deal.task decisions.fault
    decisions.offered decisions.note result.lying_seat result.task_bonus result.escaped_seat
    """.split()
)
EVERY = ALWAYS | DUG | DECISIONS | FAULTS | SCHEDULE | MAYBE


def paths(value: Any, path: str = "") -> set[str]:
    """The dotted names in a record; those of a list's items are the list's."""
    if isinstance(value, list):
        return set().union(*(paths(item, path) for item in value))
    if not isinstance(value, Mapping):
        return set()
    found = set()
    for name, member in value.items():
        found |= {path + name, *paths(member, f"{path}{name}.")}
    return found


def expected(record: Mapping[str, Any]) -> set[str]:
    """The names that a record of a match must have, given how its hand went; notes and offered answers may be there."""
    overrides = dict(record["rules"])
    rules = rule_set(overrides.pop("preset"), overrides)
    result, faults = record["result"], record.get("faults", [])
    escaped = result["winner"] == "ESCAPED"
    assigned = rules.bidding.value == "assigned"
    applies = {
        "match_commitment": True,
        "seats.version": any("version" in seat for seat in record["seats"]),
        "blind_first_seat": (rules.black_dig or rules.blind_dig) and not assigned,
        "assigned_digger": assigned,
        "deal.marked_card": rules.first_caller.value == "marked_card",
        "deal.task": rules.tasks,
        "decisions.fault": any("fault" in said for said in record.get("decisions", [])),
        "decisions.offered": "decisions.offered" in paths(record),
        "decisions.note": "decisions.note" in paths(record),
        "result.lying_seat": "lying_seat" in result,
        "result.task_bonus": rules.tasks and not escaped,
        "result.escaped_seat": escaped,
    }
    found = ALWAYS | {name for name, there in applies.items() if there} | {f"rules.{name}" for name in overrides}
    if not escaped or "digger" in result:
        found |= DUG
    if record.get("decisions"):
        found |= DECISIONS
    return found | FAULTS if faults else found
