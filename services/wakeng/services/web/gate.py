"""Who looks at a page: a token's role, kept in a session, or whoever shows none.

The roles are those of the arena's calls (wakeng.services.auth), and pages are for the same people: strangers see what
is public, an author the records of his own bots while they play, an admin everything. A page can be put behind a token
altogether. A session is a random name in a cookie; the token's hash stays here, so that a token that is taken back
takes its sessions with it.
"""

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from wakeng.services.auth import OPERATOR, STRANGER, Caller
from wakeng.services.ratelimit import RateLimit
from wakeng.services.store.tokens import TokenRows
from wakeng.services.tokens import hash_token

COOKIE: Final = "wakeng_session"
SESSION_S: Final = 30 * 24 * 3600
MOST_SESSIONS: Final = 10_000
RATE: Final = 20.0
BURST: Final = 200.0
"""Pages a second, and at once, from one host."""
TRIES_RATE: Final = 0.2
TRIES: Final = 10.0
"""The same of tokens that are tried."""


class Gate:
    """Sessions and tokens of whoever looks."""

    def __init__(
        self,
        tokens: TokenRows,
        *,
        private: bool = False,
        trusting: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """With `private` every page needs a token; `trusting` makes an admin of who shows none."""
        self.private: Final = private
        self.trusting: Final = trusting
        self._tokens = tokens
        self._limit = RateLimit(clock, rate=RATE, burst=BURST)
        self._tries = RateLimit(clock, rate=TRIES_RATE, burst=TRIES)
        self._sessions: OrderedDict[str, str] = OrderedDict()
        """Hashes of tokens by session, the one begun longest ago first."""

    async def who(self, request: Request) -> Caller:
        """Who asks."""
        shown = request.headers.get("authorization", "")
        scheme, _, token = shown.partition(" ")
        token_hash = hash_token(token.strip()) if scheme.lower() == "bearer" else None
        token_hash = token_hash or self._sessions.get(request.cookies.get(COOKIE, ""))
        found = await self._tokens.find(token_hash) if token_hash else None
        if found is not None:
            return Caller(found.role, found.owner, found.bot)
        return OPERATOR if self.trusting and not self.private else STRANGER

    def shut(self, who: Caller) -> bool:
        """Whether there is no page for him."""
        return self.private and who.anonymous

    def wait(self, request: Request) -> float:
        """Seconds until a host may ask again, 0 if it may."""
        return self._limit.take(host(request))

    async def enter(self, request: Request, token: str, answer: Response) -> bool:
        """Begin a session by a token; False if it is none of ours, or too many were tried."""
        if self._tries.take(host(request)):
            return False
        token_hash = hash_token(token)
        if token_hash is None or await self._tokens.find(token_hash) is None:
            return False
        session = secrets.token_urlsafe(32)
        self._sessions[session] = token_hash
        while len(self._sessions) > MOST_SESSIONS:
            self._sessions.popitem(last=False)
        # Lax, so that a link in a letter finds one signed in; nothing can be changed by a link.
        answer.set_cookie(COOKIE, session, max_age=SESSION_S, httponly=True, samesite="lax", secure=_secure(request))
        return True

    def leave(self, request: Request, answer: Response) -> None:
        """End a session."""
        self._sessions.pop(request.cookies.get(COOKIE, ""), None)
        answer.delete_cookie(COOKIE, httponly=True, samesite="lax", secure=_secure(request))


def _secure(request: Request) -> bool:
    return request.url.scheme == "https"


def host(request: Request) -> str:
    """Whom a request counts for."""
    return request.client.host if request.client is not None else ""
