"""Bots that dial in, and leases: a bot never holds more hands than it said, whatever path it is seated by."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.arena.serving import Client, Served, serving
from wakeng.engine import verify
from wakeng.sdk import Bot, Decision
from wakeng.sdk.joining import JoinedBot
from wakeng.sdk.server import start
from wakeng.services.store import Role
from wakeng.v1 import bot_pb2, match_pb2, registry_pb2, rules_pb2

HANDS = 30


class Counting(Bot):
    """Plays the first legal action, and counts the hands it has in play."""

    version = "7"

    def __init__(self, max_tables: int) -> None:
        self.max_tables = max_tables
        self.in_play: set[tuple[str, int, int]] = set()
        self.most = 0
        self.ended = 0

    def hand_started(self, notice: bot_pb2.HandStarted) -> None:
        self.in_play.add((notice.match_id, notice.hand_index, notice.attempt))
        self.most = max(self.most, len(self.in_play))

    def hand_ended(self, notice: bot_pb2.HandEnded) -> None:
        self.in_play.discard((notice.match_id, notice.hand_index, notice.attempt))
        self.ended += 1

    def choose(self, decision: Decision) -> str:
        return decision.legal[0]


def seat(**player: str) -> match_pb2.SeatSpec:
    return match_pb2.SeatSpec(**player)


async def created(client: Client, request_id: str, *seats: match_pb2.SeatSpec, tables: int = 0) -> str:
    request = match_pb2.CreateMatchRequest(
        request_id=request_id,
        rules=rules_pb2.RuleSet(preset="xian"),
        seats=seats,
        hands=HANDS,
        tables=tables,
        time_control=rules_pb2.TimeControl(move_ms=30_000, ready_ms=30_000),  # However busy the machine is.
    )
    answer = await client(client.matches.CreateMatch, request)
    return str(answer.match.match_id)


async def finished(client: Client, match_id: str) -> match_pb2.Match:
    """The match once it is over: its watch ends then."""
    watch = client.matches.WatchMatch(match_pb2.WatchMatchRequest(match_id=match_id), metadata=client.metadata)
    async for _ in watch:
        pass
    answer = await client(client.matches.GetMatch, match_pb2.GetMatchRequest(match_id=match_id))
    found: match_pb2.Match = answer.match
    return found


async def lines(client: Client, match_id: str) -> list[bytes]:
    request = match_pb2.ListHandRecordsRequest(match_id=match_id)
    calls = client.matches.ListHandRecords(request, metadata=client.metadata)
    return [answer.line.encode() async for answer in calls]


@asynccontextmanager
async def dialled_in(served: Served, bot: Bot, name: str) -> AsyncIterator[str]:
    """The bot, registered and joined; gives its token."""
    async with Client(served.address, await served.token(Role.ADMIN)) as admin:
        request = registry_pb2.RegisterBotRequest(name=name, dial_in=True)
        token = str((await admin(admin.bots.RegisterBot, request)).token)
        joined = JoinedBot(bot, served.address, token)
        running = asyncio.ensure_future(joined.run())
        try:
            yield token
        finally:
            await joined.leave(grace=1)
            await running


async def test_a_bot_that_dialled_in_plays_like_one_that_listens(tmp_path: Path) -> None:
    bot = Counting(1_024)
    async with (
        serving(tmp_path) as served,
        dialled_in(served, bot, "mine"),
        Client(served.address) as client,
    ):
        match_id = await created(client, "r", seat(registered="mine"), seat(builtin="greedy"), seat(builtin="random"))
        match = await finished(client, match_id)
        assert match.state == match_pb2.MATCH_STATE_FINISHED
        records = [verify(line) for line in await lines(client, match_id)]
        assert [record["hand_index"] for record in records] == list(range(HANDS))
        assert {tuple(record["seats"][0].items()) for record in records} == {(("bot", "mine"), ("version", "7"))}
        decisions = [decision for record in records for decision in record["decisions"]]
        assert [decision for decision in decisions if "fault" in decision] == []
        told = await client(client.bots.GetBot, registry_pb2.GetBotRequest(name="mine"))
        assert told.bot.version == "7"


async def test_leases_hold_over_two_matches_at_once_by_address(tmp_path: Path) -> None:
    bot = Counting(3)
    async with serving(tmp_path) as served, Client(served.address) as client:
        server = await start(bot)
        async with server:
            mine = seat(address=server.address)
            made = [
                await created(client, f"r{n}", mine, seat(builtin="lowest"), seat(builtin="random"), tables=16)
                for n in range(2)
            ]
            for match_id in made:
                match = await finished(client, match_id)
                assert match.hands_finished == HANDS
        assert bot.most == 3
        assert bot.ended == 2 * HANDS


async def test_leases_hold_for_a_bot_that_dialled_in_and_sits_twice_at_a_table(tmp_path: Path) -> None:
    bot = Counting(2)
    async with (
        serving(tmp_path) as served,
        dialled_in(served, bot, "twice"),
        Client(served.address) as client,
    ):
        twice = seat(registered="twice")
        match_id = await created(client, "r", twice, seat(builtin="greedy"), twice, tables=16)
        match = await finished(client, match_id)
        assert match.hands_finished == HANDS
        assert bot.most == 2


async def test_a_second_join_replaces_the_first_in_the_midst_of_a_match(tmp_path: Path) -> None:
    class Stuck(Counting):
        """Never answers, and says when it is asked."""

        def __init__(self) -> None:
            super().__init__(1_024)
            self.asked = asyncio.Event()

        async def choose(self, decision: Decision) -> str:  # type: ignore[override]
            self.asked.set()
            await asyncio.Event().wait()
            raise AssertionError

    stuck, good = Stuck(), Counting(1_024)
    async with (
        serving(tmp_path) as served,
        Client(served.address, await served.token(Role.ADMIN)) as client,
    ):
        request = registry_pb2.RegisterBotRequest(name="mine", dial_in=True)
        token = str((await client(client.bots.RegisterBot, request)).token)
        first = asyncio.ensure_future(JoinedBot(stuck, served.address, token).run())
        made = match_pb2.CreateMatchRequest(
            request_id="r",
            rules=rules_pb2.RuleSet(preset="xian"),
            seats=[seat(registered="mine"), seat(builtin="lowest"), seat(builtin="lowest")],
            hands=5,
            time_control=rules_pb2.TimeControl(move_ms=30_000),
        )
        match_id = str((await client(client.matches.CreateMatch, made)).match.match_id)
        await stuck.asked.wait()
        second = JoinedBot(good, served.address, token)
        running = asyncio.ensure_future(second.run())
        match = await finished(client, match_id)
        assert match.hands_finished == 5
        assert match.totals[0].escapes == 0
        assert not any("fault" in d for line in await lines(client, match_id) for d in verify(line)["decisions"])
        await second.leave(grace=1)
        await running
        results = await asyncio.gather(first, return_exceptions=True)
        assert "REPLACED" in str(results[0]) or "another" in str(results[0]).lower()
