"""The first tables: matches, the records of their hands, and who sat where in each."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """From nothing."""
    op.create_table(
        "matches",
        sa.Column("match_id", sa.Text, nullable=False),
        sa.Column("request_id", sa.Text),
        sa.Column("spec", sa.Text, nullable=False),
        sa.Column("seed", sa.Text, nullable=False),
        sa.Column("commitment", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("hands", sa.Integer, nullable=False),
        sa.Column("created_us", sa.BigInteger, nullable=False),
        sa.Column("finished_us", sa.BigInteger),
        sa.Column("reason", sa.Text),
        sa.PrimaryKeyConstraint("match_id", name="pk_matches"),
        sa.UniqueConstraint("request_id", name="uq_matches_request_id"),
    )
    op.create_index("ix_matches_created_us", "matches", ["created_us", "match_id"])
    op.create_index("ix_matches_state", "matches", ["state"])
    op.create_table(
        "hand_records",
        sa.Column("match_id", sa.Text, nullable=False),
        sa.Column("hand_index", sa.Integer, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("line", sa.Text, nullable=False),
        sa.Column("winner", sa.Text, nullable=False),
        sa.Column("digger", sa.Integer),
        sa.Column("stake", sa.Integer),
        sa.Column("checksum", sa.Text, nullable=False),
        sa.Column("finished_us", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("match_id", "hand_index", name="pk_hand_records"),
        sa.ForeignKeyConstraint(["match_id"], ["matches.match_id"], name="fk_hand_records_matches", ondelete="CASCADE"),
    )
    op.create_table(
        "hand_seats",
        sa.Column("match_id", sa.Text, nullable=False),
        sa.Column("hand_index", sa.Integer, nullable=False),
        sa.Column("seat", sa.Integer, nullable=False),
        sa.Column("bot", sa.Text, nullable=False),
        sa.Column("score", sa.Integer, nullable=False),
        sa.Column("task_bonus", sa.Integer),
        sa.Column("escaped", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("match_id", "hand_index", "seat", name="pk_hand_seats"),
        sa.ForeignKeyConstraint(
            ["match_id", "hand_index"],
            ["hand_records.match_id", "hand_records.hand_index"],
            name="fk_hand_seats_hand_records",
            ondelete="CASCADE",
        ),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_hand_seats_bot", "hand_seats", ["bot", "match_id"])


def downgrade() -> None:
    """Back to nothing: every record in the store is lost."""
    op.drop_index("ix_hand_seats_bot", "hand_seats")
    op.drop_table("hand_seats")
    op.drop_table("hand_records")
    op.drop_index("ix_matches_state", "matches")
    op.drop_index("ix_matches_created_us", "matches")
    op.drop_table("matches")
