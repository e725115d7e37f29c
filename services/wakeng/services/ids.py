"""The ids of decisions: whatever happens to the arena, none names two questions to one bot."""

from typing import Final

_EPOCH: Final = 1_700_000_000
"""Ids begin with the seconds since then, so that they stay below 2^63."""


class Ids:
    """Decision ids: they never repeat towards one bot, across restarts of the arena either."""

    def __init__(self, wall_clock_s: int) -> None:
        self._next = (max(1, wall_clock_s - _EPOCH) << 35) + 1

    def __call__(self, count: int = 1) -> int:
        """The first of so many in a row."""
        first = self._next
        self._next += count
        return first
