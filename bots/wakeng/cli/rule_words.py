"""A rule set told in words, sentence by sentence from its fields (docs/rules.md 3 to 5)."""

from collections.abc import Iterator

from wakeng.cli.text import counted, listed
from wakeng.engine import Bidding, FirstCaller, RuleSet, format_cards


def words(rules: RuleSet) -> Iterator[tuple[str, str]]:
    """(topic, sentences) for every part of a hand that occurs, in the order in which it comes."""
    yield "cards", _cards(rules)
    if rules.bidding is Bidding.ASSIGNED:
        yield "digger", "Assigned before the hand, at 3; there is no bidding."
    else:
        yield from _auction(rules)
    yield "kitty", "Shown to all; the digger takes it and plays alone against the others."
    yield from _before_play(rules)
    yield "plays", _plays(rules)
    yield "follow", _following(rules)
    yield "stake", _stake(rules)
    yield "leaving", _leaving(rules)


def _cards(rules: RuleSet) -> str:
    kitty = f" and a kitty of {rules.kitty_size}" if rules.kitty_size else ", no kitty"
    out = f", without {format_cards(rules.removed_cards)}" if rules.removed_cards else ""
    return f"{rules.players} players, {rules.hand_size} cards each{kitty}, from a deck of {len(rules.deck)}{out}."


def _auction(rules: RuleSet) -> Iterator[tuple[str, str]]:
    if rules.black_dig:
        yield "black dig", "Before the deal each seat is asked in turn; the first yes digs at 4, without bidding."
    if rules.blind_dig:
        grabbed = " It may be grabbed, and then the bonus lapses." if rules.grab else ""
        told = (
            "Before the deal each seat is asked in turn; the first yes is an unseen bid of 3, which ends the bidding"
            f" and doubles the stake if the digger wins.{grabbed}"
        )
        yield "blind dig", told
    yield "bid", _bidding(rules)
    if rules.grab:
        after = f"a bid of {rules.max_bid}{' or a blind dig' if rules.blind_dig else ''}"
        told = (
            f"After {after} every other seat is asked once, in turn; each grab doubles the stake, and the last to grab"
            " digs."
        )
        yield "grab", told


def _bidding(rules: RuleSet) -> str:
    caller = "The seat dealt the lowest heart calls first. "
    if rules.first_caller is FirstCaller.MARKED_CARD:
        caller = (
            "A card is shown before the deal; the seat dealt it calls first, or the lowest heart if the kitty has it. "
        )
    bids = f"a higher bid from 1 to {rules.max_bid}" if rules.max_bid > 1 else "1"
    return (
        f"{caller}Each seat speaks once: pass, or {bids}. A bid of {rules.max_bid} ends it; the highest digs. If nobody"
        " bids, the first caller digs at 1."
    )


def _before_play(rules: RuleSet) -> Iterator[tuple[str, str]]:
    if rules.tasks:
        yield "task", "One of nine is drawn and announced; who does it and wins gets a bonus, apart from the score."
    if rules.open:
        yield "open", "The digger may lay his hand open; the stake doubles."
    if rules.bury:
        yield "bury", "The digger may bury one card, face up."
    if rules.lie_down:
        told = (
            f"A defender with {rules.lie_down_points} control points (3 for a 3, 2 for a 2, 1 for an A) or more, and"
            f" {rules.lie_down_margin} or more ahead of his partner, may ask him to lie down; if he does, he is out of"
            " play, and the stake doubles."
        )
        yield "lie down", told


def _plays(rules: RuleSet) -> str:
    names = ("straights", "pair runs", "triple runs", "quad runs")
    lengths = [(name, rules.shortest_run(size)) for size, name in enumerate(names, 1)]
    runs = [f"{name} of {shortest} or more" for name, shortest in lengths if shortest is not None]
    return f"Singles, pairs, triples, quads, {listed(runs)}. Ranks ascend 4 to K, A, 2, 3; runs end at K."


def _following(rules: RuleSet) -> str:
    bombs = " A quad is a bomb: it beats all but a higher quad." if rules.bombs else " A quad beats only a lower quad."
    must = " Who can beat the table must." if rules.must_beat else " Anyone may pass, and come back later in the trick."
    return f"Same kind and number of cards, higher rank.{bombs}{must}"


def _stake(rules: RuleSet) -> str:
    doubles = [
        *(["each grab"] if rules.grab else []),
        *(["an open hand"] if rules.open else []),
        *(["a partner lying down"] if rules.lie_down else []),
        *(["a blind dig that wins"] if rules.blind_dig else []),
    ]
    doubled = f", doubled by {listed(doubles)}" if doubles and rules.bidding is Bidding.AUCTION else ""
    bombs = f", doubled by each bomb played, {rules.bomb_cap}-fold at most" if rules.bombs else ""
    return f"{rules.base} x bid{bombs}{doubled}. The digger wins or loses it from every defender."


def _leaving(rules: RuleSet) -> str:
    price = rules.escape_factor * rules.base
    if rules.escape_settles:
        return f"Counts as lost by the leaver's side, and he pays all of it: {counted(price, 'point')} at the least."
    return f"Costs {counted(price, 'point')}; the others get nothing, and the hand is over."
