"""The line of a record is the proto3 JSON of HandRecord, though another encoder writes it (docs/protocol.md 6)."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.strategies import Pair, Player, examples, pairs, play_out, record_of
from tests.services.fields import EVERY
from tests.services.tables import play_on, table
from wakeng.engine import PRESETS, Fault, encode, verify
from wakeng.services.matches import record_message
from wakeng.services.table import Table, escape
from wakeng.v1 import record_pb2


def json_of(message: record_pb2.HandRecord) -> Any:
    """What protobuf's own encoder makes of a message."""
    return json_format.MessageToDict(message, preserving_proto_field_name=True)


def check(record: dict[str, Any]) -> None:
    """Line and message say the same, and each gives the other back."""
    line = encode(record)
    verify(line)
    message = record_message(line)
    assert json_of(message) == orjson.loads(line)
    assert encode(json_of(message)) == line
    assert record_pb2.HandRecord.FromString(message.SerializeToString()) == message


@pytest.mark.parametrize("preset", PRESETS)
def test_a_played_hand(preset: str) -> None:
    check(play_on(table(preset), latency_us=3).record())


@given(pairs())
@examples(60)
def test_any_hand_of_any_rule_set(started: tuple[Pair, Player]) -> None:
    pair, player = started
    for _ in play_out(pair, player):
        pass
    check(record_of(pair))


EVENTS = st.lists(st.sampled_from([None, *Fault]), max_size=40)
"""What happens at a table: a good answer, or a fault."""


@given(EVENTS, st.text(st.characters(exclude_categories=["Cs"]), max_size=99))
def test_a_hand_with_faults_notes_and_an_escape(events: list[Fault | None], note: str) -> None:
    check(played(events, note).record())


def played(events: list[Fault | None], note: str) -> Table:
    hand = table("four_feature", match_commitment="f" * 64)
    for fault in events:
        if hand.over:
            break
        if fault is None:
            play_on(hand, decisions=1, note=note)
        elif fault is Fault.STALE:
            hand.note_fault(hand.seat, fault)
        elif fault is not Fault.ARENA_ERROR:
            hand.fault(fault, latency_us=2**31, offered=escape(note))
    return play_on(hand)


def test_a_hand_of_a_tournament() -> None:
    schedule = {"tournament_id": "t1", "block": 0, "deal": 3, "rotation": 0, "line_up": 0}
    check({**play_on(table()).record(), "schedule": schedule})


def test_the_proto_has_the_fields_of_the_protocol_and_no_others() -> None:
    """Those of `rules` apart: beside the preset there are the overridden ones."""
    assert fields(record_pb2.HandRecord.DESCRIPTOR) | {"rules.preset"} == EVERY


def fields(message: Descriptor, path: str = "") -> set[str]:
    found: set[str] = set()
    for field in message.fields:
        found.add(name := f"{path}{field.name}")
        if field.message_type is not None and field.name != "rules":
            found |= fields(field.message_type, f"{name}.")
    return found
