"""BotRegistryService: registered bots over gRPC, each seen and managed by its owner (docs/protocol.md 5)."""

from collections.abc import AsyncIterator, Callable
from typing import Final, Protocol

from google.protobuf.timestamp_pb2 import Timestamp
from google.rpc import code_pb2

from wakeng.services.auth import Caller, caller
from wakeng.services.dialling import BadAddress, DiallingPolicy, NotAllowed, Target
from wakeng.services.errors import BadPageToken, BotExists, UnknownBot
from wakeng.services.registration import Registered, Registration, register
from wakeng.services.rpc import Context, invalid, not_found, refuse, unimplemented
from wakeng.services.spec import SpecError
from wakeng.services.store import RegisteredBot, Store
from wakeng.v1 import registry_pb2, registry_pb2_grpc

DEFAULT_PAGE: Final = 50

Checker = Callable[[Target, registry_pb2.CheckBotRequest], AsyncIterator[registry_pb2.BotCheck]]
"""Tries the bot at a target, which may be dialled, and gives its checks as they are done."""


class Presence(Protocol):
    """What is known of the bots that dial in."""

    def connected(self, bot: str) -> bool:
        """Whether a Join of the bot is open."""

    def disconnect(self, bot: str) -> None:
        """End the bot's Join: it is no longer registered."""


class BotRegistry(registry_pb2_grpc.BotRegistryServiceServicer):
    """The service, over the bots of a store."""

    def __init__(
        self, store: Store, policy: DiallingPolicy, presence: Presence, *, checker: Checker | None = None
    ) -> None:
        self._store = store
        self._policy = policy
        self._presence = presence
        self._checker = checker

    async def RegisterBot(
        self, request: registry_pb2.RegisterBotRequest, context: Context
    ) -> registry_pb2.RegisterBotResponse:
        """Register a bot, and tell its token this once."""
        who = caller(context)
        if request.owner and not who.owns(request.owner):
            message = "owner: only an admin registers bots for others"
            await refuse(context, code_pb2.PERMISSION_DENIED, "NOT_OWNER", message, field="owner")
        try:
            asked = read_request(request, who)
        except SpecError as problem:
            await invalid(context, problem.field, str(problem))
        if asked.address is not None:
            await self._target(asked.address, context, admin=who.admin)
        try:
            made = await register(self._store, asked)
        except BotExists as problem:
            await refuse(context, code_pb2.ALREADY_EXISTS, "NAME_TAKEN", str(problem), field="name")
        return self._registered(made)

    async def GetBot(self, request: registry_pb2.GetBotRequest, context: Context) -> registry_pb2.GetBotResponse:
        """One bot as it stands."""
        return registry_pb2.GetBotResponse(bot=self._message(await self._own(request.name, context)))

    async def ListBots(self, request: registry_pb2.ListBotsRequest, context: Context) -> registry_pb2.ListBotsResponse:
        """A page of the bots that the caller may see, by name."""
        who = caller(context)
        size = request.page_size or DEFAULT_PAGE
        try:
            page = await self._store.bots.list(size, request.page_token, owner=None if who.admin else who.owner)
        except BadPageToken as problem:
            await invalid(context, "page_token", str(problem))
        return registry_pb2.ListBotsResponse(bots=map(self._message, page.bots), next_page_token=page.next_page_token)

    async def DeleteBot(
        self, request: registry_pb2.DeleteBotRequest, context: Context
    ) -> registry_pb2.DeleteBotResponse:
        """Forget a bot and its token."""
        bot = await self._own(request.name, context)
        try:
            await self._store.bots.delete(bot.name)
        except UnknownBot as problem:
            await not_found(context, str(problem))
        self._presence.disconnect(bot.name)
        return registry_pb2.DeleteBotResponse()

    async def CheckBot(
        self, request: registry_pb2.CheckBotRequest, context: Context
    ) -> AsyncIterator[registry_pb2.CheckBotResponse]:
        """Try a bot and report, check by check."""
        target = await self._checked(request, context)
        if self._checker is None:
            await unimplemented(context, "bot", "bot: this arena does not check bots; use `wakeng check-bot`")
        async for check in self._checker(target, request):
            yield registry_pb2.CheckBotResponse(check=check)

    # Helpers --------------------------------------------------------------------------------------------------------

    async def _own(self, name: str, context: Context) -> RegisteredBot:
        """The bot, if the caller may see and change it."""
        try:
            bot = await self._store.bots.get(name)
        except UnknownBot as problem:
            await not_found(context, str(problem))
        if not caller(context).owns(bot.owner):
            message = f"name: {bot.name} belongs to somebody else"
            await refuse(context, code_pb2.PERMISSION_DENIED, "NOT_OWNER", message, field="name")
        return bot

    async def _checked(self, request: registry_pb2.CheckBotRequest, context: Context) -> Target:
        """Where the bot that is to be checked can be dialled."""
        which = request.WhichOneof("bot")
        if which is None:
            await invalid(context, "bot", "bot: name a registered bot or an address")
        if which == "address":
            return await self._target(request.address, context, admin=caller(context).admin)
        bot = await self._own(request.registered, context)
        if bot.address is None:
            await unimplemented(context, "registered", "registered: a bot that dials in is checked by its author")
        if bot.address.startswith("unix:"):
            return Target(bot.address, "localhost")
        return await self._target(bot.address, context, admin=bot.by_admin)

    async def _target(self, address: str, context: Context, *, admin: bool) -> Target:
        try:
            return await self._policy.target(address, admin=admin)
        except BadAddress as problem:
            await invalid(context, "address", f"address: {problem}")
        except NotAllowed as problem:
            message = f"address: {problem}"
            await refuse(context, code_pb2.PERMISSION_DENIED, "ADDRESS_NOT_ALLOWED", message, field="address")

    def _registered(self, made: Registered) -> registry_pb2.RegisterBotResponse:
        return registry_pb2.RegisterBotResponse(
            bot=self._message(made.bot), token=made.token, owner_token=made.owner_token
        )

    def _message(self, bot: RegisteredBot) -> registry_pb2.Bot:
        return bot_message(bot, connected=self._presence.connected(bot.name) if bot.dial_in else None)


def read_request(request: registry_pb2.RegisterBotRequest, who: Caller) -> Registration:
    """What a request asks for; SpecError names the field that makes it impossible."""
    which = request.WhichOneof("connection")
    if which is None:
        raise SpecError("connection", "give an address, or say that it dials in")
    if which == "dial_in" and not request.dial_in:
        raise SpecError("dial_in", "can only be true")
    return Registration(
        name=request.name,
        address=request.address if which == "address" else None,
        owner=request.owner or who.owner,
        by_admin=who.admin,
        max_tables=request.max_tables if request.HasField("max_tables") else None,
        max_decisions=request.max_decisions if request.HasField("max_decisions") else None,
        owner_is_new=bool(request.owner) and who.admin,
    )


def bot_message(bot: RegisteredBot, *, connected: bool | None) -> registry_pb2.Bot:
    """A bot as it stands."""
    created = Timestamp()
    created.FromMicroseconds(bot.created_us)
    return registry_pb2.Bot(
        name=bot.name,
        **({"dial_in": True} if bot.address is None else {"address": bot.address}),
        owner=bot.owner,
        max_tables=bot.max_tables,
        max_decisions=bot.max_decisions,
        create_time=created,
        connected=connected,
        status=registry_pb2.BOT_STATUS_ACTIVE,
        version=bot.version,
        author=bot.author,
        url=bot.url,
    )
