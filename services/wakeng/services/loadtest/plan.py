"""What a load test does when: its steps, and in open loop the moment at which each decision is due.

**Closed loop** keeps so many tables busy: each asks its next question when the last one is answered. A bot that slows
down is asked less, as by an arena; latency is counted from the question.

**Open loop** asks at a rate, whatever the bot does. Every decision has a moment at which it is due, settled before the
test begins, and its latency counts from then. So a bot that stalls for a second is charged with all that was due in
that second, and not with the one question that it happened to hold. To count from when a question was at last sent
would leave out just the decisions that waited longest (coordinated omission).

Timers of event loops have a grain of a millisecond; so have the moments.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Final

from wakeng.engine import RuleSet

STEPS: Final = 10
GRAIN_PER_S: Final = 1_000


@dataclass(frozen=True, slots=True)
class Step:
    """Some seconds of the test under one load: tables in closed loop, decisions a second in open loop."""

    index: int
    begins: float
    ends: float
    load: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPlan:
    """A load test. With a `rate` in open loop, without in closed loop; both are shared evenly by the targets."""

    targets: tuple[str, ...]
    rules: RuleSet
    tables: int
    """Hands in play at most."""
    rate: float | None = None
    """Decisions a second of the targets."""
    ramp_s: float
    """The load rises in steps for so long."""
    duration_s: float
    """Of all of it, the ramp included."""
    move_ms: int = 1_000
    """The limit for a move."""

    def __post_init__(self) -> None:
        if not self.targets:
            raise ValueError("name at least one bot")
        if self.tables < len(self.targets):
            raise ValueError(f"{len(self.targets)} bots need a table each, not {self.tables} in all")
        if not 0 <= self.ramp_s <= self.duration_s:
            raise ValueError("the ramp is part of the duration, and cannot be longer")

    @property
    def open(self) -> bool:
        """Whether decisions are due at a rate."""
        return self.rate is not None

    @property
    def steps(self) -> tuple[Step, ...]:
        """From a tenth of the load to all of it, which it then stays at; only the last where there is no ramp."""
        full = self.tables if self.rate is None else self.rate
        if not self.ramp_s:
            return (Step(0, 0.0, self.duration_s, full),)
        rising = STEPS - 1
        moments = [*(self.ramp_s * i / rising for i in range(rising)), self.ramp_s, self.duration_s]
        loads = [full * (i + 1) / STEPS for i in range(STEPS)]
        if self.rate is None:
            loads = [max(len(self.targets), round(load)) for load in loads]
        spans = [span for span in pairwise(moments) if span[0] < span[1]]
        return tuple(Step(i, *span, load) for i, (span, load) in enumerate(zip(spans, loads, strict=False)))

    def moments(self) -> Iterator[tuple[float, int]]:
        """In open loop: when each decision is due, in seconds from the beginning, and in which step."""
        if self.rate is None:
            return
        for step in self.steps:
            for number in range(round(step.load * (step.ends - step.begins))):
                exact = step.begins + number / step.load
                yield ceil(exact * GRAIN_PER_S) / GRAIN_PER_S, step.index
