"""What may be asked of the arena, field by field, and what is said of the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest

from wakeng.engine import rule_set
from wakeng.services.spec import MatchSpec, SeatKind, SeatSpec, SpecError, TimeControl

SPEC = MatchSpec(
    match_id="m1",
    rules=rule_set("xian", {"bombs": True}),
    seats=(
        SeatSpec(SeatKind.BUILTIN, "greedy"),
        SeatSpec(SeatKind.ADDRESS, "127.0.0.1:50051"),
        SeatSpec(SeatKind.REGISTERED, "anna"),
    ),
    hands=100,
    seed=bytes(range(32)),
    time_control=TimeControl(move_ms=200),
    max_escapes=5,
    tables=7,
)


# Seats ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("greedy", SeatKind.BUILTIN),
        ("faulty:hang", SeatKind.BUILTIN),
        ("faulty:slow_start", SeatKind.BUILTIN),
        ("no such bot", SeatKind.BUILTIN),
        ("localhost:50051", SeatKind.ADDRESS),
        ("127.0.0.1:1", SeatKind.ADDRESS),
        ("[::1]:65535", SeatKind.ADDRESS),
        ("bots.example.org:443", SeatKind.ADDRESS),
        ("unix:/run/bot.sock", SeatKind.ADDRESS),
        ("unix:relative:50051", SeatKind.ADDRESS),
    ],
)
def test_a_seat_with_a_port_or_a_path_is_an_address_and_any_other_a_name(text: str, kind: SeatKind) -> None:
    assert SeatSpec.parse(text) == SeatSpec(kind, text)


@pytest.mark.parametrize("text", [":50051", "localhost:0", "localhost:65536", "localhost:999999"])
def test_an_address_has_a_host_and_a_port_that_can_be_called(text: str) -> None:
    with pytest.raises(SpecError, match=r"^seats: .*HOST:PORT has a port of 1 to 65535"):
        SeatSpec.parse(text)


@pytest.mark.parametrize("text", ["", "x" * 201, "挖" * 67, "a\nb", "a\x1b[2J"])
def test_a_seat_is_printable_and_fits_a_record(text: str) -> None:
    with pytest.raises(SpecError, match=r"^seats: a seat is 1 to 200 printable bytes"):
        SeatSpec.parse(text)


# Numbers -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "least"), [("move_ms", 1), ("bank_ms", 0), ("ready_ms", 1), ("reconnect_ms", 0), ("max_strikes", 1)]
)
def test_a_time_control_says_which_field_cannot_be(field: str, least: int) -> None:
    assert getattr(TimeControl(**{field: least}), field) == least
    with pytest.raises(SpecError, match=rf"^{field}: must be {least} to ") as refused:
        TimeControl(**{field: least - 1})
    assert refused.value.field == field
    with pytest.raises(SpecError, match=rf"^{field}: "):
        TimeControl(**{field: 1 << 31})


def test_the_defaults_are_those_of_the_protocol() -> None:
    assert TimeControl().to_dict() == {
        "move_ms": 1_000,
        "bank_ms": 1_000,
        "ready_ms": 5_000,
        "reconnect_ms": 2_000,
        "max_strikes": 3,
    }


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"seats": SPEC.seats[:2]}, "seats"),
        ({"seats": (*SPEC.seats, SPEC.seats[0])}, "seats"),
        ({"hands": 0}, "hands"),
        ({"hands": 10_000_001}, "hands"),
        ({"tables": 0}, "tables"),
        ({"tables": 100_001}, "tables"),
        ({"max_escapes": 0}, "max_escapes"),
        ({"seed": bytes(31)}, "seed"),
    ],
)
def test_a_match_says_which_field_cannot_be(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(SpecError) as refused:
        replace(SPEC, **changes)
    assert refused.value.field == field
    assert str(refused.value).startswith(f"{field}: ")


# In the store --------------------------------------------------------------------------------------------------------


def test_a_match_goes_into_the_store_and_comes_back_the_same() -> None:
    written = orjson.loads(orjson.dumps(SPEC.to_dict()))
    assert MatchSpec.from_dict(written, match_id="m1", seed=SPEC.seed) == SPEC


def test_the_seed_is_neither_shown_nor_part_of_what_is_stored_as_the_spec() -> None:
    assert SPEC.seed.hex() not in repr(SPEC) and str(SPEC.seed) not in repr(SPEC)
    assert SPEC.seed.hex().encode() not in orjson.dumps(SPEC.to_dict())
