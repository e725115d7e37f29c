"""A store as a writer sees it, with every batch timed for the metrics."""

import time
from collections.abc import Callable, Sequence

from wakeng.services.metrics import Metrics
from wakeng.services.store import Added, Entry, Store


class MeasuredStore:
    """Writes to the store, and tells the metrics how that went."""

    def __init__(self, store: Store, metrics: Metrics, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._metrics = metrics
        self._clock = clock

    async def add(self, entries: Sequence[Entry]) -> Added:
        """Writes entries, all or none."""
        began = self._clock()
        try:
            added = await self._store.add(entries)
        except Exception:
            self._metrics.store_failures.inc()
            raise
        self._metrics.store_write.observe(self._clock() - began)
        self._metrics.store_records.inc(len(added.written))
        return added
