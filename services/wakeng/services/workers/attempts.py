"""When a block is given up: what its deliveries to workers came to.

A worker that dies takes all the blocks down that it held, and one of them may be why it died. So a loss alone proves
nothing against a block. The server counts deliveries; a block that was delivered often without being played to its end,
and not given back either, is *suspect*: a worker plays it while no other suspect is in play there, having noted before
that it tries. What fails then has failed by itself. Blocks that were merely in the same boat pass, and their note is
taken back.
"""

from dataclasses import replace
from typing import Final

from wakeng.services.store import BlockAttempts

MOST_ATTEMPTS: Final = 3
SUSPECT_AFTER: Final = 2
"""Deliveries that came to nothing."""
_SILENT: Final = "its worker fell silent"


def suspect(known: BlockAttempts, deliveries: int) -> bool:
    """Whether the block, in its `deliveries`-th delivery, is to be tried by itself."""
    return known.failures > 0 or deliveries - 1 - known.given_back >= SUSPECT_AFTER


def judged(known: BlockAttempts, *, most: int) -> BlockAttempts | None:
    """None while the block may be tried again; else that it is given up, and why."""
    if known.failures < most:
        return None
    attempts = f"{known.failures} attempt{'s' if known.failures > 1 else ''}"
    return replace(known, dead=True, reason=f"{attempts} failed, the last because {known.reason}")


def tried(known: BlockAttempts) -> BlockAttempts:
    """An attempt at a suspect begins, and has failed unless something else is heard of it."""
    return replace(known, failures=known.failures + 1, reason=_SILENT)


def passed(known: BlockAttempts) -> BlockAttempts:
    """The attempt has not failed after all."""
    return replace(known, failures=max(0, known.failures - 1))


def failed(known: BlockAttempts, reason: str, *, noted: bool) -> BlockAttempts:
    """An attempt has failed for a reason of the block's own; `noted` says that it was noted when it began."""
    return replace(known, failures=known.failures + (not noted), reason=reason)


def given_back(known: BlockAttempts) -> BlockAttempts:
    """A worker ends in order, for no fault of the block's."""
    return replace(known, given_back=known.given_back + 1)
