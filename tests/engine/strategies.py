"""Hypothesis strategies for rule sets and hands, and engine and brute force side by side."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tests.engine import brute
from wakeng.engine.cards import CARD_NAMES, parse_cards
from wakeng.engine.deal import Deal
from wakeng.engine.hand import Hand
from wakeng.engine.rules import RuleSet, rule_set
from wakeng.engine.tasks import Task

_CALM = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile("fast", deadline=None, max_examples=100, derandomize=True, suppress_health_check=_CALM)
settings.register_profile("soak", deadline=None, max_examples=5_000, print_blob=True, suppress_health_check=_CALM)
settings.load_profile(os.environ.get("WAKENG_HYPOTHESIS", "fast"))

Plain = bool | int | str


def examples(fast: int) -> settings:
    """As many examples as a test can afford in the fast profile, and in proportion in the others."""
    return settings(max_examples=fast * settings().max_examples // 100)


@dataclass(frozen=True)
class Choice:
    """A preset and overridden fields in their plain form, to be read by engine and brute force alike."""

    preset: str
    overrides: tuple[tuple[str, Plain], ...] = ()

    @property
    def engine(self) -> RuleSet:
        """The engine's rule set."""
        return rule_set(self.preset, dict(self.overrides))

    @property
    def brute(self) -> SimpleNamespace:
        """The brute force's rule set."""
        return brute.rule_set(self.preset, dict(self.overrides))


@st.composite
def _shapes(draw: st.DrawFn, players: int) -> dict[str, Plain]:
    """Sizes of hands and kitty, and cards removed so that they add up and enough hearts stay."""
    kitty = draw(st.sampled_from([4, 4, 4, 0, 1, 2, 3, 6, 9, 12]))
    most = min(20 - kitty, (52 - kitty) // players)
    hand = draw(st.one_of(st.just(most), st.integers(1, most)))
    removable_hearts, removed = 12 - kitty, list[str]()
    chance = draw(st.randoms(use_true_random=False))
    order = chance.sample(brute.DECK, 52)
    if draw(st.booleans()):  # Whole ranks go, so that quads and long runs stay.
        ranks = chance.sample(brute.RANKS, 13)
        order.sort(key=lambda card: ranks.index(card[0]))
    for card in order:
        if len(removed) == 52 - players * hand - kitty:
            break
        if card[1] != "h" or removable_hearts > 0:
            removable_hearts -= card[1] == "h"
            removed.append(card)
    removed.sort(key=brute.DECK.index)
    return {"players": players, "hand_size": hand, "kitty_size": kitty, "removed_cards": "".join(removed)}


def _phases(players: int) -> st.SearchStrategy[dict[str, Plain]]:
    """The fields that decide which phases occur."""
    switch = st.booleans()
    return st.fixed_dictionaries(
        {
            "first_caller": st.sampled_from(["lowest_heart", "marked_card"]),
            "bidding": st.sampled_from(["auction", "auction", "auction", "assigned"]),
            "max_bid": st.integers(1, 3),
            "grab": switch,
            "open": switch,
            "tasks": switch,
            "lie_down": switch if players == 3 else st.just(False),
            "lie_down_points": st.sampled_from([9, 0, 1, 3, 6]),
            "lie_down_margin": st.sampled_from([4, 1, 1, 2]),
            "bury": switch,
        }
    )


_BLIND = st.sampled_from([(False, False), (True, False), (False, True)])
_CARD_PLAY = st.fixed_dictionaries(
    {
        "bombs": st.booleans(),
        "triple_runs": st.booleans(),
        "quad_runs": st.booleans(),
        "straight_min": st.sampled_from([3, 3, 3, 4, 5, 10]),
        "pair_run_min": st.sampled_from([3, 3, 4, 10]),
        "triple_run_min": st.sampled_from([3, 3, 4, 6, 10]),
        "must_beat": st.booleans(),
        "base": st.sampled_from([1, 1, 3, 500_000]),
        "bomb_cap": st.sampled_from([1, 2, 4, 16]),
        "escape_factor": st.sampled_from([10, 0, 1, 3, 1_000]),
        "escape_settles": st.booleans(),
    }
)


@st.composite
def overridden(draw: st.DrawFn) -> Choice:
    """A preset with every field drawn afresh, as far as the fields fit each other."""
    players = draw(st.sampled_from([3, 3, 4]))
    black, blind = draw(_BLIND)
    fields: dict[str, Plain] = {"black_dig": black, "blind_dig": blind}
    fields |= draw(_shapes(players)) | draw(_phases(players)) | draw(_CARD_PLAY)
    if int(fields["hand_size"]) + int(fields["kitty_size"]) == 1:
        fields["bury"] = False
    return Choice(draw(st.sampled_from(list(brute.PRESETS))), tuple(fields.items()))


def choices() -> st.SearchStrategy[Choice]:
    """Any rule set: a preset as it stands, or with overrides of every field."""
    return st.one_of(st.sampled_from(list(brute.PRESETS)).map(Choice), overridden())


# Deals and hands ----------------------------------------------------------------------------------------------------


def engine_deal(deal: SimpleNamespace) -> Deal:
    """A deal of the brute force as one of the engine."""
    return Deal(
        first_dealt_seat=deal.first_dealt_seat,
        hands=tuple(parse_cards("".join(hand)) for hand in deal.hands),
        kitty=parse_cards("".join(deal.kitty)),
        marked_card=None if deal.marked_card is None else parse_cards(deal.marked_card)[0],
        task=None if deal.task is None else Task[deal.task],
    )


@dataclass
class Pair:
    """One hand played by both readings of the rules."""

    choice: Choice
    seed: bytes
    blind_first_seat: int | None
    assigned_digger: int | None
    hand: Hand
    game: brute.Game

    def act(self, token: str) -> None:
        """The same answer for both."""
        self.hand.apply_token(token)
        self.game.act(token)


def begin(choice: Choice, seed: bytes, seat: int = 0, *, first_of_match: bool = False) -> Pair:
    """The hand of a seed in both readings; `seat` is asked first in BLIND, or digs where the digger is assigned."""
    rules, seat = choice.brute, seat % choice.brute.players
    assigned = seat if rules.bidding == "assigned" else None
    has_blind = (rules.black_dig or rules.blind_dig) and assigned is None
    first = seat if has_blind and not first_of_match else None
    return Pair(
        choice, seed, first, assigned,
        Hand.from_seed(choice.engine, seed, blind_first_seat=first, assigned_digger=assigned),
        brute.Game(rules, brute.deal_cards(rules, seed), blind_first_seat=first, assigned_digger=assigned),
    )  # fmt: skip


class Player:
    """Picks tokens at random, in a temper of its own: bold or meek, fond of long plays or of any."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.yes = self.random.choice([0.0, 0.2, 0.5, 0.8, 1.0])
        self.passing = self.random.choice([0.0, 0.3, 0.7])
        self.longest = self.random.choice([0.0, 0.5, 0.9])

    def pick(self, phase: str, legal: list[str]) -> str:
        """One of the legal tokens."""
        roll = self.random.random()
        if phase not in ("PLAY", "BID", "BURY"):
            return "yes" if roll < self.yes else "no"
        if len(legal) > 1 and legal[0] == "pass":
            if roll < self.passing:
                return "pass"
            legal = legal[1:]
        return max(legal, key=len) if self.random.random() < self.longest else self.random.choice(legal)


def play_out(pair: Pair, player: Player) -> Iterator[Pair]:
    """Plays a hand to its end, stopping before every decision; the brute force says what is legal."""
    while pair.game.phase != "END":
        yield pair
        pair.act(player.pick(pair.game.phase, pair.game.legal))


@st.composite
def pairs(draw: st.DrawFn, rules: st.SearchStrategy[Choice] | None = None) -> tuple[Pair, Player]:
    """A hand about to begin and a player to play all its seats."""
    choice = draw(rules or choices())
    seed = draw(st.integers(0, 2**64 - 1)).to_bytes(32, "big")
    pair = begin(choice, seed, draw(st.integers(0, 3)), first_of_match=draw(st.booleans()))
    return pair, Player(draw(st.integers(0, 2**32 - 1)))


def record_of(pair: Pair, *, faults: dict[int, str] | None = None, max_strikes: int = 3) -> dict[str, Any]:
    """The record of a hand that is over, written from the brute force alone; `faults` by number of the decision."""
    game, faults = pair.game, faults or {}
    assert game.result is not None
    record: dict[str, Any] = {
        "record_version": 1,
        "match_id": "m1",
        "hand_index": 0,
        "attempt": 0,
        "rules": pair.choice.engine.to_dict(),
        "seed": pair.seed.hex(),
        "time_control": {
            "move_ms": 1_000, "bank_ms": 1_000, "ready_ms": 5_000, "reconnect_ms": 2_000, "max_strikes": max_strikes,
        },
        "seats": [{"bot": f"bot{seat}", "version": "1"} for seat in game.seats],
        "deal": _dealt(game),
        "result": {name: value for name, value in vars(game.result).items() if value is not None},
    }  # fmt: skip
    if game.rules.bidding == "assigned":
        record["assigned_digger"] = game.assigned_digger
    elif game.rules.black_dig or game.rules.blind_dig:
        record["blind_first_seat"] = game.blind_first_seat
    if game.decisions:
        record["decisions"] = [
            {"seat": seat, "phase": phase, "action": token, "latency_us": 10 * number}
            | ({"fault": faults[number]} if number in faults else {})
            for number, (seat, phase, token) in enumerate(game.decisions)
        ]
    if game.result.escaped_seat is not None:
        record["faults"] = [{"seat": game.result.escaped_seat, "fault": "DEADLINE", "count": 1}]
    return record


def _dealt(game: brute.Game) -> dict[str, Any]:
    def text(cards: list[str]) -> str:
        return "".join(sorted(cards, key=brute.DECK.index))

    deal = game.deal
    found = {
        "first_dealt_seat": deal.first_dealt_seat,
        "hands": [text(hand) for hand in deal.hands],
        "kitty": text(deal.kitty),
        "marked_card": deal.marked_card,
        "task": deal.task,
    }
    return {name: value for name, value in found.items() if value is not None}


def names(cards: Any) -> list[str]:
    """Card ids as card strings."""
    return [CARD_NAMES[card] for card in cards]
