"""PostgreSQL compares our texts by their codes, as SQLite does, and not by the language of its installation.

They are ids, names and words: nobody reads them in an order of letters. Nor can an upgrade of the system's language
data silently break an index by codes.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

TEXTS = {
    "matches": ("match_id", "request_id", "spec", "seed", "commitment", "state", "reason", "kind"),
    "hand_records": ("match_id", "line", "winner", "checksum"),
    "hand_seats": ("match_id", "bot"),
    "hand_voids": ("match_id",),
    "bots": ("name", "address", "owner", "version", "author", "url"),
    "tokens": ("hash", "role", "owner", "bot"),
}


def upgrade() -> None:
    """Nothing to do in SQLite, which always did so."""
    _compare_by("C")


def downgrade() -> None:
    """As the installation has it."""
    _compare_by("default")


def _compare_by(collation: str) -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    for table, columns in TEXTS.items():
        for column in columns:
            op.alter_column(table, column, type_=sa.Text(collation=collation))
