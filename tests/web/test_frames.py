"""Frames: a live one holds nothing that is not public, and a replayed one ends where the engine ends."""

from __future__ import annotations

from random import Random
from typing import Any

import orjson
import pytest

from tests.services.records import played
from wakeng.engine import CARD_NAMES, PRESETS, Hand, Phase, derive, replay
from wakeng.services.web.frames import live_frame, replay_of
from wakeng.services.web.languages import NAMES, language

ENGLISH = language("en")


def hands(preset: str, seed: int) -> Hand:
    rules = PRESETS[preset]
    return Hand.from_seed(rules, derive(bytes(32), preset, seed), blind_first_seat=0 if rules.has_blind else None)


def cards_in(frame: Any) -> set[str]:
    """Every card that a frame names, wherever in it."""
    if isinstance(frame, str):
        return {frame} & set(CARD_NAMES)
    if isinstance(frame, dict):
        return set().union(*map(cards_in, frame.values()), set())
    if isinstance(frame, list):
        return set().union(*map(cards_in, frame), set())
    return set()


@pytest.mark.parametrize("preset", PRESETS)
def test_a_live_frame_names_no_card_that_is_not_public(preset: str) -> None:
    random = Random(7)
    hand = hands(preset, 1)
    while hand.phase is not Phase.END:
        seen = hand.observe(0)
        public = {
            *(seen.kitty or ()),
            *(seen.opened_cards or ()),
            *(() if seen.marked_card is None else (seen.marked_card,)),
        }
        frame = live_frame(hand, ENGLISH)
        assert cards_in(frame) == {CARD_NAMES[card] for card in public}
        assert "ask" not in frame and "legal" not in orjson.dumps(frame).decode()
        hand.apply(random.choice(hand.legal))


@pytest.mark.parametrize("preset", ["three_feature", "three_blind"])
def test_nobody_is_told_who_is_asked_to_lie_down(preset: str) -> None:
    for seed in range(60):
        hand = hands(preset, seed)
        while hand.phase not in (Phase.LIE_DOWN_ASK, Phase.PLAY, Phase.END):
            hand.apply(hand.legal[0])
        if hand.phase is Phase.LIE_DOWN_ASK:
            frame = live_frame(hand, ENGLISH)
            assert (frame["phase"], frame["turn"]) == ("PLAY", None)
            return
    raise AssertionError("some hand has a defender who qualifies")


@pytest.mark.parametrize("code", NAMES)
@pytest.mark.parametrize("preset", PRESETS)
def test_a_replay_has_a_frame_for_every_step_and_ends_as_the_hand_did(preset: str, code: str) -> None:
    record = played(preset=preset)
    told = replay_of(record, language(code))
    assert len(told["frames"]) == len(record["decisions"]) + 1 == len(told["moves"]) + 1
    for step, frame in enumerate(told["frames"]):
        hand = replay(record, upto=step)
        assert frame["hands"] == [
            [CARD_NAMES[card] for card in hand.cards(seat)] for seat in range(len(record["seats"]))
        ]
    end = told["frames"][-1]["end"]
    assert end["scores"] == record["result"]["scores"]
    product = 1
    for _, value in end["factors"]:
        product *= value
    assert product == end["stake"] == record["result"]["stake"]


def test_a_hand_that_was_forfeited_before_its_first_question_has_one_frame() -> None:
    told = replay_of(played(escaped_seat=1), ENGLISH)
    assert len(told["frames"]) == 1
    assert told["frames"][0]["end"]["escaped_seat"] == 1
    assert told["faults"][0]["fault"] == "NOT_READY"


@pytest.mark.parametrize("preset", PRESETS)
def test_a_live_tables_leads_are_told_as_a_replays_are(preset: str) -> None:
    record = played(preset=preset)
    live = live_frame(replay(record), ENGLISH)["moves"]
    replayed = [move for move in replay_of(record, ENGLISH)["moves"] if not move["hidden"]]
    plays = [move["text"] for move in replayed if move["phase"] == "PLAY"][-30:]
    assert [move["text"] for move in live][-len(plays) :] == plays
