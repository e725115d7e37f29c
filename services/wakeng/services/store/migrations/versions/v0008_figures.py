"""Figures of many hands are counted as hands are recorded; those that are there already are counted here."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import orjson
import sqlalchemy as sa
from alembic import op

from wakeng.services.gist import Gist
from wakeng.services.store.figures import Figures
from wakeng.services.store.tables import SUMS

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
"""Compared by codes, as all texts of the store are since 0005."""
_ROWS_AT_ONCE = 500


def upgrade() -> None:
    """The figures of every record."""
    for name, *columns in _tables():
        op.create_table(name, *columns)
    op.create_index("ix_match_figures_bot", "match_figures", ["bot", "last_us"])
    op.create_index("ix_hand_faults_bot", "hand_faults", ["bot", "finished_us"])
    figures = Figures()
    records = sa.table("hand_records", sa.column("line"), sa.column("finished_us"))
    query = sa.select(records.c.line, records.c.finished_us).order_by(records.c.finished_us)
    for line, finished_us in op.get_bind().execute(query):
        figures.add(Gist.of(orjson.loads(line)), finished_us)
    for name, rows in _counted(figures).items():
        for some in _parts(rows):
            op.bulk_insert(sa.table(name, *(sa.column(column) for column in some[0])), some)


def downgrade() -> None:
    """The figures are lost, and can be counted again."""
    op.drop_index("ix_hand_faults_bot", "hand_faults")
    op.drop_index("ix_match_figures_bot", "match_figures")
    for name in ("standings", "hand_faults", "bot_latencies", "match_figures"):
        op.drop_table(name)


def _tables() -> Iterator[tuple[Any, ...]]:
    to_match = (["match_id"], ["matches.match_id"])
    to_hand = (["match_id", "hand_index"], ["hand_records.match_id", "hand_records.hand_index"])
    yield (
        "match_figures",
        sa.Column("match_id", TEXT, nullable=False),
        sa.Column("seat", sa.Integer, nullable=False),
        sa.Column("bot", TEXT, nullable=False),
        sa.Column("preset", TEXT, nullable=False),
        sa.Column("base", sa.Integer, nullable=False),
        sa.Column("last_us", sa.BigInteger, nullable=False),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in SUMS),
        sa.PrimaryKeyConstraint("match_id", "seat", "bot", name="pk_match_figures"),
        sa.ForeignKeyConstraint(*to_match, name="fk_match_figures_matches", ondelete="CASCADE"),
    )
    yield (
        "bot_latencies",
        sa.Column("bot", TEXT, nullable=False),
        sa.Column("phase", TEXT, nullable=False),
        sa.Column("bucket", sa.Integer, nullable=False),
        sa.Column("decisions", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("bot", "phase", "bucket", name="pk_bot_latencies"),
    )
    yield (
        "hand_faults",
        sa.Column("match_id", TEXT, nullable=False),
        sa.Column("hand_index", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("seat", sa.Integer, nullable=False),
        sa.Column("bot", TEXT, nullable=False),
        sa.Column("fault", TEXT, nullable=False),
        sa.Column("finished_us", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("match_id", "hand_index", "number", name="pk_hand_faults"),
        sa.ForeignKeyConstraint(*to_hand, name="fk_hand_faults_hand_records", ondelete="CASCADE"),
    )
    yield (
        "standings",
        sa.Column("match_id", TEXT, nullable=False),
        sa.Column("hands", sa.Integer, nullable=False),
        sa.Column("made_us", sa.BigInteger, nullable=False),
        sa.Column("standings", TEXT, nullable=False),
        sa.Column("series", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("match_id", name="pk_standings"),
        sa.ForeignKeyConstraint(*to_match, name="fk_standings_matches", ondelete="CASCADE"),
    )


def _counted(figures: Figures) -> dict[str, list[dict[str, object]]]:
    return {
        "match_figures": figures.seats,
        "bot_latencies": figures.latencies,
        "hand_faults": list(figures.faults),
    }


def _parts(rows: list[dict[str, object]]) -> Iterator[list[dict[str, object]]]:
    left = iter(rows)
    while some := list(islice(left, _ROWS_AT_ONCE)):
        yield some
