"""Tokens: how one is made, and what is kept of it. A token is random, so its plain hash gives nothing away."""

import hashlib
import re
import secrets
from typing import Final

PREFIX: Final = "wk_"
"""So that a token is known for one where it should not be: in a log, a commit, a chat."""
_TOKEN: Final = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}")


def new_token() -> str:
    """A token of 256 random bits."""
    return PREFIX + secrets.token_urlsafe(32)


def hash_token(token: str) -> str | None:
    """What the store knows a token by, SHA-256 in hex; None if the text is no token at all."""
    return hashlib.sha256(token.encode()).hexdigest() if _TOKEN.fullmatch(token) else None
