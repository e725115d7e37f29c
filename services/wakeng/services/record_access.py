"""Who may read which records: they show every card, and what bots noted for their authors.

Of a match: everyone once it is over, before that those who take part in it, that is its owner and the owners of the
registered bots it seats. Of a tournament the same; but while it goes on, the hands of a block are for nobody but admins
before the block is complete, since the others of its hands are played on the same deal.
"""

from collections.abc import AsyncIterator, Sequence

import orjson

from wakeng.services.auth import Caller
from wakeng.services.errors import UnknownBot
from wakeng.services.spec import MatchSpec, SeatKind, SeatSpec
from wakeng.services.store import Match, MatchKind, Store
from wakeng.services.tournament.run import stored


class Private(Exception):
    """The records are not for who asks; the message says for whom, or from when on."""


async def check_may_read(store: Store, match: Match, who: Caller) -> None:
    """Private if no record of the match is for him yet."""
    if match.state.final or who.owns(match.spec["owner"]):
        return
    for seat in _seats(match):
        if seat.kind is SeatKind.REGISTERED and who.owns(await _owner_of(store, seat.bot)):
            return
    raise Private(f"the records of a {match.kind.value} that goes on are for those who take part in it")


async def record(store: Store, match: Match, hand_index: int, who: Caller) -> bytes | None:
    """The record of a hand, None while there is none; Private if its block is not complete."""
    await check_may_read(store, match, who)
    if _by_blocks(match, who):
        size = stored(match).spec.hands_per_block
        first = hand_index - hand_index % size
        if await store.count_hands(match.match_id, first=first, last=first + size - 1) < size:
            raise Private("the hands of a block are private until all of them are played")
    return await store.get_record(match.match_id, hand_index)


async def records(store: Store, match: Match, from_hand_index: int, who: Caller) -> AsyncIterator[bytes]:
    """The records from a hand on that are for him, in the order of hands: those of complete blocks."""
    await check_may_read(store, match, who)
    if not _by_blocks(match, who):
        async for line in store.records(match.match_id, from_hand_index):
            yield line
        return
    size = stored(match).spec.hands_per_block
    block: list[tuple[int, bytes]] = []
    async for line in store.records(match.match_id, from_hand_index - from_hand_index % size):
        index: int = orjson.loads(line)["hand_index"]
        if block and block[0][0] // size != index // size:
            block.clear()
        block.append((index, line))
        if len(block) == size:
            for at, whole in block:
                if at >= from_hand_index:
                    yield whole
            block.clear()


def _by_blocks(match: Match, who: Caller) -> bool:
    return match.kind is MatchKind.TOURNAMENT and not match.state.final and not who.admin


def _seats(match: Match) -> Sequence[SeatSpec]:
    if match.kind is MatchKind.TOURNAMENT:
        return [bot.seat for bot in stored(match).spec.bots]
    return MatchSpec.from_dict(match.spec, match_id=match.match_id, seed=bytes.fromhex(match.seed)).seats


async def _owner_of(store: Store, bot: str) -> str:
    try:
        return (await store.bots.get(bot)).owner
    except UnknownBot:
        return ""
