"""Reaching a bot at an address: Describe, then the stream if it has one, single calls if not."""

import asyncio
from typing import Final

import grpc

from wakeng.engine import Fault, RuleSet
from wakeng.sdk.client import BotClient, CallError, Trouble
from wakeng.sdk.wire import rules_message
from wakeng.services.seat import NotReady, Opener, Seat, Transport
from wakeng.services.stream import StreamTransport
from wakeng.services.unary import UnaryTransport
from wakeng.v1 import bot_pb2, rules_pb2

PROTOCOL_VERSION: Final = 1


def remote(
    address: str, *, rules: RuleSet, arena_version: str, credentials: grpc.ChannelCredentials | None = None
) -> Opener:
    """An opener for the bot at an address."""

    async def open_(seat: Seat) -> Transport:
        client = BotClient(address, credentials=credentials)
        budget = seat.time_control.ready_ms / 1000
        try:
            async with asyncio.timeout(budget):
                await _describe(seat, client, rules=rules, arena_version=arena_version, budget=budget)
                return await _connect(seat, client)
        except TimeoutError:
            reason = f"{address} was not ready within {seat.time_control.ready_ms} ms"
        except CallError as error:
            reason = f"{address}: {error}"
        await client.close()
        raise NotReady(Fault.NOT_READY, reason)

    return open_


async def _describe(seat: Seat, client: BotClient, *, rules: RuleSet, arena_version: str, budget: float) -> None:
    request = bot_pb2.DescribeRequest(
        protocol_version=PROTOCOL_VERSION,
        arena_version=arena_version,
        rules=rules_message(rules),
        time_control=rules_pb2.TimeControl(**seat.time_control.to_dict()),
    )
    answer = await client.describe(request, within=budget)
    if answer.protocol_version != PROTOCOL_VERSION:
        raise CallError(Trouble.BOT, f"it speaks protocol version {answer.protocol_version}, not {PROTOCOL_VERSION}")
    if answer.presets and rules.preset not in answer.presets:
        raise CallError(Trouble.BOT, f"it does not play {rules.preset}")
    seat.describe(
        version=answer.version[:100],
        max_decisions=answer.max_decisions if answer.HasField("max_decisions") else 256,
        wants_legal_actions=answer.wants_legal_actions if answer.HasField("wants_legal_actions") else True,
    )


async def _connect(seat: Seat, client: BotClient) -> Transport:
    stream = StreamTransport(seat, client)
    try:
        await stream.open()
    except CallError as error:
        if error.trouble is not Trouble.UNIMPLEMENTED:
            raise
        return UnaryTransport(seat, client)
    return stream
