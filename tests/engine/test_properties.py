"""What holds for every hand of every rule set: the engine against the brute force, invariants, and privacy.

Records have their own file, test_records.py; corners that deserve a name stand in test_scenarios.py.
"""

import copy
import itertools
import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine import brute
from tests.engine.strategies import Choice, Pair, Player, begin, choices, examples, names, pairs, play_out
from wakeng.engine.deal import Deal, derive
from wakeng.engine.hand import Hand, IllegalAction, UnknownToken
from wakeng.engine.observe import Observation
from wakeng.engine.phases import TOKENS, TRANSITIONS, Phase
from wakeng.engine.plays import PLAYS
from wakeng.engine.rules import PRESETS, RuleSet
from wakeng.engine.settle import Result
from wakeng.engine.tasks import Task
from wakeng.sdk.wire import observation_message

HIDDEN = (Phase.LIE_DOWN_ASK, Phase.LIE_DOWN_CONSENT)

# The engine and the brute force --------------------------------------------------------------------------------------


def _plain_observation(seen: Observation) -> dict[str, Any]:
    """An observation of the engine in the form of the brute force's."""
    plain = {name: getattr(seen, name) for name in Observation.__dataclass_fields__ if name != "rules"}
    plain |= {name: cards if cards is None else names(cards) for name, cards in _card_lists(seen).items()}
    plain["phase"] = seen.phase.value
    plain["cards_left"] = list(seen.cards_left)
    plain["marked_card"] = None if seen.marked_card is None else names([seen.marked_card])[0]
    plain["task"] = None if seen.task is None else seen.task.value
    plain["table"] = PLAYS[seen.table].token if seen.table else None
    plain["history"] = list(seen.history)
    return plain


def _card_lists(seen: Observation) -> dict[str, tuple[int, ...] | None]:
    return {"cards": seen.cards, "kitty": seen.kitty, "opened_cards": seen.opened_cards}


def _plain_result(result: Result | None) -> dict[str, Any] | None:
    """A result of the engine in the form of the brute force's."""
    if result is None:
        return None
    lists = {name: None if value is None else list(value) for name, value in _score_lists(result).items()}
    return {**result._asdict(), **lists, "winner": result.winner.value}


def _score_lists(result: Result) -> dict[str, tuple[int, ...] | None]:
    return {"scores": result.scores, "task_bonus": result.task_bonus}


def _same_state(pair: Pair) -> None:
    """Both readings of the rules stand at the same question and show every seat the same."""
    hand, game = pair.hand, pair.game
    assert (hand.phase.value, hand.turn) == (game.phase, game.turn)
    assert hand.legal_tokens() == game.legal
    assert list(hand.history) == game.history
    decisions = [(seat, phase.value, TOKENS[phase][action]) for seat, phase, action in hand.decisions]
    assert decisions == game.decisions
    for seat in game.seats:
        assert names(hand.cards(seat)) == sorted(game.hands[seat], key=brute.DECK.index)
        assert hand.count(seat) == len(game.hands[seat])
        assert hand.observe(seat).rules == hand.rules
        if game.phase != "END":  # An observation is what a seat decides upon; after the end nobody decides.
            assert _plain_observation(hand.observe(seat)) == game.observe(seat)
    assert _plain_result(hand.result) == (None if game.result is None else vars(game.result))


@given(pairs())
@examples(150)
def test_the_engine_plays_as_the_brute_force(started: tuple[Pair, Player]) -> None:
    pair, player = started
    for _ in play_out(pair, player):
        _same_state(pair)
    _same_state(pair)


@given(pairs(), st.integers(0, 60), st.integers(0, 3))
@examples(100)
def test_an_escape_settles_as_the_brute_force(started: tuple[Pair, Player], moment: int, seat: int) -> None:
    pair, player = started
    for _ in itertools.islice(play_out(pair, player), moment):
        pass
    if pair.hand.phase is Phase.END:
        return
    pair.hand.escape(seat % pair.hand.rules.players)
    pair.game.escape(seat % pair.hand.rules.players)
    assert (pair.hand.phase, pair.hand.turn, pair.hand.legal) == (Phase.END, -1, ())
    _same_state(pair)


@given(pairs())
@examples(60)
def test_the_default_action_is_the_one_of_the_protocol(started: tuple[Pair, Player]) -> None:
    """No, pass, bury none, the lowest single when leading; forced to beat, the lowest of the table's kind first."""
    pair, player = started
    for _ in play_out(pair, player):
        default = TOKENS[pair.hand.phase][pair.hand.default_action()]
        assert default == _default(pair.game)


def _default(game: brute.Game) -> str:
    if game.phase != "PLAY" or game.table is None or game.legal[0] == "pass":
        # The vocabulary begins with no, with pass, and with the singles in order.
        return game.legal[0]
    kind = brute.read(game.table)
    assert kind
    same = [ranks for ranks in game.legal if (brute.read(ranks) or kind)[0] == kind[0]]
    return (same or game.legal)[0]


# Invariants ----------------------------------------------------------------------------------------------------------


def _decision_bound(rules: RuleSet) -> int:
    """The most decisions a hand can take.

    BLIND and BID ask each of n seats once, GRAB n - 1, OPEN and BURY the digger, LIE_DOWN two seats: 3n + 3 at most.
    In PLAY every play lays at least one card of the deck, and after each play at most n - 1 passes follow before the
    table is cleared and the leader must play: n decisions for each card at most.
    """
    n = rules.players
    return 3 * n + 3 + n * len(rules.deck)


@given(pairs())
@examples(150)
def test_a_hand_keeps_its_cards_and_its_phases_and_ends(started: tuple[Pair, Player]) -> None:
    pair, player = started
    hand, before = pair.hand, None
    for number, _ in enumerate(play_out(pair, player)):
        assert number < _decision_bound(hand.rules)
        assert before is None or hand.phase in TRANSITIONS[before]
        assert hand.legal
        assert list(hand.legal) == sorted(set(hand.legal))
        _cards_are_conserved(hand)
        before = hand.phase
    assert before is not None
    assert Phase.END in TRANSITIONS[before]
    _cards_are_conserved(hand)


def _cards_are_conserved(hand: Hand) -> None:
    """No card is held twice, and what is held, laid, buried or still in the kitty is the whole deck."""
    held = sum((hand.cards(seat) for seat in range(hand.rules.players)), ())
    assert len(held) == len(set(held))
    assert set(held) <= set(hand.rules.deck)
    laid = sum(len(PLAYS[a].token) for _, phase, a in hand.decisions if phase is Phase.PLAY and a)
    buried = sum(phase is Phase.BURY and action > 0 for _, phase, action in hand.decisions)
    kitty = hand.rules.kitty_size if hand.digger < 0 else 0
    assert len(held) + laid + buried + kitty == len(hand.rules.deck)


def test_nothing_follows_the_end() -> None:
    assert TRANSITIONS[Phase.END] == frozenset()
    assert set(TRANSITIONS) == set(TOKENS) == set(Phase)


# The order of docs/rules.md 3; a phase may only lead to itself, where it asks several seats, or to a later one.
ORDER = ["BLIND", "BID", "GRAB", "OPEN", "BURY", "LIE_DOWN_ASK", "LIE_DOWN_CONSENT", "PLAY", "END"]
REPEATED = {"BLIND", "BID", "GRAB", "PLAY"}


def test_the_transition_table_goes_forward_only() -> None:
    for phase, following in TRANSITIONS.items():
        for later in following:
            step = ORDER.index(later.value) - ORDER.index(phase.value)
            assert step > 0 or (step == 0 and phase.value in REPEATED), (phase, later)


@given(pairs())
@examples(150)
def test_scores_sum_to_zero_and_split_by_side(started: tuple[Pair, Player]) -> None:
    pair, player = started
    for _ in play_out(pair, player):
        pass
    result, rules = pair.hand.result, pair.hand.rules
    assert result is not None
    assert result.stake is not None
    assert sum(result.scores) == 0
    defenders = {score for seat, score in enumerate(result.scores) if seat != result.digger}
    assert defenders == {-result.stake if result.winner.value == "DIGGER" else result.stake}
    assert result.stake % rules.base == 0
    assert max(map(abs, result.scores)) < 2**31


@given(pairs(), st.integers(0, 60), st.integers(0, 3))
@examples(100)
def test_an_escape_costs_what_the_rules_say(started: tuple[Pair, Player], moment: int, seat: int) -> None:
    pair, player = started
    hand, rules = pair.hand, pair.hand.rules
    for _ in itertools.islice(play_out(pair, player), moment):
        pass
    if hand.phase is Phase.END:
        return
    leaver, digger = seat % rules.players, hand.digger
    hand.escape(leaver)
    result = hand.result
    assert result is not None
    penalty = rules.escape_factor * rules.base
    others = [score for who, score in enumerate(result.scores) if who != leaver]
    if digger < 0 or not rules.escape_settles:
        assert (result.scores[leaver], others) == (-penalty, [0] * len(others))
        assert (result.stake is None) == (digger < 0)
        return
    # Leaving is never cheaper than losing, and what the leaver pays beyond the stake goes to nobody.
    assert result.stake is not None
    lost = (rules.players - 1) * result.stake
    assert result.scores[leaver] == -max(penalty, lost)
    assert sum(others) == lost
    assert sum(result.scores) == min(0, lost - penalty)
    paid = {score for who, score in enumerate(result.scores) if who not in (leaver, digger)}
    assert paid == {result.stake if leaver == digger else 0}


@given(pairs(), st.integers(0, 80))
@examples(60)
def test_an_illegal_action_is_refused_and_changes_nothing(started: tuple[Pair, Player], moment: int) -> None:
    pair, player = started
    for _ in itertools.islice(play_out(pair, player), moment):
        pass
    hand = pair.hand
    before = _state(hand)
    for action in [-1, *range(len(PLAYS) + 1), 10**9]:
        if action not in hand.legal:
            with pytest.raises(IllegalAction, match=r"\w"):
                hand.apply(action)
    for token in {token for tokens in TOKENS.values() for token in tokens} - set(hand.legal_tokens()):
        with pytest.raises(IllegalAction, match=r"\w") as refused:
            hand.apply_token(token)
        assert not isinstance(refused.value, UnknownToken)
    for token in ("", "PASS", "bid4", "bid0", "bury", "45", "54", "4h", "no ", "5544", "10", "\x00", "é" * 500):
        with pytest.raises(UnknownToken, match=r"\w"):
            hand.apply_token(token)
    assert _state(hand) == before


def _state(hand: Hand) -> dict[str, Any]:
    """Every attribute of a hand, private ones included, copied to the bottom."""
    return {name: copy.deepcopy(getattr(hand, name)) for name in Hand.__slots__}


@given(pairs())
@examples(30)
def test_a_copied_hand_goes_its_own_way(started: tuple[Pair, Player]) -> None:
    pair, player = started
    before, twin = _state(pair.hand), copy.deepcopy(pair.hand)
    for _ in play_out(pair, player):
        pass
    assert _state(twin) == before


@given(pairs())
@examples(30)
def test_the_seed_and_the_decisions_give_the_hand_again(started: tuple[Pair, Player]) -> None:
    pair, player = started
    for _ in play_out(pair, player):
        pass
    again = Hand.from_seed(
        pair.choice.engine, pair.seed, blind_first_seat=pair.blind_first_seat, assigned_digger=pair.assigned_digger
    )
    for _, _, action in pair.hand.decisions:
        again.apply(action)
    assert _state(again) == _state(pair.hand)


# What a seat may know (docs/rules.md 8) ------------------------------------------------------------------------------


def what_a_seat_is_sent(hand: Hand, seat: int) -> list[Any]:
    """Everything that reaches a seat, to be equal wherever only hidden things differ.

    TO BE EXTENDED with whatever else a request comes to hold that depends on the hand: the phase, the observation's
    bytes and the legal actions are all of it today; ids, time left and the seat's own last fault are the table's.
    """
    sent: list[Any] = [hand.observe(seat), observation_message(hand.observe(seat)).SerializeToString()]
    if hand.turn == seat:
        sent += [hand.legal_tokens(), hand.default_action()]
    return sent


def _twin_deal(hand: Hand, seat: int, chance: random.Random) -> Deal:
    """The deal with some of what the seat cannot know changed: hidden cards, the task to come, who was dealt first."""
    deal, rules = hand.deal, hand.rules
    places = [list(deal.hands[other]) for other in range(rules.players)] + [list(deal.kitty)]
    if hand.phase is Phase.BLIND:
        return _redealt(hand, places, chance)
    dug, known = hand.digger >= 0, {deal.marked_card}
    movable = [[] if other == seat else sorted({*hand.cards(other)} - known) for other in range(rules.players)]
    movable.append([] if dug else sorted({*deal.kitty} - known))
    if dug:
        movable[hand.digger] = [card for card in movable[hand.digger] if card not in deal.kitty]
    if hand.opened:
        movable[hand.digger] = []
    for _ in range(chance.choice([1, 1, 2, 4])):
        full = [place for place, cards in enumerate(movable) if cards]
        if len(full) > 1:
            one, two = chance.sample(full, 2)
            a, b = chance.choice(movable[one]), chance.choice(movable[two])
            for cards in (places[one], movable[one]):
                cards[cards.index(a)] = b
            for cards in (places[two], movable[two]):
                cards[cards.index(b)] = a
    return _with(hand, places, chance, dug=dug)


def _redealt(hand: Hand, places: list[list[int]], chance: random.Random) -> Deal:
    deck = chance.sample(hand.rules.deck, len(hand.rules.deck))
    return _with(hand, [[deck.pop() for _ in place] for place in places], chance, dug=False)


def _with(hand: Hand, places: list[list[int]], chance: random.Random, *, dug: bool) -> Deal:
    deal, rules = hand.deal, hand.rules
    return Deal(
        deal.first_dealt_seat if rules.has_blind else chance.randrange(rules.players),
        tuple(tuple(sorted(cards)) for cards in places[:-1]),
        tuple(sorted(places[-1])),
        deal.marked_card,
        deal.task if dug or deal.task is None else chance.choice(list(Task)),
    )


def _replayed(pair: Pair, deal: Deal, seat: int) -> Hand | None:
    """A hand of another deal with the same public events and the same answers of the seat, or None."""
    for hidden in itertools.product((0, 1), repeat=2):
        twin = Hand(pair.hand.rules, deal, blind_first_seat=pair.blind_first_seat, assigned_digger=pair.assigned_digger)
        if _follows(twin, pair.hand, seat, list(hidden)):
            return twin
    return None


def _follows(twin: Hand, hand: Hand, seat: int, hidden: list[int]) -> bool:
    """Play the twin along the hand's decisions; what the seat cannot see of LIE_DOWN is answered from `hidden`."""
    for who, phase, action in hand.decisions:
        if phase in HIDDEN and who != seat:
            continue
        _answer_hidden(twin, seat, hidden)
        if (twin.turn, twin.phase) != (who, phase) or action not in twin.legal:
            return False
        twin.apply(action)
    _answer_hidden(twin, seat, hidden)
    return (twin.turn, twin.phase, twin.history) == (hand.turn, hand.phase, hand.history)


def _answer_hidden(twin: Hand, seat: int, hidden: list[int]) -> None:
    while twin.phase in HIDDEN and twin.turn != seat and hidden:
        twin.apply(hidden.pop(0))


def _check_twins(pair: Pair, chance: random.Random) -> Counter[str]:
    """Whatever the seat cannot tell apart, it is sent the same; counts how often a twin was found, by phase."""
    found: Counter[str] = Counter()
    hidden = pair.hand.phase in HIDDEN
    # Nobody but the seat asked is told anything before the questions of LIE_DOWN are answered.
    for seat in [pair.hand.turn] * 8 if hidden else range(pair.hand.rules.players):
        deal = _twin_deal(pair.hand, seat, chance)
        twin = _replayed(pair, deal, seat)
        if twin is not None and deal != pair.hand.deal:
            found[pair.hand.phase.value] += 1
            assert what_a_seat_is_sent(twin, seat) == what_a_seat_is_sent(pair.hand, seat)
    return found


@given(pairs(), st.integers(0, 2**32))
@examples(80)
def test_what_a_seat_cannot_know_does_not_reach_it(started: tuple[Pair, Player], seed: int) -> None:
    pair, player = started
    chance = random.Random(seed)
    for _ in play_out(pair, player):
        if chance.random() < 0.3 or pair.hand.phase is not Phase.PLAY:
            _check_twins(pair, chance)


@pytest.mark.parametrize("preset", PRESETS)
def test_twins_are_found_in_every_phase(preset: str) -> None:
    """The same on the presets, and proof that the property above is not empty."""
    chance, found, asked = random.Random(4), Counter[str](), Counter[str]()
    for number in range(60):
        pair = begin(Choice(preset), derive(bytes(32), "deal", number), number)
        for _ in play_out(pair, Player(number)):
            if chance.random() < 0.1 or pair.hand.phase is not Phase.PLAY:
                asked[pair.hand.phase.value] += 1
                found += _check_twins(pair, chance)
    assert set(found) == set(asked)
    assert found.total() > asked.total()


@given(choices(), st.integers(0, 2**32))
@examples(40)
def test_an_observation_is_a_value_that_later_play_does_not_change(choice: Choice, number: int) -> None:
    pair = begin(choice, derive(bytes(32), "deal", number))
    seen = []
    for _ in play_out(pair, Player(number)):
        seen.append((pair.hand.observe(0), repr(pair.hand.observe(0))))
    assert all(repr(kept) == then for kept, then in seen)
