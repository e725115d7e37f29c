"""Random endings, and a plain minimax over the engine's own hands that says who wins them."""

from __future__ import annotations

import random
from functools import cache
from itertools import pairwise

from wakeng.bots.solver import Ending
from wakeng.engine import RuleSet
from wakeng.engine.plays import pack, remove
from wakeng.sdk.legal import follows, leads


def random_ending(rules: RuleSet, rng: random.Random, cards: int) -> Ending:
    """An ending of so many cards at most, mostly of few ranks, so that there is something to beat; anybody leads."""
    players = rules.players
    deck = list(rules.deck)
    if rng.random() < 0.7:
        ranks = rng.sample(range(13), rng.randint(4, 8))
        deck = [card for card in deck if card >> 2 in ranks]
    rng.shuffle(deck)
    total = min(rng.randint(players, cards), len(deck))
    cuts = sorted(rng.sample(range(1, total), players - 1)) if total > players - 1 else list(range(1, players))
    edges = [0, *cuts, max(total, players)]
    hands = tuple(pack(deck[start:end]) for start, end in pairwise(edges))
    digger, turn = rng.randrange(players), rng.randrange(players)
    lying = None
    if players == 3 and rng.random() < 0.15:
        lying = rng.choice([seat for seat in range(players) if seat != digger])
        turn = digger
    ending = Ending(hands=hands, digger=digger, turn=turn, lying=lying)
    return _in_a_trick(rules, ending, rng) if rng.random() < 0.5 else ending


def _in_a_trick(rules: RuleSet, ending: Ending, rng: random.Random) -> Ending:
    """The same one play later, where that leaves the leader a card."""
    hand = ending.hands[ending.turn]
    plays = [play for play in leads(rules, hand) if remove(hand, play)]
    if not plays:
        return ending
    play = rng.choice(plays)
    hands = tuple(remove(held, play) if seat == ending.turn else held for seat, held in enumerate(ending.hands))
    return Ending(
        hands=hands,
        digger=ending.digger,
        turn=after(ending, ending.turn),
        table=play,
        holder=ending.turn,
        lying=ending.lying,
    )


def after(ending: Ending, seat: int) -> int:
    """The next active seat."""
    players = len(ending.hands)
    following = (seat + 1) % players
    return following if following != ending.lying else (following + 1) % players


def minimax(rules: RuleSet, ending: Ending) -> bool:
    """Whether the digger wins, found by trying everything."""
    digger = ending.digger

    @cache
    def wins(hands: tuple[int, ...], turn: int, table: int, holder: int) -> bool:
        found = False
        for play in follows(rules, hands[turn], table) if table else leads(rules, hands[turn]):
            rest = remove(hands[turn], play) if play else hands[turn]
            if not rest:
                return turn == digger
            left = (*hands[:turn], rest, *hands[turn + 1 :])
            now, by = (play, turn) if play else (table, holder)
            following = after(ending, turn)
            found = wins(left, following, 0 if following == by and not play else now, by)
            if found == (turn == digger):
                return found
        return found

    return wins(ending.hands, ending.turn, ending.table, ending.holder)
