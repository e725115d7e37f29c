"""Hand records: canonical bytes, strict reading, and re-simulation with nothing taken on trust (docs/protocol.md 6).

The records are written from the brute force's hands, so that the engine verifies what another program played.
"""

import contextlib
import copy
import functools
import hashlib
import itertools
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.strategies import Choice, Pair, Player, begin, examples, pairs, play_out, record_of
from wakeng.engine.deal import derive
from wakeng.engine.phases import Phase
from wakeng.engine.record import RecordError, decode, encode, replay, verify
from wakeng.engine.rules import PRESETS

Record = dict[str, Any]


def _played(choice: Choice, number: int) -> Pair:
    pair = begin(choice, derive(bytes(32), "deal", number), number)
    for _ in play_out(pair, Player(number)):
        pass
    return pair


def _record(preset: str, number: int = 1, **overrides: bool | int | str) -> Record:
    return record_of(_played(Choice(preset, tuple(overrides.items())), number))


def _refused(record: Record) -> str:
    """The field that verify names."""
    with pytest.raises(RecordError) as refused:
        verify(encode(record))
    return refused.value.field


# Round trips ---------------------------------------------------------------------------------------------------------


@given(pairs())
@examples(60)
def test_a_played_hand_is_verified_and_comes_back(started: tuple[Pair, Player]) -> None:
    pair, player = started
    for _ in play_out(pair, player):
        pass
    _comes_back(record_of(pair), pair)


@given(pairs(), st.integers(0, 50), st.integers(0, 3))
@examples(40)
def test_an_escaped_hand_is_verified_and_comes_back(started: tuple[Pair, Player], moment: int, seat: int) -> None:
    pair, player = started
    for _ in itertools.islice(play_out(pair, player), moment):
        pass
    if pair.game.phase == "END":
        return
    leaver = pair.game.turn if moment else seat % pair.hand.rules.players
    pair.hand.escape(leaver)
    pair.game.escape(leaver)
    _comes_back(record_of(pair, max_strikes=1), pair)


def _comes_back(record: Record, pair: Pair) -> None:
    line = encode(record)
    checked = verify(line)
    assert {name: value for name, value in checked.items() if name != "checksum"} == record
    assert decode(line) == checked
    assert encode(checked) == line
    again = replay(checked)
    assert (again.phase, again.result, again.decisions) == (Phase.END, pair.hand.result, pair.hand.decisions)


def test_a_line_is_compact_json_with_sorted_keys_and_its_checksum() -> None:
    record = _record("three_blind")
    line = encode(record)
    plain = json.dumps(record, sort_keys=True, separators=(",", ":")).encode()
    whole = {**record, "checksum": hashlib.sha256(plain).hexdigest()}
    assert line == json.dumps(whole, sort_keys=True, separators=(",", ":")).encode()


def test_a_line_is_utf8() -> None:
    record = _record("xian")
    record["seats"][0]["bot"] = "挖坑"
    line = encode(record)
    assert "挖坑".encode() in line
    assert verify(line)["seats"][0]["bot"] == "挖坑"


@pytest.mark.parametrize("preset", PRESETS)
def test_a_hand_can_be_replayed_up_to_any_decision(preset: str) -> None:
    record = _record(preset)
    for upto in range(len(record["decisions"])):
        hand = replay(record, upto=upto)
        decision = record["decisions"][upto]
        assert (hand.turn, hand.phase.value) == (decision["seat"], decision["phase"])
        assert decision["action"] in hand.legal_tokens()


def test_faults_play_the_default_action() -> None:
    pair = begin(Choice("three_feature"), derive(bytes(32), "deal", 1))
    faults, strikes = dict[int, str](), [0, 0, 0]
    for number, _ in enumerate(play_out(pair, Player(2))):
        turn = pair.hand.turn
        while pair.game.phase != "END" and number % 3 == 0 and strikes[pair.game.turn] < 2:
            turn = pair.game.turn
            strikes[turn] += 1
            faults[len(pair.game.decisions)] = "DEADLINE"
            pair.act(pair.hand.legal_tokens()[pair.hand.legal.index(pair.hand.default_action())])
        if pair.game.phase == "END":
            break
    assert verify(encode(record_of(pair, faults=faults)))


def test_the_third_strike_makes_a_seat_escape() -> None:
    record = _escape_after_two_strikes()
    assert verify(encode(record))["result"]["escaped_seat"] == 0
    record["time_control"]["max_strikes"] = 4
    assert _refused(record) == "result.escaped_seat"


def _escape_after_two_strikes() -> Record:
    """An assigned digger's two defaults, and then his third fault."""
    pair = begin(Choice("four_feature", (("bidding", "assigned"),)), derive(bytes(32), "deal", 1), 0)
    pair.act("no")
    pair.act("pass")
    while pair.game.turn != 0:
        pair.act(pair.game.legal[0])
    pair.hand.escape(0)
    pair.game.escape(0)
    return record_of(pair, faults={0: "DEADLINE", 1: "DISCONNECTED"})


def test_a_fault_with_another_action_than_the_default_is_refused() -> None:
    record = _record("xian")
    number, decision = next((i, d) for i, d in enumerate(record["decisions"]) if d["action"] not in ("no", "pass"))
    if decision["phase"] == "PLAY":
        number, decision = next(
            (i, d) for i, d in enumerate(record["decisions"]) if d["phase"] == "PLAY" and len(d["action"]) > 1
            and d["action"] != "pass"
        )  # fmt: skip
    decision["fault"] = "ILLEGAL_ACTION"
    assert _refused(record) == f"decisions[{number}].action"


def test_the_strike_at_which_a_seat_escapes_stands_in_no_decision() -> None:
    record = _escape_after_two_strikes()
    record["time_control"]["max_strikes"] = 2
    assert _refused(record) == "decisions[1].fault"


# Damaged lines -------------------------------------------------------------------------------------------------------


def _unreadable(line: bytes) -> None:
    with pytest.raises(RecordError, match=r"\w"):
        verify(line)


def test_a_flipped_byte_at_any_position_is_noticed() -> None:
    line = encode(_short())
    chance = random.Random(5)
    for position in range(len(line)):
        damaged = bytearray(line)
        damaged[position] ^= chance.randint(1, 255)
        _unreadable(bytes(damaged))


def _all_but_16() -> str:
    """A deck of 16 cards, for short lines."""
    return "".join(rank + suit for rank in "456789TJQ" for suit in "cdhs")


@pytest.mark.parametrize("preset", PRESETS)
def test_a_flipped_bit_is_noticed(preset: str) -> None:
    line, chance = encode(_record(preset, 3)), random.Random(6)
    for _ in range(200):
        damaged = bytearray(line)
        damaged[chance.randrange(len(line))] ^= 1 << chance.randrange(8)
        _unreadable(bytes(damaged))


def test_a_truncated_line_is_refused() -> None:
    line = encode(_record("four_blind"))
    for length in range(len(line)):
        _unreadable(line[:length])


def test_a_line_that_is_not_canonical_is_refused() -> None:
    line = encode(_record("xian"))
    whole = json.loads(line)
    for other in (
        line + b"\n",
        b" " + line,
        line.replace(b'":', b'": ', 1),
        json.dumps(whole, separators=(",", ":"), sort_keys=True).replace("bot0", "\\u0062ot0").encode(),
        json.dumps(dict(reversed(whole.items())), separators=(",", ":")).encode(),
        line[:-1] + b',"attempt":0}',
        line + line,
    ):
        _unreadable(other)


def test_a_change_under_the_old_checksum_is_laid_to_the_checksum() -> None:
    line = encode(_record("xian"))
    with pytest.raises(RecordError) as refused:
        verify(line.replace(b'"attempt":0', b'"attempt":1'))
    assert refused.value.field == "checksum"


def test_a_record_of_a_later_version_is_told_of_as_such_whatever_else_it_holds() -> None:
    with pytest.raises(RecordError, match="record_version: is 2, of a later Wakeng; this one reads 1"):
        decode(json.dumps({**_record("xian"), "record_version": 2, "weather": "fair"}).encode())


@pytest.mark.parametrize(
    "line",
    [b"", b"\n", b"null", b"1", b'"record"', b"[]", b"{}", b"[" * 5_000, b'{"a":' * 5_000, b"\xff\xfe", b"\x00",
     b'{"record_version":' + b"9" * 400 + b"}", b'{"record_version":1e999}', b'{"record_version":NaN}',
     b'"\\ud800"', b"{" + b" " * 2_000_000 + b"}"],
    ids=lambda line: repr(line[:20]),
)  # fmt: skip
def test_garbage_is_a_record_error(line: bytes) -> None:
    _unreadable(line)


@given(st.binary(max_size=200))
@examples(200)
def test_random_bytes_are_a_record_error(line: bytes) -> None:
    _unreadable(line)


_SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**64 - 1), st.floats(), st.text(max_size=80))
_JSON = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=9), inner, max_size=3)),
    max_leaves=6,
)


@given(_JSON, st.data())
@examples(300)
def test_any_value_in_any_place_is_a_record_error_or_harmless(value: Any, data: st.DataObject) -> None:
    record = json.loads(encode(_short()))
    *way, last = data.draw(st.sampled_from(list(_places(record))))
    holder = record
    for step in way:
        holder = holder[step]
    holder[last] = value
    line = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    with contextlib.suppress(RecordError):
        verify(_with_checksum(line))


def _with_checksum(line: str) -> bytes:
    """A line with its checksum made right, whatever else is wrong with it."""
    record = json.loads(line)
    plain = {name: value for name, value in record.items() if name != "checksum"}
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    plain["checksum"] = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")


def _places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every member and item of a plain value."""
    if isinstance(value, dict | list):
        for step in value if isinstance(value, dict) else range(len(value)):
            yield (*way, step)
            yield from _places(value[step], (*way, step))


@functools.cache
def _short() -> Record:
    return _record("three_blind", hand_size=5, kitty_size=1, removed_cards=_all_but_16())


def test_a_missing_member_is_refused_by_its_name() -> None:
    whole = json.loads(encode(_short()))
    for *way, last in _places(whole):
        # An item of a list has no name, a preset's overrides are free, and a bot need not have a version.
        if isinstance(last, str) and way[:1] != ["rules"] and last != "version":
            record = copy.deepcopy(whole)
            del _at(record, tuple(way))[last]
            line = json.dumps(record, sort_keys=True, separators=(",", ":"))
            _names(line.encode() if last == "checksum" else _with_checksum(line), [*way, last])


def test_an_unknown_member_is_refused_by_its_name() -> None:
    whole = json.loads(encode(_short()))
    for way in [(), *_places(whole)]:
        if isinstance(_at(whole, way), dict):
            record = copy.deepcopy(whole)
            _at(record, way)["extra"] = 1
            _names(_with_checksum(json.dumps(record)), [*way, "extra"])


def _names(line: bytes, way: list[Any]) -> None:
    with pytest.raises(RecordError) as refused:
        verify(line)
    assert refused.value.field == _path(way)


def _path(way: list[Any]) -> str:
    """The dotted path of a place, as `decisions[3].action`."""
    path = ""
    for step in way:
        path += f"[{step}]" if isinstance(step, int) else f".{step}"
    return path.lstrip(".")


# Lies ----------------------------------------------------------------------------------------------------------------


def _derivable(record: Record) -> Iterator[tuple[Any, ...]]:
    """The places whose values follow from rules, seed and decisions alone."""
    for way in _places(record):
        leaf = _at(record, way)
        if isinstance(leaf, dict | list):
            continue
        if way[0] in ("deal", "result") or (way[0] == "decisions" and way[2] in ("seat", "phase")):
            yield way


def _at(record: Record, way: tuple[Any, ...]) -> Any:
    value: Any = record
    for step in way:
        value = value[step]
    return value


def _lie(way: tuple[Any, ...], value: Any) -> Any:
    """Another value for this place, of the same type and within its range."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value - 1 if value > 0 else value + 1
    words = {
        "phase": ("BID", "PLAY"),
        "winner": ("DIGGER", "DEFENDERS"),
        "task": ("PLAY_QUAD", "WIN_AS_DIGGER"),
        "marked_card": ("4c", "3s"),
    }
    if way[-1] in words:
        first, second = words[way[-1]]
        return second if value == first else first
    return value[2:4] + value[:2] + value[4:]


@pytest.mark.parametrize("preset", PRESETS)
def test_a_lie_is_refused_by_its_name(preset: str) -> None:
    record = _record(preset, 2)
    for way in _derivable(record):
        altered = copy.deepcopy(record)
        holder = _at(altered, way[:-1])
        holder[way[-1]] = _lie(way, holder[way[-1]])
        assert _refused(altered) == _path(list(way))


@pytest.mark.parametrize("preset", PRESETS)
def test_a_result_member_too_few_or_too_many_is_refused_by_its_name(preset: str) -> None:
    record = _record(preset, 2)
    for name, value in {"lying_seat": 0, "escaped_seat": 0, "task_bonus": [0] * len(record["seats"])}.items():
        if name not in record["result"]:
            altered = copy.deepcopy(record)
            altered["result"][name] = value
            assert _refused(altered) == f"result.{name}"
    for name in record["result"]:
        altered = copy.deepcopy(record)
        del altered["result"][name]
        assert _refused(altered) == f"result.{name}"


def test_the_deal_may_not_hide_or_invent_a_member() -> None:
    for preset, name, value in (("xian", "task", "PLAY_QUAD"), ("xian", "marked_card", "4c")):
        record = _record(preset)
        record["deal"][name] = value
        assert _refused(record) == f"deal.{name}"
    for name in ("task", "marked_card", "kitty"):
        record = _record("three_blind")
        del record["deal"][name]
        assert _refused(record) == f"deal.{name}"


def test_another_seed_or_beginning_is_refused() -> None:
    record = _record("xian")
    record["seed"] = bytes(32).hex()
    assert _refused(record)
    record = _record("xian")
    record["blind_first_seat"] = (record["blind_first_seat"] + 1) % 3
    assert _refused(record) == "decisions[0].seat"
    record = _record("four_traditional", bidding="assigned")
    record["assigned_digger"] = (record["assigned_digger"] + 1) % 4
    assert _refused(record) == "decisions[0].seat"


def test_what_begins_a_hand_stands_exactly_where_it_applies() -> None:
    for preset, name in (("three_traditional", "blind_first_seat"), ("xian", "assigned_digger")):
        record = _record(preset)
        record[name] = 0
        assert _refused(record) == name
    record = _record("xian")
    del record["blind_first_seat"]
    assert _refused(record) == "blind_first_seat"
    record = _record("xian", bidding="assigned")
    del record["assigned_digger"]
    assert _refused(record) == "assigned_digger"
    record = _record("xian")
    record["blind_first_seat"] = 3
    assert _refused(record) == "blind_first_seat"


@pytest.mark.parametrize(("name", "value"), [("must_beat", False), ("base", "2"), ("base", True), ("hand_size", 15)])
def test_rules_hold_only_overrides_in_their_plain_form(name: str, value: Any) -> None:
    record = _record("xian")
    record["rules"][name] = value
    assert _refused(record) == f"rules.{name}"


def test_there_is_one_seat_for_each_player() -> None:
    record = _record("xian")
    record["seats"].append({"bot": "extra", "version": "1"})
    assert _refused(record) == "seats"


def test_decisions_end_with_the_hand() -> None:
    record = _record("xian")
    last = record["decisions"].pop()
    assert _refused(record) == "decisions"
    record["decisions"] += [last, last]
    assert _refused(record) == f"decisions[{len(record['decisions']) - 1}]"


def test_an_illegal_action_is_refused_by_its_number() -> None:
    record = _record("xian")
    number = next(i for i, decision in enumerate(record["decisions"]) if decision["phase"] == "PLAY")
    record["decisions"][number]["action"] = "pass"
    assert _refused(record) == f"decisions[{number}].action"


@pytest.mark.parametrize("member", ["decisions", "faults", "seats"])
def test_an_empty_list_is_absent(member: str) -> None:
    record = _record("xian")
    record[member] = []
    assert _refused(record) == member


def test_an_escape_says_which_fault_it_was() -> None:
    record = _escape_after_two_strikes()
    del record["faults"]
    assert _refused(record) == "faults"


def test_a_forfeited_hand_holds_no_decisions() -> None:
    pair = begin(Choice("xian"), bytes(32), 1)
    pair.hand.escape(2)
    pair.game.escape(2)
    record = record_of(pair)
    assert "decisions" not in record
    assert record["result"] == {"winner": "ESCAPED", "scores": [0, 0, -10], "escaped_seat": 2}
    assert verify(encode(record))
