"""Hand records: canonical lines of JSON, and the re-simulation that takes nothing on trust (docs/protocol.md 6).

A record is a plain dict of the members below. `encode` gives its one canonical line, `decode` reads a line strictly,
and `verify` plays the hand again from its seed and decisions and demands the very same line.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

import orjson

from wakeng.engine.cards import CARD_NAMES, format_cards
from wakeng.engine.deal import Deal, deal_cards
from wakeng.engine.faults import Fault, Side
from wakeng.engine.hand import Hand, IllegalAction
from wakeng.engine.phases import ALL_TOKENS, TOKENS, Phase
from wakeng.engine.rules import FIELD_TYPES, PRESETS, RuleError, RuleSet, rule_set
from wakeng.engine.settle import Result, Winner
from wakeng.engine.shape import (
    ShapeError,
    any_of_json,
    first_difference,
    flag,
    hexadecimal,
    listing,
    members,
    number,
    text,
    word,
)
from wakeng.engine.tasks import Task

RECORD_VERSION: Final = 1
MOST_NOTE_BYTES: Final = 200
MOST_OFFERED_BYTES: Final = 64
MOST_LINE_BYTES: Final = 1 << 20
"""A longer line is refused unread; a hand of 20 cards a seat stays far below."""


class RecordError(ValueError):
    """A line that is no true record. `field` is the dotted path of the member at fault, empty for the whole line."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}" if field else problem)
        self.field = field


_SEAT: Final = number(0, 3)
_NAME: Final = text(200, least_bytes=1)
_FAULT: Final = word([fault.value for fault in Fault if fault.side is not Side.ARENA])
_SCORES: Final = listing(number(-(2**31), 2**31 - 1), least=3, most=4)
_RULES: Final = members({"preset": word(PRESETS)}, dict.fromkeys(FIELD_TYPES, any_of_json))

_RECORD: Final = members(
    {
        "record_version": number(RECORD_VERSION, RECORD_VERSION),
        "match_id": _NAME,
        "hand_index": number(),
        "attempt": number(),
        "rules": _RULES,
        "seed": hexadecimal(64),
        "time_control": members(
            {
                "move_ms": number(1),
                "bank_ms": number(),
                "ready_ms": number(1),
                "reconnect_ms": number(),
                "max_strikes": number(1),
            }
        ),
        "seats": listing(members({"bot": _NAME}, {"version": text(200)}), least=3, most=4),
        "deal": members(
            {
                "first_dealt_seat": _SEAT,
                "hands": listing(text(40), least=3, most=4),
                "kitty": text(40),
            },
            {"marked_card": word(CARD_NAMES), "task": word([task.value for task in Task])},
        ),
        "result": members(
            {"winner": word([winner.value for winner in Winner]), "scores": _SCORES},
            {
                "digger": _SEAT,
                "bid": number(1, 4),
                "stake": number(),
                "bombs": number(),
                "grabs": number(),
                "opened": flag,
                "blind": flag,
                "lying_seat": _SEAT,
                "task_bonus": _SCORES,
                "escaped_seat": _SEAT,
            },
        ),
        "checksum": hexadecimal(64),
    },
    {
        "schedule": members(
            {"tournament_id": _NAME, "block": number(), "deal": number(), "rotation": number()},
            {"line_up": number()},
        ),
        "match_commitment": hexadecimal(64),
        "blind_first_seat": _SEAT,
        "assigned_digger": _SEAT,
        "decisions": listing(
            members(
                {
                    "seat": _SEAT,
                    "phase": word([phase.value for phase, tokens in TOKENS.items() if tokens]),
                    "action": word(ALL_TOKENS),
                    "latency_us": number(),
                },
                {"fault": _FAULT, "offered": text(MOST_OFFERED_BYTES), "note": text(MOST_NOTE_BYTES)},
            )
        ),
        "faults": listing(members({"seat": _SEAT, "fault": _FAULT, "count": number(1)})),
    },
)


_NO_CHECKSUM: Final = "0" * 64
_CHECKSUM_MEMBER: Final = b'"checksum":"%b",'


def encode(record: Mapping[str, Any]) -> bytes:
    """The canonical line of a record, without its newline; a `checksum` in it is made anew."""
    line = orjson.dumps({**record, "checksum": _NO_CHECKSUM}, option=orjson.OPT_SORT_KEYS)
    # Only numbers stand before it, so the first that looks like it is the record's own.
    before, _, after = line.partition(_CHECKSUM_MEMBER % _NO_CHECKSUM.encode())
    checksum = sha256(before + after).hexdigest()
    return before + _CHECKSUM_MEMBER % checksum.encode() + after


def decode(line: bytes) -> dict[str, Any]:
    """The record of a line whose shape and checksum are right; RecordError names what is not."""
    if len(line) > MOST_LINE_BYTES:
        raise RecordError("", f"a record line has at most {MOST_LINE_BYTES} bytes, not {len(line)}")
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError as problem:
        raise RecordError("", f"is no JSON: {problem}") from None
    # Before its shape: a later version is told of as such, and not by the first member that it has more.
    match record:
        case {"record_version": int(version)} if version > RECORD_VERSION:
            raise RecordError(
                "record_version", f"is {str(version)[:20]}, of a later Wakeng; this one reads {RECORD_VERSION}"
            )
    try:
        _RECORD(record, "")
    except ShapeError as problem:
        raise RecordError(problem.field, problem.problem) from None
    again = encode(record)
    if orjson.loads(again)["checksum"] != record["checksum"]:
        raise RecordError("checksum", "does not fit the line; something in it was changed")
    if again != line:
        at = next((i for i, (a, b) in enumerate(zip(again, line, strict=False)) if a != b), len(again))
        raise RecordError("", f"is not in canonical form from byte {at} on")
    return dict(record)


def deal_members(deal: Deal) -> dict[str, Any]:
    """The `deal` of a record."""
    found: dict[str, Any] = {
        "first_dealt_seat": deal.first_dealt_seat,
        "hands": [format_cards(hand) for hand in deal.hands],
        "kitty": format_cards(deal.kitty),
    }
    if deal.marked_card is not None:
        found["marked_card"] = CARD_NAMES[deal.marked_card]
    if deal.task is not None:
        found["task"] = deal.task.value
    return found


def result_members(result: Result) -> dict[str, Any]:
    """The `result` of a record: what does not apply is absent."""
    found = {name: value for name, value in result._asdict().items() if value is not None}
    found["winner"] = result.winner.value
    for name in ("scores", "task_bonus"):
        if name in found:
            found[name] = list(found[name])
    return found


def rules_of(record: Mapping[str, Any]) -> RuleSet:
    """The rule set of a decoded record; RecordError if it is none, or names what its preset says anyway."""
    written = dict(record["rules"])
    try:
        rules = rule_set(written.pop("preset"), written)
    except RuleError as problem:
        raise RecordError(f"rules.{problem.field}", str(problem).partition(": ")[2]) from None
    _demand(rules.to_dict(), record["rules"], "rules")
    return rules


def begin(record: Mapping[str, Any]) -> Hand:
    """The hand of a decoded record at its first question."""
    rules = rules_of(record)
    if len(record["seats"]) != rules.players:
        raise RecordError("seats", f"must be {rules.players}, not {len(record['seats'])}")
    blind_first = record.get("blind_first_seat")
    if (blind_first is not None) != rules.has_blind or (blind_first or 0) >= rules.players:
        raise RecordError("blind_first_seat", "must be a seat where BLIND occurs, and absent elsewhere")
    try:
        return Hand(
            rules,
            deal_cards(rules, bytes.fromhex(record["seed"])),
            blind_first_seat=blind_first,
            assigned_digger=record.get("assigned_digger"),
        )
    except ValueError as problem:
        raise RecordError("assigned_digger", str(problem).partition(": ")[2]) from None


def replay(record: Mapping[str, Any], *, upto: int | None = None) -> Hand:
    """The hand of a decoded record after all, or the first `upto`, decisions; an escape is played with the last."""
    hand = begin(record)
    decisions = record.get("decisions", [])
    for i, decision in enumerate(decisions[:upto]):
        _apply(hand, decision, f"decisions[{i}]")
    escaped = record["result"].get("escaped_seat")
    if escaped is not None and (upto is None or upto >= len(decisions)):
        if hand.phase is Phase.END or escaped >= hand.rules.players:
            raise RecordError("result.escaped_seat", "cannot escape from this hand")
        if decisions and escaped != hand.turn:
            raise RecordError("result.escaped_seat", f"must be seat {hand.turn}, which was to decide")
        hand.escape(escaped)
    return hand


def _apply(hand: Hand, decision: Mapping[str, Any], field: str) -> None:
    if hand.phase is Phase.END:
        raise RecordError(field, "comes after the end of the hand")
    asked = {"seat": hand.turn, "phase": hand.phase.value}
    _demand(asked, {name: decision[name] for name in asked}, field)
    if "fault" in decision:
        default = TOKENS[hand.phase][hand.default_action()]
        _demand(default, decision["action"], f"{field}.action")
    elif "offered" in decision:
        raise RecordError(f"{field}.offered", "stands only beside a fault")
    try:
        hand.apply_token(decision["action"])
    except IllegalAction as problem:
        raise RecordError(f"{field}.action", str(problem)) from None


def verify(line: bytes) -> dict[str, Any]:
    """The record of a line after playing its hand again; RecordError names the first member that differs."""
    record = decode(line)
    hand = replay(record)
    _demand(deal_members(hand.deal), record["deal"], "deal")
    _check_faults(record, hand)
    if hand.result is None:
        raise RecordError("decisions", f"end in the middle of the hand, in {hand.phase.value}")
    _demand(result_members(hand.result), record["result"], "result")
    return record


def _check_faults(record: Mapping[str, Any], hand: Hand) -> None:
    """Strikes and escape agree: a seat leaves at its last strike and not before (docs/protocol.md 7)."""
    decisions = record.get("decisions", [])
    limit = record["time_control"]["max_strikes"]
    strikes = [0] * hand.rules.players
    for i, decision in enumerate(decisions):
        strikes[decision["seat"]] += "fault" in decision
        if strikes[decision["seat"]] >= limit:
            raise RecordError(f"decisions[{i}].fault", f"is strike {limit}, at which no action is applied")
    for i, fault in enumerate(record.get("faults", [])):
        if fault["seat"] >= hand.rules.players:
            raise RecordError(f"faults[{i}].seat", "is no seat of this table")
    escaped = record["result"].get("escaped_seat")
    if escaped is None:
        return
    if all(fault["seat"] != escaped for fault in record.get("faults", [])):
        raise RecordError("faults", f"do not say what made seat {escaped} leave")
    if decisions and strikes[escaped] != limit - 1:
        raise RecordError("result.escaped_seat", f"has {strikes[escaped]} strikes before its last, not {limit - 1}")


def _demand(expected: Any, found: Any, field: str) -> None:
    if difference := first_difference(expected, found, field):
        raise RecordError(*difference)
