"""How workers share the hands that a bot may have in play: a fair division that each can compute, and none can exceed.

One value per bot says what each worker needs and holds. A worker changes its own part, in a copy of all of it, and puts
the copy in place only if nobody was there in between (leases.py); so whatever it saw is what it changed, and the parts
held never add up to more than the bot's limit:

    held of mine <= limit - sum of what the others hold

What it may take of that is its fair part: units are dealt one after another, round by round, to those who still need
one, who came first first. Where there are fewer units than workers a unit goes round: who has played a hand with it
goes to the end of the line.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import orjson


@dataclass(frozen=True, slots=True)
class Share:
    """One worker's part."""

    need: int
    """Hands it could play with the bot now."""
    held: int
    """Hands it may have in play."""
    ticket: int
    """Its place in the line; the lowest is first."""


Shares: TypeAlias = Mapping[str, Share]
"""By worker."""


def fair(shares: Shares, limit: int) -> dict[str, int]:
    """What each should hold, by need and by turns."""
    line = sorted(shares, key=lambda worker: (shares[worker].ticket, worker))
    given = dict.fromkeys(line, 0)
    left = limit
    while left > 0 and (wanting := [worker for worker in line if given[worker] < shares[worker].need]):
        least = min(shares[worker].need - given[worker] for worker in wanting)
        each = max(1, min(least, left // len(wanting)))
        for worker in wanting[: left // each]:
            given[worker] += each
            left -= each
    return given


def renewed(
    shares: Shares, me: str, *, need: int, used: int, limit: int, live: Collection[str], to_the_end: bool = False
) -> dict[str, Share]:
    """The shares once `me` has said what it needs now and what it uses, and has taken or left what is fair.

    What is held by workers that are no longer `live` is free. `to_the_end` gives one's place in the line up.
    """
    others = {worker: share for worker, share in shares.items() if worker != me and worker in live}
    if not need and not used:
        return others
    last = max((share.ticket for share in others.values()), default=0)
    mine = shares.get(me)
    ticket = last + 1 if mine is None or to_the_end else mine.ticket
    others_hold = sum(share.held for share in others.values())
    asking = {**others, me: Share(need, 0, ticket)}
    held = max(used, min(fair(asking, limit)[me], limit - others_hold))
    return {**others, me: replace(asking[me], held=held)}


def scarce(shares: Shares, limit: int) -> bool:
    """Whether there are fewer units than workers that need one."""
    return sum(share.need > 0 for share in shares.values()) > limit


def write(shares: Shares) -> bytes:
    """As it lies in the store of keys."""
    return orjson.dumps({worker: [share.need, share.held, share.ticket] for worker, share in shares.items()})


def read(data: bytes | None) -> dict[str, Share]:
    """What `write` wrote; nothing of nothing."""
    return {worker: Share(*parts) for worker, parts in orjson.loads(data or b"{}").items()}
