"""A tournament's pages: the standings with their intervals, the cross-table, roles, the course of the scores, hands."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from starlette.responses import Response

from wakeng.services.store import Match, MatchKind
from wakeng.services.tournament.run import Stored, stored
from wakeng.services.web.home import row
from wakeng.services.web.hub import News
from wakeng.services.web.matches import faults, hands_page
from wakeng.services.web.scales import Scale
from wakeng.services.web.site import Site
from wakeng.services.web.visit import Missing, Visit

MOST_CROSSED: Final = 16
"""Bots of a cross-table that is drawn; one of more would be wider than any page."""
_BAR: Final = 240
"""Width of an interval's picture, in its own units."""


async def tournament(visit: Visit) -> Response:
    """One tournament."""
    match = await _tournament(visit)
    board = await _board(visit.site, match)
    hands = await hands_page(visit, match)
    latest = await faults(visit, match)
    return visit.page("tournament.html", match=match, faults=latest, **board, **hands)


async def live(visit: Visit) -> Response:
    """A tournament's standings as they change, for a page that stays open."""
    match = await _tournament(visit)
    match_id = match.match_id

    async def make() -> News:
        now = await visit.site.store.get_match(match_id)
        board = await _board(visit.site, now)
        events = ((name, visit.render(f"tournament_{name}.html", match=now, **board)) for name in ("progress", "board"))
        return News(tuple(events), over=now.state.final and not board["making"])

    return visit.news(("tournament", match_id), make)


async def _tournament(visit: Visit) -> Match:
    match = await visit.match()
    if match.kind is not MatchKind.TOURNAMENT:
        raise Missing(visit.say("There is no match or tournament of that name."))
    return match


async def _board(site: Site, match: Match) -> dict[str, Any]:
    """All of a tournament that changes while it is played."""
    kept = await site.standings(match)
    hands = (await site.store.pages.hands_of([match.match_id]))[match.match_id]
    making = site.making(match.match_id)
    told: dict[str, Any] = {
        "row": row(match, hands),
        "making": making,
        "progress": _progress(stored(match), hands, kept),
    }
    if kept is None:
        return {**told, "standings": None, "groups": [], "crossed": [], "roles": [], "series": None, "sprt": None}
    found = kept.standings
    return {
        **told,
        "standings": found,
        "groups": _groups(found["groups"]),
        "crossed": _crossed(found),
        "roles": _roles(found),
        "series": kept.series if len(kept.series["blocks"]) > 1 else None,
        "sprt": found["sprt"],
    }


def _progress(tournament: Stored, hands: int, kept: Any) -> dict[str, Any]:
    """How far it is."""
    spec = tournament.spec
    planned = spec.planned_blocks
    prefix = kept.standings["prefix"] if kept is not None else 0
    whole = (planned or 0) * spec.hands_per_block
    return {
        "planned": planned,
        "prefix": prefix,
        "hands": hands,
        "whole": whole,
        "counted": min(100.0, 100 * prefix / planned) if planned else 0.0,
        "played": min(100.0, 100 * hands / whole) if whole else 0.0,
    }


def _groups(groups: Sequence[Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Rows with their intervals as pictures on one scale for all."""
    ends = [
        value
        for group in groups
        for line in group
        for value in (line["low"], line["high"], line["f"])
        if value is not None
    ]
    scale = Scale.over(ends, width=_BAR)
    return [{"rows": [{**line, "bar": _bar(line, scale)} for line in group], "scale": scale} for group in groups]


def _bar(line: Mapping[str, Any], scale: Scale) -> dict[str, Any] | None:
    if line["f"] is None:
        return None
    at = scale.at(line["f"])
    ends = (scale.at(line["low"]), scale.at(line["high"])) if line["low"] is not None else (at, at)
    return {"at": at, "low": ends[0], "width": max(0.0, ends[1] - ends[0]), "certain": line["low"] is not None}


def _crossed(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The cross-table in the order of the ranks."""
    table = found["cross_table"]
    bots = [line["bot"] for group in found["groups"] for line in group][:MOST_CROSSED]
    if not table:
        return []
    cells = [[table.get(bot, {}).get(other) for other in bots] for bot in bots]
    most = max((abs(cell["mean"]) for line in cells for cell in line if cell and cell["mean"] is not None), default=0)
    return [{"bot": bot, "cells": line, "most": most} for bot, line in zip(bots, cells, strict=True)]


def _roles(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Strengths by role, with what each bot does as the one and the other."""
    strengths = found["roles"]["bots"]
    lines = [line for group in found["groups"] for line in group]
    ends = [value for one in strengths.values() for value in (one["digger"], one["defender"]) if value is not None]
    scale = Scale.over(ends, width=120)
    return [
        {
            **line,
            **{name: strengths[line["bot"]][name] for name in ("digger", "digger_se", "defender", "defender_se")},
            "scale": scale,
        }
        for line in lines
        if line["bot"] in strengths
    ]
