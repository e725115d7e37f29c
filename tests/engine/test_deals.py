"""Seeds, their stream and the deals they give (docs/rules.md 7)."""

import copy
import hashlib
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from tests.engine import brute
from tests.engine.strategies import engine_deal
from wakeng.engine import deal as deal_module
from wakeng.engine.cards import format_cards, parse_cards
from wakeng.engine.deal import Deal, Stream, blind_first_seat, commitment, deal_cards, derive, hand_seed
from wakeng.engine.rules import PRESETS, rule_set

FIXED = json.loads((Path(__file__).parents[1] / "vectors" / "deals.json").read_text())
ZERO = bytes(32)


def _plain(deal: Deal) -> dict[str, Any]:
    """A deal in the form of the vectors."""
    plain: dict[str, Any] = {
        "first_dealt_seat": deal.first_dealt_seat,
        "hands": [format_cards(hand) for hand in deal.hands],
        "kitty": format_cards(deal.kitty),
    }
    if deal.marked_card is not None:
        plain["marked_card"] = format_cards([deal.marked_card])
    if deal.task is not None:
        plain["task"] = deal.task.value
    return plain


@pytest.mark.parametrize("vector", FIXED["deals"], ids=lambda v: f"{v['rules']}-{v['seed'].lstrip('0') or '0'}")
def test_a_seed_gives_the_fixed_deal(vector: dict[str, Any]) -> None:
    expected = {name: value for name, value in vector.items() if name not in ("rules", "seed")}
    assert _plain(deal_cards(PRESETS[vector["rules"]], bytes.fromhex(vector["seed"]))) == expected


@pytest.mark.parametrize("vector", FIXED["derive"], ids=lambda v: f"{v['label']}-{v['n']}")
def test_derive_gives_the_fixed_seed(vector: dict[str, Any]) -> None:
    assert derive(bytes.fromhex(vector["seed"]), vector["label"], vector["n"]).hex() == vector["derived"]


def test_a_hand_of_a_match_has_the_seed_derived_from_hand() -> None:
    assert hand_seed(ZERO, 7) == derive(ZERO, "hand", 7)


def test_the_commitment_is_the_hash_of_the_match_seed() -> None:
    assert commitment(b"\x01" * 32) == hashlib.sha256(b"\x01" * 32).hexdigest()


def test_the_stream_is_the_blocks_in_turn_each_in_big_endian_words() -> None:
    words = b"".join(hashlib.sha256(ZERO + bytes(7) + bytes([block])).digest() for block in range(3))
    stream = Stream(ZERO)
    drawn = [stream.below(2**32) for _ in range(24)]
    assert drawn == [int.from_bytes(words[i : i + 4], "big") for i in range(0, 96, 4)]


def test_the_first_words_of_the_zero_seed_are_fixed() -> None:
    stream = Stream(ZERO)
    assert [stream.below(1_000_000) for _ in range(9)] == [
        658141,
        986572,
        477695,
        378467,
        418261,
        716337,
        706459,
        234027,
        898406,
    ]


class _CraftedHash:
    """Stands for SHA-256 in the stream: each block holds the eight words it is told to."""

    def __init__(self, words: list[int]) -> None:
        self.words = words

    def __call__(self, block: bytes) -> "_CraftedHash":
        number = int.from_bytes(block[-8:], "big")
        self.block = b"".join(word.to_bytes(4, "big") for word in self.words[8 * number : 8 * number + 8])
        return self

    def digest(self) -> bytes:
        return self.block


def _crafted(monkeypatch: pytest.MonkeyPatch, words: list[int]) -> Stream:
    monkeypatch.setattr(deal_module, "sha256", _CraftedHash(words))
    return Stream(ZERO)


def test_draws_that_would_favour_low_numbers_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    # 2^32 = 3 x 1431655765 + 1, so for n = 3 only the highest word is refused; the next one counts in its stead.
    stream = _crafted(monkeypatch, [2**32 - 1, 2**32 - 1, 2**32 - 2, 5, 2**32 - 1, 4, 0, 1])
    assert [stream.below(3) for _ in range(5)] == [(2**32 - 2) % 3, 2, 1, 0, 1]


def test_the_limit_of_the_draw_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    # For n = 2^31 + 1 the words up to 2^31 count (2^32 mod n = 2^31 - 1): the greatest one taken gives n - 1.
    n = 2**31 + 1
    stream = _crafted(monkeypatch, [n, 2**32 - 1, n - 1, n + 1, 7, 0, 0, 0])
    assert [stream.below(n), stream.below(n)] == [n - 1, 7]


def test_rejection_goes_on_into_the_next_block(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = _crafted(monkeypatch, [2**32 - 1] * 8 + [4] + [0] * 7)
    assert stream.below(3) == 1


def test_a_power_of_two_refuses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = _crafted(monkeypatch, [2**32 - 1] * 8)
    assert [stream.below(n) for n in (1, 2, 4, 2**32)] == [0, 1, 3, 2**32 - 1]


@pytest.mark.parametrize("first", [0, 2**32 - 257, 2**32 - 6, 2**32 - 1])
def test_a_shuffle_draws_as_one_would_one_by_one_whatever_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    # 2^32 mod 10 = 6: of the words for ten places, 2^32 - 6 and above are passed over.
    words = [first, 2**24 - 1, 2**32 - 1, *range(7, 50, 3), 2**32 - 2, *range(60)]
    shuffled, swapped = list(range(10)), list(range(10))
    ours, plain = _crafted(monkeypatch, words), _crafted(monkeypatch, words)
    ours.shuffle(shuffled)
    for i in range(9, 0, -1):
        j = plain.below(i + 1)
        swapped[i], swapped[j] = swapped[j], swapped[i]
    assert shuffled == swapped
    assert [ours.below(1000) for _ in range(40)] == [plain.below(1000) for _ in range(40)]


@pytest.mark.parametrize("count", [0, 1, 300])
def test_any_list_can_be_shuffled(count: int) -> None:
    shuffled = list(range(count))
    Stream(ZERO).shuffle(shuffled)
    assert sorted(shuffled) == list(range(count))


@pytest.mark.parametrize("preset", PRESETS)
def test_deals_equal_those_of_the_brute_force(preset: str) -> None:
    for number in range(100):
        seed = derive(ZERO, "deal", number)
        for field, value in (("bidding", "auction"), ("bidding", "assigned"), ("first_caller", "marked_card")):
            by_brute = brute.deal_cards(brute.rule_set(preset, {field: value}), seed)
            assert deal_cards(rule_set(preset, {field: value}), seed) == engine_deal(by_brute)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_deal_holds_the_deck_exactly(preset: str) -> None:
    rules = PRESETS[preset]
    deal = deal_cards(rules, derive(ZERO, "deal", 1))
    assert [len(hand) for hand in deal.hands] == [rules.hand_size] * rules.players
    assert sorted(sum(deal.hands, deal.kitty)) == list(rules.deck)


def test_the_blind_is_asked_first_where_the_previous_hand_was_led_by_its_deal() -> None:
    rules = PRESETS["xian"]
    previous = deal_cards(rules, hand_seed(ZERO, 4))
    assert blind_first_seat(rules, ZERO, 5) == previous.lowest_heart_seat
    assert blind_first_seat(rules, ZERO, 0) == deal_cards(rules, hand_seed(ZERO, 0)).first_dealt_seat


@pytest.mark.parametrize("without_blind", [rule_set("three_feature"), rule_set("xian", {"bidding": "assigned"})])
def test_where_there_is_no_blind_nobody_is_asked_first(without_blind: Any) -> None:
    assert blind_first_seat(without_blind, ZERO, 5) is None


def test_the_lowest_heart_is_the_lowest_dealt_one() -> None:
    hands = tuple(parse_cards(hand) for hand in ("8hAh", "4d7h", "9hTh"))
    assert Deal(0, hands, parse_cards("4h5h6h")).lowest_heart_seat == 1


@pytest.mark.parametrize("preset", ["xian", "three_blind", "baoji_traditional"])
def test_a_deal_is_the_same_whatever_order_its_cards_are_named_in_and_however_it_is_copied(preset: str) -> None:
    deal = deal_cards(PRESETS[preset], derive(ZERO, "deal", 2))
    assert all(list(cards) == sorted(cards) for cards in (*deal.hands, deal.kitty))
    turned = [cards[::-1] for cards in deal.hands]
    again = Deal(deal.first_dealt_seat, turned, deal.kitty[::-1], deal.marked_card, deal.task)
    assert deal == again == copy.deepcopy(deal) == pickle.loads(pickle.dumps(deal))
    assert hash(deal) == hash(again)
    assert repr(deal) == repr(again)
    assert str(deal.kitty) in repr(deal)
