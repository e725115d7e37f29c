"""What a match comes to: a fold over its records, with the latencies of each seat beside it."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from wakeng.services.gist import Gist
from wakeng.services.histogram import Histogram

_STEPS: Final = 16
"""Buckets per doubling: a percentile is right to within 1/16 of itself."""


class Latencies:
    """Latencies in microseconds, kept as counts in buckets that grow with the value."""

    def __init__(self) -> None:
        self._histogram = Histogram(_bucket)
        self.count = 0

    def add(self, latency_us: int) -> None:
        """Count one."""
        self.update((latency_us,))

    def update(self, latencies_us: Collection[int]) -> None:
        """Count some."""
        self._histogram.add(latencies_us)
        self.count += len(latencies_us)

    def percentile(self, percent: float) -> int | None:
        """The latency that `percent` of all did not exceed (the top of its bucket), None when there are none."""
        if not self.count:
            return None
        wanted = max(1, -(-self.count * percent // 100))
        seen = 0
        for bucket, count in sorted(self._histogram.counts.items()):
            seen += count
            if seen >= wanted:
                return _TOPS[bucket]
        raise AssertionError("the counts add up")


def _top(bucket: int) -> int:
    if bucket < 2 * _STEPS:
        return bucket
    shift = bucket // _STEPS - 1
    return (bucket - shift * _STEPS + 1 << shift) - 1


_TOPS: Final = tuple(map(_top, range(64 * _STEPS)))
"""The greatest value of each bucket, beyond 2^64."""
_bucket: Final = partial(bisect_left, _TOPS)


@dataclass(slots=True)
class SeatTally:
    """One seat's sums. Scores in points, hands in hands."""

    score: int = 0
    task_bonus: int = 0
    as_digger: int = 0
    won_as_digger: int = 0
    as_defender: int = 0
    won_as_defender: int = 0
    escapes: int = 0
    decisions: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    latencies: Latencies = field(default_factory=Latencies)

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "score": self.score,
            "task_bonus": self.task_bonus,
            "hands_as_digger": self.as_digger,
            "wins_as_digger": self.won_as_digger,
            "hands_as_defender": self.as_defender,
            "wins_as_defender": self.won_as_defender,
            "escapes": self.escapes,
            "decisions": self.decisions,
            "faults": dict(sorted(self.faults.items())),
            "latency_p50_us": self.latencies.percentile(50),
            "latency_p99_us": self.latencies.percentile(99),
        }


class Tally:
    """The sums of a match, hand by hand."""

    def __init__(self, players: int) -> None:
        self.hands = 0
        self.seats = [SeatTally() for _ in range(players)]

    @classmethod
    def of(cls, players: int, records: Iterable[Mapping[str, Any]]) -> "Tally":
        """The tally of some records, in any order."""
        tally = cls(players)
        for record in records:
            tally.add(Gist.of(record))
        return tally

    @property
    def decisions(self) -> int:
        """All decisions of all seats."""
        return sum(seat.decisions for seat in self.seats)

    def add(self, gist: Gist) -> None:
        """Count one hand."""
        self.hands += 1
        result = gist.head["result"]
        for seat, score in zip(self.seats, result["scores"], strict=True):
            seat.score += score
        for seat, bonus in zip(self.seats, result.get("task_bonus", ()), strict=False):
            seat.task_bonus += bonus
        if result["winner"] == "ESCAPED":
            self.seats[result["escaped_seat"]].escapes += 1
        else:
            self._add_roles(result["digger"], digger_won=result["winner"] == "DIGGER")
        for (place, _), latencies in gist.latencies.items():
            seat = self.seats[place]
            seat.decisions += len(latencies)
            seat.latencies.update(latencies)
        for decision in gist.faults.values():
            self.seats[decision["seat"]].faults[decision["fault"]] += 1
        for fault in gist.head.get("faults", ()):
            self.seats[fault["seat"]].faults[fault["fault"]] += fault["count"]

    def _add_roles(self, digger: int, *, digger_won: bool) -> None:
        for i, seat in enumerate(self.seats):
            if i == digger:
                seat.as_digger += 1
                seat.won_as_digger += digger_won
            else:
                seat.as_defender += 1
                seat.won_as_defender += not digger_won
