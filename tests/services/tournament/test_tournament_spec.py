"""What a tournament may be, what follows from it, and the form in which it is kept."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wakeng.engine import Bidding, rule_set
from wakeng.services.spec import SeatKind, SeatSpec, SpecError, TimeControl
from wakeng.services.tournament.blocks import BlockKind
from wakeng.services.tournament.options import DEFAULTS, RANGES, Options
from wakeng.services.tournament.spec import Entrant, Format, TournamentSpec, tournament_rules

ZERO = bytes(32)


def field(size: int) -> tuple[Entrant, ...]:
    return tuple(Entrant(f"bot-{i}", SeatSpec(SeatKind.BUILTIN, "greedy")) for i in range(size))


def spec(**changes: Any) -> TournamentSpec:
    given: dict[str, Any] = {
        "name": "a test",
        "rules": tournament_rules("xian"),
        "bots": field(5),
        "seed": ZERO,
        "blocks": 200,
    }
    return TournamentSpec(**(given | changes))


def swiss(**changes: Any) -> TournamentSpec:
    return spec(**({"format": Format.SWISS, "blocks": None, "bots": field(12)} | changes))


def sprt(**changes: Any) -> TournamentSpec:
    return spec(**({"format": Format.SPRT, "blocks": None, "bots": field(2)} | changes))


# Rules --------------------------------------------------------------------------------------------


def test_leaving_settles_the_hand_in_tournaments_unless_it_is_said_otherwise() -> None:
    assert tournament_rules("xian").escape_settles
    assert not tournament_rules("xian", {"escape_settles": "off"}).escape_settles
    assert tournament_rules("xian", {"base": 3}).base == 3


# What follows -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "bots", "limit", "pairing"),
    [
        ("xian", 15, 500, Format.ALL),  # 455 line-ups
        ("xian", 16, 500, Format.BALANCED),  # 560
        ("four_traditional", 12, 500, Format.ALL),  # 495
        ("four_traditional", 13, 500, Format.BALANCED),  # 715
        ("xian", 16, 560, Format.ALL),
        ("xian", 5, 0, Format.BALANCED),
    ],
)
def test_all_line_ups_give_way_to_the_balanced_rule_where_they_are_too_many(
    rules: str, bots: int, limit: int, pairing: Format
) -> None:
    chosen = spec(rules=tournament_rules(rules), bots=field(bots), options=Options(line_ups_all_below=limit))
    assert chosen.pairing is pairing
    assert chosen.format is Format.ALL


def test_the_window_is_four_times_the_tables() -> None:
    assert spec(tables=7).blocks_beyond_prefix == 28
    assert spec(tables=7, window=3).blocks_beyond_prefix == 3


def test_a_block_is_a_rotation_and_in_sprt_a_swap_pair() -> None:
    assert (spec().block_kind, spec().hands_per_block) == (BlockKind.ROTATION, 3)
    assert (sprt().block_kind, sprt().hands_per_block) == (BlockKind.SWAP, 2)
    assert spec(rules=tournament_rules("four_blind"), block=BlockKind.PERMUTATION).hands_per_block == 24


@pytest.mark.parametrize(("bots", "rounds"), [(4, 4), (8, 5), (9, 6), (12, 6), (16, 6), (17, 7)])
def test_swiss_has_enough_rounds_to_tell_its_field_apart(bots: int, rounds: int) -> None:
    assert swiss(bots=field(bots)).swiss_rounds == rounds
    assert swiss(bots=field(bots)).planned_blocks == rounds * (bots // 3) * 2
    assert swiss(bots=field(bots), rounds=rounds + 3).swiss_rounds == rounds + 3
    with pytest.raises(SpecError, match=f"^rounds: a field of {bots} needs {rounds} or more, not {rounds - 1}"):
        swiss(bots=field(bots), rounds=rounds - 1)


@pytest.mark.parametrize(
    ("rules", "options", "margins", "blocks"),
    [
        ({}, {}, (0, 0.2), 5040),
        ({"bidding": "assigned"}, {}, (0, 0.4), 5040),
        ({"base": 10}, {}, (0, 0.2), 5040),
        ({"base": 10}, {"d0": -1.0, "d1": 1.0}, (-0.1, 0.1), 20160),
        ({}, {"d1": 0.1}, (0, 0.1), 20160),
        ({}, {"max_blocks": 77}, (0, 0.2), 77),
    ],
)
def test_margins_are_points_as_scored_and_say_how_long_a_test_may_take(
    rules: dict[str, Any], options: dict[str, Any], margins: tuple[float, float], blocks: int
) -> None:
    test = sprt(rules=tournament_rules("xian", rules), options=Options(**options))
    assert test.margins == margins
    assert test.max_blocks == test.planned_blocks == blocks


def test_a_ladder_may_be_without_end() -> None:
    assert spec(format=Format.LADDER, blocks=None).planned_blocks is None
    assert spec(format=Format.LADDER).planned_blocks == 200
    assert spec(format=Format.LADDER).blocks_at_once == 5
    assert spec(format=Format.LADDER, options=Options(ladder_blocks=8)).blocks_at_once == 8


def test_a_report_names_what_differs_from_the_defaults_and_nothing_else() -> None:
    assert spec().differing() == {}
    assert sprt().differing() == {}
    assert spec(window=256).differing() == {}
    changed = spec(
        rules=tournament_rules("xian", {"bidding": "assigned"}),
        block=BlockKind.PERMUTATION,
        window=5,
        options=Options(interval=0.9, lambda_=1.0),
    )
    assert changed.differing() == {
        "block": "permutation",
        "bidding": "assigned",
        "window": 5,
        "interval": 0.9,
        "lambda": 1.0,
    }


def test_the_dealer_knows_what_hands_need() -> None:
    dealer = spec(rules=tournament_rules("four_blind", {"bidding": "assigned"}), duplicate=False).dealer
    assert (dealer.seed, dealer.players, dealer.assigned, dealer.duplicate) == (ZERO, 4, True, False)


def test_the_seed_does_not_show_in_what_is_printed() -> None:
    assert "seed" not in repr(spec()) + repr(spec().dealer)


# What is refused ----------------------------------------------------------------------------------

GAUNTLET = {"format": Format.GAUNTLET, "challengers": ("bot-0",)}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"name": ""}, "name: must be 1 to 100 printable characters"),
        ({"name": " x"}, "name: must be"),
        ({"seed": b"short"}, "seed: is 32 bytes, not 5"),
        ({"blocks": 0}, "blocks: must be 1 to 3333333, not 0"),
        ({"blocks": 3333334}, "blocks: must be"),
        ({"blocks": None}, "blocks: is missing"),
        ({"tables": 0}, "tables: must be 1 to"),
        ({"window": 0}, "window: must be 1 to"),
        ({"max_escapes": 0}, r"fault_policy\.max_escapes: must be 1"),
        ({"bots": field(2)}, "bots: must be 3, the players of xian, to 1000, not 2"),
        ({"bots": field(3), "rules": tournament_rules("four_blind")}, "bots: must be 4, the players of four_blind,"),
        ({"bots": field(1001)}, "bots: must be 3.* to 1000, not 1001"),
        ({"bots": (*field(3), *field(1))}, r"bots\[3\]\.name: 'bot-0' is the name of bots\[0\] already"),
        ({"rounds": 8}, "rounds: are for format = 'swiss', not 'all'; give blocks"),
        ({"challengers": ("bot-0",)}, "challengers: are for a gauntlet; format is 'all'"),
        ({"block": BlockKind.SWAP}, "block: swap pairs are for format = 'sprt', not 'all'"),
        ({"block": BlockKind.PERMUTATION, "duplicate": False}, "duplicate: permutations are for hands of one deal"),
        ({"options": Options(d1=0.3)}, r"options\.d1: is for format = 'sprt', not 'all'"),
        ({"options": Options(two_sided=True)}, r"options\.two_sided: is for format = 'sprt'"),
        ({"options": Options(swiss_blocks=3)}, r"options\.swiss_blocks: is for format = 'swiss', not 'all'"),
        ({"options": Options(ladder_blocks=3)}, r"options\.ladder_blocks: is for format = 'ladder', not 'all'"),
        (GAUNTLET | {"challengers": ()}, "format: a gauntlet needs challengers"),
        (GAUNTLET | {"challengers": ("bot-0", "nobody")}, r"challengers\[1\]: no bot of the field is named 'nobody'"),
        (GAUNTLET | {"challengers": ("bot-1", "bot-1")}, r"challengers\[1\]: 'bot-1' is named twice"),
        (GAUNTLET | {"bots": field(3), "challengers": ("bot-0", "bot-1", "bot-2")}, "challengers: are the whole field"),
        (GAUNTLET | {"options": Options(line_ups_all_below=3)}, r"options\.line_ups_all_below: is for format = 'all'"),
    ],
)
def test_a_tournament_that_cannot_be_is_refused_naming_the_field(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(SpecError, match=f"^{problem}"):
        spec(**changes)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"bots": field(3)}, "bots: sprt is between two bots, not 3"),
        ({"block": BlockKind.ROTATION}, "block: sprt plays swap pairs, not 'rotation'"),
        ({"blocks": 100}, r"blocks: sprt has a length of its own: give options\.max_blocks instead"),
        (
            {"options": Options(max_blocks=5_000_001)},
            r"options\.max_blocks: these are 5000001 blocks, more than 5000000",
        ),
        ({"options": Options(d1=0.001)}, r"options\.max_blocks: these are"),
        ({"options": Options(d0=0.2)}, r"options\.d0: must be less than d1, which is 0\.2"),
        ({"options": Options(d0=-0.4, d1=-0.2)}, r"options\.max_blocks: is to be given where d1 is not above 0"),
    ],
)
def test_a_test_that_cannot_be_is_refused_naming_the_field(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(SpecError, match=f"^{problem}"):
        sprt(**changes)


def test_a_swiss_tournament_is_not_measured_in_blocks() -> None:
    with pytest.raises(SpecError, match=r"^blocks: swiss has a length of its own"):
        swiss(blocks=100)


@pytest.mark.parametrize("name", RANGES)
def test_every_option_has_its_range(name: str) -> None:
    least, most = RANGES[name]
    wrong: tuple[Any, ...] = (least - 1, most + 1, float("nan"))
    for value in wrong:
        with pytest.raises(SpecError, match=f"^{name.rstrip('_')}: must be"):
            Options(**{name: value})


def test_every_option_of_the_design_has_its_default() -> None:
    assert {name: value for name, value in DEFAULTS.items() if value is not None} == {
        "interval": 0.95,
        "provisional_below": 10,
        "lambda_": 0,
        "lambda_pairing": 8,
        "lambda_roles": 5,
        "alpha": 0.05,
        "beta": 0.05,
        "d0": 0,
        "two_sided": False,
        "gate_blocks": 50,
        "gate_not_zero": 50,
        "look_every": 1,
        "line_ups_all_below": 500,
        "swiss_blocks": 2,
        "strike_off_after": 3,
    }


@pytest.mark.parametrize(
    ("given_", "problem"),
    [
        ({"d0": 0.5, "d1": 0.5}, "d1: must be more than d0, which is 0.5, not 0.5"),
        ({"max_blocks": 49}, "max_blocks: is 49, but before 50 gate_blocks holds"),
    ],
)
def test_options_may_not_contradict_each_other(given_: dict[str, Any], problem: str) -> None:
    with pytest.raises(SpecError, match=f"^{problem}"):
        Options(**given_)


# The store's form ---------------------------------------------------------------------------------

SPECS = [
    spec(),
    spec(rules=rule_set("xian")),  # Leaving does not settle here, which must not be lost on the way.
    spec(rules=tournament_rules("four_feature", {"bidding": "assigned", "removed_cards": ""}), duplicate=False),
    spec(**GAUNTLET, window=9, tables=3, block=BlockKind.PERMUTATION),
    spec(format=Format.LADDER, blocks=None, options=Options(ladder_blocks=7)),
    swiss(rounds=9, time_control=TimeControl(move_ms=7, max_strikes=9), max_escapes=5),
    sprt(options=Options(d1=0.5, two_sided=True, lambda_=2)),
    spec(
        bots=(
            Entrant("one", SeatSpec.parse("unix:/run/one")),
            Entrant("two", SeatSpec(SeatKind.REGISTERED, "a registered bot")),
            Entrant("three", SeatSpec.parse("greedy")),
        )
    ),
]


@pytest.mark.parametrize("one", SPECS)
def test_what_is_written_is_read_again_alike(one: TournamentSpec) -> None:
    written = json.loads(json.dumps(one.to_dict()))
    assert TournamentSpec.from_dict(written, seed=one.seed) == one
    assert "seed" not in written


@given(st.sampled_from(SPECS), st.integers(1, 1000))
def test_the_form_is_canonical(one: TournamentSpec, tables: int) -> None:
    changed = replace(one, tables=tables)
    other = TournamentSpec.from_dict(one.to_dict(), seed=ZERO)
    assert replace(other, tables=tables).to_dict() == changed.to_dict()
    assert list(changed.to_dict()) == list(replace(other, tables=tables).to_dict())


def test_bidding_is_part_of_the_rules() -> None:
    assert spec(rules=tournament_rules("xian", {"bidding": "assigned"})).bidding is Bidding.ASSIGNED
