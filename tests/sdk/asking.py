"""Helpers of the SDK's tests: questions to ask, and a plain gRPC client that knows nothing of the SDK."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import grpc
import grpc.aio

from wakeng.engine import PRESETS, Hand, Phase, derive
from wakeng.sdk import Bot, BotServer, Decision, start
from wakeng.sdk.testing import decision_for
from wakeng.v1 import bot_pb2, bot_pb2_grpc

SEED = bytes(32)


def questions(count: int, preset: str = "xian") -> list[bot_pb2.DecideRequest]:
    """So many questions of hands in which everybody plays the first legal token that is no pass, ids from 1."""
    found: list[bot_pb2.DecideRequest] = []
    for hand_index in range(count):
        hand = Hand.from_seed(PRESETS[preset], derive(SEED, "hand", hand_index))
        while hand.phase is not Phase.END:
            found.append(decision_for(hand, decision_id=len(found) + 1).message)
            if len(found) == count:
                return found
            hand.apply(hand.legal[-1])
    return found


def question(decision_id: int = 7) -> bot_pb2.DecideRequest:
    """A question in PLAY with several answers."""
    asked = next(ask for ask in questions(30) if ask.phase == "PLAY" and len(ask.legal_actions) > 3)
    asked.decision_id = decision_id
    return asked


@asynccontextmanager
async def serving(bot: Bot, listen: str = "127.0.0.1:0") -> AsyncIterator[tuple[BotServer, Any]]:
    """A served bot and a stub that calls it."""
    async with await start(bot, listen) as server, grpc.aio.insecure_channel(server.address) as channel:
        yield server, bot_pb2_grpc.BotServiceStub(channel)


def packed(asked: Iterable[bot_pb2.DecideRequest], **parts: Any) -> bot_pb2.PlayRequest:
    """One message of a stream."""
    return bot_pb2.PlayRequest(message=bot_pb2.ArenaMessage(decisions=asked, **parts))


async def replies(call: Any, count: int) -> list[bot_pb2.DecideResponse]:
    """So many answers of a stream, in the order in which they come."""
    found: list[bot_pb2.DecideResponse] = []
    while len(found) < count:
        found += (await call.read()).message.answers
    return found


class First(Bot):
    """The first legal token, always."""

    def choose(self, decision: Decision) -> str:
        return decision.legal[0]


def firsts(asked: Sequence[bot_pb2.DecideRequest]) -> dict[int, str]:
    """What First answers, by decision id."""
    return {ask.decision_id: ask.legal_actions[0] for ask in asked}


def by_id(answers: Iterable[bot_pb2.DecideResponse]) -> dict[int, str]:
    """Tokens by decision id."""
    return {answer.decision_id: answer.action for answer in answers}
