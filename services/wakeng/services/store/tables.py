"""The store's tables, in what SQLite and PostgreSQL both understand. A change here needs a migration of its own."""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

# Constraints bear names, the same on every database, so that a migration can speak of them.
NAMES: Final = {
    "ix": "ix_%(table_name)s_%(column_0_name)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "fk": "fk_%(table_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}

# Compared by the codes of its letters on every database, whatever language an installation of PostgreSQL speaks.
TEXT: Final = Text().with_variant(Text(collation="C"), "postgresql")

metadata = MetaData(naming_convention=NAMES)

matches = Table(
    "matches",
    metadata,
    Column("match_id", TEXT, primary_key=True),
    Column("request_id", TEXT),  # The caller's; absent where nobody gave one.
    Column("spec", TEXT, nullable=False),  # What was asked for, as canonical JSON.
    Column("seed", TEXT, nullable=False),  # 64 lower-case hex digits.
    Column("commitment", TEXT, nullable=False),  # SHA-256 of the seed, in hex.
    Column("state", TEXT, nullable=False),  # A word of MatchState.
    Column("hands", Integer, nullable=False),  # To be played, from 1; 0 for no end.
    Column("created_us", BigInteger, nullable=False),  # Microseconds since 1970, UTC, as all times here.
    Column("finished_us", BigInteger),  # Absent until a final state.
    Column("reason", TEXT),  # Why it was cancelled or failed.
    Column("kind", TEXT, nullable=False, server_default="match"),  # A word of MatchKind.
    UniqueConstraint("request_id"),
    Index(None, "created_us", "match_id"),  # Pages, newest first.
    Index(None, "state"),  # What a restart has to go on with.
    Index(None, "kind", "created_us", "match_id"),  # Pages of one kind.
)

hand_records = Table(
    "hand_records",
    metadata,
    Column("match_id", TEXT, ForeignKey(matches.c.match_id, ondelete="CASCADE"), primary_key=True),
    Column("hand_index", Integer, primary_key=True),
    Column("attempt", Integer, nullable=False),
    Column("line", TEXT, nullable=False),  # The canonical line, the truth; all else here is taken from it, for lists.
    Column("winner", TEXT, nullable=False),
    Column("digger", Integer),  # Absent where the hand ended before there was one, like the stake.
    Column("stake", Integer),
    Column("checksum", TEXT, nullable=False),
    Column("finished_us", BigInteger, nullable=False),  # When the store got it: a record knows no clock.
)

hand_seats = Table(
    "hand_seats",
    metadata,
    Column("match_id", TEXT, primary_key=True),
    Column("hand_index", Integer, primary_key=True),
    Column("seat", Integer, primary_key=True),
    Column("bot", TEXT, nullable=False),
    Column("score", Integer, nullable=False),
    Column("task_bonus", Integer),  # Absent where no task was paid for.
    Column("escaped", Boolean, nullable=False),
    # These three as the record says, so that a question about many hands need not read their records.
    Column("finished_us", BigInteger, nullable=False, server_default="0"),
    Column("dug", Boolean),  # Absent where the hand ended before there was a digger.
    Column("won", Boolean),  # Absent where the hand was not played to the end.
    ForeignKeyConstraint(
        ["match_id", "hand_index"], [hand_records.c.match_id, hand_records.c.hand_index], ondelete="CASCADE"
    ),
    Index(None, "bot", "finished_us", "match_id", "hand_index", "seat"),  # A bot's hands, newest first.
    # Three or four short rows a hand, found by key alone: the key's tree may hold them itself, at half the size.
    sqlite_with_rowid=False,
)

hand_voids = Table(
    "hand_voids",
    metadata,
    Column("match_id", TEXT, ForeignKey(matches.c.match_id, ondelete="CASCADE"), primary_key=True),
    Column("hand_index", Integer, primary_key=True),
    Column("voids", Integer, nullable=False),  # How often, from 1; a tournament strikes off blocks for it.
)

block_attempts = Table(
    "block_attempts",
    metadata,
    Column("match_id", TEXT, ForeignKey(matches.c.match_id, ondelete="CASCADE"), primary_key=True),
    Column("block", Integer, primary_key=True),
    Column("failures", Integer, nullable=False),
    Column("given_back", Integer, nullable=False),
    Column("dead", Boolean, nullable=False),
    Column("reason", TEXT, nullable=False),
    Column("updated_us", BigInteger, nullable=False),
)

SUMS: Final = (
    "hands",
    "score",
    "task_bonus",
    "as_digger",
    "won_as_digger",
    "digger_score",
    "as_defender",
    "won_as_defender",
    "defender_score",
    "escapes",
    "decisions",
    "faults",
)
"""What is added up, by match, seat and bot. Hands by role are those that were played to the end; a fault outside
decisions counts once a hand, however often it happened there."""

# Counted as hands are recorded (figures.py), so that no page has to add them up.
match_figures = Table(
    "match_figures",
    metadata,
    Column("match_id", TEXT, ForeignKey(matches.c.match_id, ondelete="CASCADE"), primary_key=True),
    Column("seat", Integer, primary_key=True),
    Column("bot", TEXT, primary_key=True),
    Column("preset", TEXT, nullable=False),
    Column("base", Integer, nullable=False),  # Of the rule set; scores are in points, not in units of it.
    Column("last_us", BigInteger, nullable=False),  # When the newest of its hands came.
    *(Column(name, BigInteger, nullable=False) for name in SUMS),
    Index(None, "bot", "last_us"),  # A bot's matches, newest first.
)

bot_latencies = Table(
    "bot_latencies",
    metadata,
    Column("bot", TEXT, primary_key=True),
    Column("phase", TEXT, primary_key=True),
    Column("bucket", Integer, primary_key=True),  # Of latencies in microseconds, as figures.py numbers them.
    Column("decisions", BigInteger, nullable=False),
)

hand_faults = Table(
    "hand_faults",
    metadata,
    Column("match_id", TEXT, primary_key=True),
    Column("hand_index", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),  # Of the decision; those outside decisions come after all of them.
    Column("seat", Integer, nullable=False),
    Column("bot", TEXT, nullable=False),
    Column("fault", TEXT, nullable=False),
    Column("finished_us", BigInteger, nullable=False),
    ForeignKeyConstraint(
        ["match_id", "hand_index"], [hand_records.c.match_id, hand_records.c.hand_index], ondelete="CASCADE"
    ),
    Index(None, "bot", "finished_us"),  # A bot's faults, newest first.
)

standings = Table(
    "standings",
    metadata,
    Column("match_id", TEXT, ForeignKey(matches.c.match_id, ondelete="CASCADE"), primary_key=True),
    Column("hands", Integer, nullable=False),  # How many were recorded when they were made.
    Column("made_us", BigInteger, nullable=False),
    Column("standings", TEXT, nullable=False),  # As JSON, like the next.
    Column("series", TEXT, nullable=False),  # How the scores went, block by block.
)

bots = Table(
    "bots",
    metadata,
    Column("name", TEXT, primary_key=True),
    Column("address", TEXT),  # Where it listens; absent where it dials in.
    Column("owner", TEXT, nullable=False),  # Empty where it is the operators' own.
    Column("by_admin", Boolean, nullable=False),  # Whether an admin registered it, who alone may name loopback.
    Column("max_tables", Integer),  # Limits that were set, absent where none were.
    Column("max_decisions", Integer),
    Column("created_us", BigInteger, nullable=False),
    Column("version", TEXT),  # These as it last described itself; absent until it has.
    Column("author", TEXT),
    Column("url", TEXT),
    Index(None, "owner", "name"),  # An author's own, by pages.
)

tokens = Table(
    "tokens",
    metadata,
    Column("hash", TEXT, primary_key=True),  # SHA-256 of the token, in hex; the token itself is nowhere.
    Column("role", TEXT, nullable=False),  # A word of Role.
    Column("owner", TEXT, nullable=False),  # Whom it was given to; empty where nobody in particular.
    Column("bot", TEXT, ForeignKey(bots.c.name, ondelete="CASCADE")),  # Whose own it is, where it is a bot's.
    Column("created_us", BigInteger, nullable=False),
    Index(None, "owner"),
    Index(None, "bot"),
)
