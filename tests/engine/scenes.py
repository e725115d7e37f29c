"""Small hands for readable tests: a deck of just the named cards, and a few words to play it with."""

from __future__ import annotations

from typing import Any

from wakeng.engine.cards import CARD_NAMES, parse_cards
from wakeng.engine.deal import Deal
from wakeng.engine.hand import Hand
from wakeng.engine.rules import RuleSet, rule_set
from wakeng.engine.tasks import Task


def small_rules(preset: str, hands: list[str], kitty: str = "", **overrides: Any) -> RuleSet:
    """The preset on a deck that holds the cards of these equal hands and the kitty, and nothing else."""
    named = parse_cards("".join(hands) + kitty)
    removed = "".join(name for card, name in enumerate(CARD_NAMES) if card not in named)
    shape = {"hand_size": len(hands[0]) // 2, "kitty_size": len(kitty) // 2, "removed_cards": removed}
    return rule_set(preset, {**shape, **overrides})


def begin(
    preset: str,
    *hands: str,
    kitty: str = "",
    marked: str | None = None,
    task: str | None = None,
    asked_first: int | None = None,
    digger: int | None = None,
    first_dealt: int = 0,
    **overrides: Any,
) -> Hand:
    """A hand of these cards at its first question; with `digger` that seat digs at 3 unasked."""
    if digger is not None:
        overrides["bidding"] = "assigned"
    deal = Deal(
        first_dealt,
        tuple(parse_cards(hand) for hand in hands),
        parse_cards(kitty),
        None if marked is None else parse_cards(marked)[0],
        None if task is None else Task[task],
    )
    rules = small_rules(preset, list(hands), kitty, **overrides)
    return Hand(rules, deal, blind_first_seat=asked_first, assigned_digger=digger)


def say(hand: Hand, words: str) -> Hand:
    """Answer question after question with these words."""
    for word in words.split():
        hand.apply_token(word)
    return hand


def alone(hand: Hand, seat: int, plays: str) -> Hand:
    """One seat makes these plays in turn, everybody else passes."""
    for play in plays.split():
        while hand.turn != seat:
            hand.apply_token("pass")
        hand.apply_token(play)
    return hand


def at(hand: Hand) -> tuple[str, int]:
    """The open question: phase and seat."""
    return hand.phase.value, hand.turn


def scores(hand: Hand) -> list[int]:
    """What each seat got."""
    assert hand.result is not None, f"the hand is not over but in {hand.phase}"
    return list(hand.result.scores)
