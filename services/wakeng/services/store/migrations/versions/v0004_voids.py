"""Hands that the arena voided are counted, since a tournament that goes on must know which blocks were struck off."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing is known of voids before."""
    op.create_table(
        "hand_voids",
        sa.Column("match_id", sa.Text, nullable=False),
        sa.Column("hand_index", sa.Integer, nullable=False),
        sa.Column("voids", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("match_id", "hand_index", name="pk_hand_voids"),
        sa.ForeignKeyConstraint(["match_id"], ["matches.match_id"], name="fk_hand_voids_matches", ondelete="CASCADE"),
    )


def downgrade() -> None:
    """The counts are lost."""
    op.drop_table("hand_voids")
