"""Counts of values by bucket, for values that come in dozens and are looked at seldom."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

_MOST_WAITING: Final = 4096


class Histogram:
    """How many values fell into each bucket.

    Values wait until there are many. Those of a message's answers are equal, and equal ones are counted in C and put
    into their bucket together.
    """

    __slots__ = ("_bucket", "_counts", "_waiting")

    def __init__(self, bucket: Callable[[int], int]) -> None:
        self._bucket = bucket
        self._counts: Counter[int] = Counter()
        self._waiting: list[int] = []

    def add(self, values: Iterable[int]) -> None:
        """Count some."""
        self._waiting += values
        if len(self._waiting) > _MOST_WAITING:
            self._count()

    def take_out(self, values: Iterable[int]) -> None:
        """Count some no longer."""
        self._counts.subtract(map(self._bucket, values))

    @property
    def counts(self) -> Counter[int]:
        """By bucket."""
        self._count()
        return self._counts

    def _count(self) -> None:
        fresh = Counter(self._waiting)
        for bucket, times in zip(map(self._bucket, fresh), fresh.values(), strict=True):
            self._counts[bucket] += times
        self._waiting.clear()
