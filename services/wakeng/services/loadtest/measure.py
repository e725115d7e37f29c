"""What a load test counts: latencies and faults of each bot, in all, by phase and by step of the load."""

from collections import Counter

from wakeng.engine import Fault, Phase
from wakeng.services.loadtest.plan import Step
from wakeng.services.tally import Latencies


class Sums:
    """Of some decisions. Latencies count from when each was due, in microseconds."""

    def __init__(self) -> None:
        self.latencies = Latencies()
        self.most_us = 0
        self.total_us = 0
        self.over_limit = 0
        """Decisions that took longer than the move's limit, the wait before they were asked included."""
        self.unanswered = 0
        """Of those over the limit: decisions still open when the test ended, with the latency they had by then."""
        self.faults: Counter[str] = Counter()

    @property
    def decisions(self) -> int:
        """How many."""
        return self.latencies.count

    def add(self, latency_us: int, *, limit_us: int, fault: Fault | None, answered: bool) -> None:
        """Count one."""
        self.latencies.add(latency_us)
        self.total_us += latency_us
        self.most_us = max(self.most_us, latency_us)
        self.over_limit += latency_us > limit_us
        self.unanswered += not answered
        if fault is not None:
            self.faults[fault.value] += 1


class Measured:
    """Everything of one bot."""

    def __init__(self, steps: tuple[Step, ...], *, limit_ms: int) -> None:
        self.all = Sums()
        self.by_phase: dict[Phase, Sums] = {}
        self.by_step = [Sums() for _ in steps]
        self.answered = [0 for _ in steps]
        """Decisions by the step in which they were answered, which may be later than that in which they were due."""
        self._limit_us = 1000 * limit_ms

    def add(
        self, step: int, phase: Phase | None, latency_us: int, *, fault: Fault | None = None, answered: bool = True
    ) -> None:
        """Count a decision; it has no phase where it was due and no table had a question."""
        sums = [self.all, self.by_step[step]]
        if phase is not None:
            sums.append(self.by_phase.setdefault(phase, Sums()))
        for each in sums:
            each.add(latency_us, limit_us=self._limit_us, fault=fault, answered=answered)
