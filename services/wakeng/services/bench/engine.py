"""`wakeng bench engine`: random hands a second through the engine's public, validated API, beside others' and a naive.

Hands are of the preset `xian`, from the seed to the settlement, each choice uniform among the legal ones. All run in
one thread, so time is this process's processor time: neighbours that take the core away do not count.
"""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from wakeng.engine import PRESETS, Hand, hand_seed
from wakeng.services.bench.figures import Figure, Say, interleave, ratio
from wakeng.services.bench.machine import Sides
from wakeng.services.bench.naive import NaiveHand
from wakeng.services.bench.peers import Playout, openspiel, rlcard

OURS: Final = "engine"
_MATCH_SEED: Final = bytes(32)
_SEED: Final = 2024
_BETWEEN_LOOKS: Final = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How long to measure."""

    rounds: int = 7
    seconds: float = 3.0
    """Of each contestant in each round."""


QUICK: Final = Effort(rounds=3, seconds=0.3)


@dataclass(frozen=True, slots=True)
class Sample:
    """Hands played in some seconds."""

    hands: int
    decisions: int
    seconds: float

    @property
    def hands_per_s(self) -> float:
        """Its speed."""
        return self.hands / self.seconds


def ours(random: Random) -> Playout:
    """The engine."""
    rules = PRESETS["xian"]
    draw = random.random
    index = 0

    def play() -> int:
        nonlocal index
        hand = Hand.from_seed(rules, hand_seed(_MATCH_SEED, index))
        index += 1
        while hand.result is None:
            legal = hand.legal
            hand.apply(legal[int(draw() * len(legal))])
        return len(hand.decisions)

    return play


def naive(random: Random) -> Playout:
    """The baseline of this package, which deals by the standard library's shuffle."""
    draw = random.random

    def play() -> int:
        deck = list(range(52))
        random.shuffle(deck)
        hand = NaiveHand([deck[0:16], deck[16:32], deck[32:48]], deck[48:], first_dealt_seat=int(draw() * 3))
        while hand.scores is None:
            legal = hand.legal
            hand.apply(legal[int(draw() * len(legal))])
        return len(hand.decisions)

    return play


CONTESTANTS: Final[dict[str, Callable[[Random], Playout]]] = {
    OURS: ours,
    "naive": naive,
    "openspiel": openspiel,
    "rlcard": rlcard,
}


def sample(playout: Playout, seconds: float) -> Sample:
    """Play hands for so many seconds of processor time; the clock is read now and then only."""
    began = now = time.process_time()
    hands = decisions = 0
    batch = 1
    while (left := began + seconds - now) > 0:
        decisions += sum(playout() for _ in range(batch))
        hands += batch
        before, now = now, time.process_time()
        if now - before < min(_BETWEEN_LOOKS, left / 2):
            batch *= 2
    return Sample(hands, decisions, now - began)


async def bench_engine(effort: Effort, say: Say) -> dict[str, Any]:
    """The figures of the section `engine`; a peer that is not installed has none."""
    with Sides():
        measures: dict[str, Callable[[], Awaitable[Sample]]] = {
            name: _measured(playout, effort.seconds) for name, playout in _installed(say).items()
        }
        samples = await interleave(measures, rounds=effort.rounds, say=say)
    return figures(samples)


def _installed(say: Say) -> dict[str, Playout]:
    found = {}
    for name, make in CONTESTANTS.items():
        say(f"loading {name}")
        try:
            found[name] = make(Random(_SEED))
        except ImportError:
            continue
        found[name]()  # What is loaded at the first use is loaded now.
    return found


def _measured(playout: Playout, seconds: float) -> Callable[[], Awaitable[Sample]]:
    async def measure() -> Sample:
        return sample(playout, seconds)

    return measure


def figures(samples: dict[str, list[Sample]]) -> dict[str, Any]:
    """The section, from what was measured."""
    speeds = {name: Figure.of(one.hands_per_s for one in found) for name, found in samples.items()}
    section: dict[str, Any] = {"rounds": len(samples[OURS])}
    for name in CONTESTANTS:
        prefix = "" if name == OURS else f"{name}_"
        speed = speeds.get(name)
        section[f"{prefix}hands_per_s"] = speed and round(speed.median, 1)
        section[f"{prefix}hands_per_s_range"] = speed and [round(value, 1) for value in speed.range]
        found = samples.get(name)
        section[f"{prefix}decisions_a_hand"] = found and round(
            sum(one.decisions for one in found) / sum(one.hands for one in found), 1
        )
        if name != OURS:
            against = speed and ratio(speeds[OURS], speed)
            section[f"vs_{name}"] = against and round(against.median, 3)
            section[f"vs_{name}_range"] = against and [round(value, 3) for value in against.range]
    return section
