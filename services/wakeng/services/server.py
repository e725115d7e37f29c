"""The arena as a gRPC server: its services, health and reflection, started and stopped as one."""

from typing import Final, Self

import grpc.aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from wakeng.services.arena import Arena
from wakeng.services.errors import ServiceError
from wakeng.services.matches import Matches
from wakeng.v1 import match_pb2, match_pb2_grpc

_OPTIONS: Final = (
    ("grpc.max_receive_message_length", 1 << 20),
    ("grpc.max_concurrent_streams", 1_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
    ("grpc.so_reuseport", 0),
)
_SERVICES: Final = (match_pb2.DESCRIPTOR.services_by_name["MatchService"].full_name,)


class CannotListen(ServiceError):
    """The address is taken, or not ours."""


class ArenaServer:
    """MatchService, health and reflection on one port."""

    def __init__(self, arena: Arena) -> None:
        self.matches = Matches(arena)
        self.address = ""
        self._health = health.aio.HealthServicer()
        self._server = grpc.aio.server(options=list(_OPTIONS))
        match_pb2_grpc.add_MatchServiceServicer_to_server(self.matches, self._server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        reflection.enable_server_reflection((*_SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME), self._server)

    async def start(self, listen: str) -> Self:
        """Listen, go on with unfinished matches, and say SERVING; CannotListen if the address cannot be had."""
        try:
            port = self._server.add_insecure_port(listen)
        except RuntimeError as problem:
            raise CannotListen(f"cannot listen on {listen}: {problem}") from None
        host, colon, _ = listen.rpartition(":")
        self.address = f"{host}:{port}" if colon and not listen.startswith("unix:") else listen
        await self._server.start()
        await self.matches.take_up()
        for service in ("", *_SERVICES):
            await self._health.set(service, health_pb2.HealthCheckResponse.SERVING)
        return self

    async def stop(self, grace: float) -> None:
        """Say NOT_SERVING, let hands in play finish for at most `grace` seconds, then end every call."""
        await self._health.enter_graceful_shutdown()
        await self.matches.drain(grace)
        await self._server.stop(1.0)
