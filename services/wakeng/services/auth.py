"""Who calls, and what he may: tokens, roles, and the table of every call with the roles it is for.

One interceptor stands before all services, so that no method can forget to ask. A call that the table does not know is
nobody's. Nothing here, error or log, repeats what a caller sent as his token (docs/protocol.md 5).
"""

import hmac
import inspect
import ipaddress
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from google.rpc import code_pb2

from wakeng.sdk.polling import grpc
from wakeng.services.failures import SHAPES
from wakeng.services.ratelimit import RateLimit
from wakeng.services.rpc import Context, refuse
from wakeng.services.store import Role
from wakeng.services.store.tokens import StoredToken, TokenRows
from wakeng.services.tokens import hash_token

_Details: TypeAlias = grpc.HandlerCallDetails
_Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any] | None"
_Continuation: TypeAlias = Callable[[_Details], Awaitable[_Handler]]

EVERYONE: Final = frozenset(Role)
AUTHORS: Final = frozenset({Role.AUTHOR, Role.ADMIN})
BOTS: Final = frozenset({Role.BOT})

_MATCH: Final = "/wakeng.v1.MatchService/"
_TOURNAMENT: Final = "/wakeng.v1.TournamentService/"
_REGISTRY: Final = "/wakeng.v1.BotRegistryService/"

ACCESS: Final[Mapping[str, frozenset[Role]]] = {
    _MATCH + "CreateMatch": AUTHORS,
    _MATCH + "CancelMatch": AUTHORS,
    _MATCH + "GetMatch": EVERYONE,
    _MATCH + "ListMatches": EVERYONE,
    _MATCH + "WatchMatch": EVERYONE,
    _MATCH + "GetHandRecord": EVERYONE,
    _MATCH + "ListHandRecords": EVERYONE,
    _TOURNAMENT + "CreateTournament": AUTHORS,
    _TOURNAMENT + "PauseTournament": AUTHORS,
    _TOURNAMENT + "ResumeTournament": AUTHORS,
    _TOURNAMENT + "CancelTournament": AUTHORS,
    _TOURNAMENT + "GetTournament": EVERYONE,
    _TOURNAMENT + "ListTournaments": EVERYONE,
    _TOURNAMENT + "WatchTournament": EVERYONE,
    _TOURNAMENT + "GetStandings": EVERYONE,
    _REGISTRY + "RegisterBot": AUTHORS,
    _REGISTRY + "GetBot": AUTHORS,
    _REGISTRY + "ListBots": AUTHORS,
    _REGISTRY + "DeleteBot": AUTHORS,
    _REGISTRY + "CheckBot": AUTHORS,
    "/wakeng.v1.BotGatewayService/Join": BOTS,
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": EVERYONE,
}
"""Every call that asks who calls. Whose things a caller may touch is for the services to judge, by `caller`."""

UNGUARDED: Final = frozenset({f"/grpc.health.v1.Health/{method}" for method in ("Check", "List", "Watch")})
"""Asked by orchestrators every few seconds, from wherever, without a token; it tells nothing that they cannot see."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a call."""

    role: Role
    owner: str = ""
    """Whom the token was given to; empty for nobody in particular."""
    bot: str | None = None
    """The bot whose own token it is."""
    anonymous: bool = False
    """Whether no token was shown."""

    @property
    def admin(self) -> bool:
        """Whether everything is allowed."""
        return self.role is Role.ADMIN

    def owns(self, owner: str) -> bool:
        """Whether what belongs to `owner` is his to see and to change."""
        return self.admin or (self.role is Role.AUTHOR and owner != "" and owner == self.owner)


STRANGER: Final = Caller(Role.VIEWER, anonymous=True)
OPERATOR: Final = Caller(Role.ADMIN, anonymous=True)
"""Whoever calls an arena that asks for no tokens."""

_callers: dict[Context, Caller] = {}
"""By call in progress."""


def caller(context: Context) -> Caller:
    """Who makes this call; a stranger where no guard stands before the service."""
    return _callers.get(context, STRANGER)


async def joining_bot(context: Context) -> str:
    """The bot that this call is made by, which the table of calls has seen to."""
    bot = caller(context).bot
    if bot is None:
        await refuse(context, code_pb2.PERMISSION_DENIED, "NOT_ALLOWED", "the call needs a bot's own token")
    return bot


class Guard(grpc.aio.ServerInterceptor):
    """Lets a call through once it is known who calls, that he may, and that he does not call too often."""

    def __init__(self, tokens: TokenRows, *, demand_tokens: bool, limit: RateLimit | None = None) -> None:
        """Without `demand_tokens` whoever shows no token is an admin; one that is shown has to be good in any case."""
        self.demand_tokens: Final = demand_tokens
        self._tokens = tokens
        self._limit = RateLimit(time.monotonic) if limit is None else limit

    async def intercept_service(self, continuation: _Continuation, handler_call_details: _Details) -> _Handler:
        """The method's handler behind the guard."""
        method = handler_call_details.method
        handler: Any = await continuation(handler_call_details)
        if handler is not None and method not in UNGUARDED:
            shape = next(shape for shape in SHAPES if getattr(handler, shape) is not None)
            handler = handler._replace(**{shape: self._guarded(method, getattr(handler, shape))})
        return cast("_Handler", handler)

    def _guarded(self, method: str, behaviour: Callable[..., Any]) -> Callable[..., Any]:
        async def call(request: Any, context: Context) -> Any:
            _callers[context] = await self._admit(method, context)
            try:
                return await behaviour(request, context)
            finally:
                del _callers[context]

        async def stream(request: Any, context: Context) -> AsyncIterator[Any]:
            _callers[context] = await self._admit(method, context)
            try:
                async with aclosing(behaviour(request, context)) as answers:
                    async for answer in answers:
                        yield answer
            finally:
                del _callers[context]

        # grpc.aio asks the function itself how it wants to be called.
        return stream if inspect.isasyncgenfunction(behaviour) else call

    async def _admit(self, method: str, context: Context) -> Caller:
        who = await self._who(context)
        if who.role not in ACCESS.get(method, frozenset()):
            if who.anonymous:
                await refuse(context, code_pb2.UNAUTHENTICATED, "NO_TOKEN", f"the call needs a token ({_HOW})")
            message = f"the call is not for the role {who.role.value}"
            await refuse(context, code_pb2.PERMISSION_DENIED, "NOT_ALLOWED", message)
        return who

    async def _who(self, context: Context) -> Caller:
        shown = _shown_token(context)
        if shown is None and not self.demand_tokens:
            return OPERATOR
        peer = _host(context.peer())
        if shown is None:
            await self._count(peer, context)
            return STRANGER
        token_hash = hash_token(shown) or ""
        # Who tries tokens pays for each from his host's bucket; once it is empty only tokens lately seen are looked up.
        if token_hash not in self._limit and (wait := self._limit.wait(peer)):
            await _too_often(wait, context)
        token = await self._token(token_hash)
        if token is None:
            await self._count(peer, context)
            await refuse(context, code_pb2.UNAUTHENTICATED, "BAD_TOKEN", f"the token is not known here ({_HOW})")
        await self._count(token_hash, context)
        return Caller(token.role, token.owner, token.bot)

    async def _token(self, token_hash: str) -> StoredToken | None:
        token = await self._tokens.find(token_hash) if token_hash else None
        return token if token is not None and hmac.compare_digest(token.hash, token_hash) else None

    async def _count(self, key: str, context: Context) -> None:
        if wait := self._limit.take(key):
            await _too_often(wait, context)


_HOW: Final = "metadata authorization: Bearer TOKEN; tokens are made by `wakeng token add`"


async def _too_often(wait: float, context: Context) -> None:
    message = f"too many calls; try again in {wait:.2f} s"
    await refuse(context, code_pb2.RESOURCE_EXHAUSTED, "RATE_LIMITED", message, retry_after_s=wait)


def _shown_token(context: Context) -> str | None:
    for key, value in context.invocation_metadata() or ():
        if key == "authorization":
            text = value.decode("ascii", "replace") if isinstance(value, bytes) else value
            scheme, _, token = text.partition(" ")
            return token.strip() if scheme.lower() == "bearer" else ""
    return None


def _host(peer: str) -> str:
    """A caller's host as gRPC names it, `ipv4:1.2.3.4:567`; of an IPv6 address the network that one customer has."""
    address = peer.partition(":")[2].rpartition(":")[0].strip("[]").replace("%5B", "").replace("%5D", "")
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return "host "  # A socket of this machine.
    return f"host {ipaddress.ip_network((int(ip), 64), strict=False) if ip.version == 6 else ip}"
