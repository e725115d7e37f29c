"""Where `wakeng bot` finds the registered bots: in a running arena, or in a store on this machine."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

from wakeng.services.commands.arena_client import ArenaClient, ArenaOptions
from wakeng.services.registration import Registration, register
from wakeng.services.registry import bot_message
from wakeng.services.store import RegisteredBot, Store
from wakeng.v1 import registry_pb2


class Bots(Protocol):
    """Registered bots, wherever they are."""

    async def add(self, asked: Registration) -> registry_pb2.RegisterBotResponse:
        """Register one."""

    async def get(self, name: str) -> registry_pb2.Bot:
        """One of them."""

    def list(self) -> AsyncIterator[registry_pb2.Bot]:
        """All of them that one may see, by name."""

    async def remove(self, name: str) -> None:
        """Forget one."""


class ArenaBots:
    """Those of a running arena."""

    def __init__(self, client: ArenaClient) -> None:
        self._client = client

    async def add(self, asked: Registration) -> registry_pb2.RegisterBotResponse:
        """Register one."""
        request = registry_pb2.RegisterBotRequest(
            name=asked.name, owner=asked.owner, max_tables=asked.max_tables, max_decisions=asked.max_decisions
        )
        if asked.address is None:
            request.dial_in = True
        else:
            request.address = asked.address
        answer: registry_pb2.RegisterBotResponse = await self._client.call(self._client.bots.RegisterBot, request)
        return answer

    async def get(self, name: str) -> registry_pb2.Bot:
        """One of them."""
        request = registry_pb2.GetBotRequest(name=name)
        answer: registry_pb2.GetBotResponse = await self._client.call(self._client.bots.GetBot, request)
        return answer.bot

    async def list(self) -> AsyncIterator[registry_pb2.Bot]:
        """Page after page."""
        request = registry_pb2.ListBotsRequest(page_size=1000)
        while True:
            page: registry_pb2.ListBotsResponse = await self._client.call(self._client.bots.ListBots, request)
            for bot in page.bots:
                yield bot
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def remove(self, name: str) -> None:
        """Forget one."""
        await self._client.call(self._client.bots.DeleteBot, registry_pb2.DeleteBotRequest(name=name))


class StoreBots:
    """Those of a store, for an operator at the machine. Who is connected only the arena knows."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def add(self, asked: Registration) -> registry_pb2.RegisterBotResponse:
        """Register one."""
        made = await register(self._store, asked)
        return registry_pb2.RegisterBotResponse(bot=_message(made.bot), token=made.token, owner_token=made.owner_token)

    async def get(self, name: str) -> registry_pb2.Bot:
        """One of them."""
        return _message(await self._store.bots.get(name))

    async def list(self) -> AsyncIterator[registry_pb2.Bot]:
        """Page after page."""
        page = await self._store.bots.list(1000)
        while True:
            for bot in page.bots:
                yield _message(bot)
            if not page.next_page_token:
                return
            page = await self._store.bots.list(1000, page.next_page_token)

    async def remove(self, name: str) -> None:
        """Forget one."""
        await self._store.bots.delete(name)


@asynccontextmanager
async def open_bots(arena: ArenaOptions | None, db: str) -> AsyncIterator[Bots]:
    """The bots of an arena, or of the store where there is none."""
    if arena is None:
        async with await Store.open(db) as store:
            yield StoreBots(store)
    else:
        async with ArenaClient(arena) as client:
            yield ArenaBots(client)


def _message(bot: RegisteredBot) -> registry_pb2.Bot:
    return bot_message(bot, connected=None)
