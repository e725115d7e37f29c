"""Tournaments stand among the matches, told apart by their kind: their hands are recorded in the same way."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Whatever was there is a match."""
    with op.batch_alter_table("matches") as batch:
        batch.add_column(sa.Column("kind", sa.Text, nullable=False, server_default="match"))
    op.create_index("ix_matches_kind", "matches", ["kind", "created_us", "match_id"])


def downgrade() -> None:
    """Tournaments are lost, and their hands with them."""
    op.drop_index("ix_matches_kind", "matches")
    op.execute("DELETE FROM hand_records WHERE match_id IN (SELECT match_id FROM matches WHERE kind <> 'match')")
    op.execute("DELETE FROM matches WHERE kind <> 'match'")
    with op.batch_alter_table("matches") as batch:
        batch.drop_column("kind")
