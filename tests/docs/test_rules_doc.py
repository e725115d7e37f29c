"""docs/rules.md is held to the engine: its tables, its examples, and the values that others check against."""

import json
import re
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from wakeng.engine import (
    CARD_NAMES,
    PLAYS,
    PRESETS,
    RANKS,
    Bidding,
    FirstCaller,
    Hand,
    Kind,
    Phase,
    RuleError,
    RuleSet,
    Stream,
    Terms,
    blind_first_seat,
    commitment,
    deal_cards,
    deal_members,
    derive,
    format_cards,
    hand_seed,
    rule_set,
    settle,
    settle_escape,
)
from wakeng.engine.rules import FIELD_TYPES
from wakeng.engine.tasks import CATALOGUE

HOME = Path(__file__).resolve().parents[2]
TEXT = (HOME / "docs" / "rules.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^## (\d)\. [^\n]*\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL))
ZERO = bytes(32)

Row = dict[str, str]


def tables(section: str) -> list[list[Row]]:
    """The tables of a section, each a list of rows by heading; code marks and bold are taken off, − becomes -."""
    found = []
    for block in re.findall(r"(?:^\|.*\n)+", SECTIONS[section], re.MULTILINE):
        plain = re.sub(r"[`*]", "", block).replace("−", "-")
        head, _, *rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in plain.splitlines()]
        found.append([dict(zip(head, row, strict=True)) for row in rows])
    return found


def table(section: str, *headings: str) -> list[Row]:
    """The one table of a section that begins with these headings."""
    (found,) = [rows for rows in tables(section) if tuple(rows[0])[: len(headings)] == headings]
    return found


def paragraph(section: str, start: str) -> str:
    """The paragraph that begins so, on one line."""
    (found,) = [block for block in SECTIONS[section].split("\n\n") if block.lstrip().startswith(start)]
    return " ".join(found.split())


# The frame ----------------------------------------------------------------------------------------


def test_the_sections_and_the_steps_of_a_hand_keep_their_numbers() -> None:
    assert list(SECTIONS) == [str(number) for number in range(1, 9)]
    assert re.findall(r"^(\d+)\. ", SECTIONS["3"], re.MULTILINE) == [str(step) for step in range(1, 12)]


def _cited() -> set[str]:
    paths = [path for root in ("engine", "bots", "services", "tests") for path in (HOME / root).rglob("*.py")]
    return {cited for path in paths for cited in re.findall(r"docs/rules\.md (\d[\d.]*\d|\d)", path.read_text("utf-8"))}


def test_whatever_the_code_cites_is_there() -> None:
    steps = {f"3.{step}" for step in range(1, 12)}
    draws = {f"7.{draw}" for draw in range(1, 6)}
    cited = _cited()
    assert cited, "a project that cites its rules nowhere is not the one this test is about"
    assert cited - SECTIONS.keys() - steps - draws == set()


def test_the_phases_are_those_in_which_a_seat_decides() -> None:
    assert [row["phase"] for row in table("3", "phase")] == [phase.value for phase in Phase if phase is not Phase.END]


# 1 and 2: cards and plays -------------------------------------------------------------------------


def test_the_ids_of_the_cards() -> None:
    (row,) = table("1", "rank")
    assert list(row) == ["rank", *RANKS]
    for rank in RANKS:
        first, last = map(int, row[rank].split("–"))
        assert list(CARD_NAMES[first : last + 1]) == [rank + suit for suit in "cdhs"]


def test_the_ids_of_the_plays() -> None:
    rows = table("1", "ids")
    spans = [tuple(map(int, row["ids"].split("–"))) for row in rows]
    assert spans[0] == (0,)
    assert (spans[1][0], spans[-1][1]) == (1, len(PLAYS) - 1)
    assert all(after[0] == before[-1] + 1 for before, after in pairwise(spans))
    for row, (first, last) in zip(rows[1:], spans[1:], strict=True):
        assert {play.kind.value for play in PLAYS[first : last + 1]} == {re.split(r"[ ,]", row["plays"])[0]}
        assert int(row["count"].split()[-1]) == last - first + 1


def test_the_kinds_of_combinations() -> None:
    kinds = [row["kind"].split()[0] for row in table("2", "kind")]
    assert kinds == [kind.value for kind in Kind if kind is not Kind.PASS]


# 4: settlement ------------------------------------------------------------------------------------


def _players(players: int, **overrides: int | bool) -> RuleSet:
    """A rule set for so many players; which preset does not matter to a settlement."""
    return rule_set({3: "xian", 4: "four_traditional"}[players], overrides)


def _terms(row: Row, *, digger: int, lying_seat: int | None = None) -> Terms:
    return Terms(
        digger=digger,
        bid=int(row["bid"]),
        bombs=int(row.get("bombs", 0)),
        grabs=int(row["grabs"]),
        opened=row["opened"] == "yes",
        lying_seat=lying_seat,
        blind=row["blind dig stood"] == "yes",
    )


SETTLED = table("4", "players", "base")
ESCAPED = table("4", "players", "escape_settles")


@pytest.mark.parametrize("row", SETTLED, ids=lambda row: " ".join(row.values()))
def test_a_hand_is_settled_as_in_the_example(row: Row) -> None:
    players, digger = int(row["players"]), 1
    rules = _players(players, base=int(row["base"]), bomb_cap=int(row["bomb_cap"]))
    terms = _terms(row, digger=digger, lying_seat=2 if row["lies down"] == "yes" else None)
    result = settle(rules, terms, digger_wins=row["winner"] == "digger")
    expected = [int(row["each defender"])] * players
    expected[digger] = int(row["digger"])
    assert (result.stake, list(result.scores)) == (int(row["stake"]), expected)
    assert sum(result.scores) == 0


@pytest.mark.parametrize("row", ESCAPED, ids=lambda row: " ".join(row.values()))
def test_an_escape_is_settled_as_in_the_example(row: Row) -> None:
    rules = _players(
        int(row["players"]),
        escape_settles=row["escape_settles"] == "on",
        escape_factor=int(row["escape_factor"]),
    )
    terms = None if row["bid"] == "none yet" else _terms(row, digger=0)
    result = settle_escape(rules, terms, int(row["leaver"]))
    assert [f"{score:+d}" if score else "0" for score in result.scores] == row["scores"].split()
    assert result.stake == (None if row["stake"] == "–" else int(row["stake"]))


# 5: rule sets -------------------------------------------------------------------------------------


def _preset_row(rules: RuleSet) -> Row:
    """The row of the table that a rule set deserves."""

    def mark(*switches: bool) -> str:
        assert len(set(switches)) == 1
        return "yes" if switches[0] else "–"

    return {
        "preset": rules.preset,
        "players": str(rules.players),
        "deck": str(len(rules.deck)),
        "dealt": str(rules.hand_size),
        "kitty": str(rules.kitty_size),
        "first caller": rules.first_caller.value.replace("_", " "),
        "blind": "black dig" if rules.black_dig else "blind dig" if rules.blind_dig else "–",
        "grab, open, tasks": mark(rules.grab, rules.open, rules.tasks),
        "lie down": mark(rules.lie_down),
        "bury": mark(rules.bury),
        "bombs": mark(rules.bombs),
        "triple runs": mark(rules.triple_runs),
    }


def test_the_table_of_presets_is_the_presets() -> None:
    assert table("5", "preset") == [_preset_row(rules) for rules in PRESETS.values()]


def test_the_cards_that_presets_take_out() -> None:
    (cards,) = re.findall(r"Baoji \(寶雞\) tables play without `(\w+)`", SECTIONS["5"])
    for rules in PRESETS.values():
        assert format_cards(rules.removed_cards) == (cards if rules.preset.startswith("baoji") else "")


FIELDS = table("5", "field")
NUMBERS = [row for row in FIELDS if FIELD_TYPES[row["field"]] is int]


def test_the_table_of_fields_has_every_field_in_order() -> None:
    assert [row["field"] for row in FIELDS] == list(FIELD_TYPES)


@pytest.mark.parametrize("row", FIELDS, ids=lambda row: row["field"])
def test_a_default_is_what_all_presets_have_where_they_agree(row: Row) -> None:
    held = {getattr(rules, row["field"]) for rules in PRESETS.values()}
    if row["default"] == "by preset":
        assert len(held) > 1
    else:
        default = getattr(rule_set("xian", {row["field"]: row["default"]}), row["field"])
        assert held == {default}


@pytest.mark.parametrize("row", FIELDS, ids=lambda row: row["field"])
def test_the_values_of_a_field_are_of_its_type(row: Row) -> None:
    kind = FIELD_TYPES[row["field"]]
    if kind is int:
        assert re.fullmatch(r"\d+ to \d+", row["values"])
    else:
        words = {
            bool: "on or off",
            FirstCaller: ", ".join(caller.value for caller in FirstCaller),
            Bidding: ", ".join(bidding.value for bidding in Bidding),
        }
        assert row["values"] == words.get(kind, "cards")


def _out_of_range(field: str, value: int) -> bool:
    """Whether a value is refused for itself; the engine may still refuse one in range for what stands beside it."""
    try:
        rule_set("xian", {field: value})
    except RuleError as problem:
        return problem.field == field and re.search(rf"must be -?\d+ to \d+, not {value}$", str(problem)) is not None
    return False


@pytest.mark.parametrize("row", NUMBERS, ids=lambda row: row["field"])
def test_a_field_takes_exactly_the_range_it_is_said_to(row: Row) -> None:
    least, most = map(int, row["values"].split(" to "))
    tried = (least - 1, least, most, most + 1)
    assert [_out_of_range(row["field"], value) for value in tried] == [True, False, False, True]


@pytest.mark.parametrize(
    ("field", "preset", "overrides"),
    [
        ("hand_size", "xian", {"hand_size": 15}),
        ("hand_size", "xian", {"hand_size": 17, "kitty_size": 4}),
        ("removed_cards", "xian", {"removed_cards": "4h5h6h7h8h9hThJhQh", "hand_size": 13}),
        ("blind_dig", "xian", {"blind_dig": True}),
        ("lie_down", "four_traditional", {"lie_down": True}),
        ("bomb_cap", "xian", {"bomb_cap": 3}),
        ("bomb_cap", "xian", {"base": 1_000_000, "bomb_cap": 16}),
    ],
)
def test_the_conditions_between_fields_hold(field: str, preset: str, overrides: dict[str, Any]) -> None:
    with pytest.raises(RuleError) as refused:
        rule_set(preset, overrides)
    assert refused.value.field == field


def _tiny(**overrides: Any) -> RuleSet:
    """Three hands of one card, all hearts, and no kitty."""
    removed = tuple(card for card in range(52) if CARD_NAMES[card] not in ("4h", "5h", "6h"))
    return rule_set("xian", {"removed_cards": removed, "hand_size": 1, "kitty_size": 0, **overrides})


def test_bury_is_refused_where_the_digger_would_hold_a_single_card() -> None:
    assert _tiny().hand_size == 1
    with pytest.raises(RuleError, match=r"^bury: "):
        _tiny(bury=True)


# 6: tasks -----------------------------------------------------------------------------------------


def test_the_catalogue_of_tasks() -> None:
    told = [(row["task"], int(row["bonus"])) for row in table("6", "task")]
    assert told == [(task.value, task.bonus) for task in CATALOGUE]


# 7: chance ----------------------------------------------------------------------------------------


def _words(seed: bytes, count: int) -> list[int]:
    stream = Stream(seed)
    return [stream.below(2**32) for _ in range(count)]


@pytest.mark.parametrize(
    "row", table("7", "seed", "first words of its stream, in hex"), ids=lambda row: row["seed"][-2:]
)
def test_the_first_words_of_a_stream(row: Row) -> None:
    told = row["first words of its stream, in hex"].split()
    assert told == [f"{word:08x}" for word in _words(bytes.fromhex(row["seed"]), len(told))]


def test_the_example_of_words_that_are_passed_over() -> None:
    n, *told = map(int, re.findall(r"\d{7,}", paragraph("7", "With *n* =")))
    passed = [place for place, word in enumerate(_words(ZERO, 10)) if word >= 2**32 - 2**32 % n]
    assert passed == [1, 4, 9], "the second, the fifth and the tenth"
    stream = Stream(ZERO)
    assert told[-8:] == [stream.below(n) for _ in range(8)]


def test_the_first_draws_of_a_deal() -> None:
    rows = table("7", "draw")
    stream = Stream(ZERO)
    sizes = [int(row["draw"][6:-1]) for row in rows]
    assert [int(row["result"]) for row in rows] == [stream.below(n) for n in sizes]
    assert [int(row["word"]) for row in rows] == _words(ZERO, len(rows))
    assert sizes == [3, 52, 51, 50]
    places = [re.findall(r"\d+", row["which means"]) for row in rows[1:]]
    assert places == [[str(n - 1), row["result"]] for n, row in zip(sizes[1:], rows[1:], strict=True)]


@pytest.mark.parametrize("row", table("7", "seed", "label"), ids=lambda row: f"{row['label']}-{row['n']}")
def test_derived_seeds(row: Row) -> None:
    assert derive(bytes.fromhex(row["seed"]), row["label"], int(row["n"])).hex() == row["derived"]


@pytest.mark.parametrize("row", table("7", "preset"), ids=lambda row: row["preset"])
def test_the_first_hands_of_a_match(row: Row) -> None:
    rules = PRESETS[row["preset"]]
    deals = [deal_cards(rules, hand_seed(ZERO, index)) for index in range(5)]
    asked = [blind_first_seat(rules, ZERO, index) for index in range(5)]
    assert row == {
        "preset": rules.preset,
        "first dealt, by hand": " ".join(str(deal.first_dealt_seat) for deal in deals),
        "lowest heart, by hand": " ".join(str(deal.lowest_heart_seat) for deal in deals),
        "BLIND asks first, by hand": " ".join(str(seat) for seat in asked),
    }


def test_the_commitment() -> None:
    assert f"`{commitment(ZERO)}`" in paragraph("7", "**Commitment.**")


DEALS: list[dict[str, Any]] = json.loads("".join(re.findall(r"^```json\n(.*?)^```", SECTIONS["7"], re.M | re.S)))


@pytest.mark.parametrize("told", DEALS, ids=lambda told: f"{told['rules']}-{told['seed'].lstrip('0') or '0'}")
def test_a_whole_deal(told: dict[str, Any]) -> None:
    deal = deal_cards(PRESETS[told["rules"]], bytes.fromhex(told["seed"]))
    expected = {
        "rules": told["rules"],
        "seed": told["seed"],
        **deal_members(deal),
        "first_caller": deal.first_caller,
        "first_lead": deal.lowest_heart_seat,
    }
    if deal.marked_card is not None:
        expected["marked_seat"] = deal.marked_seat
    assert told == expected


def test_deals_of_at_least_three_presets_are_given() -> None:
    assert len({told["rules"] for told in DEALS}) >= 3


def _passed_over(told: dict[str, Any]) -> list[tuple[int, int, int]]:
    """Which words the draws of a deal pass over, as (place, word, n), by the text of section 7 alone."""
    rules, seed = PRESETS[told["rules"]], bytes.fromhex(told["seed"])
    size = len(rules.deck)
    draws = [size] * ("marked_card" in told) + [rules.players, *range(size, 1, -1)] + [9] * ("task" in told)
    blocks = b"".join(sha256(seed + block.to_bytes(8, "big")).digest() for block in range(10))
    place, passed = 0, []
    for n in draws:
        while (word := int.from_bytes(blocks[4 * place : 4 * place + 4], "big")) >= 2**32 - 2**32 % n:
            passed.append((place, word, n))
            place += 1
        place += 1
    return passed


def test_the_last_two_deals_pass_a_word_over_as_told_and_no_other_does() -> None:
    text = paragraph("7", "**Whole deals**")
    first = re.search(r"word (\d+) \(from 0\) is (\d+), drawn for \*n\* = (\d+)", text)
    second = re.search(r"word (\d+) is (\d+), drawn for \*n\* = (\d+), which is exactly the limit", text)
    assert first and second
    places = [[(int(found[1]), int(found[2]), int(found[3]))] for found in (first, second)]
    assert [_passed_over(told) for told in DEALS] == [[]] * (len(DEALS) - 2) + places
    assert places[1][0][1] == 2**32 - 2**32 % places[1][0][2]


# 8: what a seat may know --------------------------------------------------------------------------


def test_before_the_deal_all_seats_are_said_to_hold_nothing() -> None:
    hand = Hand.from_seed(PRESETS["xian"], ZERO)
    assert hand.phase is Phase.BLIND
    assert hand.observe(hand.turn).cards_left == (0, 0, 0)


def test_a_seat_that_lies_down_is_still_said_to_hold_its_cards() -> None:
    rules = rule_set("three_feature", {"bidding": "assigned", "lie_down_points": 0, "lie_down_margin": 1})
    hand = Hand.from_seed(rules, ZERO, assigned_digger=0)
    while hand.phase is not Phase.PLAY:
        hand.apply_token("no" if hand.phase is Phase.OPEN else "yes")
    seen = hand.observe(hand.turn)
    assert seen.lying_seat is not None
    assert seen.cards_left == (20, 16, 16)
    assert hand.observe(seen.lying_seat).cards == hand.deal.hands[seen.lying_seat]
