"""Registered bots, and the tokens that callers show."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Two new tables; what was there stays as it is."""
    op.create_table(
        "bots",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("address", sa.Text),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("by_admin", sa.Boolean, nullable=False),
        sa.Column("max_tables", sa.Integer),
        sa.Column("max_decisions", sa.Integer),
        sa.Column("created_us", sa.BigInteger, nullable=False),
        sa.Column("version", sa.Text),
        sa.Column("author", sa.Text),
        sa.Column("url", sa.Text),
        sa.PrimaryKeyConstraint("name", name="pk_bots"),
    )
    op.create_index("ix_bots_owner", "bots", ["owner", "name"])
    op.create_table(
        "tokens",
        sa.Column("hash", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("bot", sa.Text),
        sa.Column("created_us", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("hash", name="pk_tokens"),
        sa.ForeignKeyConstraint(["bot"], ["bots.name"], name="fk_tokens_bots", ondelete="CASCADE"),
    )
    op.create_index("ix_tokens_owner", "tokens", ["owner"])
    op.create_index("ix_tokens_bot", "tokens", ["bot"])


def downgrade() -> None:
    """Every registration and every token is lost."""
    op.drop_index("ix_tokens_bot", "tokens")
    op.drop_index("ix_tokens_owner", "tokens")
    op.drop_table("tokens")
    op.drop_index("ix_bots_owner", "bots")
    op.drop_table("bots")
