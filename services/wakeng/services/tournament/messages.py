"""Tournaments and standings as messages, and standings back as the plain values that commands print."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson
from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.timestamp_pb2 import Timestamp

from wakeng.sdk.wire import rules_message
from wakeng.services.store import BlockAttempts, Match, MatchState
from wakeng.services.tournament.run import Stored
from wakeng.services.tournament.statistics import Standings
from wakeng.v1 import match_pb2, tournament_pb2

STATES: Final[Mapping[MatchState, Any]] = {
    state: getattr(tournament_pb2, f"TOURNAMENT_STATE_{state.value}") for state in MatchState
}
FINAL: Final = frozenset(STATES[state] for state in MatchState if state.final)


def state_word(message: tournament_pb2.Tournament) -> str:
    """The state as the store has it."""
    return tournament_pb2.TournamentState.Name(message.state).removeprefix("TOURNAMENT_STATE_")


def tournament_message(
    tournament: Stored, *, hands_recorded: int, prefix: int | None = None, attempts: Sequence[BlockAttempts] = ()
) -> tournament_pb2.Tournament:
    """A tournament as it stands; its seed only once it is over."""
    row, spec = tournament.row, tournament.spec
    message = tournament_pb2.Tournament(
        tournament_id=tournament.id,
        name=spec.name,
        state=STATES[row.state],
        rules=rules_message(spec.rules),
        format=spec.format.value,
        bots=[
            tournament_pb2.Entrant(name=bot.name, seat=match_pb2.SeatSpec(**{bot.seat.kind.value: bot.seat.bot}))
            for bot in spec.bots
        ],
        spec=orjson.dumps(spec.to_dict()).decode(),
        commitment=row.commitment,
        planned_blocks=spec.planned_blocks,
        hands_per_block=spec.hands_per_block,
        hands_recorded=hands_recorded,
        prefix=prefix,
        create_time=_timestamp(row.created_us),
        reason=row.reason,
        failed_blocks=[
            tournament_pb2.FailedBlock(
                block=block.block, failures=block.failures, given_up=block.dead, reason=block.reason
            )
            for block in attempts
        ],
    )
    _tell_the_end(message, row)
    return message


def _tell_the_end(message: tournament_pb2.Tournament, row: Match) -> None:
    if row.state.final:
        message.seed = row.seed
    if row.finished_us is not None:
        message.finish_time.CopyFrom(_timestamp(row.finished_us))


def _timestamp(microseconds: int) -> Timestamp:
    stamp = Timestamp()
    stamp.FromMicroseconds(microseconds)
    return stamp


# Standings. The message has the members of `Standings.to_dict`, but proto has no lists of lists, no maps of maps ------


def standings_message(standings: Standings) -> tournament_pb2.Standings:
    """The standings as a message."""
    told = standings.to_dict()
    told["groups"] = [{"rows": rows} for rows in told["groups"]]
    told["cross_table"] = {bot: {"against": row} for bot, row in told["cross_table"].items()}
    return json_format.ParseDict(told, tournament_pb2.Standings())


def standings_dict(message: tournament_pb2.Standings) -> dict[str, Any]:
    """What `Standings.to_dict` gave."""
    told: dict[str, Any] = json_format.MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    _fill(told, message.DESCRIPTOR)
    told["groups"] = [group["rows"] for group in told["groups"]]
    told["cross_table"] = {bot: row["against"] for bot, row in told["cross_table"].items()}
    told["options"] = {name: _whole(value) for name, value in told["options"].items()}
    return told


def _fill(told: dict[str, Any], descriptor: Descriptor) -> None:
    """Give what is absent the value None, all the way down."""
    if descriptor.full_name.startswith("google."):
        return
    for field in descriptor.fields:
        value = told.setdefault(field.name, None)
        inner = field.message_type
        if inner is None or value is None:
            continue
        if inner.GetOptions().map_entry:
            _fill_all(list(value.values()), inner.fields_by_name["value"])
        else:
            _fill_all(value if field.is_repeated else [value], field)


def _fill_all(values: list[Any], field: FieldDescriptor) -> None:
    if field.message_type is not None:
        for value in values:
            _fill(value, field.message_type)


def _whole(value: object) -> object:
    """A number of a Struct, which knows only one kind of them."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
