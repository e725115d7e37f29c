"""A bot in its plainest form: a function behind Describe and Decide, and no stream; UNIMPLEMENTED is all Play says.

python unary.py greedy 64-HEX-DIGITS      # serves until its standard input ends
"""

import asyncio
import sys
from inspect import isawaitable
from typing import Any

import grpc
import grpc.aio

from wakeng.bots import create
from wakeng.sdk import Answer, Bot, Decision
from wakeng.v1 import bot_pb2, bot_pb2_grpc


class Unary(bot_pb2_grpc.BotServiceServicer):
    """The calls of a bot that knows the protocol's messages and nothing of the SDK's server."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot

    # Of a call that a class leaves out gRPC itself says that it is not implemented.
    Play = bot_pb2_grpc.BotServiceServicer.Play

    async def Describe(self, request: bot_pb2.DescribeRequest, context: Any) -> bot_pb2.DescribeResponse:
        return bot_pb2.DescribeResponse(protocol_version=1, name=self._bot.name, version=self._bot.version)

    async def Decide(self, request: bot_pb2.DecideRequest, context: Any) -> bot_pb2.DecideResponse:
        choice = self._bot.choose(Decision(request))
        choice = await choice if isawaitable(choice) else choice
        action, note = choice if isinstance(choice, Answer) else (choice, None)
        return bot_pb2.DecideResponse(decision_id=request.decision_id, action=action, note=note)


async def start_unary(bot: Bot) -> "tuple[grpc.aio.Server, str]":
    """A server, and where it is."""
    server = grpc.aio.server()
    bot_pb2_grpc.add_BotServiceServicer_to_server(Unary(bot), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    return server, f"127.0.0.1:{port}"


async def main(name: str, seed: str) -> None:
    """Serve a built-in bot."""
    server, address = await start_unary(create(name, bytes.fromhex(seed)))
    sys.stdout.write(f"listening on {address}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    await server.stop(0)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
