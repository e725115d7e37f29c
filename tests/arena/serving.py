"""An arena served in the test's own loop, callers of it, and what it refuses them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

from wakeng.services.arena import Arena
from wakeng.services.journal import Journal
from wakeng.services.metrics import Metrics
from wakeng.services.server import ArenaServer
from wakeng.services.store import Role, Store
from wakeng.services.tokens import hash_token, new_token
from wakeng.v1 import match_pb2_grpc, registry_pb2_grpc, tournament_pb2_grpc

Metadata = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Served:
    """An arena that listens."""

    server: ArenaServer
    store: Store
    metrics: Metrics

    @property
    def address(self) -> str:
        """Where."""
        return self.server.address

    async def token(self, role: Role, *, owner: str = "", bot: str | None = None) -> str:
        """A token that was given out."""
        token = new_token()
        await self.store.tokens.add(hash_token(token) or "", role, owner=owner, bot=bot)
        return token


@asynccontextmanager
async def serving(folder: Path, *, listen: str = "127.0.0.1:0", **options: Any) -> AsyncIterator[Served]:
    """An arena with a store and a journal in the folder; the options are ArenaServer's."""
    async with await Store.open(f"sqlite:///{folder / 'wakeng.db'}") as store:
        with Journal.open(folder / "journal.jsonl") as journal:
            metrics = Metrics()
            arena = Arena(store=store, journal=journal, metrics=metrics)
            server = await ArenaServer(arena, **options).start(listen)
            try:
                yield Served(server, store, metrics)
            finally:
                await server.stop(0)
                arena.close()


class Client:
    """A caller with a token, or without one."""

    def __init__(
        self, address: str, token: str | None = None, *, credentials: grpc.ChannelCredentials | None = None
    ) -> None:
        options = [("grpc.use_local_subchannel_pool", 1)]
        self.channel: Any = (
            grpc.aio.insecure_channel(address, options=options)
            if credentials is None
            else grpc.aio.secure_channel(address, credentials, options=options)
        )
        self.metadata: Metadata = bearer(token)
        self.matches: Any = match_pb2_grpc.MatchServiceStub(self.channel)
        self.tournaments: Any = tournament_pb2_grpc.TournamentServiceStub(self.channel)
        self.bots: Any = registry_pb2_grpc.BotRegistryServiceStub(self.channel)

    async def __call__(self, method: Any, request: Message) -> Any:
        """The answer of a unary call."""
        return await method(request, metadata=self.metadata, timeout=20)

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.channel.close()


def bearer(token: str | None) -> Metadata:
    """The metadata that shows a token."""
    return () if token is None else (("authorization", f"Bearer {token}"),)


@dataclass(frozen=True, slots=True)
class Refusal:
    """How a call was refused."""

    code: str
    reason: str = ""
    field: str = ""
    retry_s: float = 0.0
    message: str = ""


def refusal(error: grpc.aio.AioRpcError) -> Refusal:
    """What an error status says."""
    reason = field = ""
    retry = 0.0
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in status_pb2.Status.FromString(value).details:
                info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
                again = error_details_pb2.RetryInfo()
                if detail.Unpack(info):
                    assert info.domain == "wakeng"
                    reason = info.reason
                elif detail.Unpack(bad):
                    field = bad.field_violations[0].field
                elif detail.Unpack(again):
                    retry = again.retry_delay.ToTimedelta().total_seconds()
    return Refusal(error.code().name, reason, field, retry, error.details() or "")


async def refused(call: Any) -> Refusal:
    """How a call is refused; it is a failure of the test if it is not."""
    try:
        answer = await call
    except grpc.aio.AioRpcError as error:
        return refusal(error)
    raise AssertionError(f"was not refused: {answer}")
