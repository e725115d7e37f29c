"""How often somebody may call: token buckets, a bounded number of them.

A bucket holds `burst` calls, fills by `rate` a second, and is remembered only while it is not full: one that is full
says no more than one that was never used. So forgetting costs nothing, but where more callers than `most` have called
of late the one who called longest ago is forgotten early, and may call again at once.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final

RATE: Final = 50.0
BURST: Final = 200.0
MOST_TRACKED: Final = 10_000


class RateLimit:
    """Buckets by caller."""

    def __init__(
        self, clock: Callable[[], float], *, rate: float = RATE, burst: float = BURST, most: int = MOST_TRACKED
    ) -> None:
        """`clock` gives seconds and never goes back; `rate` is calls a second, `burst` calls at once."""
        self._clock = clock
        self._rate = rate
        self._burst = burst
        self._most = most
        self._empty: OrderedDict[Hashable, float] = OrderedDict()
        """By caller, the one called longest ago first, when the bucket would be empty had it always filled."""

    def __len__(self) -> int:
        """How many are remembered."""
        return len(self._empty)

    def __contains__(self, caller: Hashable) -> bool:
        """Whether somebody is remembered."""
        return caller in self._empty

    def take(self, caller: Hashable) -> float:
        """One call: 0 if it may be made, else the seconds until one may; a call refused costs nothing."""
        now = self._clock()
        empty = max(self._empty.get(caller, now - self._burst / self._rate), now - self._burst / self._rate)
        if (wait := empty + 1 / self._rate - now) > 1e-9:
            return wait
        self._empty[caller] = empty + 1 / self._rate
        self._empty.move_to_end(caller)
        self._forget(now)
        return 0.0

    def wait(self, caller: Hashable) -> float:
        """What `take` would say, without the call."""
        empty = self._empty.get(caller)
        return 0.0 if empty is None else max(0.0, empty + 1 / self._rate - self._clock())

    def _forget(self, now: float) -> None:
        # Two at most at a time, which is one more than can have come: so it shrinks, and no call pays for many.
        for _ in range(2):
            caller, empty = next(iter(self._empty.items()))
            if len(self._empty) <= self._most and empty > now - self._burst / self._rate:
                return
            if len(self._empty) > 1:
                del self._empty[caller]
