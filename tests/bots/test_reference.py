"""The reference bots: legal everywhere, a function of seed and observation alone, and as strong as they should be."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import given

from tests.engine.strategies import Pair, Player, examples, pairs, play_out
from tests.sdk.asking import by_id, packed, questions, replies, serving
from wakeng.bots import REFERENCE_BOTS, UnknownBot, create
from wakeng.bots.greedy import follow, lead
from wakeng.engine import PRESETS, Hand, Phase, derive
from wakeng.sdk import Decision
from wakeng.sdk.testing import decision_for, play_hand
from wakeng.v1 import bot_pb2

SEED = bytes(range(32))


def token(choice: object) -> str:
    assert isinstance(choice, str)
    return choice


# The table -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REFERENCE_BOTS)
def test_a_bot_of_the_table_loads_and_bears_its_name(name: str) -> None:
    bot = create(name, SEED)
    assert type(bot) is REFERENCE_BOTS[name].load()
    assert (bot.name, bot.seed) == (name, SEED)
    assert bot.version and REFERENCE_BOTS[name].summary


def test_a_name_that_is_no_bot_gets_the_nearest_and_all_there_are() -> None:
    with pytest.raises(UnknownBot, match=r"did you mean greedy.*random, lowest, greedy, expert"):
        create("gredy")
    with pytest.raises(UnknownBot, match=r"no bot 'x{80}'; there are random"):
        create("x" * 500)


def test_importing_the_table_loads_neither_a_bot_nor_grpc() -> None:
    code = "import sys, wakeng.bots; print(*(m for m in sys.modules if m == 'grpc' or m.startswith('wakeng.')))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert set(loaded.split()) == {"wakeng.bots", "wakeng.bots.catalogue"}


# Legal everywhere ----------------------------------------------------------------------------------------------------


HANDS = {"expert": 150, "net": 100, "search": 8}
"""In fewer than 300 hands where a bot takes longer to think."""


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", REFERENCE_BOTS)
def test_every_answer_is_legal_in_up_to_300_hands_of_every_preset(name: str, preset: str) -> None:
    rules = PRESETS[preset]
    for number in range(HANDS.get(name, 300)):
        bots = [
            create(name if seat != number % 2 else "random", derive(SEED, "bot", seat)) for seat in range(rules.players)
        ]
        # An illegal answer would be the engine's IllegalAction.
        assert play_hand(rules, derive(SEED, preset, number), bots).result


@given(pairs())
@examples(150)
def test_every_answer_is_legal_at_any_question_of_any_rule_set(played: tuple[Pair, Player]) -> None:
    bots = [create(name, SEED) for name in REFERENCE_BOTS]
    for pair in play_out(*played):
        for bot in bots:
            assert bot.choose(decision_for(pair.hand)) in pair.hand.legal_tokens()


@pytest.mark.parametrize("name", REFERENCE_BOTS)
def test_a_phase_that_is_not_known_is_answered_from_the_list(name: str) -> None:
    strange = bot_pb2.DecideRequest(phase="ENCORE", legal_actions=["maybe", "never"])
    assert create(name).choose(Decision(strange)) in ("maybe", "never")


# A function of seed and observation ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REFERENCE_BOTS)
def test_order_company_and_ids_change_no_choice(name: str) -> None:
    asked = questions(300, "three_feature")
    alone = [create(name, SEED).choose(Decision(ask)) for ask in asked]
    bot, order = create(name, SEED), random.Random(1).sample(range(300), 300)
    assert [bot.choose(Decision(asked[at])) for at in order] == [alone[at] for at in order]
    assert bot.choose_batch([Decision(ask) for ask in asked]) == alone
    for ask in asked:
        ask.decision_id += 10_000
        ask.match_id, ask.hand_index, ask.attempt = "another", 9, 1
        ask.time_left_ms, ask.bank_left_ms, ask.last_latency_us = 1, 0, 5
        ask.last_fault = "DEADLINE"
    assert [bot.choose(Decision(ask)) for ask in asked] == alone


@pytest.mark.parametrize("name", REFERENCE_BOTS)
async def test_the_wire_changes_no_choice_either(name: str) -> None:
    asked = questions(300)
    alone = {ask.decision_id: token(create(name, SEED).choose(Decision(ask))) for ask in asked}
    async with serving(create(name, SEED)) as (_, stub):
        call = stub.Play()
        await call.write(packed(asked[200:]))
        await call.write(packed(asked[:200]))
        assert by_id(await replies(call, 300)) == alone
        answers = await asyncio.gather(*(stub.Decide(ask) for ask in asked[:20]))
    assert by_id(answers) == {ask.decision_id: alone[ask.decision_id] for ask in asked[:20]}


def test_random_draws_anew_with_another_seed_and_any_number_of_bytes_will_do() -> None:
    asked = [Decision(ask) for ask in questions(300)]
    drawn = {seed: tuple(map(create("random", seed).choose, asked)) for seed in (b"", b"1", b"x" * 64, b"x" * 65)}
    assert len(set(drawn.values())) == 4
    assert tuple(map(create("random").choose, asked)) == drawn[b""]


# random, lowest ------------------------------------------------------------------------------------------------------


def test_random_is_uniform_over_what_is_legal() -> None:
    """Chi-squared of 4,000 draws among the 4 bids: with 3 degrees of freedom above 16.3 once in 1,000."""
    hand = Hand.from_seed(PRESETS["three_traditional"], SEED)
    decision = decision_for(hand)
    drawn = Counter(create("random", n.to_bytes(4, "big")).choose(decision) for n in range(4_000))
    assert sum((drawn[bid] - 1_000) ** 2 / 1_000 for bid in decision.legal) < 16.3


def test_random_draws_apart_at_every_question_of_a_hand() -> None:
    """The two last of four bids must not hang together, nor two seats that share a seed."""
    bot, seen = create("random", SEED), Counter[tuple[str, ...]]()
    for number in range(400):
        hand = Hand.from_seed(PRESETS["three_blind"], derive(SEED, "hand", number))
        asked = []
        for _ in range(2):
            asked.append(token(bot.choose(decision_for(hand))))
            hand.apply(0)
        seen[tuple(asked)] += 1
    assert all(60 < seen[pair] < 140 for pair in [("no", "no"), ("no", "yes"), ("yes", "no"), ("yes", "yes")])


@given(pairs())
def test_lowest_is_the_first_that_is_legal_and_passes_only_when_nothing_beats(played: tuple[Pair, Player]) -> None:
    for pair in play_out(*played):
        decision = decision_for(pair.hand)
        legal = pair.hand.legal_tokens()
        others = [word for word in legal if word != "pass"]
        expected = (others or legal)[0] if pair.hand.phase is Phase.PLAY else legal[0]
        assert create("lowest").choose(decision) == expected
        assert expected not in ("yes", "bid1", "bid2", "bid3")


# greedy --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("legal", "led"),
    [
        ("4 5 6 9 456", "456"),
        ("4 5 44", "44"),
        ("4 5 6 55 66 444 456", "444"),
        ("4 A", "4"),
        ("A 2 3 33", "33"),
        ("K 3 33", "K"),
        ("Q 2 22 222", "222"),
        ("A 2", "A"),
        ("4 5 7 44 444 4444", "5"),
        ("4 3 44 33 444 333 4444 3333", "4444"),
        ("4 5 6 44 444 4444 456", "5"),
        ("4 5 6 44 55 66 444 555 666 4444 5555 6666 456 445566 444555666", "4444"),
    ],
)
def test_greedy_leads_most_cards_and_keeps_controls_and_quads_back(legal: str, led: str) -> None:
    assert lead(legal.split()) == led


@pytest.mark.parametrize(
    ("table", "legal", "played"),
    [
        ("5", "pass 7 3", "7"),
        ("5", "pass 7 4444", "7"),
        ("5", "pass 4444 5555", "4444"),
        ("456", "pass 4444 789", "789"),
        ("4444", "pass 6666 7777", "6666"),
        ("3", "pass", "pass"),
        ("5", "3", "3"),
        ("456", "4444", "4444"),
    ],
)
def test_greedy_follows_with_the_lowest_that_beats_and_bombs_only_where_nothing_else_does(
    table: str, legal: str, played: str
) -> None:
    assert follow(table, legal.split()) == played


@dataclass(frozen=True)
class Seen:
    """A question as the test makes it up."""

    phase: str
    cards: str
    legal: str
    preset: str = "xian"

    def answer(self, **seen: object) -> str:
        ask = bot_pb2.DecideRequest(phase=self.phase, legal_actions=self.legal.split())
        ask.observation.cards = self.cards
        ask.observation.rules.preset = self.preset
        ask.observation.cards_left.extend([16] * PRESETS[self.preset].players)
        return token(create("greedy").choose(Decision(ask)))


WEAK = "4c4d5h6s7c7d8h8s9cTdThJcJsQcQdKc"
MIDDLING = "4c4d5d6h6s8h9cTdThJcQcKcAc2c3c3h"
STRONG = "4c4d5h6s7c8hAc2c2d2h3c3d3h"  # 16 control points.


@pytest.mark.parametrize(
    ("seen", "answer"),
    [
        (Seen("BLIND", "", "no yes"), "no"),
        (Seen("BID", STRONG, "pass bid1 bid2 bid3"), "bid3"),
        (Seen("BID", MIDDLING, "pass bid1 bid2 bid3"), "bid2"),
        (Seen("BID", WEAK, "pass bid1 bid2 bid3"), "pass"),
        (Seen("GRAB", STRONG, "no yes", "three_feature"), "yes"),
        (Seen("GRAB", WEAK, "no yes", "three_feature"), "no"),
        (Seen("OPEN", "2h3c3d3h3s", "no yes", "three_feature"), "yes"),
        (Seen("OPEN", WEAK, "no yes", "three_feature"), "no"),
        (Seen("BURY", "5c7d7h9sTcJdKc", "pass bury5 bury7 bury9 buryT buryJ buryK", "four_feature"), "bury5"),
        (Seen("BURY", "5c6d7h9s9c2d", "pass bury5 bury6 bury7 bury9 bury2", "four_feature"), "pass"),
        (Seen("LIE_DOWN_ASK", "4c5c6c7c8c9cTcJcQcKcAc2c3c3d3h", "no yes", "three_feature"), "yes"),
        (Seen("LIE_DOWN_ASK", "4c6c8cTcQcAc2c3c", "no yes", "three_feature"), "no"),
        (Seen("LIE_DOWN_CONSENT", WEAK, "no yes", "three_feature"), "yes"),
    ],
)
def test_greedy_answers_every_phase_by_its_hand(seen: Seen, answer: str) -> None:
    assert seen.answer() == answer


def test_greedy_beats_two_randoms_clearly_in_1000_hands() -> None:
    """About +4 a hand with a standard error of 0.13, so half of that cannot be luck."""
    total = 0
    for number in range(1_000):
        seat = number % 3
        bots = [create("greedy" if at == seat else "random", derive(SEED, "bot", at)) for at in range(3)]
        result = play_hand("xian", derive(SEED, "hand", number), bots).result
        assert result is not None
        total += result.scores[seat]
    assert total > 2_000
