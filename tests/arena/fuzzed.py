"""An arena as a process, to be told anything; what it must still be in the end; and bots that say anything."""

import asyncio
import re
import urllib.request
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeVar

import grpc
import grpc.aio
from google.protobuf import descriptor_pool
from google.protobuf.descriptor import MethodDescriptor
from grpc_health.v1 import health_pb2

from tests.arena.process import ServedProcess, serve
from tests.arena.serving import Client, Refusal, refusal
from wakeng.engine import verify
from wakeng.sdk import Bot, Decision, start
from wakeng.v1 import match_pb2, registry_pb2, rules_pb2

T = TypeVar("T")

SERVICES: Final = ("wakeng.v1.MatchService", "wakeng.v1.BotRegistryService", "wakeng.v1.TournamentService")
WORDS: Final = "xian four_feature greedy 127.0.0.1:1 localhost:1 unix:/x 8.8.8.8:53 [::1]:1 m1 mine standard".split()
MOST_GROWTH: Final = 96 << 20
"""Bytes by which the process may grow under all that."""
_WITHIN: Final = 60.0
_MUST_NOT: Final = re.compile(r"Traceback|never retrieved|never awaited|Error")


def methods() -> dict[str, MethodDescriptor]:
    """Every call of the services that Hypothesis makes requests for."""
    default: Any = descriptor_pool.Default
    pool = default()
    found = [method for name in SERVICES for method in pool.FindServiceByName(name).methods]
    return {f"/{method.containing_service.full_name}/{method.name}": method for method in found}


class First(Bot):
    """The first legal token, always."""

    def choose(self, decision: Decision) -> str:
        return decision.legal[0]


@dataclass(slots=True)
class Fuzzed:
    """The arena, a caller of it, an honest bot for it, and the event loop that both live in."""

    served: ServedProcess
    runner: asyncio.Runner
    client: Client
    honest: str
    """The honest bot's address."""
    words: list[str] = field(default_factory=list)
    """Texts that mean something to it."""
    names: Iterator[int] = field(default_factory=lambda: count(1))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do it in that event loop, and see that the arena is well thereafter."""

        async def and_healthy() -> T:
            async with asyncio.timeout(_WITHIN):
                done = await work
                await self.healthy()
                return done

        return self.runner.run(and_healthy())

    async def healthy(self) -> None:
        """The arena says that it serves."""
        check = self.client.channel.unary_unary("/grpc.health.v1.Health/Check")
        answer = health_pb2.HealthCheckResponse.FromString(await check(b"", timeout=20))
        assert answer.status == health_pb2.HealthCheckResponse.SERVING

    def gauge(self, name: str) -> float:
        """A number from the arena's metrics."""
        with urllib.request.urlopen(self.served.metrics) as page:
            text = page.read().decode()
        found = re.search(rf"^{name} (\S+)$", text, re.MULTILINE)
        return float(found[1]) if found else 0.0

    # Calls ------------------------------------------------------------------------------------------------------------

    async def call(self, path: str, method: MethodDescriptor, raw: bytes) -> tuple[Refusal, list[bytes]]:
        """What comes of a call: how it ended, and the first answers; a stream is left after those."""
        answers: list[bytes] = []
        try:
            if method.server_streaming:
                call = self.client.channel.unary_stream(path)(raw, timeout=20)
                while len(answers) < 20 and (answer := await call.read()) is not grpc.aio.EOF:
                    answers.append(answer)
                call.cancel()
            else:
                answers.append(await self.client.channel.unary_unary(path)(raw, timeout=20))
        except grpc.aio.AioRpcError as error:
            return refusal(error), answers
        return Refusal("OK"), answers

    # Matches ----------------------------------------------------------------------------------------------------------

    async def match(self, seat: match_pb2.SeatSpec) -> list[dict[str, Any]]:
        """The records of a short match in which this seat is the only one that is not honest."""
        request = self.request()
        request.seats[1].CopyFrom(seat)
        made = await self.client(self.client.matches.CreateMatch, request)
        match_id: str = made.match.match_id
        async for _ in self.client.matches.WatchMatch(match_pb2.WatchMatchRequest(match_id=match_id)):
            pass
        ended = (await self.client(self.client.matches.GetMatch, match_pb2.GetMatchRequest(match_id=match_id))).match
        assert ended.state == match_pb2.MATCH_STATE_FINISHED, ended
        listed = self.client.matches.ListHandRecords(match_pb2.ListHandRecordsRequest(match_id=match_id))
        records = [verify(answer.line.encode()) async for answer in listed]
        assert [(record["hand_index"], record["attempt"]) for record in records] == [(i, 0) for i in range(6)]
        return records

    async def settle_in(self) -> None:
        """Have something there to ask for."""
        for _ in range(2):
            await self.match(match_pb2.SeatSpec(address=self.honest))
            self.words.append((await self.registered())[0])
        matches = await self.client(self.client.matches.ListMatches, match_pb2.ListMatchesRequest(page_size=1))
        bots = await self.client(self.client.bots.ListBots, registry_pb2.ListBotsRequest(page_size=1))
        self.words += [matches.matches[0].match_id, matches.next_page_token, bots.next_page_token, *WORDS]
        assert all(self.words)

    def request(self) -> match_pb2.CreateMatchRequest:
        """A good one, for a match that is soon over."""
        honest = match_pb2.SeatSpec(address=self.honest)
        return match_pb2.CreateMatchRequest(
            request_id=f"fuzz{next(self.names)}",
            rules=rules_pb2.RuleSet(preset="xian"),
            seats=[honest, honest, honest],
            hands=6,
            tables=3,
            time_control=rules_pb2.TimeControl(move_ms=500, bank_ms=0, ready_ms=500, reconnect_ms=200, max_strikes=2),
        )

    def tournament(self) -> str:
        """The spec of a good one, for one that is soon over."""
        bots = ", ".join(f'{{name = "{name}", bot = "{self.honest}"}}' for name in "abc")
        return "\n".join(
            (
                'name = "fuzz"',
                'rules = "xian"',
                'format = "all"',
                "blocks = 2",
                f"bots = [{bots}]",
                "[time_control]",
                "move_ms = 500",
                "ready_ms = 500",
                "[fault_policy]",
                "max_strikes = 2",
            )
        )

    async def registered(self) -> tuple[str, str]:
        """A new bot that dials in: its name and token."""
        name = f"bot{next(self.names)}"
        request = registry_pb2.RegisterBotRequest(name=name, dial_in=True)
        return name, (await self.client(self.client.bots.RegisterBot, request)).token


@contextmanager
def fuzzed(folder: Path) -> Iterator[Fuzzed]:
    """An arena that takes callers for admins, held in the end to have grown by little and to have had no mishap."""
    with serve(folder) as served, asyncio.Runner() as runner:
        client, honest = runner.run(_open(served.address))
        arena = Fuzzed(served, runner, client, honest.address)
        runner.run(arena.settle_in())
        before = arena.gauge("process_resident_memory_bytes")
        yield arena
        runner.run(arena.healthy())
        assert arena.gauge("process_resident_memory_bytes") - before < MOST_GROWTH
        assert arena.gauge("wakeng_hands_voided_total") == 0
        runner.run(_close(client, honest))
    said = (folder / "stderr").read_text()
    assert not _MUST_NOT.search(said), said


async def _open(address: str) -> tuple[Client, Any]:
    honest = await start(First())
    return Client(address), honest


async def _close(client: Client, honest: Any) -> None:
    await client.channel.close()
    await honest.stop()
