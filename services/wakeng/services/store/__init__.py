"""The store: matches and the records of their hands, in SQLite by default; the records' lines are the truth."""

from wakeng.services.store.recordfile import RecordFile
from wakeng.services.store.rows import Added, Entry, Match, MatchState, Page, SeatTotals
from wakeng.services.store.schema import downgrade, newest_schema
from wakeng.services.store.store import Store
from wakeng.services.store.writer import RecordWriter

__all__ = [
    "Added",
    "Entry",
    "Match",
    "MatchState",
    "Page",
    "RecordFile",
    "RecordWriter",
    "SeatTotals",
    "Store",
    "downgrade",
    "newest_schema",
]
