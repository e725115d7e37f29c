"""One tournament in this loop: what metrics tell of it while it is played, and what the arena's own failures do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.arena.hosts import Host
from tests.arena.playing import Playing, playing
from tests.arena.test_tournament_service import BLOCKS, Holder, three
from tests.arena.tournaments import CALM, spec
from wakeng.engine import Fault, verify
from wakeng.sdk import start
from wakeng.services.store import MatchState
from wakeng.services.table import Decided, Table
from wakeng.services.tournament.run import Stored, TournamentRun, create, get, standings_now
from wakeng.services.tournament.spec_file import parse_spec
from wakeng.services.tournament.statistics import Standings


@dataclass(slots=True)
class Held:
    """A tournament that is being played, and held up."""

    here: Playing
    tournament: Stored
    run: TournamentRun
    holder: Holder
    playing: asyncio.Task[Standings]

    async def void(self) -> None:
        """The arena fails at the hand that is held up."""
        assert self.run.runner is not None
        floor = self.run.runner.floor
        assert floor is not None
        await self.holder.reached.wait()
        self.holder.reached.clear()
        seats = [chair.seat for chair in self.run.chairs]
        floor.void_waiting(seats, "a failure for the test")
        self.holder.answer()  # The arena asks a bot no third time while two messages wait for their answers.

    def metric(self, name: str, **labels: str) -> float | None:
        return self.here.arena.metrics.registry.get_sample_value(f"wakeng_{name}", labels)


@asynccontextmanager
async def held(folder: Path, *, hands: int) -> AsyncIterator[Held]:
    """A tournament of one bot in all seats, hand after hand, held up after so many of the bot's."""
    holder = Holder(hands)
    async with await start(holder) as bot, playing(folder) as here:
        tournament, _ = await create(here.arena.store, "t", parse_spec(three(bot), drawn_seed=bytes(32)))
        run = TournamentRun(here.arena, tournament)
        task = asyncio.create_task(run.play())
        await holder.reached.wait()
        try:
            yield Held(here, tournament, run, holder, task)
        finally:
            holder.open.set()
            await asyncio.gather(task, return_exceptions=True)


async def test_metrics_tell_how_a_tournament_goes(tmp_path: Path) -> None:
    async with held(tmp_path, hands=12) as it:  # Three seats: the fifth hand is in play, the second of its block.
        of = {"tournament": "t"}
        assert it.metric("tournament_hands_recorded", **of) == 4
        assert it.metric("tournament_tables_running", **of) == it.metric("tables_running") == 1
        assert it.metric("tournament_hands_queued", **of) == 3 * BLOCKS - 5
        assert (it.metric("tournament_blocks_completed", **of), it.metric("tournament_blocks_planned", **of)) == (1, 4)
        oldest = it.metric("tournament_oldest_block_timestamp_seconds", **of)
        latest = it.metric("tournament_last_progress_timestamp_seconds", **of)
        assert oldest is not None
        assert latest is not None
        assert oldest <= latest
        assert it.metric("tables_free") == 0
        assert it.metric("bot_leases", bot="a") == 1
        limit = it.metric("bot_lease_limit", bot="a")
        assert limit is not None
        assert limit >= 1
        it.holder.open.set()
        await it.playing
        assert it.metric("tournament_hands_recorded", **of) is None
        assert it.metric("tables_running") == 0


class Count:
    """Counts the hands that end, and says when there are so many."""

    def __init__(self, hands: int) -> None:
        self.reached = asyncio.Event()
        self.bots: list[str] = []
        self._hands = hands

    def hand_started(self, table: Table) -> None:
        pass

    def decided(self, told: Sequence[Decided]) -> None:
        pass

    def faulted(self, table: Table, seat: int, fault: Fault) -> None:
        pass

    def hand_voided(self, table: Table, reason: str) -> None:
        pass

    def hand_ended(self, table: Table) -> None:
        self.bots += [name.bot for name in table.spec.names]
        self._hands -= 1
        if not self._hands:
            self.reached.set()


async def test_hands_that_wait_for_one_bot_take_nobody_elses_tables(tmp_path: Path) -> None:
    """Four tables, and nine of twelve blocks wait for a bot that does not answer: the other three are played."""
    host, count = Host(decisions=0), Count(hands=9)
    others = [f'{{ name = "{name}", builtin = "lowest" }}' for name in "abc"]
    async with await start(host) as bot, playing(tmp_path) as here:
        text = spec(f'{{ name = "host", address = "{bot.address}" }}', *others, lines=(CALM,), blocks=12, tables=4)
        tournament, _ = await create(here.arena.store, "t", parse_spec(text, drawn_seed=bytes(32)))
        run = TournamentRun(here.arena, tournament, in_process=True, watchers=[count])
        task = asyncio.create_task(run.play())
        async with asyncio.timeout(60):
            await count.reached.wait()
        assert "host" not in count.bots
        host.open.set()
        await task
    assert count.bots.count("host") == 27


async def test_a_void_hand_is_played_again_and_counted_over_a_restart(tmp_path: Path) -> None:
    async with held(tmp_path, hands=3) as it:
        await it.void()
        await it.holder.reached.wait()
        it.playing.cancel()
        await asyncio.gather(it.playing, return_exceptions=True)
        store = it.here.arena.store
        assert await store.voids("t") == {1: 1}
        it.holder.open.set()
        standings = await TournamentRun(it.here.arena, it.tournament).play()
        assert standings.blocks == BLOCKS
        records = [verify(line) async for line in store.records("t")]
        assert [record["attempt"] for record in records] == [0, 1] + [0] * 10


async def test_a_block_is_struck_off_after_three_voids_and_stays_so(tmp_path: Path) -> None:
    async with held(tmp_path, hands=3) as it:
        for _ in range(3):
            await it.void()
        it.holder.open.set()
        standings = await it.playing
        store = it.here.arena.store
        assert (standings.prefix, standings.blocks, standings.hands) == (BLOCKS, BLOCKS - 1, 3 * (BLOCKS - 1))
        assert await store.voids("t") == {1: 3}
        assert sorted(await store.recorded_hands("t")) == [0, *range(3, 3 * BLOCKS)]
        tournament = await get(store, "t")
        assert tournament.row.state is MatchState.FINISHED
        assert (await standings_now(store, tournament)).to_dict() == standings.to_dict()
        again = await TournamentRun(it.here.arena, tournament).play()
        assert again.to_dict() == standings.to_dict()
