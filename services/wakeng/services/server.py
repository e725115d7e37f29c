"""The arena as a gRPC server: its services behind one guard, health and reflection, started and stopped as one."""

import asyncio
from dataclasses import replace
from typing import Final, Self

from wakeng.sdk.polling import grpc  # Before anybody else loads it.

# isort: split
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from wakeng.services.arena import Arena
from wakeng.services.auth import Guard, joining_bot
from wakeng.services.calls import CountedCalls
from wakeng.services.checker import bot_checker
from wakeng.services.dialling import DiallingPolicy, listens_here_only
from wakeng.services.errors import ServiceError
from wakeng.services.failures import Failures
from wakeng.services.gateway import Gateway
from wakeng.services.matches import Matches
from wakeng.services.ratelimit import RateLimit
from wakeng.services.registry import BotRegistry, Checker
from wakeng.services.tournament.run import Elsewhere
from wakeng.services.tournaments import Tournaments
from wakeng.v1 import (
    gateway_pb2,
    match_pb2,
    match_pb2_grpc,
    registry_pb2,
    registry_pb2_grpc,
    tournament_pb2,
    tournament_pb2_grpc,
)

MOST_CONNECTIONS: Final = 2_000
MOST_STREAMS: Final = 1_000
"""Calls at once on one connection."""
MOST_CALLS: Final = 5_000
"""Calls at once on all of them; a further one is RESOURCE_EXHAUSTED."""

_OPTIONS: Final = (
    ("grpc.max_receive_message_length", 1 << 20),
    ("grpc.max_metadata_size", 8 << 10),
    ("grpc.absolute_max_metadata_size", 16 << 10),
    ("grpc.max_concurrent_streams", MOST_STREAMS),
    ("grpc.max_allowed_incoming_connections", MOST_CONNECTIONS),
    ("grpc.server_handshake_timeout_ms", 10_000),
    # Keepalive is permitted from every 10 s on, calls or none; who pings more often is sent away.
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
    ("grpc.http2.max_ping_strikes", 2),
    # A caller who has vanished without a word is found out.
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.max_connection_idle_ms", 600_000),
    ("grpc.so_reuseport", 0),
)
SERVICES: Final = tuple(
    next(iter(file.services_by_name.values())).full_name
    for file in (match_pb2.DESCRIPTOR, tournament_pb2.DESCRIPTOR, registry_pb2.DESCRIPTOR, gateway_pb2.DESCRIPTOR)
)


class CannotListen(ServiceError):
    """The address is taken, or not ours, or not to be listened at like this."""


class ArenaServer:
    """All services of an arena on one port."""

    def __init__(
        self,
        arena: Arena,
        *,
        demand_tokens: bool = False,
        credentials: grpc.ServerCredentials | None = None,
        policy: DiallingPolicy | None = None,
        limit: RateLimit | None = None,
        checker: Checker | None = None,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        """Without `demand_tokens` whoever shows none is an admin; without `credentials` there is no TLS.

        Tournaments are played `elsewhere` where it takes them.
        """
        policy = policy or DiallingPolicy()
        guard = Guard(arena.store.tokens, demand_tokens=demand_tokens, limit=limit)
        self.matches = Matches(arena, policy)
        self.tournaments = Tournaments(arena, policy, elsewhere)
        self.gateway = Gateway(arena.roster, joining_bot, arena.store.bots)
        arena.seating = replace(arena.seating, policy=policy, gateway=self.gateway)
        self.registry = BotRegistry(
            arena.store, policy, self.gateway, checker=checker or bot_checker(arena.seating.tls)
        )
        self.arena = arena
        self.address = ""
        self.demands_tokens = demand_tokens
        self._credentials = credentials
        self._health = health.aio.HealthServicer()
        self._server = grpc.aio.server(
            options=list(_OPTIONS),
            interceptors=[CountedCalls(arena.metrics), guard, Failures()],
            maximum_concurrent_rpcs=MOST_CALLS,
        )
        self._add_services()

    def _add_services(self) -> None:
        match_pb2_grpc.add_MatchServiceServicer_to_server(self.matches, self._server)
        tournament_pb2_grpc.add_TournamentServiceServicer_to_server(self.tournaments, self._server)
        registry_pb2_grpc.add_BotRegistryServiceServicer_to_server(self.registry, self._server)
        self._server.add_generic_rpc_handlers([self.gateway.handler()])
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        reflection.enable_server_reflection((*SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME), self._server)

    async def start(self, listen: str, *, insecure: bool = False) -> Self:
        """Listen, go on with what is unfinished, and say SERVING; CannotListen if the address cannot be had.

        An address that others than this machine reach needs tokens, and TLS unless `insecure`.
        """
        if not listens_here_only(listen):
            self._check_open(listen, insecure=insecure)
        try:
            if self._credentials is None:
                port = self._server.add_insecure_port(listen)
            else:
                port = self._server.add_secure_port(listen, self._credentials)
        except RuntimeError as problem:
            raise CannotListen(f"cannot listen on {listen}: {problem}") from None
        host, colon, _ = listen.rpartition(":")
        self.address = f"{host}:{port}" if colon and not listen.startswith("unix:") else listen
        await self.matches.take_up()
        await self.tournaments.take_up()
        await self._server.start()
        for service in ("", *SERVICES):
            await self._health.set(service, health_pb2.HealthCheckResponse.SERVING)
        return self

    def _check_open(self, listen: str, *, insecure: bool) -> None:
        if not self.demands_tokens:
            raise CannotListen(f"{listen} is reached by other machines, and without tokens every caller is an admin")
        if self._credentials is None and not insecure:
            raise CannotListen(
                f"{listen} is reached by other machines, and so needs TLS: give --tls-cert and --tls-key, "
                "or --insecure if something before it sees to that"
            )

    async def stop(self, grace: float) -> None:
        """Say NOT_SERVING, let hands in play finish for at most `grace` seconds, then end every call."""
        await self._health.enter_graceful_shutdown()
        await asyncio.gather(self.matches.drain(grace), self.tournaments.drain(grace))
        await self._server.stop(1.0)
