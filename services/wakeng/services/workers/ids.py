"""Decision ids that no other process of an arena gives out, in whatever moment each was started."""

import time
from typing import Final

from wakeng.services.ids import Ids
from wakeng.services.workers.presence import bucket
from wakeng.services.workers.queue import Queue

_KEY: Final = "last_start"
"""Holds the second that the last process took for its own; its ids begin with it."""


async def unique_ids(queue: Queue) -> Ids:
    """Ids of this process; ids never repeat towards one bot (docs/protocol.md 4), and several processes ask it."""
    from nats.js.errors import KeyNotFoundError, KeyWrongLastSequenceError

    keys = await bucket(queue, f"{queue.options.name}_ids")
    while True:
        try:
            entry = await keys.get(_KEY)
            last, revision = int(entry.value or b"0"), entry.revision or 0
        except KeyNotFoundError:
            last, revision = 0, 0
        second = max(int(time.time()), last + 1)
        try:
            await keys.update(_KEY, str(second).encode(), last=revision)
        except KeyWrongLastSequenceError:
            continue
        return Ids(second)
