"""A match's pages: what each seat has come to, its hands, and the table as it is played."""

from typing import Any, Final

import orjson
from starlette.responses import Response

from wakeng.engine import Hand
from wakeng.services import record_access
from wakeng.services.arena import MatchRun
from wakeng.services.spec import MatchSpec
from wakeng.services.store import Match, MatchKind
from wakeng.services.store.pages import NO_END
from wakeng.services.tournament.run import stored
from wakeng.services.web.frames import live_frame
from wakeng.services.web.home import row, seat_rows
from wakeng.services.web.hub import News
from wakeng.services.web.visit import Missing, Visit

A_PAGE: Final = 25
"""Hands of a list."""
MOST_FAULTS: Final = 12
"""Faults of a list."""


async def match(visit: Visit) -> Response:
    """One match."""
    found = await _match(visit)
    told = await _board(visit, found)
    hands = await hands_page(visit, found)
    readable = await may_read(visit, found)
    return visit.page("match.html", **told, **hands, faults=await faults(visit, found), readable=readable)


async def table(visit: Visit) -> Response:
    """The table of a match as it is played."""
    found = await _match(visit)
    return visit.page("live.html", **await _board(visit, found), here=visit.site.run_of(found.match_id) is not None)


async def live(visit: Visit) -> Response:
    """What the pages of a match that stay open are told: the seats' sums, and the table."""
    match_id = (await _match(visit)).match_id
    follower = _Follower()

    async def make() -> News:
        now = await visit.site.store.get_match(match_id)
        run = visit.site.run_of(match_id)
        sums = visit.render("match_board.html", **await _board(visit, now))
        events = [("board", sums)]
        if run is not None and (shown := follower.shown(run)) is not None:
            index, hand = shown
            frame = {
                "hand": index,
                "seats": [{"bot": seat.bot} for seat in run.spec.seats],
                **live_frame(hand, visit.say),
            }
            events.append(("table", orjson.dumps(frame).decode()))
        return News(tuple(events), over=now.state.final)

    return visit.news(("match", match_id), make)


class _Follower:
    """Which of the hands in play is shown: one to its end, then the next that is there."""

    def __init__(self) -> None:
        self._index = -1

    def shown(self, run: MatchRun) -> tuple[int, Hand] | None:
        if run.runner is None:
            return None
        in_play = {table.spec.hand_index: table.hand for table in run.runner.floor.tables}
        if not in_play:
            return None
        if self._index not in in_play:
            self._index = min(in_play)
        return self._index, in_play[self._index]


async def _match(visit: Visit) -> Match:
    found = await visit.match()
    if found.kind is not MatchKind.MATCH:
        raise Missing(visit.say("There is no match or tournament of that name."))
    return found


async def _board(visit: Visit, found: Match) -> dict[str, Any]:
    """All of a match that changes while it is played."""
    figures = await visit.site.store.pages.seats_of(found.match_id)
    hands = sum(one.hands for one in figures if one.seat == 0)
    spec = MatchSpec.from_dict(found.spec, match_id=found.match_id, seed=bytes.fromhex(found.seed))
    return {
        "match": found,
        "spec": spec,
        "row": row(found, hands),
        "seats": seat_rows(figures),
        "base": spec.rules.base,
        "in_play": visit.site.run_of(found.match_id) is not None,
    }


async def hands_page(visit: Visit, found: Match) -> dict[str, Any]:
    """A page of the hands of a match or tournament."""
    first = visit.number("from")
    below = await told_below(visit, found)
    hands = await visit.site.store.pages.hands(found.match_id, first=first, most=A_PAGE + 1, below=below)
    more = hands[A_PAGE].hand_index if len(hands) > A_PAGE else None
    return {"hands": hands[:A_PAGE], "first": first, "more": more, "before": max(0, first - A_PAGE) if first else None}


async def faults(visit: Visit, found: Match) -> Any:
    """Its latest faults."""
    below = await told_below(visit, found)
    return await visit.site.store.pages.faults_in(found.match_id, MOST_FAULTS, below=below)


async def told_below(visit: Visit, found: Match) -> int:
    """The index below which hands are told of.

    While a tournament goes on that is the end of the completed prefix, but for admins: other hands of a block are
    played on the same deal, and even a result says something of it.
    """
    if found.kind is not MatchKind.TOURNAMENT or found.state.final or visit.who.admin:
        return NO_END
    kept = await visit.site.store.pages.standings_of(found.match_id)
    return 0 if kept is None else int(kept.standings["prefix"]) * stored(found).spec.hands_per_block


async def may_read(visit: Visit, found: Match) -> bool:
    """Whether its records are for who looks; of a tournament's blocks that are not complete another word is said."""
    try:
        await record_access.check_may_read(visit.site.store, found, visit.who)
    except record_access.Private:
        return False
    return True
