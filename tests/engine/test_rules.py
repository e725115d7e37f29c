"""Rule sets: the ten presets, every field's range, and combinations that cannot be (docs/rules.md 5)."""

import copy
import dataclasses
import pickle
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given

from tests.engine import brute
from tests.engine.strategies import Choice, choices, examples
from wakeng.engine.cards import format_cards, parse_cards
from wakeng.engine.rules import PRESETS, Bidding, FirstCaller, RuleError, RuleSet, rule_set

# The table of docs/rules.md 5, as it stands there.
TABLE = """
| `xian` | 3 | 52, 16, 4 | lowest heart | black dig at 4 | - | - | - | yes | yes |
| `three_traditional` | 3 | 52, 16, 4 | lowest heart | - | - | - | - | - | - |
| `three_feature` | 3 | 52, 16, 4 | lowest heart | - | yes | yes | - | - | - |
| `three_blind` | 3 | 52, 16, 4 | marked card | blind dig | yes | yes | - | - | - |
| `four_traditional` | 4 | 52, 12, 4 | lowest heart | - | - | - | yes | - | - |
| `four_feature` | 4 | 52, 12, 4 | lowest heart | - | yes | - | yes | - | - |
| `four_blind` | 4 | 52, 12, 4 | marked card | blind dig | yes | - | yes | - | - |
| `baoji_traditional` | 3 | 46, 14, 4 | lowest heart | - | - | - | - | - | - |
| `baoji_feature` | 3 | 46, 14, 4 | lowest heart | - | yes | yes | - | - | - |
| `baoji_blind` | 3 | 46, 14, 4 | marked card | blind dig | yes | yes | - | - | - |
"""

# Fields that have one default in every preset.
DEFAULTS = {
    "bidding": "auction",
    "max_bid": 3,
    "lie_down_points": 9,
    "lie_down_margin": 4,
    "quad_runs": False,
    "straight_min": 3,
    "pair_run_min": 3,
    "triple_run_min": 3,
    "must_beat": False,
    "base": 1,
    "bomb_cap": 4,
    "escape_factor": 10,
    "escape_settles": False,
}


def _expected() -> dict[str, dict[str, Any]]:
    presets = {}
    for row in TABLE.strip().splitlines():
        name, players, sizes, caller, blind, extras, down, bury, bombs, triples = row.strip("| ").split(" | ")
        deck, hand, kitty = map(int, sizes.split(", "))
        presets[name.strip("`")] = {
            **DEFAULTS,
            "players": int(players),
            "removed_cards": "AcAdAhAs2d3d" if deck == 46 else "",
            "hand_size": hand,
            "kitty_size": kitty,
            "first_caller": caller.replace(" ", "_"),
            "black_dig": blind == "black dig at 4",
            "blind_dig": blind == "blind dig",
            "grab": extras == "yes",
            "open": extras == "yes",
            "tasks": extras == "yes",
            "lie_down": down == "yes",
            "bury": bury == "yes",
            "bombs": bombs == "yes",
            "triple_runs": triples == "yes",
        }
    return presets


def _plain(rules: RuleSet) -> dict[str, Any]:
    """Every field but the preset's name in its plain form."""
    plain = {field.name: getattr(rules, field.name) for field in dataclasses.fields(rules) if field.name != "preset"}
    plain["removed_cards"] = format_cards(plain["removed_cards"])
    plain["first_caller"] = plain["first_caller"].value
    plain["bidding"] = plain["bidding"].value
    return plain


# Presets -------------------------------------------------------------------------------------------------------------


def test_the_ten_presets_stand_in_the_order_of_the_table() -> None:
    assert list(PRESETS) == list(_expected())


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_its_row_of_the_table(name: str) -> None:
    assert _plain(PRESETS[name]) == _expected()[name]
    assert PRESETS[name].preset == name


@pytest.mark.parametrize("name", PRESETS)
def test_the_brute_force_has_the_same_presets(name: str) -> None:
    plain = dict(brute.PRESETS[name])
    plain["removed_cards"] = "".join(plain["removed_cards"])
    assert plain == _expected()[name]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_overrides_nothing(name: str) -> None:
    rules = rule_set(name)
    assert rules == PRESETS[name]
    assert rules.overrides() == {}
    assert rules.to_dict() == {"preset": name}


@pytest.mark.parametrize("name", PRESETS)
def test_the_deck_is_what_is_not_removed(name: str) -> None:
    rules = PRESETS[name]
    assert [*sorted((*rules.deck, *rules.removed_cards))] == list(range(52))
    assert rules.deck == tuple(sorted(rules.deck))
    assert len(rules.deck) == rules.players * rules.hand_size + rules.kitty_size


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(RuleError, match="nowhere") as refused:
        rule_set("nowhere")
    assert refused.value.field == "preset"


def test_a_rule_set_is_a_frozen_value() -> None:
    rules = rule_set("xian", {"base": 5})
    with pytest.raises(dataclasses.FrozenInstanceError):
        rules.base = 6  # type: ignore[misc]
    assert rules == rule_set("xian", {"base": 5}) == copy.deepcopy(rules) == pickle.loads(pickle.dumps(rules))
    assert hash(rules) == hash(rule_set("xian", {"base": 5}))
    assert rules != rule_set("xian")


def test_a_rule_set_that_another_process_has_hashed_is_found_here() -> None:
    script = (
        "import pickle, sys; from wakeng.engine import rule_set; rules = rule_set('xian', {'base': 5}); hash(rules);"
    )
    script += "sys.stdout.buffer.write(pickle.dumps(rules))"
    sent = subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.PIPE).stdout
    assert pickle.loads(sent) in {rule_set("xian", {"base": 5})}


# Ranges --------------------------------------------------------------------------------------------------------------

# Field, the values at the edges of its range, and values just outside. Fields of which others follow stand below.
EDGES: list[tuple[str, list[Any], list[Any]]] = [
    ("max_bid", [1, 3], [0, 4, -1]),
    ("lie_down_points", [0, 36], [-1]),
    ("lie_down_margin", [1, 36], [0, -1]),
    ("straight_min", [3, 10], [2, 11]),
    ("pair_run_min", [3, 10], [2, 11]),
    ("triple_run_min", [3, 10], [2, 11]),
    ("base", [1, 1_000_000], [0, 1_000_001, -1]),
    ("bomb_cap", [1, 2, 4, 8, 16, 2**22], [0, 3, 6, -1, -2, 12]),
    ("escape_factor", [0, 1_000], [-1, 1_001]),
]
SWITCHES = [
    "black_dig", "blind_dig", "grab", "open", "tasks", "lie_down", "bury", "bombs", "triple_runs", "quad_runs",
    "must_beat", "escape_settles",
]  # fmt: skip


@pytest.mark.parametrize(("field", "value"), [(field, value) for field, good, _ in EDGES for value in good])
def test_the_edge_of_a_range_is_accepted(field: str, value: int) -> None:
    assert getattr(rule_set("three_traditional", {field: value}), field) == value


@pytest.mark.parametrize(("field", "value"), [(field, value) for field, _, bad in EDGES for value in bad])
def test_outside_its_range_a_field_is_refused_by_name(field: str, value: int) -> None:
    _refused("three_traditional", {field: value}, field)


def _refused(preset: str, overrides: dict[str, Any], *fields: str) -> None:
    """Refused with RuleError whose `field` is one of these and stands in the message."""
    with pytest.raises(RuleError) as refused:
        rule_set(preset, overrides)
    assert refused.value.field in fields
    assert refused.value.field in str(refused.value)


@pytest.mark.parametrize("field", SWITCHES)
def test_a_switch_goes_on_and_off(field: str) -> None:
    for value in (True, False):
        assert getattr(rule_set("three_traditional", {field: value}), field) is value


@pytest.mark.parametrize("field", [*DEFAULTS, *SWITCHES, "players", "hand_size", "kitty_size", "removed_cards"])
@pytest.mark.parametrize("value", [None, 1.5, [], "perhaps", "4x", b"3"], ids=repr)
def test_a_value_of_another_type_is_refused_by_name(field: str, value: Any) -> None:
    _refused("three_traditional", {field: value}, field)


@pytest.mark.parametrize("field", ["max_bid", "players", "base", "hand_size"])
def test_a_number_is_no_bool(field: str) -> None:
    _refused("three_traditional", {field: True}, field)


@pytest.mark.parametrize("field", SWITCHES)
def test_a_switch_is_no_number(field: str) -> None:
    _refused("three_traditional", {field: 1}, field)


def test_an_unknown_field_is_refused_by_name() -> None:
    _refused("xian", {"jokers": True}, "jokers")


def test_the_preset_is_no_field_to_override() -> None:
    _refused("xian", {"preset": "three_blind"}, "preset")


# Combinations --------------------------------------------------------------------------------------------------------

SHAPE = ("players", "hand_size", "kitty_size", "removed_cards")
TWELVE_HEARTS = "4h5h6h7h8h9hThJhQhKhAh2h"


@pytest.mark.parametrize("players", [0, 1, 2, 5])
def test_players_are_three_or_four(players: int) -> None:
    _refused("three_traditional", {"players": players}, "players")


@pytest.mark.parametrize(
    ("preset", "overrides"),
    [
        ("xian", {"players": 4}),
        ("xian", {"hand_size": 15}),
        ("xian", {"kitty_size": 7}),
        ("xian", {"removed_cards": "AcAdAhAs2d3d"}),
        ("baoji_blind", {"removed_cards": ""}),
        ("xian", {"hand_size": 0, "kitty_size": 52}),
        ("xian", {"hand_size": 17, "kitty_size": 1, "players": 4}),
        ("xian", {"hand_size": 18, "kitty_size": -2}),
    ],
    ids=str,
)
def test_hands_and_kitty_must_use_up_the_deck(preset: str, overrides: dict[str, Any]) -> None:
    _refused(preset, overrides, *SHAPE)


def test_hands_and_kitty_can_be_cut_otherwise() -> None:
    assert rule_set("xian", {"hand_size": 17, "kitty_size": 1}).kitty_size == 1
    assert rule_set("four_feature", {"hand_size": 13, "kitty_size": 0}).kitty_size == 0
    assert rule_set("xian", {"players": 4, "hand_size": 12}).players == 4


def test_a_digger_holds_at_most_twenty_cards() -> None:
    # 3 x 15 + 6 = 51: 21 cards. 3 x 15 + 5 = 50: 20 cards.
    _refused("xian", {"hand_size": 15, "kitty_size": 6, "removed_cards": "4c"}, "hand_size", "kitty_size")
    assert rule_set("xian", {"hand_size": 15, "kitty_size": 5, "removed_cards": "4c4d"}).hand_size == 15


def test_more_hearts_stay_than_the_kitty_holds() -> None:
    # Twelve hearts out and four other cards out: 36 = 3 x 12, kitty 0, one heart stays.
    rules = rule_set("xian", {"hand_size": 12, "kitty_size": 0, "removed_cards": TWELVE_HEARTS + "4c4d4s5c"})
    assert len(rules.deck) == 36
    # One heart stays and the kitty could swallow it.
    _refused("xian", {"hand_size": 12, "kitty_size": 1, "removed_cards": TWELVE_HEARTS + "4c4d4s"}, *SHAPE)
    _refused("xian", {"hand_size": 13, "kitty_size": 0, "removed_cards": TWELVE_HEARTS + "3h"}, *SHAPE)


@pytest.mark.parametrize("cards", ["4c4c", "4x", "4", "c4", "10h", "4c 4d"])
def test_removed_cards_must_be_different_cards(cards: str) -> None:
    _refused("xian", {"removed_cards": cards}, "removed_cards")


@pytest.mark.parametrize("cards", [(0, 0), (-1,), (52,), ("4c",), (1.0,)], ids=str)
def test_removed_card_ids_must_be_different_cards(cards: tuple[Any, ...]) -> None:
    _refused("xian", {"removed_cards": cards}, "removed_cards")


def test_black_and_blind_dig_exclude_each_other() -> None:
    _refused("xian", {"blind_dig": True}, "blind_dig", "black_dig")
    assert rule_set("xian", {"blind_dig": True, "black_dig": False}).blind_dig


def test_lying_down_is_for_three() -> None:
    _refused("four_feature", {"lie_down": True}, "lie_down")
    _refused("three_feature", {"players": 4, "hand_size": 12}, "lie_down", "players")
    assert rule_set("three_feature", {"players": 4, "hand_size": 12, "lie_down": False}).players == 4


def test_base_times_cap_is_bounded() -> None:
    assert rule_set("xian", {"base": 1_000_000, "bomb_cap": 8}).bomb_cap == 8
    assert rule_set("xian", {"base": 500_000, "bomb_cap": 16}).bomb_cap == 16
    _refused("xian", {"base": 1_000_000, "bomb_cap": 16}, "base", "bomb_cap")
    _refused("xian", {"base": 500_001, "bomb_cap": 16}, "base", "bomb_cap")


def test_blind_presets_can_be_played_with_an_assigned_digger() -> None:
    rules = rule_set("three_blind", {"bidding": "assigned"})
    assert (rules.bidding, rules.first_caller) == (Bidding.ASSIGNED, FirstCaller.MARKED_CARD)


# Texts and plain forms -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "text", "value"),
    [
        ("must_beat", "on", True), ("must_beat", "true", True), ("must_beat", "off", False),
        ("bombs", "false", False), ("base", "12", 12), ("max_bid", "1", 1), ("escape_factor", "0", 0),
        ("bidding", "assigned", Bidding.ASSIGNED), ("bidding", "auction", Bidding.AUCTION),
        ("first_caller", "marked_card", FirstCaller.MARKED_CARD),
        ("first_caller", "lowest_heart", FirstCaller.LOWEST_HEART),
        ("base", 12, 12), ("must_beat", True, True), ("bidding", Bidding.ASSIGNED, Bidding.ASSIGNED),
    ],
)  # fmt: skip
def test_a_value_may_come_as_text(field: str, text: Any, value: Any) -> None:
    assert getattr(rule_set("xian", {field: text}), field) == value


def test_cards_come_as_text_in_any_order() -> None:
    shape = {"hand_size": 15, "kitty_size": 4}
    rules = rule_set("xian", {"removed_cards": "Ac4d3s", **shape})
    assert rules.removed_cards == parse_cards("4dAc3s")
    assert rules == rule_set("xian", {"removed_cards": parse_cards("4dAc3s"), **shape})


def test_no_cards_come_as_an_empty_text() -> None:
    rules = rule_set("baoji_traditional", {"removed_cards": "", "hand_size": 16})
    assert rules.removed_cards == ()


def test_the_plain_form_holds_the_overridden_fields_alone() -> None:
    given = {"preset": "three_blind", "base": 5, "bidding": "assigned", "grab": False}
    rules = rule_set("three_blind", {"base": "5", "bidding": "assigned", "grab": "off", "open": "on", "max_bid": 3})
    assert rules.to_dict() == given


def test_overriding_back_to_the_preset_is_the_preset() -> None:
    rules = rule_set("xian", {"base": 5, "must_beat": True}).with_overrides({"base": 1, "must_beat": "off"})
    assert rules == PRESETS["xian"]


@given(choices())
@examples(200)
def test_any_rule_set_comes_back_from_its_plain_form(choice: Choice) -> None:
    rules = choice.engine
    plain = rules.to_dict()
    preset = str(plain.pop("preset"))
    assert plain == rules.overrides()
    assert rule_set(preset, plain) == rules
    assert rule_set(preset, {name: str(value) for name, value in plain.items()}) == rules
    by_brute = vars(choice.brute)
    by_brute["removed_cards"] = "".join(by_brute["removed_cards"])
    assert _plain(rules) == by_brute
    assert all(by_brute[name] == value and _expected()[preset][name] != value for name, value in plain.items())
