"""What the reference bots share: a choice is a function of the bot's seed and the observation, and of nothing else.

No state, no clock, no ids: so neither the order of tables nor a restart changes a hand, and a record can be replayed.
"""

from hashlib import blake2b

from wakeng.sdk.bot import Bot
from wakeng.sdk.decision import Decision

_KEY_BYTES = 64


class ReferenceBot(Bot):
    """A bot of this package; `seed` is any bytes."""

    version = "1"
    """Counted up whenever the same observation may get another choice."""
    author = "Wakeng Arena"

    def __init__(self, seed: bytes = b"") -> None:
        self.seed = seed
        key = seed if len(seed) <= _KEY_BYTES else blake2b(seed).digest()
        self._keyed = blake2b(key=key, digest_size=8)

    def draw(self, decision: Decision, n: int) -> int:
        """A number in 0..n-1 that follows from the seed and what the seat sees, all equally likely.

        It is a keyed hash of the observation's canonical text, scaled from 64 bits: the bias is under n / 2^64.
        """
        seen = decision.message.observation
        text = "|".join(
            (
                decision.phase,
                str(seen.seat),
                seen.cards,
                seen.kitty,
                seen.marked_card,
                str(seen.marked_seat),
                seen.task,
                *seen.history,
            )
        )
        hashed = self._keyed.copy()
        hashed.update(text.encode())
        return int.from_bytes(hashed.digest()) * n >> 64
