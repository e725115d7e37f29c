"""Figures that pages show of many hands, counted as the hands are recorded: no page adds up a hundred thousand of them.

By match, seat and bot there is a row of sums; by bot and phase a histogram of latencies; each fault has a row that says
where it happened. They are kept in the transaction that writes the hands, and a hand which a later attempt replaces is
taken out before the new one is counted, so that at any time they are what a count of all records would give.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import orjson
from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from wakeng.engine import PRESETS
from wakeng.services.gist import Gist
from wakeng.services.histogram import Histogram
from wakeng.services.store.rows import Entry, Key
from wakeng.services.store.tables import SUMS, bot_latencies, hand_faults, hand_records, match_figures
from wakeng.services.store.upserts import insert_or_add, insert_or_replace, write

STEPS: Final = 4
"""Buckets of latency per doubling: what is read off them is right to within a quarter."""
BESIDE: Final = 1 << 16
"""Added to the number of a fault outside decisions, which then stands behind all decisions of its hand."""

_SeatKey = tuple[str, int, str]


class Figures:
    """The sums of some records, to be added to those in the store."""

    def __init__(self) -> None:
        self._seats: dict[_SeatKey, dict[str, Any]] = {}
        self._latencies: defaultdict[tuple[str, str], Histogram] = defaultdict(partial(Histogram, bucket))
        self._faults: list[dict[str, Any]] = []

    def add(self, gist: Gist, finished_us: int) -> None:
        """Count a record."""
        bots = [seat["bot"] for seat in gist.head["seats"]]
        for (seat, phase), took in gist.latencies.items():
            self._latencies[bots[seat], phase].add(took)
        self._faults += fault_rows(gist, finished_us)
        self._add_sums(gist, finished_us, times=1)

    def take_out(self, gist: Gist, finished_us: int) -> None:
        """Count a record no longer; its faults are for the caller to take out."""
        bots = [seat["bot"] for seat in gist.head["seats"]]
        for (seat, phase), took in gist.latencies.items():
            self._latencies[bots[seat], phase].take_out(took)
        self._add_sums(gist, finished_us, times=-1)

    def _add_sums(self, gist: Gist, finished_us: int, *, times: int) -> None:
        head = gist.head
        result, bonus = head["result"], head["result"].get("task_bonus")
        played, digger_won = result["winner"] != "ESCAPED", result["winner"] == "DIGGER"
        each = [self._sums_of(head, seat, who["bot"]) for seat, who in enumerate(head["seats"])]
        for seat, (sums, score) in enumerate(zip(each, result["scores"], strict=True)):
            sums["last_us"] = finished_us
            sums["hands"] += times
            sums["score"] += times * score
            if bonus:
                sums["task_bonus"] += times * bonus[seat]
            if played:
                digs = seat == result["digger"]
                role = "digger" if digs else "defender"
                sums[f"as_{role}"] += times
                sums[f"won_as_{role}"] += times * (digs is digger_won)
                sums[f"{role}_score"] += times * score
        for (seat, _), took in gist.latencies.items():
            each[seat]["decisions"] += times * len(took)
        for fault in (*gist.faults.values(), *head.get("faults", ())):
            each[fault["seat"]]["faults"] += times
        if not played:
            each[result["escaped_seat"]]["escapes"] += times

    def _sums_of(self, head: Mapping[str, Any], seat: int, bot: str) -> dict[str, Any]:
        key = (head["match_id"], seat, bot)
        if key not in self._seats:
            rules = head["rules"]
            base = rules.get("base", PRESETS[rules["preset"]].base)
            self._seats[key] = {"preset": rules["preset"], "base": base, **dict.fromkeys(SUMS, 0)}
        return self._seats[key]

    @property
    def seats(self) -> list[dict[str, Any]]:
        """Rows of `match_figures`. Writers who meet go the same way: all rows are in the order of their keys."""
        return [
            {"match_id": match_id, "seat": seat, "bot": bot, **self._seats[match_id, seat, bot]}
            for match_id, seat, bot in sorted(self._seats)
        ]

    @property
    def latencies(self) -> list[dict[str, Any]]:
        """Rows of `bot_latencies`."""
        return [
            {"bot": bot, "phase": phase, "bucket": number, "decisions": count}
            for (bot, phase), histogram in sorted(self._latencies.items())
            for number, count in sorted(histogram.counts.items())
            if count
        ]

    @property
    def faults(self) -> Sequence[dict[str, Any]]:
        """Rows of `hand_faults`."""
        return self._faults


def fault_rows(gist: Gist, finished_us: int) -> list[dict[str, Any]]:
    """Where its faults happened: by the number of the decision, those outside decisions after all of them."""
    head = gist.head
    beside = enumerate(head.get("faults", ()), BESIDE)
    return [
        {
            "match_id": head["match_id"],
            "hand_index": head["hand_index"],
            "number": number,
            "seat": told["seat"],
            "bot": head["seats"][told["seat"]]["bot"],
            "fault": told["fault"],
            "finished_us": finished_us,
        }
        for number, told in (*gist.faults.items(), *beside)
    ]


def bucket(latency_us: int) -> int:
    """Which bucket of a histogram a latency falls into."""
    if latency_us < STEPS:
        return latency_us
    shift = latency_us.bit_length() - STEPS.bit_length()
    return shift * STEPS + (latency_us >> shift)


def bucket_from(number: int) -> int:
    """The least latency of a bucket; that of the next is the first beyond it."""
    if number < 2 * STEPS:
        return number
    shift = number // STEPS - 1
    return number - shift * STEPS << shift


async def replaced(connection: AsyncConnection, entries: Iterable[Entry]) -> dict[Key, Gist]:
    """Records that are there of hands which these entries may replace: only a later attempt ever does."""
    later: dict[str, list[int]] = {}
    for match_id, index in (entry.key for entry in entries if entry.attempt):
        later.setdefault(match_id, []).append(index)
    found: dict[Key, Gist] = {}
    for match_id, indices in later.items():
        these = hand_records.c.hand_index.in_(indices)
        query = select(hand_records.c.hand_index, hand_records.c.line).where(hand_records.c.match_id == match_id, these)
        for index, line in await connection.execute(query):
            found[match_id, index] = Gist.of(orjson.loads(line))
    return found


async def count(
    connection: AsyncConnection,
    dialect: str,
    entries: Iterable[Entry],
    *,
    instead_of: Mapping[Key, Gist],
    now_us: int,
) -> None:
    """Add entries that were just written to the figures, each in place of the one that was there."""
    figures = Figures()
    for entry in entries:
        former = instead_of.get(entry.key)
        if former is not None:
            figures.take_out(former, now_us)
            match_id, hand_index = entry.key
            of_hand = (hand_faults.c.match_id == match_id) & (hand_faults.c.hand_index == hand_index)
            await connection.execute(delete(hand_faults).where(of_hand))
        figures.add(entry.gist, now_us)
    await write(connection, insert_or_add(dialect, match_figures, SUMS), figures.seats)
    await write(connection, insert_or_add(dialect, bot_latencies, ("decisions",)), figures.latencies)
    await write(connection, insert_or_replace(dialect, hand_faults), figures.faults)
