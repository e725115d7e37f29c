"""The shared rule vectors, one test per case: what any implementation of docs/rules.md must answer.

The environment variable WAKENG_VECTORS names a further file of the same format. Vectors about phases and tricks are
answered by a real `Hand` on a full deal built around the few cards the vector names.
"""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engine import brute
from wakeng.engine.cards import CARD_NAMES, RANKS, parse_cards
from wakeng.engine.deal import Deal, deal_cards
from wakeng.engine.hand import Hand, IllegalAction
from wakeng.engine.phases import Phase
from wakeng.engine.plays import classify
from wakeng.engine.rules import RuleSet, rule_set
from wakeng.engine.settle import Terms, settle

Case = dict[str, Any]
OWN = Path(__file__).parents[1] / "vectors" / "rules.json"
SEED = bytes(32)


def _files() -> Iterator[Path]:
    yield OWN
    if further := os.environ.get("WAKENG_VECTORS"):
        yield Path(further)


def _cases() -> Iterator[Any]:
    for file in _files():
        for vector in json.loads(file.read_text())["vectors"]:
            for number, case in enumerate(vector["cases"]):
                preset = case.get("rules", vector["rules"])
                overrides = {**vector.get("override", {}), **case.get("override", {})}
                prefix = "" if file == OWN else f"{file.stem}-"
                name = f"{prefix}{vector['id']}-{vector['op']}-{number}"
                yield pytest.param(vector["op"], preset, overrides, case["in"], case["out"], id=name)


# Reading and comparing combinations ----------------------------------------------------------------------------------


def _classify(rules: RuleSet, case: Case) -> Case | None:
    play = classify(parse_cards("".join(case["cards"])))
    if play is None or not rules.allows(play):
        return None
    return {"kind": play.kind.value, "groups": play.groups, "size": play.size, "top": RANKS[play.top]}


def _beats(rules: RuleSet, case: Case) -> bool:
    # The two plays of a vector may share a card; in a Hand, which trusts its deal, that does no harm.
    hands = [list(case["table"]), list(case["play"]), *([] for _ in range(rules.players - 2))]
    hand = _leads(rules, hands, 0)
    hand.apply_token(brute.ranks_of(case["table"]))
    return brute.ranks_of(case["play"]) in hand.legal_tokens()


def _leads(rules: RuleSet, hands: list[list[str]], leader: int, lying: int | None = None) -> Hand:
    """A hand in PLAY in which `leader` faces an empty table, holding (like every seat) the given cards and more.

    Where the lead belongs to another seat, an opening trick of two further cards brings it to `leader`.
    """
    before = rules.with_overrides({"bidding": "assigned", "open": False, "bury": False, "must_beat": False})
    if lying is not None:
        before = before.with_overrides({"lie_down": True, "lie_down_points": 0, "lie_down_margin": 1})
    hand = _Table(before, hands, leader, lying).begin()
    hand.rules = before.with_overrides({"must_beat": rules.must_beat})  # The opening trick needs free passes.
    return hand


class _Table:
    """Builds the deal for `_leads` and plays up to the question the vector begins with."""

    def __init__(self, rules: RuleSet, hands: list[list[str]], leader: int, lying: int | None) -> None:
        self.rules, self.hands, self.leader, self.lying = rules, [list(hand) for hand in hands], leader, lying
        named = {card for hand in self.hands for card in hand}
        self.pool = [card for card in reversed(CARD_NAMES) if card not in named]

    def _give(self, seat: int, ranks: str) -> str:
        card = next(card for card in self.pool if card[0] in ranks)
        self.pool.remove(card)
        self.hands[seat].append(card)
        return card[0]

    def begin(self) -> Hand:
        players = self.rules.players
        digger = self.leader
        if self.lying is not None:
            digger = self.leader if self.leader != self.lying else (self.lying + 1) % players
            asker = next(seat for seat in range(players) if seat not in (digger, self.lying))
            while self._points(asker) <= self._points(self.lying):
                self._give(asker, "32A")
        for seat in range(players):
            self._give(seat, "KQJT987654")  # Nobody goes out by the plays of the vector.
            self._give(seat, "KQJT987654")
        return self._bring_the_lead(digger)

    def _points(self, seat: int) -> int:
        return sum(brute.CONTROL_POINTS.get(card[0], 0) for card in self.hands[seat])

    def _bring_the_lead(self, digger: int) -> Hand:
        hand = self._hand(digger)
        if hand.turn == self.leader:
            return hand
        high = self._give(self.leader, RANKS)
        low = self._give(hand.turn, RANKS[: RANKS.index(high)])
        hand = self._hand(digger)
        hand.apply_token(low)
        while hand.turn != self.leader:
            hand.apply_token("pass")
        hand.apply_token(high)
        while hand.table:
            hand.apply_token("pass")
        assert hand.turn == self.leader, "the test cannot bring the lead to the vector's leader"
        return hand

    def _hand(self, digger: int) -> Hand:
        hands = tuple(parse_cards("".join(cards)) for cards in self.hands)
        hand = Hand(self.rules, Deal(0, hands, ()), assigned_digger=digger)
        while hand.phase in (Phase.LIE_DOWN_ASK, Phase.LIE_DOWN_CONSENT):
            hand.apply_token("yes" if self.lying is not None else "no")
        assert hand.phase is Phase.PLAY
        assert hand.lying == (-1 if self.lying is None else self.lying)
        return hand


def _trick(rules: RuleSet, case: Case) -> Case:
    lying = case.get("lying")
    hand = _leads(rules, _cards_by_seat(rules, case), case["leader"], lying)
    for number, action in enumerate(case["actions"]):
        try:
            hand.apply_token("pass" if action == "pass" else brute.ranks_of(action))
        except IllegalAction:
            return {"illegal_at": number}
    return {"next": hand.turn, "table_empty": hand.table == 0}


def _cards_by_seat(rules: RuleSet, case: Case) -> list[list[str]]:
    """Who plays which cards of a trick, by plain counting: in turn order, the holder again once all others passed."""
    active = [seat for seat in range(rules.players) if seat != case.get("lying")]
    hands: list[list[str]] = [[] for _ in range(rules.players)]
    place = active.index(case["leader"])
    for action in case["actions"]:
        if action != "pass":
            hands[active[place]] += action
        place = (place + 1) % len(active)
    return hands


# The phases before play ----------------------------------------------------------------------------------------------


def _first(rules: RuleSet, case: Case) -> Case:
    rules, deal = _full_deal(rules, case)
    bidding = Hand(rules.with_overrides({"black_dig": False, "blind_dig": False}), deal)
    leading = Hand(rules.with_overrides({"bidding": "assigned", "bury": False, "open": False}), deal,
                   assigned_digger=_digger(rules, case))  # fmt: skip
    while leading.phase is not Phase.PLAY:
        leading.apply_token("yes" if "lying" in case else "no")
    assert leading.lying == case.get("lying", -1)
    return {"first_bidder": bidding.turn, "first_leader": leading.turn}


def _digger(rules: RuleSet, case: Case) -> int:
    return (int(case.get("lying", 0)) + 1) % rules.players


def _full_deal(rules: RuleSet, case: Case) -> tuple[RuleSet, Deal]:
    """The vector's cards, with hands and kitty filled up by cards that change nothing: no lower heart is dealt.

    Where a seat is to lie down its partner gets the control cards, so that the two qualify.
    """
    marked, lying = case.get("marked_card"), case.get("lying")
    hands, kitty = [list(hand) for hand in case["hands"]], list(case["kitty"])
    dealt_cards = "".join(card for hand in hands for card in hand)
    named = {*brute.split(dealt_cards), *kitty, *([] if marked is None else [marked])}
    lowest = min(card for card in parse_cards(dealt_cards) if card % 4 == 2)
    free = [card for card in reversed(CARD_NAMES) if card not in named and parse_cards(card)[0] in rules.deck]
    low_hearts = [card for card in free if card[1] == "h" and parse_cards(card)[0] < lowest]
    free = [card for card in free if card not in low_hearts]
    order = list(range(rules.players))
    if lying is not None:
        order.sort(key=lambda seat: seat in (lying, _digger(rules, case)))
    while len(kitty) < rules.kitty_size and low_hearts:
        kitty.append(low_hearts.pop())
    missing = -(-len(low_hearts) // rules.players)  # Lower hearts that the kitty cannot take stay out of the deal.
    for seat in order:
        while len(hands[seat]) < rules.hand_size - missing:
            hands[seat].append(free.pop(0))
    while len(kitty) < rules.kitty_size:
        kitty.append(free.pop(0))
    if lying is not None:
        rules = rules.with_overrides({"lie_down": True})
    dealt = tuple(parse_cards("".join(hand)) for hand in hands)
    return rules, Deal(0, dealt, parse_cards("".join(kitty)), None if marked is None else parse_cards(marked)[0])


def _bidding(rules: RuleSet, case: Case) -> Case:
    hand = _at_bidding(rules, case["first_bidder"])
    for number, bid in enumerate(case["bids"]):
        if hand.phase is not Phase.BID:
            return {"illegal_at": number}
        try:
            hand.apply_token(f"bid{bid}" if bid else "pass")
        except IllegalAction:
            return {"illegal_at": number}
    assert hand.phase is not Phase.BID, "the bidding of the vector is not over"
    _refuse(hand, Phase.GRAB)
    return {"digger": hand.digger, "bid": hand.bid, "asked": _asked(hand, Phase.BID)}


def _at_bidding(rules: RuleSet, first_bidder: int) -> Hand:
    """A hand in BID whose first caller is the given seat: the hands of a deal are handed round until it is."""
    deal = deal_cards(rules, SEED)
    for shift in range(rules.players):
        hands = deal.hands[shift:] + deal.hands[:shift]
        hand = Hand(rules, Deal(0, hands, deal.kitty, deal.marked_card, deal.task))
        _refuse(hand, Phase.BLIND)
        if hand.turn == first_bidder:
            return hand
    raise AssertionError("no such first bidder")


def _refuse(hand: Hand, phase: Phase) -> None:
    while hand.phase is phase:
        hand.apply_token("no")


def _asked(hand: Hand, phase: Phase) -> list[int]:
    return [seat for seat, asked_in, _ in hand.decisions if asked_in is phase]


def _black_dig(rules: RuleSet, case: Case) -> Case:
    hand = Hand(rules, deal_cards(rules, SEED), blind_first_seat=case["start"])
    for answer in case["answers"]:
        hand.apply_token("yes" if answer else "no")
    bidding = hand.phase is Phase.BID
    _refuse(hand, Phase.GRAB)
    found: Case = {"digger": None if hand.digger < 0 else hand.digger, "asked": _asked(hand, Phase.BLIND)}
    return {**found, "bidding": bidding} | ({} if bidding else {"bid": hand.bid})


def _grab(rules: RuleSet, case: Case) -> Case:
    if case.get("blind"):
        hand = Hand(rules, deal_cards(rules, SEED), blind_first_seat=case["max_bidder"])
        hand.apply_token("yes")
    else:
        hand = _at_bidding(rules, case["max_bidder"])
        hand.apply_token(f"bid{rules.max_bid}")
    for answer in case["answers"]:
        hand.apply_token("yes" if answer else "no")
    asked = _asked(hand, Phase.GRAB)
    assert hand.phase is not Phase.GRAB, "the vector's answers do not end GRAB"
    return {"digger": hand.digger, "grab_mult": 2**hand.grabs, "asked": asked, "bid": hand.bid}


# Settlement and shapes -----------------------------------------------------------------------------------------------


def _settle(rules: RuleSet, case: Case) -> Case:
    lying = case.get("lying")
    if lying is True:
        lying = (case["digger"] + 1) % rules.players
    terms = Terms(
        digger=case["digger"],
        bid=case["bid"],
        bombs=case.get("bombs", 0),
        grabs=case.get("grabs", 0),
        opened=case.get("open", False),
        lying_seat=None if lying is False else lying,
        blind=case.get("blind", False),
    )
    rules = rules.with_overrides({"base": case.get("base", 1)})
    return {"deltas": list(settle(rules, terms, digger_wins=case["digger_wins"]).scores)}


def _escape(rules: RuleSet, case: Case) -> Case:
    rules = rules.with_overrides({"base": case.get("base", 1)})
    hand = Hand.from_seed(rules, SEED)
    hand.escape(case["leaver"])
    assert hand.result is not None
    return {"deltas": list(hand.result.scores)}


def _shape(rules: RuleSet, case: Case) -> Case:
    deck = [CARD_NAMES[card] for card in rules.deck]
    plain = Hand.from_seed(rules.with_overrides({"bidding": "assigned"}), SEED, assigned_digger=0)
    found: Case = {
        "deck": len(deck),
        "hand": len(plain.deal.hands[1]),
        "kitty": len(plain.deal.kitty),
        "digger_hand": plain.count(0),
        **{name: sum(card[0] == rank for card in deck) for name, rank in (("A", "A"), ("two", "2"), ("three", "3"))},
    }
    _refuse(plain, Phase.OPEN)
    if plain.phase is Phase.BURY:
        plain.apply(plain.legal[1])
        found["digger_hand_after_bury"] = plain.count(0)
    return found


OPS: dict[str, Callable[[RuleSet, Case], Any]] = {
    "classify": _classify,
    "beats": _beats,
    "first": _first,
    "bidding": _bidding,
    "black_dig": _black_dig,
    "grab": _grab,
    "settle": _settle,
    "escape": _escape,
    "shape": _shape,
    "trick": _trick,
}


@pytest.mark.parametrize(("op", "preset", "overrides", "given", "expected"), list(_cases()))
def test_vector(op: str, preset: str, overrides: Case, given: Case, expected: Any) -> None:
    found = OPS[op](rule_set(preset, overrides), given)
    if isinstance(expected, dict) and isinstance(found, dict):
        found = {name: found.get(name) for name in expected}
    assert found == expected
