"""The home page: what is being played and what was, and how the arena is."""

from typing import Any, Final

from starlette.responses import Response

from wakeng.services.store import Match, MatchKind
from wakeng.services.store.pages import SeatFigures
from wakeng.services.web.site import Site
from wakeng.services.web.visit import Visit

RECENT: Final = 8
A_PAGE: Final = 25


async def home(visit: Visit) -> Response:
    """The home page."""
    tournaments = await listed(visit.site, MatchKind.TOURNAMENT, RECENT)
    matches = await listed(visit.site, MatchKind.MATCH, RECENT)
    return visit.page("home.html", tournaments=tournaments["rows"], matches=matches["rows"], health=health(visit.site))


async def all_tournaments(visit: Visit) -> Response:
    """All tournaments, by pages."""
    found = await listed(visit.site, MatchKind.TOURNAMENT, A_PAGE, visit.request.query_params.get("after", ""))
    return visit.page("list.html", kind="tournament", **found)


async def all_matches(visit: Visit) -> Response:
    """All matches, by pages."""
    found = await listed(visit.site, MatchKind.MATCH, A_PAGE, visit.request.query_params.get("after", ""))
    return visit.page("list.html", kind="match", **found)


async def listed(site: Site, kind: MatchKind, most: int, token: str = "") -> dict[str, Any]:
    """A page of matches or tournaments, newest first, as rows to show."""
    page = await site.store.list_matches(most, token, kind=kind)
    hands = await site.store.pages.hands_of([match.match_id for match in page.matches])
    rows = [row(match, hands[match.match_id]) for match in page.matches]
    return {"rows": rows, "next": page.next_page_token}


def row(match: Match, hands: int) -> dict[str, Any]:
    """A match or tournament in a list."""
    asked: Any = match.spec.get("tournament", match.spec)
    bots = (
        [bot["name"] for bot in asked["bots"]] if "bots" in asked else [_bot(seat) for seat in asked.get("seats", ())]
    )
    return {
        "id": match.match_id,
        "name": asked.get("name") or match.match_id,
        "state": match.state.value,
        "preset": asked.get("rules", {}).get("preset", ""),
        "format": asked.get("format", ""),
        "bots": bots,
        "hands": hands,
        "planned": match.hands,
        "created_us": match.created_us,
    }


def _bot(seat: Any) -> str:
    if isinstance(seat, dict):
        return str(seat.get("bot") or next(iter(seat.values()), ""))
    return str(seat)


def health(site: Site) -> dict[str, Any] | None:
    """How the arena is, as far as everybody may know; None where there is none in this process."""
    if site.arena is None or site.matches is None or site.tournaments is None:
        return None
    floors = list(site.arena.floors)
    return {
        "tables": sum(floor.running for floor in floors),
        "matches": site.matches.in_play,
        "tournaments": site.tournaments.in_play,
        "bots": len({chair.seat for floor in floors for chair in floor.chairs}),
        "viewers": site.hub.viewers,
    }


def seat_rows(figures: tuple[SeatFigures, ...]) -> list[dict[str, Any]]:
    """What each seat of a match has come to."""
    return [
        {
            "seat": one.seat,
            "bot": one.bot,
            "hands": one.hands,
            "score": one.score,
            "bonus": one.task_bonus,
            "mean": one.score / one.base / one.hands if one.hands else None,
            "as_digger": one.as_digger,
            "won_as_digger": one.won_as_digger,
            "as_defender": one.as_defender,
            "won_as_defender": one.won_as_defender,
            "escapes": one.escapes,
            "faults": one.faults,
        }
        for one in figures
    ]
