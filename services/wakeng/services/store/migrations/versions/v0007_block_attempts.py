"""Workers may fail at a block again and again; how often, and why it was given up, is for operators to see."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
"""Compared by codes, as all texts of the store are since 0005."""


def upgrade() -> None:
    """There were no workers before."""
    op.create_table(
        "block_attempts",
        sa.Column("match_id", TEXT, nullable=False),
        sa.Column("block", sa.Integer, nullable=False),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("given_back", sa.Integer, nullable=False),
        sa.Column("dead", sa.Boolean, nullable=False),
        sa.Column("reason", TEXT, nullable=False),
        sa.Column("updated_us", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("match_id", "block", name="pk_block_attempts"),
        sa.ForeignKeyConstraint(
            ["match_id"], ["matches.match_id"], name="fk_block_attempts_matches", ondelete="CASCADE"
        ),
    )


def downgrade() -> None:
    """The reasons are lost; what was struck off stays so, by its voids."""
    op.drop_table("block_attempts")
