"""The store: matches, the records of their hands, bots and tokens, in SQLite or PostgreSQL; the lines are the truth."""

from wakeng.services.store.attempts import BlockAttempts
from wakeng.services.store.bots import BotPage, NewBot, RegisteredBot
from wakeng.services.store.careers import BotHand, BotHandPage, Career, HandRole, Sums
from wakeng.services.store.pruning import Doomed, Retention
from wakeng.services.store.recordfile import RecordFile
from wakeng.services.store.retries import Patience
from wakeng.services.store.rows import Added, Entry, Match, MatchKind, MatchState, Page, SeatTotals
from wakeng.services.store.schema import downgrade, newest_schema
from wakeng.services.store.store import Store
from wakeng.services.store.tokens import Role, StoredToken
from wakeng.services.store.writer import RecordWriter

__all__ = [
    "Added",
    "BlockAttempts",
    "BotHand",
    "BotHandPage",
    "BotPage",
    "Career",
    "Doomed",
    "Entry",
    "HandRole",
    "Match",
    "MatchKind",
    "MatchState",
    "NewBot",
    "Page",
    "Patience",
    "RecordFile",
    "RecordWriter",
    "RegisteredBot",
    "Retention",
    "Role",
    "SeatTotals",
    "Store",
    "StoredToken",
    "Sums",
    "downgrade",
    "newest_schema",
]
