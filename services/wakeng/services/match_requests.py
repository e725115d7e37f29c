"""MatchService's messages read into specs, and matches written into messages."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from google.protobuf.timestamp_pb2 import Timestamp

from wakeng.engine import RuleError, commitment, parse_seed
from wakeng.sdk.wire import rules_from_message, rules_message
from wakeng.services.spec import DEFAULT_TABLES, MatchSpec, SeatKind, SeatSpec, SpecError, TimeControl
from wakeng.services.store import Match, MatchState
from wakeng.services.store import SeatTotals as StoredTotals
from wakeng.v1 import match_pb2, rules_pb2

STATES: Final[Mapping[MatchState, Any]] = {
    state: getattr(match_pb2, f"MATCH_STATE_{state.value}") for state in MatchState if state is not MatchState.PAUSED
}
MOST_REQUEST_ID: Final = 64
_SEAT_KINDS: Final = {
    "address": SeatKind.ADDRESS,
    "builtin": SeatKind.BUILTIN,
    "registered": SeatKind.REGISTERED,
}


class NotOffered(SpecError):
    """Something the wire knows and this arena does not do."""


def read_request(
    request: match_pb2.CreateMatchRequest, *, match_id: str, drawn_seed: bytes, owner: str, by_admin: bool
) -> MatchSpec:
    """The match a request asks for; SpecError names the field that makes it impossible, NotOffered what is not done."""
    if not 1 <= len(request.request_id) <= MOST_REQUEST_ID or not request.request_id.isprintable():
        raise SpecError("request_id", f"must be 1 to {MOST_REQUEST_ID} printable characters")
    if request.duplicate:
        raise NotOffered("duplicate", "is not offered yet")
    try:
        rules = rules_from_message(request.rules)
    except RuleError as problem:
        raise SpecError(f"rules.{problem.field}", str(problem).partition(": ")[2]) from None
    try:
        seed = parse_seed(request.seed) if request.HasField("seed") else drawn_seed
    except ValueError as problem:
        raise SpecError("seed", str(problem)) from None
    return MatchSpec(
        match_id=match_id,
        rules=rules,
        seats=tuple(_read_seat(seat) for seat in request.seats),
        hands=request.hands,
        seed=seed,
        time_control=_read_times(request),
        max_escapes=_read_escapes(request),
        tables=request.tables or DEFAULT_TABLES,
        owner=owner,
        by_admin=by_admin,
    )


def _read_seat(seat: match_pb2.SeatSpec) -> SeatSpec:
    which = seat.WhichOneof("player")
    if which is None:
        raise SpecError("seats", "every seat needs an address, a registered or a built-in bot")
    return SeatSpec(_SEAT_KINDS[which], getattr(seat, which))


def _read_times(request: match_pb2.CreateMatchRequest) -> TimeControl:
    given = {field.name: value for field, value in request.time_control.ListFields()}
    if request.fault_policy.HasField("max_strikes"):
        strikes = request.fault_policy.max_strikes
        if given.setdefault("max_strikes", strikes) != strikes:
            raise SpecError("fault_policy.max_strikes", "differs from time_control.max_strikes")
    try:
        return TimeControl(**given)
    except SpecError as problem:
        raise SpecError(f"time_control.{problem.field}", str(problem).partition(": ")[2]) from None


def _read_escapes(request: match_pb2.CreateMatchRequest) -> int:
    policy = request.fault_policy
    if not policy.HasField("max_escapes"):
        return 3
    if policy.max_escapes < 1:
        raise SpecError("fault_policy.max_escapes", f"must be 1 or more, not {policy.max_escapes}")
    return policy.max_escapes


def match_message(match: Match, spec: MatchSpec, *, finished: int, totals: Sequence[StoredTotals]) -> match_pb2.Match:
    """A match as it stands; its seed only once it is over."""
    message = match_pb2.Match(
        match_id=match.match_id,
        state=STATES[match.state],
        rules=rules_message(spec.rules),
        seats=[match_pb2.SeatSpec(**{seat.kind.value: seat.bot}) for seat in spec.seats],
        hands=match.hands,
        hands_finished=finished,
        commitment=commitment(spec.seed),
        totals=[
            match_pb2.SeatTotals(
                score=seat.score,
                task_bonus=seat.task_bonus,
                hands_as_digger=seat.hands_as_digger,
                wins_as_digger=seat.wins_as_digger,
                wins_as_defender=seat.wins_as_defender,
                escapes=seat.escapes,
            )
            for seat in totals
        ],
        time_control=rules_pb2.TimeControl(**spec.time_control.to_dict()),
        fault_policy=match_pb2.FaultPolicy(max_strikes=spec.time_control.max_strikes, max_escapes=spec.max_escapes),
        tables=spec.tables,
        create_time=_timestamp(match.created_us),
        reason=match.reason,
    )
    if match.state.final:
        message.seed = match.seed
    if match.finished_us is not None:
        message.finish_time.CopyFrom(_timestamp(match.finished_us))
    return message


def _timestamp(microseconds: int) -> Timestamp:
    stamp = Timestamp()
    stamp.FromMicroseconds(microseconds)
    return stamp
