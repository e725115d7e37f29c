"""Reaching a bot at an address: Describe, then the stream if it has one, single calls if not."""

import asyncio
from typing import Final

from wakeng.engine import Fault, RuleSet
from wakeng.sdk.client import BotClient, CallError, Trouble
from wakeng.sdk.polling import grpc
from wakeng.sdk.wire import rules_message
from wakeng.services.seat import NotReady, Opener, Seat, Transport
from wakeng.services.spec import TimeControl
from wakeng.services.stream import Greeter, StreamTransport
from wakeng.services.unary import UnaryTransport
from wakeng.services.version import ARENA_VERSION
from wakeng.v1 import bot_pb2, rules_pb2

PROTOCOL_VERSION: Final = 1
MOST_VERSION: Final = 100
_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 0.5


def remote(address: str, *, credentials: grpc.ChannelCredentials | None = None, host: str | None = None) -> Opener:
    """An opener for the bot at an address; `host` is the name that its certificate must bear, if not the address's."""

    async def open_(seat: Seat, rules: RuleSet, time_control: TimeControl) -> Transport:
        client = BotClient(address, credentials=credentials, host=host)
        budget = time_control.ready_ms / 1000
        greeter = _greeter(seat, client)
        try:
            async with asyncio.timeout(budget):
                await greeter(rules, time_control)
                return await _connect(seat, client, greeter)
        except BaseException as error:  # Cancelled, too: nobody else would close it.
            await client.close()
            if isinstance(error, TimeoutError):
                late = f"{address} was not ready within {time_control.ready_ms} ms"
                raise NotReady(Fault.NOT_READY, late) from None
            if isinstance(error, CallError):
                raise NotReady(Fault.NOT_READY, f"{address}: {error}") from None
            raise

    return open_


def _greeter(seat: Seat, client: BotClient) -> Greeter:
    async def greet(rules: RuleSet, time_control: TimeControl) -> None:
        request = bot_pb2.DescribeRequest(
            protocol_version=PROTOCOL_VERSION,
            arena_version=ARENA_VERSION,
            rules=rules_message(rules),
            time_control=rules_pb2.TimeControl(**time_control.to_dict()),
        )
        try:
            answer = await client.describe(request, within=time_control.ready_ms / 1000)
        except CallError as error:
            raise NotReady(Fault.NOT_READY, f"{client.address}: {error}") from None
        take_description(seat, answer)
        check_rules(answer, rules)

    return greet


async def _connect(seat: Seat, client: BotClient, greeter: Greeter) -> Transport:
    stream, pause = StreamTransport(seat, client, greeter), 0.0
    while True:
        try:
            await stream.open()
        except CallError as error:
            if error.trouble is Trouble.UNIMPLEMENTED:
                return UnaryTransport(seat, client, greeter)
            if error.trouble is not Trouble.NETWORK:
                raise
        else:
            return stream
        # The bot has described itself, so it is there: until its time is over this is worth another try.
        await asyncio.sleep(pause)
        pause = min(pause + _PAUSE, _LONGEST_PAUSE)


def take_description(seat: Seat, answer: bot_pb2.DescribeResponse) -> None:
    """What a bot says of itself; NotReady if it speaks another protocol."""
    if answer.protocol_version != PROTOCOL_VERSION:
        spoken = f"it speaks protocol version {answer.protocol_version}, this arena {PROTOCOL_VERSION}"
        raise NotReady(Fault.NOT_READY, f"{seat.name.bot}: {spoken}")
    seat.describe(
        version=answer.version[:MOST_VERSION],
        max_tables=answer.max_tables if answer.HasField("max_tables") else 1_024,
        max_decisions=answer.max_decisions if answer.HasField("max_decisions") else 256,
        wants_legal_actions=answer.wants_legal_actions if answer.HasField("wants_legal_actions") else True,
    )


def check_rules(answer: bot_pb2.DescribeResponse, rules: RuleSet) -> None:
    """NotReady if the bot says that it does not play these rules."""
    if answer.presets and rules.preset not in answer.presets:
        raise NotReady(Fault.NOT_READY, f"{answer.name[:80]!r} does not play {rules.preset}")
    strange = sorted(set(rules.overrides()) - set(answer.override_fields)) if answer.override_fields else []
    if strange:
        raise NotReady(Fault.NOT_READY, f"{answer.name[:80]!r} does not understand {', '.join(strange)}")
