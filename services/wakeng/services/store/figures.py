"""Figures that pages show of many hands, counted as the hands are recorded: no page adds up a hundred thousand of them.

By match, seat and bot there is a row of sums; by bot and phase a histogram of latencies; each fault has a row that says
where it happened. They are kept in the transaction that writes the hands, and a hand which a later attempt replaces is
taken out before the new one is counted, so that at any time they are what a count of all records would give.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import orjson
from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from wakeng.engine import PRESETS
from wakeng.services.store.rows import Entry
from wakeng.services.store.tables import SUMS, bot_latencies, hand_faults, hand_records, match_figures
from wakeng.services.store.upserts import insert_or_add, insert_or_replace

STEPS: Final = 4
"""Buckets of latency per doubling: what is read off them is right to within a quarter."""
BESIDE: Final = 1 << 16
"""Added to the number of a fault outside decisions, which then stands behind all decisions of its hand."""

Record = Mapping[str, Any]
_SeatKey = tuple[str, int, str]


class Figures:
    """The sums of some records, to be added to those in the store."""

    def __init__(self) -> None:
        self._seats: dict[_SeatKey, dict[str, Any]] = {}
        self._latencies: Counter[tuple[str, str, int]] = Counter()
        self._faults: list[dict[str, Any]] = []

    def add(self, record: Record, finished_us: int, *, times: int = 1) -> None:
        """Count a record; with `times` -1 take it out again."""
        bots = [seat["bot"] for seat in record["seats"]]
        answers = record.get("decisions", ())
        tally = self._latencies.update if times > 0 else self._latencies.subtract
        # Counted by Counter's own loop, which is in C: this is most of what figures cost the writer.
        tally([(bots[one["seat"]], one["phase"], bucket(one["latency_us"])) for one in answers])
        decisions = Counter([one["seat"] for one in answers])
        told = fault_rows(record, finished_us)
        faults = Counter([fault["seat"] for fault in told])
        if times > 0:
            self._faults += told
        for seat, bot in enumerate(bots):
            counted = {**_seat_sums(record, seat), "decisions": decisions[seat], "faults": faults[seat]}
            sums = self._sums_of(record, seat, bot)
            sums["last_us"] = finished_us
            for name, value in counted.items():
                sums[name] += times * value

    def _sums_of(self, record: Record, seat: int, bot: str) -> dict[str, Any]:
        key = (record["match_id"], seat, bot)
        if key not in self._seats:
            rules = record["rules"]
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
            {"bot": bot, "phase": phase, "bucket": bucket, "decisions": count}
            for (bot, phase, bucket), count in sorted(self._latencies.items())
            if count
        ]

    @property
    def faults(self) -> Sequence[dict[str, Any]]:
        """Rows of `hand_faults`."""
        return self._faults


def _seat_sums(record: Record, seat: int) -> dict[str, int]:
    result = record["result"]
    score: int = result["scores"][seat]
    played = result["winner"] != "ESCAPED"
    digs, digger_won = played and seat == result["digger"], result["winner"] == "DIGGER"
    defends = played and not digs
    bonus = result.get("task_bonus")
    return {
        "hands": 1,
        "score": score,
        "task_bonus": bonus[seat] if bonus else 0,
        "as_digger": digs,
        "won_as_digger": digs and digger_won,
        "digger_score": score if digs else 0,
        "as_defender": defends,
        "won_as_defender": defends and not digger_won,
        "defender_score": score if defends else 0,
        "escapes": seat == result.get("escaped_seat"),
    }


def fault_rows(record: Record, finished_us: int) -> list[dict[str, Any]]:
    """Where its faults happened: by the number of the decision, those outside decisions after all of them."""
    inside = ((n, decision) for n, decision in enumerate(record.get("decisions", ())) if "fault" in decision)
    beside = ((BESIDE + n, fault) for n, fault in enumerate(record.get("faults", ())))
    return [
        {
            "match_id": record["match_id"],
            "hand_index": record["hand_index"],
            "number": number,
            "seat": told["seat"],
            "bot": record["seats"][told["seat"]]["bot"],
            "fault": told["fault"],
            "finished_us": finished_us,
        }
        for number, told in (*inside, *beside)
    ]


@lru_cache(1 << 14)
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


async def replaced(connection: AsyncConnection, entries: Iterable[Entry]) -> dict[tuple[str, int], Record]:
    """Records that are there of hands which these entries may replace: only a later attempt ever does."""
    later: dict[str, list[int]] = {}
    for match_id, index in (entry.key for entry in entries if entry.record["attempt"]):
        later.setdefault(match_id, []).append(index)
    found: dict[tuple[str, int], Record] = {}
    for match_id, indices in later.items():
        these = hand_records.c.hand_index.in_(indices)
        query = select(hand_records.c.hand_index, hand_records.c.line).where(hand_records.c.match_id == match_id, these)
        found |= {(match_id, index): orjson.loads(line) for index, line in await connection.execute(query)}
    return found


async def count(
    connection: AsyncConnection,
    dialect: str,
    entries: Iterable[Entry],
    *,
    instead_of: Mapping[tuple[str, int], Record],
    now_us: int,
) -> None:
    """Add entries that were just written to the figures, each in place of the one that was there."""
    figures = Figures()
    for entry in entries:
        former = instead_of.get(entry.key)
        if former is not None:
            figures.add(former, now_us, times=-1)
            match_id, hand_index = entry.key
            of_hand = (hand_faults.c.match_id == match_id) & (hand_faults.c.hand_index == hand_index)
            await connection.execute(delete(hand_faults).where(of_hand))
        figures.add(entry.record, now_us)
    added = {
        insert_or_add(dialect, match_figures, SUMS): figures.seats,
        insert_or_add(dialect, bot_latencies, ("decisions",)): figures.latencies,
        insert_or_replace(dialect, hand_faults): figures.faults,
    }
    for statement, rows in added.items():
        if rows:
            await connection.execute(statement, rows)
