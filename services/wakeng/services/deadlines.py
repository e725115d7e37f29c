"""One heap of deadlines for the whole process, with one timer of the event loop.

A deadline is never cancelled. Who is answered in time says so by what the deadline hangs on, and an entry that nothing
hangs on any more is dropped when it comes to the front of the heap, long before it would fall due: the heap holds what
is awaited and little more, and the timer does not go off for answers that have come. That matters beyond the memory.
uvloop's timers count whole milliseconds, and one that is due within half of one has the loop spin until then; a timer
for each of a few thousand answers a second would keep it spinning.
"""

import asyncio
import heapq
from collections.abc import Callable, Collection
from itertools import count
from typing import Final

_ALWAYS: Final = (None,)


class Deadlines:
    """Calls back at or after a moment of its clock (monotonic, seconds).

    The clock is the loop's own by default. uvloop's counts whole milliseconds, too coarse to measure a bot by, so
    an arena gives a finer one of the same epoch.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, clock: Callable[[], float] | None = None) -> None:
        self.clock = clock or loop.time
        self._loop = loop
        self._heap: list[tuple[float, int, Collection[object], Callable[[float], None]]] = []
        self._order = count()
        self._timer: asyncio.Handle | None = None
        self._due = 0.0
        """When the timer goes off; uvloop's does not say."""

    def add(self, when: float, callback: Callable[[float], None], awaited: Collection[object] = _ALWAYS) -> None:
        """Call `callback(when)` once at or after `when`; how late it is called is the lag of the arena's own loop.

        It is not called if `awaited`, what it is the deadline of, is empty by then.
        """
        self._drop_answered()
        heapq.heappush(self._heap, (when, next(self._order), awaited, callback))
        if self._heap[0][0] == when:
            self._arm(when)

    def _drop_answered(self) -> None:
        while self._heap and not self._heap[0][2]:
            heapq.heappop(self._heap)

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
            when, _, awaited, callback = heapq.heappop(self._heap)
            if awaited:
                callback(when)
        self._drop_answered()
        if self._heap:
            self._arm(self._heap[0][0])

    def close(self) -> None:
        """Forget everything."""
        if self._timer is not None:
            self._timer.cancel()
        self._heap.clear()
