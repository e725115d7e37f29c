"""The wire as declared: every element explained, records with presence, rule sets as the engine has them."""

import importlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import fields
from importlib.resources import files
from pathlib import Path

import pytest
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    ServiceDescriptorProto,
)
from google.protobuf.json_format import MessageToDict, Parse, ParseDict
from grpc_tools import protoc

from wakeng.engine import PLAYS, PRESETS, Kind, RuleSet, format_cards, parse_cards, rule_set
from wakeng.v1 import bot_pb2, match_pb2, observation_pb2, record_pb2, rules_pb2

PROTOS = Path(__file__).resolve().parents[2] / "protos"
GENERATED = PROTOS / "generated" / "wakeng" / "v1"
SOURCES = sorted(path.relative_to(PROTOS).as_posix() for path in (PROTOS / "wakeng").rglob("*.proto"))
SYNTAX_PATH = (FileDescriptorProto.SYNTAX_FIELD_NUMBER,)

# The members of a record's objects, docs/protocol.md 6, by the message that holds them.
RECORD_MEMBERS = {
    "HandRecord": "record_version match_id hand_index attempt schedule rules seed match_commitment"
    " time_control seats blind_first_seat assigned_digger deal decisions faults result checksum",
    "Schedule": "tournament_id block deal rotation line_up",
    "TimeControl": "move_ms bank_ms ready_ms reconnect_ms max_strikes",
    "SeatRecord": "bot version",
    "DealRecord": "first_dealt_seat hands kitty marked_card task",
    "DecisionRecord": "seat phase action latency_us fault offered note",
    "FaultRecord": "seat fault count",
    "ResultRecord": "digger bid winner stake bombs grabs opened lying_seat blind scores task_bonus escaped_seat",
}

Element = tuple[str, tuple[int, ...]]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> list[FileDescriptorProto]:
    """Our files as the proto compiler reads them, comments included."""
    target = tmp_path_factory.mktemp("protos") / "wire.binpb"
    well_known = files("grpc_tools").joinpath("_proto")
    arguments = ["--include_source_info", f"--descriptor_set_out={target}", *SOURCES]
    assert protoc.main(["protoc", f"--proto_path={PROTOS}", f"--proto_path={well_known}", *arguments]) == 0
    return list(FileDescriptorSet.FromString(target.read_bytes()).file)


def elements(file: FileDescriptorProto) -> Iterator[Element]:
    """Every element of a file that a reader may ask about, with its path in the compiler's source info."""
    yield file.name, SYNTAX_PATH
    for at, message in enumerate(file.message_type):
        yield from message_elements(message, (FileDescriptorProto.MESSAGE_TYPE_FIELD_NUMBER, at))
    for at, enum in enumerate(file.enum_type):
        yield from enum_elements(enum, (FileDescriptorProto.ENUM_TYPE_FIELD_NUMBER, at))
    for at, service in enumerate(file.service):
        path = (FileDescriptorProto.SERVICE_FIELD_NUMBER, at)
        yield service.name, path
        yield from members(service.name, service.method, (*path, ServiceDescriptorProto.METHOD_FIELD_NUMBER))


def message_elements(message: DescriptorProto, path: tuple[int, ...]) -> Iterator[Element]:
    yield message.name, path
    yield from members(message.name, message.field, (*path, DescriptorProto.FIELD_FIELD_NUMBER))
    # An `optional` field makes a oneof of its own that nobody wrote; the compiler puts those last.
    written = {field.oneof_index for field in message.field if field.HasField("oneof_index")}
    written -= {field.oneof_index for field in message.field if field.proto3_optional}
    for at in sorted(written):
        name = f"{message.name}.{message.oneof_decl[at].name}"
        yield name, (*path, DescriptorProto.ONEOF_DECL_FIELD_NUMBER, at)
    for at, nested in enumerate(message.nested_type):
        if nested.options.map_entry:
            continue  # The compiler's own way to write a map.
        yield from message_elements(nested, (*path, DescriptorProto.NESTED_TYPE_FIELD_NUMBER, at))
    for at, enum in enumerate(message.enum_type):
        yield from enum_elements(enum, (*path, DescriptorProto.ENUM_TYPE_FIELD_NUMBER, at))


def enum_elements(enum: EnumDescriptorProto, path: tuple[int, ...]) -> Iterator[Element]:
    yield enum.name, path
    yield from members(enum.name, enum.value, (*path, EnumDescriptorProto.VALUE_FIELD_NUMBER))


def members(owner: str, named: Sequence[object], path: tuple[int, ...]) -> Iterator[Element]:
    for at, member in enumerate(named):
        yield f"{owner}.{getattr(member, 'name', '?')}", (*path, at)


def reachable(message: Descriptor) -> Iterator[Descriptor]:
    """A message and all that stand in it, each once."""
    seen, pending = {message.full_name}, [message]
    while pending:
        current = pending.pop()
        yield current
        for field in current.fields:
            if field.message_type is not None and field.message_type.full_name not in seen:
                seen.add(field.message_type.full_name)
                pending.append(field.message_type)


def names(message: Descriptor) -> set[str]:
    return {field.name for field in message.fields}


# What is declared.


def test_every_element_says_what_it_means(compiled: list[FileDescriptorProto]) -> None:
    bare = []
    for file in compiled:
        comments = file.source_code_info.location
        told = {tuple(at.path) for at in comments if at.leading_comments.strip().endswith(".")}
        bare += [f"{file.name}: {name}" for name, path in elements(file) if path not in told]
    assert not bare, "no comment, or one that is no sentence"


def test_the_walk_over_elements_misses_none(compiled: list[FileDescriptorProto]) -> None:
    found = {name for file in compiled for name, _ in elements(file)}
    assert {
        "BotService",
        "BotService.Play",
        "MatchState.MATCH_STATE_FAILED",
        "SeatSpec.player",
        "SeatSpec.builtin",
        "ResultRecord.escaped_seat",
        "wakeng/v1/rules.proto",
    } <= found


def test_a_file_holds_one_service_at_most(compiled: list[FileDescriptorProto]) -> None:
    assert all(len(file.service) <= 1 for file in compiled)
    assert {service.name for file in compiled for service in file.service} >= {"BotService", "MatchService"}


@pytest.mark.parametrize("path", sorted(GENERATED.glob("*_pb2*.py")), ids=lambda path: path.stem)
def test_generated_code_imports(path: Path) -> None:
    module = importlib.import_module(f"wakeng.v1.{path.stem}")
    assert path.with_suffix(".pyi").exists(), "no types beside it"
    assert Path(module.__file__ or "").resolve() == path


def test_every_proto_has_its_generated_code() -> None:
    generated = {path.stem for path in GENERATED.glob("*_pb2.py")}
    assert generated == {f"{Path(source).stem}_pb2" for source in SOURCES}


# Records.


@pytest.mark.parametrize(
    "message", list(reachable(record_pb2.HandRecord.DESCRIPTOR)), ids=lambda message: str(message.name)
)
def test_a_record_has_presence_and_plain_values(message: Descriptor) -> None:
    """So that proto3 JSON writes exactly what was set: zeros too, numbers as numbers, words as words."""
    plain = {FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BOOL}
    for field in message.fields:
        assert field.is_repeated or field.has_presence, field.full_name
        assert field.message_type is not None or field.type in plain, field.full_name


def test_a_record_has_the_members_of_the_protocol_and_no_others() -> None:
    declared = {message.name: names(message) for message in reachable(record_pb2.HandRecord.DESCRIPTOR)}
    assert declared.pop("RuleSet") == names(rules_pb2.RuleSet.DESCRIPTOR)
    assert declared == {name: set(members.split()) for name, members in RECORD_MEMBERS.items()}


def test_a_record_keeps_what_was_set_and_only_that() -> None:
    said = {
        "attempt": 0,
        "decisions": [{"action": "no", "latency_us": 0, "phase": "BLIND", "seat": 0}],
        "result": {"blind": False, "escaped_seat": 0, "scores": [-10, 0, 0], "winner": "ESCAPED"},
        "rules": {"preset": "baoji_blind", "removed_cards": "", "grab": False},
    }
    record = ParseDict(said, record_pb2.HandRecord())
    assert MessageToDict(record, preserving_proto_field_name=True) == said


# Rule sets and observations.


def test_a_rule_set_has_the_fields_of_the_engine() -> None:
    kinds = {"bool": FieldDescriptor.TYPE_BOOL, "int": FieldDescriptor.TYPE_INT32}
    engine = {field.name: getattr(field.type, "__name__", "") for field in fields(RuleSet)}
    wire = {field.name: field.type for field in rules_pb2.RuleSet.DESCRIPTOR.fields}
    assert list(wire) == list(engine)
    assert wire == {name: kinds.get(kind, FieldDescriptor.TYPE_STRING) for name, kind in engine.items()}


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("overrides", [{}, {"base": 7, "must_beat": True, "bidding": "assigned"}])
def test_a_rule_set_travels_as_it_stands_in_records(preset: str, overrides: dict[str, object]) -> None:
    rules = rule_set(preset, overrides).to_dict()
    message = ParseDict(rules, rules_pb2.RuleSet())
    assert MessageToDict(message, preserving_proto_field_name=True) == rules


def test_what_is_sent_most_has_the_short_tags() -> None:
    """Field numbers up to 15 cost one byte; the history repeats its own with every event."""
    number = {field.name: field.number for field in observation_pb2.Observation.DESCRIPTOR.fields}
    often = {"seat", "cards", "cards_left", "table", "table_seat", "digger", "bid", "rules", "history"}
    assert all(number[name] <= 15 for name in often)
    assert all(field.number <= 15 for field in bot_pb2.DecideRequest.DESCRIPTOR.fields)


def test_words_are_strings_in_everything_a_bot_is_told() -> None:
    """An author reads and writes the words of records and logs, without generated constants."""
    for root in (bot_pb2.ArenaMessage, bot_pb2.BotMessage, bot_pb2.DescribeRequest, bot_pb2.DescribeResponse):
        for message in reachable(root.DESCRIPTOR):
            enums: list[EnumDescriptor] = [f.enum_type for f in message.fields if f.enum_type is not None]
            assert not enums, message.full_name


@pytest.mark.parametrize("root", [bot_pb2.ArenaMessage.DESCRIPTOR, match_pb2.WatchMatchResponse.DESCRIPTOR])
def test_neither_bots_nor_watchers_can_be_told_a_seed_or_a_hidden_hand(root: Descriptor) -> None:
    told = set().union(*(names(message) for message in reachable(root)))
    assert not told & {"seed", "hands", "deal", "record", "line", "note"}


def test_the_examples_of_the_docs_are_messages() -> None:
    text = (PROTOS.parent / "docs" / "protocol.md").read_text(encoding="utf-8")
    (question,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    (answer,) = re.findall(r'`(\{"decision_id".*?\})`', text)
    asked = Parse(question, bot_pb2.DecideRequest())
    answered = Parse(answer, bot_pb2.DecideResponse())
    assert answered.decision_id == asked.decision_id
    assert answered.action in asked.legal_actions
    assert format_cards(parse_cards(asked.observation.cards)) == asked.observation.cards
    assert len(parse_cards(asked.observation.cards)) == asked.observation.cards_left[asked.observation.seat]


def test_the_docs_tell_the_vocabulary_as_the_engine_has_it() -> None:
    """Section 1 gives the id of a run as a formula, so that another language can do without the table."""
    first = {Kind.STRAIGHT: 53, Kind.PAIR_RUN: 89, Kind.TRIPLE_RUN: 125, Kind.QUAD_RUN: 151}
    for play in PLAYS[53:]:
        shorter = sum(11 - length for length in range(3, play.groups))
        assert play.id == first[play.kind] + shorter + play.top - play.groups + 1
    sets = {1: (1, "4"), 13: (1, "3"), 14: (2, "4"), 27: (3, "4"), 40: (4, "4"), 52: (4, "3")}
    assert {at: (PLAYS[at].size, PLAYS[at].token[0]) for at in sets} == sets
    assert len(PLAYS) == 172
