"""A training run: rounds of hands in two stages, measured in minutes or in hands, with checkpoints on the way.

1. The network plays itself. The rate falls to almost nothing, and that fall is worth as much as the time: before it
   the network looks no better than `expert`.
2. In part of the hands `expert` sits as the digger, or as both defenders; by itself alone the network would learn to
   beat itself, and each of its defenders would still lose to an `expert` digger.

A run of so many hands follows from its seed alone, interrupted or not. One of so many minutes depends on the machine.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from wakeng.bots.compiled import chance, judge
from wakeng.bots.training.checkpoint import Checkpoint, Tally
from wakeng.bots.training.learner import fresh
from wakeng.bots.training.selfplay import Manner, Samples, Work, round_of_hands, samples, work

ROUND: Final = 500
"""Hands that are played before their samples are learnt."""
RATE_FLOOR: Final = 0.02
RATE_POWER: Final = 1.5
EARLY: Final = 0.05
"""The part of the first stage that plays more at random."""
CHECKPOINT_SECONDS: Final = 30.0


class Stage(NamedTuple):
    """A stage of a run."""

    share: float
    """Of the whole run."""
    rate: float
    expert_diggers: float
    expert_defenders: float


STAGES: Final = (Stage(0.6, 0.003, 0.0, 0.0), Stage(0.4, 0.0015, 0.2, 0.2))


@dataclass(frozen=True, slots=True)
class Told:
    """What a run says of itself after each round."""

    progress: float
    stage: int
    hands: int
    samples: int
    seconds: float
    error: float


class Run:
    """A run that is begun, or goes on."""

    def __init__(self, state: Checkpoint) -> None:
        self.state = state
        self._table = judge.table()
        self._samples: Samples = samples(ROUND)
        self._work: Work = work(ROUND)
        self._work.deck[:] = state.deck

    def warm_up(self) -> None:
        """Compile now, so that no time of a run by minutes goes into it."""
        state = self.state
        round_of_hands(state.net, self._table, self._work, state.chance, 0, _manner(0, 0.0), 0.0, self._samples)

    @property
    def progress(self) -> float:
        """0..1 of the whole run."""
        state = self.state
        if state.hands is not None:
            return min(sum(state.tally.hands) / state.hands, 1.0)
        assert state.minutes is not None
        return min(state.tally.seconds / (60 * state.minutes), 1.0)

    def go(self, path: Path, tell: Callable[[Told], None]) -> None:
        """Train to the end, with checkpoints at `path`; also one when it is interrupted by an exception."""
        saved = time.monotonic()
        try:
            while self.progress < 1:
                tell(self.one_round())
                if time.monotonic() - saved > CHECKPOINT_SECONDS:
                    self.save(path)
                    saved = time.monotonic()
        finally:
            self.save(path)

    def save(self, path: Path) -> None:
        """Write a checkpoint."""
        self.state.deck[:] = self._work.deck
        self.state.save(path)

    def one_round(self) -> Told:
        """Play some hands and learn from them."""
        began, state = time.monotonic(), self.state
        which, within = _place(self.progress)
        hands = ROUND if state.hands is None else min(ROUND, state.hands - sum(state.tally.hands))
        error = round_of_hands(
            state.net, self._table, self._work, state.chance, hands, _manner(which, within),
            _rate(STAGES[which], within), self._samples,
        )  # fmt: skip
        tally = state.tally
        tally.hands[which] += hands
        tally.samples[which] += int(self._samples.filled[0])
        tally.seconds += time.monotonic() - began
        return Told(self.progress, which, sum(tally.hands), sum(tally.samples), tally.seconds, error)


def begin(*, minutes: float | None = None, hands: int | None = None, seed: int) -> Run:
    """A new run, as long as so many minutes or so many hands."""
    return Run(Checkpoint(minutes, hands, seed, Tally(), fresh(seed), chance.source(seed), np.arange(52)))


def _place(progress: float) -> tuple[int, float]:
    """Which stage it is, and how far in it."""
    first = STAGES[0].share
    if progress < first:
        return 0, progress / first
    return 1, (progress - first) / STAGES[1].share


def _rate(stage: Stage, within: float) -> float:
    return float(stage.rate * max(RATE_FLOOR, (1 - within) ** RATE_POWER))


def _manner(which: int, within: float) -> Manner:
    stage = STAGES[which]
    return Manner(
        random_plays=0.1 if which == 0 and within < EARLY else 0.02,
        random_bids=0.06,
        random_diggers=0.15,
        expert_diggers=stage.expert_diggers,
        # The second question is put only where the first was denied.
        expert_defenders=stage.expert_defenders / (1 - stage.expert_diggers),
    )
