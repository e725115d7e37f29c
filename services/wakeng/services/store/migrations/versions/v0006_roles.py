"""A seat of a hand says by itself when it was played, in which role, and whether it was won.

What is asked of a bot's hands is so answered from this table alone: the records, a hundred times as large, stay unread.
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

# Written so that both databases understand it; each hand is found by its key.
FILL = """
UPDATE hand_seats SET
  finished_us = (SELECT r.finished_us FROM hand_records r
                 WHERE r.match_id = hand_seats.match_id AND r.hand_index = hand_seats.hand_index),
  dug = (SELECT r.digger = hand_seats.seat FROM hand_records r
         WHERE r.match_id = hand_seats.match_id AND r.hand_index = hand_seats.hand_index),
  won = (SELECT CASE r.winner WHEN 'DIGGER' THEN r.digger = hand_seats.seat
                              WHEN 'DEFENDERS' THEN r.digger <> hand_seats.seat END
         FROM hand_records r
         WHERE r.match_id = hand_seats.match_id AND r.hand_index = hand_seats.hand_index)
"""


def upgrade() -> None:
    """What is known of older hands is taken from their records."""
    op.drop_index("ix_hand_seats_bot", "hand_seats")
    op.add_column("hand_seats", sa.Column("finished_us", sa.BigInteger, nullable=False, server_default="0"))
    op.add_column("hand_seats", sa.Column("dug", sa.Boolean))
    op.add_column("hand_seats", sa.Column("won", sa.Boolean))
    op.execute(FILL)
    op.create_index("ix_hand_seats_bot", "hand_seats", ["bot", "finished_us", "match_id", "hand_index", "seat"])


def downgrade() -> None:
    """The records say it still."""
    op.drop_index("ix_hand_seats_bot", "hand_seats")
    for column in ("won", "dug", "finished_us"):
        op.drop_column("hand_seats", column)
    op.create_index("ix_hand_seats_bot", "hand_seats", ["bot", "match_id"])
