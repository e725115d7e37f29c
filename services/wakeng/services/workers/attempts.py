"""When a block is given up: how often it was handed to a worker that failed at it or was never heard of again.

The server counts deliveries. Those that ended with a word are in the store: the worker failed and said why, or gave the
block back because it was itself to end. All others were lost, and their worker with them.
"""

from dataclasses import replace
from typing import Final

from wakeng.services.store import BlockAttempts

MOST_ATTEMPTS: Final = 5


def lost(known: BlockAttempts, deliveries: int) -> int:
    """Deliveries before this one, its `deliveries`-th, of which nobody has heard."""
    return max(0, deliveries - 1 - known.failures - known.given_back)


def judged(known: BlockAttempts, deliveries: int, *, most: int) -> BlockAttempts | None:
    """None while the block may be tried again; else that it is given up, and why."""
    silent = lost(known, deliveries)
    if known.failures + silent < most:
        return None
    told = []
    if silent:
        told.append(f"{silent} worker{'s' if silent > 1 else ''} fell silent while playing it")
    if known.failures:
        told.append(f"{known.failures} attempt{'s' if known.failures > 1 else ''} failed, the last by {known.reason}")
    return replace(known, dead=True, reason="; ".join(told))


def failed(known: BlockAttempts, reason: str) -> BlockAttempts:
    """One more attempt has failed."""
    return replace(known, failures=known.failures + 1, reason=reason)


def given_back(known: BlockAttempts) -> BlockAttempts:
    """A worker ends, or cannot go on, for no fault of the block's."""
    return replace(known, given_back=known.given_back + 1)
