"""The vocabulary of plays, and legal actions against the brute force (docs/rules.md 2, docs/protocol.md 1)."""

import random
from collections import Counter

import pytest

from tests.engine import brute
from tests.engine.strategies import Choice, Player, begin, play_out
from wakeng.engine.cards import RANKS, parse_cards
from wakeng.engine.deal import Deal, derive
from wakeng.engine.hand import Hand
from wakeng.engine.phases import TOKENS, Phase
from wakeng.engine.plays import PLAY_ID, PLAYS, Kind, classify
from wakeng.engine.rules import PRESETS, RuleSet, rule_set

POSITIONS = 20_000
"""Per preset, as the issue asks."""

COUNTS = {
    "PASS": 1,
    # Thirteen ranks, each as a single, a pair, a triple and a quad: 4 x 13 = 52.
    "SINGLE": 13,
    "PAIR": 13,
    "TRIPLE": 13,
    "QUAD": 13,
    # Ten ranks, 4 to K, stand in runs, so a run of n ranks has 11 - n places: for n = 3 to 10
    # that is 8 + 7 + 6 + 5 + 4 + 3 + 2 + 1 = 36, for straights and for pair runs (ten pairs are twenty cards).
    "STRAIGHT": 36,
    "PAIR_RUN": 36,
    # Twenty cards hold six triples at most, so n = 3 to 6: 8 + 7 + 6 + 5 = 26.
    "TRIPLE_RUN": 26,
    # ... and five quads at most, n = 3 to 5: 8 + 7 + 6 = 21; these stand behind the fixed vocabulary of 151.
    "QUAD_RUN": 21,
}

FIRST_IDS = {"PASS": 0, "SINGLE": 1, "PAIR": 14, "TRIPLE": 27, "QUAD": 40, "STRAIGHT": 53, "PAIR_RUN": 89,
             "TRIPLE_RUN": 125, "QUAD_RUN": 151}  # fmt: skip


def _one_suited(token: str) -> tuple[int, ...]:
    """Cards that make up a token."""
    seen: Counter[str] = Counter()
    cards = ""
    for rank in token:
        cards += rank + "cdhs"[seen[rank]]
        seen[rank] += 1
    return parse_cards(cards)


# The vocabulary ------------------------------------------------------------------------------------------------------


def test_the_kinds_have_the_counts_that_their_shapes_allow() -> None:
    assert Counter(play.kind.value for play in PLAYS) == COUNTS
    assert len(PLAYS) == 151 + 21


def test_the_ids_of_each_kind_begin_where_the_protocol_says() -> None:
    firsts = {kind.value: min(play.id for play in PLAYS if play.kind is kind) for kind in Kind}
    assert firsts == FIRST_IDS


def test_the_tokens_in_order_are_those_of_the_brute_force() -> None:
    assert [play.token for play in PLAYS] == ["pass", *brute.vocabulary()]
    assert TOKENS[Phase.PLAY] == tuple(play.token for play in PLAYS)


def test_within_a_kind_plays_go_by_length_and_then_by_top_rank() -> None:
    order = [(list(Kind).index(play.kind), play.groups, play.top) for play in PLAYS]
    assert order == sorted(order)


def test_ids_tokens_and_cards_lead_back_to_the_play() -> None:
    for number, play in enumerate(PLAYS):
        assert play.id == number == PLAY_ID[play.token]
        if number:
            assert classify(_one_suited(play.token)) is play


def test_every_play_is_what_the_brute_force_reads() -> None:
    for play in PLAYS[1:]:
        assert (play.kind.value, play.size, play.groups, RANKS[play.top]) == brute.read(play.token)
        assert RANKS[play.bottom] == play.token[0]


def test_random_cards_are_read_as_the_brute_force_reads_them() -> None:
    chance = random.Random(2)
    for _ in range(5_000):
        ranks = chance.sample("456789TJQKA23", chance.randint(1, 5))
        size = chance.randint(1, 4)
        cards = [rank + suit for rank in ranks for suit in chance.sample("cdhs", size)]
        if chance.random() < 0.2:
            cards.pop()
        _reads_like_the_brute_force(cards)
    for _ in range(2_000):
        _reads_like_the_brute_force(chance.sample(brute.DECK, chance.randint(1, 8)))


def _reads_like_the_brute_force(cards: list[str]) -> None:
    play, expected = classify(parse_cards("".join(cards))), brute.read(brute.ranks_of(cards))
    found = None if play is None else (play.kind.value, play.size, play.groups, RANKS[play.top])
    assert found == expected, cards


def test_no_cards_are_no_play() -> None:
    assert classify([]) is None


def test_more_cards_than_a_digger_holds_are_no_play() -> None:
    seven_triples = [rank + suit for rank in "456789T" for suit in "cdh"]
    assert classify(parse_cards("".join(seven_triples))) is None


OTHER_TOKENS = {
    "BLIND": "no yes",
    "BID": "pass bid1 bid2 bid3",
    "GRAB": "no yes",
    "OPEN": "no yes",
    "BURY": "pass bury4 bury5 bury6 bury7 bury8 bury9 buryT buryJ buryQ buryK buryA bury2 bury3",
    "LIE_DOWN_ASK": "no yes",
    "LIE_DOWN_CONSENT": "no yes",
    "END": "",
}


def test_the_other_phases_have_the_tokens_of_the_protocol() -> None:
    found = {phase.value: " ".join(tokens) for phase, tokens in TOKENS.items() if phase is not Phase.PLAY}
    assert found == OTHER_TOKENS


# What a rule set allows ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(
    "overrides",
    [{}, {"triple_runs": True}, {"quad_runs": True}, {"straight_min": 5}, {"pair_run_min": 10},
     {"triple_runs": True, "triple_run_min": 6}, {"triple_runs": False, "triple_run_min": 3}],
    ids=str,
)  # fmt: skip
def test_a_rule_set_allows_the_plays_the_brute_force_allows(preset: str, overrides: dict[str, int]) -> None:
    rules, plain = rule_set(preset, overrides), brute.rule_set(preset, overrides)
    for play in PLAYS[1:]:
        combination = brute.read(play.token)
        assert combination is not None
        assert rules.allows(play) == brute.allowed(plain, combination), play.token
    assert not rules.allows(PLAYS[0])


# Legal actions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_legal_actions_of_random_positions_equal_the_brute_force(preset: str) -> None:
    positions, number = 0, 0
    phases: Counter[str] = Counter()
    while positions < POSITIONS:
        pair = begin(Choice(preset), derive(bytes(32), "deal", number), number)
        for _ in play_out(pair, Player(number)):
            assert (pair.hand.phase.value, pair.hand.turn) == (pair.game.phase, pair.game.turn)
            assert pair.hand.legal_tokens() == pair.game.legal
            positions += 1
            phases[pair.game.phase] += 1
        assert pair.hand.phase is Phase.END
        assert pair.hand.legal == ()
        assert pair.hand.result is not None
        assert pair.game.result is not None
        assert list(pair.hand.result.scores) == pair.game.result.scores
        number += 1
    assert set(phases) == _phases_of(preset)


def _phases_of(preset: str) -> set[str]:
    rules = brute.PRESETS[preset]
    switches = {
        "BLIND": rules["black_dig"] or rules["blind_dig"],
        "GRAB": rules["grab"],
        "OPEN": rules["open"],
        "BURY": rules["bury"],
        "LIE_DOWN_ASK": rules["lie_down"],
        "LIE_DOWN_CONSENT": rules["lie_down"],
    }
    return {"BID", "PLAY", *(phase for phase, on in switches.items() if on)}


@pytest.mark.parametrize("overrides", [{}, {"bombs": False}, {"must_beat": True}], ids=str)
def test_every_play_is_answered_as_the_brute_force_says(overrides: dict[str, bool]) -> None:
    """Each word of the vocabulary that can be led from the deal is led, against several random hands."""
    runs = {"triple_runs": True, "quad_runs": True}
    fields = {"bidding": "assigned", "bombs": True, **runs, **overrides}
    rules, plain = rule_set("xian", fields), brute.rule_set("xian", fields)
    chance = random.Random(3)
    answered = 0
    for play in PLAYS[1:]:
        # Whoever holds twenty cards without a 4 is not dealt the lowest heart and cannot lead them all at once.
        if len(play.token) == 20 and play.token[0] != "4":
            continue
        for _ in range(8):
            hand = _hand_that_leads(rules, play.token, chance)
            hand.apply_token(play.token)
            if hand.phase is Phase.PLAY:
                held = "".join(RANKS[card // 4] for card in hand.cards(hand.turn))
                assert hand.legal_tokens() == brute.legal_plays(plain, held, play.token)
                answered += 1
    assert answered > 1_000


def _hand_that_leads(rules: RuleSet, token: str, chance: random.Random) -> Hand:
    """A hand in PLAY whose leader holds the token's cards; where it can, another seat digs and follows with twenty."""
    suits = {rank: ["h", *chance.sample("cds", 3)] for rank in RANKS}
    own = [rank + suits[rank][number] for rank in sorted(set(token)) for number in range(token.count(rank))]
    if "4h" not in own and len(own) < 20:
        own.append("4h")
    rest = chance.sample([card for card in brute.DECK if card not in own], 52 - len(own))
    digs = len(own) > 16 or chance.random() < 0.3
    while len(own) < (20 if digs else 16):
        own.append(rest.pop())
    own.sort(key=lambda card: card != "4h")  # The digger's kitty comes from the end, so the lowest heart is dealt.
    kitty = [own.pop() for _ in range(4)] if digs else [rest.pop() for _ in range(4)]
    hands = tuple(parse_cards("".join(hand)) for hand in (own, rest[:16], rest[16:]))
    return Hand(rules, Deal(0, hands, parse_cards("".join(kitty))), assigned_digger=0 if digs else 1)
