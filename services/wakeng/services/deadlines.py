"""One heap of deadlines for the whole process, with one timer of the event loop.

A deadline is never cancelled: who is answered in time forgets it, and is asked in vain when it falls due. So an
answered decision costs nothing here, and a message of decisions costs one entry, whatever their number. The heap
holds entries for as long as the longest budget only.
"""

import asyncio
import heapq
from collections.abc import Callable
from itertools import count


class Deadlines:
    """Calls back at or after a moment of its clock (monotonic, seconds).

    The clock is the loop's own by default. uvloop's counts whole milliseconds, too coarse to measure a bot by, so
    an arena gives a finer one of the same epoch.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, clock: Callable[[], float] | None = None) -> None:
        self.clock = clock or loop.time
        self._loop = loop
        self._heap: list[tuple[float, int, Callable[[float], None]]] = []
        self._order = count()
        self._timer: asyncio.Handle | None = None
        self._due = 0.0
        """When the timer goes off; uvloop's does not say."""

    def add(self, when: float, callback: Callable[[float], None]) -> None:
        """Call `callback(when)` once at or after `when`; how late it is called is the lag of the arena's own loop."""
        heapq.heappush(self._heap, (when, next(self._order), callback))
        if self._heap[0][0] == when:
            self._arm(when)

    def _arm(self, when: float) -> None:
        if self._timer is not None:
            if self._due <= when:
                return
            self._timer.cancel()
        self._due = when
        self._timer = self._loop.call_later(max(0.0, when - self.clock()), self._fire)

    def _fire(self) -> None:
        self._timer = None
        now = self.clock()
        while self._heap and self._heap[0][0] <= now:
            when, _, callback = heapq.heappop(self._heap)
            callback(when)
        if self._heap:
            self._arm(self._heap[0][0])

    def close(self) -> None:
        """Forget everything."""
        if self._timer is not None:
            self._timer.cancel()
        self._heap.clear()
