"""Bots: who has played, and of each its record by role and rule set, how fast it answers, and where it went wrong."""

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from wakeng.services.errors import UnknownBot
from wakeng.services.store.figures import bucket_from
from wakeng.services.store.pages import FaultLine, Sums
from wakeng.services.web.matches import told_below
from wakeng.services.web.visit import Missing, Visit

A_PAGE: Final = 100
RECENT: Final = 20
PERCENTILES: Final = (50, 90, 99, 99.9)


async def bots(visit: Visit) -> Response:
    """Everybody who has played, by name."""
    found = await visit.site.store.pages.bots(after=visit.text("after"), most=A_PAGE + 1)
    more = found[A_PAGE - 1].bot if len(found) > A_PAGE else None
    return visit.page("bots.html", bots=found[:A_PAGE], more=more)


async def bot(visit: Visit) -> Response:
    """One bot."""
    name, pages = visit.asked("name"), visit.site.store.pages
    record = await pages.record_of(name)
    if not record:
        raise Missing(visit.say("No bot of that name has played here."))
    latencies = await pages.latencies_of(name)
    played = await pages.matches_of(name, RECENT)
    last = await visit.site.store.get_match(played[0].match_id)
    recent = await pages.hands_of_bot(name, last.match_id, most=RECENT, below=await told_below(visit, last))
    return visit.page(
        "bot.html",
        name=name,
        registered=await _registered(visit, name),
        record=[{"preset": preset, "base": base, **_line(sums, base)} for (preset, base), sums in record.items()],
        total=_total(record),
        phases=[{"phase": phase, **_percentiles(counts)} for phase, counts in sorted(latencies.items())],
        histogram=_histogram(_together(latencies)),
        faults=await _faults(visit, name),
        played=await _matches(visit, played),
        recent=recent,
        seats=[hand.bots.index(name) for hand in recent],
    )


async def _registered(visit: Visit, name: str) -> Any:
    try:
        return await visit.site.store.bots.get(name)
    except UnknownBot:
        return None


async def _faults(visit: Visit, name: str) -> list[FaultLine]:
    """Its latest faults, as far as the hands that they happened in are told of."""
    found = await visit.site.store.pages.faults_of(name, RECENT)
    ids = {fault.match_id for fault in found}
    below = {one: await told_below(visit, await visit.site.store.get_match(one)) for one in ids}
    return [fault for fault in found if fault.hand_index < below[fault.match_id]]


async def _matches(visit: Visit, played: Any) -> list[dict[str, Any]]:
    """Its latest matches, each once."""
    found: dict[str, dict[str, Any]] = {}
    for one in played:
        line = found.setdefault(one.match_id, {"id": one.match_id, "preset": one.preset, "hands": 0, "score": 0.0})
        line["hands"] += one.hands
        line["score"] += one.score / one.base
        line["last_us"] = one.last_us
    for match_id, line in found.items():
        match = await visit.site.store.get_match(match_id)
        line["kind"] = match.kind.value
        line["name"] = match.spec.get("tournament", match.spec).get("name") or match_id
    return list(found.values())


def _line(sums: Sums, base: int) -> dict[str, Any]:
    return {
        "hands": sums.hands,
        "mean": sums.score / base / sums.hands,
        "as_digger": sums.as_digger,
        "won_as_digger": sums.won_as_digger,
        "digger_mean": sums.digger_score / base / sums.as_digger if sums.as_digger else None,
        "as_defender": sums.as_defender,
        "won_as_defender": sums.won_as_defender,
        "defender_mean": sums.defender_score / base / sums.as_defender if sums.as_defender else None,
        "escapes": sums.escapes,
        "faults": sums.faults,
    }


def _total(record: Mapping[Any, Sums]) -> dict[str, int]:
    names = ("hands", "decisions", "faults", "escapes")
    return {name: sum(getattr(sums, name) for sums in record.values()) for name in names}


# Latencies ----------------------------------------------------------------------------------------------------------


def _together(latencies: Mapping[str, Mapping[int, int]]) -> dict[int, int]:
    found: dict[int, int] = {}
    for counts in latencies.values():
        for bucket, count in counts.items():
            found[bucket] = found.get(bucket, 0) + count
    return dict(sorted(found.items()))


def _percentiles(counts: Mapping[int, int]) -> dict[str, Any]:
    return {"decisions": sum(counts.values()), "at": [percentile(counts, percent) for percent in PERCENTILES]}


def percentile(counts: Mapping[int, int], percent: float) -> float:
    """The latency that so many did not exceed, read off the buckets as if each were evenly filled."""
    wanted = sum(counts.values()) * percent / 100
    seen = 0
    for bucket, count in sorted(counts.items()):
        if seen + count >= wanted:
            low, high = bucket_from(bucket), bucket_from(bucket + 1)
            return low + (high - low) * (wanted - seen) / count
        seen += count
    raise AssertionError("the counts add up")


def _histogram(counts: Mapping[int, int]) -> dict[str, Any] | None:
    """Bars from the first bucket to the last, the empty ones between them too."""
    if not counts:
        return None
    numbers = range(min(counts), max(counts) + 1)
    most = max(counts.values())
    bars = [
        {
            "from": bucket_from(number),
            "to": bucket_from(number + 1),
            "count": counts.get(number, 0),
            "height": round(100 * counts.get(number, 0) / most, 2),
        }
        for number in numbers
    ]
    marks = [n for n, bar in enumerate(bars) if n % max(1, len(bars) // 6) == 0]
    return {"bars": bars, "marks": marks, "at": [(percent, percentile(counts, percent)) for percent in PERCENTILES]}
