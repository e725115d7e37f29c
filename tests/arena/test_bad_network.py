"""A bad network under a match of fifty tables: it ends, only the distant bot is blamed, no result is lost or doubled.

That the match ends, and has one true record of each hand, is what `Match.records` holds in every test here.
"""

import asyncio
from pathlib import Path

import pytest

from tests.arena.network import WAYS, Match, Network, faults, network
from tests.arena.proxy import Way
from wakeng.engine import Fault
from wakeng.services.questions import Question
from wakeng.services.roster import TOGETHER
from wakeng.services.spec import TimeControl

HANDS = 140
MANY = 400
SHORT = TimeControl(move_ms=150, bank_ms=0, ready_ms=30_000, reconnect_ms=60_000)
BRIEF = TimeControl(move_ms=60_000, bank_ms=0, ready_ms=30_000, reconnect_ms=400)
NETWORK = {(0, "DISCONNECTED"), (0, "UNREACHABLE")}
EITHER_WAY = pytest.mark.parametrize("way", WAYS)


def owed(match: Match, place: int) -> set[int]:
    """The questions that a bot has not answered yet."""
    return {question.id for question in match.seat(place).outstanding()}


async def hold(match: Match, net: Network) -> set[int]:
    """Have the distant bots keep their answers to themselves until every table waits for one; what they are asked."""
    for distant in net.distant:
        distant.answers.hold()

    def stopped() -> bool:
        waiting = all(table.seat < len(net.distant) for table in match.moments.tables)
        # Nothing is under way in either direction.
        return waiting and all(owed(match, place) <= bot.answers.held for place, bot in enumerate(net.distant))

    await match.until(stopped)
    return {question for place, _ in enumerate(net.distant) for question in owed(match, place)}


async def hold_all(match: Match, net: Network) -> None:
    """The same, with a hand at every table: one that begins later would ask bots that are lost by then."""
    await hold(match, net)
    await match.until(match.full)
    await hold(match, net)


# A loss shorter than `reconnect` costs nothing -----------------------------------------------------------------------


@EITHER_WAY
async def test_what_was_pending_at_the_loss_is_asked_again_under_its_old_id(tmp_path: Path, way: str) -> None:
    async with network(tmp_path, [way]) as net:
        (distant,) = net.distant
        match = net.match(hands=HANDS)
        await match.in_full_swing()
        pending = await hold(match, net)
        distant.proxy.drop()
        distant.answers.release()
        records = await match.records()
        assert faults(records) == {}
        asked = distant.answers.asked
        assert {question for question in asked if asked[question] > 1} >= pending
        assert max(asked.values()) == 2
        assert distant.proxy.accepted == 2


@EITHER_WAY
@pytest.mark.parametrize("end", Way)
async def test_half_a_connection_is_none(tmp_path: Path, way: str, end: Way) -> None:
    async with network(tmp_path, [way]) as net:
        (distant,) = net.distant
        match = net.match(hands=HANDS)
        await match.in_full_swing()
        distant.proxy.half_close(end)
        assert faults(await match.records()) == {}
        assert distant.proxy.accepted == 2


@EITHER_WAY
async def test_a_connection_may_break_again_and_again(tmp_path: Path, way: str) -> None:
    async with network(tmp_path, [way]) as net:
        (distant,) = net.distant
        match = net.match(hands=2 * HANDS)
        for _ in range(5):
            await match.decisions(300)
            await match.until(lambda: distant.proxy.standing == 1 and match.seat(0).up)
            distant.proxy.drop()
        assert faults(await match.records()) == {}


@EITHER_WAY
async def test_a_bot_that_cannot_be_reached_for_a_while_is_waited_for(tmp_path: Path, way: str) -> None:
    async with network(tmp_path, [way]) as net:
        (distant,) = net.distant
        match = net.match(hands=HANDS)
        await match.in_full_swing()
        await distant.proxy.refuse()
        distant.proxy.drop()
        # Every table comes to a stop at the seat of the bot that is away.
        await match.until(lambda: len(owed(match, 0)) == len(match.moments.tables))
        await distant.proxy.accept()
        assert faults(await match.records()) == {}


# A slow network ------------------------------------------------------------------------------------------------------


@EITHER_WAY
async def test_a_delay_within_the_budget_costs_nothing(tmp_path: Path, way: str) -> None:
    async with network(tmp_path, [way]) as net:
        match = net.match(hands=HANDS)
        await match.in_full_swing()
        net.distant[0].proxy.delay = 0.01
        assert faults(await match.records()) == {}


@EITHER_WAY
async def test_a_delay_beyond_the_budget_is_a_deadline_of_the_distant_bot(tmp_path: Path, way: str) -> None:
    async with network(tmp_path, [way]) as net:
        (distant,) = net.distant
        match = net.match(hands=HANDS, time=SHORT)
        await match.decisions(300)
        distant.proxy.delay = 1.0
        records = await match.records()
        assert faults(records).keys() == {(0, "DEADLINE")}


@EITHER_WAY
async def test_a_network_that_stalls_is_a_deadline_of_the_distant_bot(tmp_path: Path, way: str) -> None:
    async with network(tmp_path, [way]) as net:
        (distant,) = net.distant
        match = net.match(hands=HANDS, time=SHORT)
        await match.decisions(300)
        distant.proxy.stall()
        records = await match.records()
        assert faults(records).keys() == {(0, "DEADLINE")}


# A loss longer than `reconnect` --------------------------------------------------------------------------------------


@EITHER_WAY
async def test_a_bot_that_does_not_come_back_leaves_and_the_match_goes_on_without(tmp_path: Path, way: str) -> None:
    async with network(tmp_path, [way]) as net:
        (distant,) = net.distant
        match = net.match(hands=HANDS, time=BRIEF)
        await match.in_full_swing()
        await hold(match, net)
        await distant.proxy.refuse()
        distant.proxy.drop()
        records = await match.records()
        assert faults(records).keys() == NETWORK
        assert {record["result"]["escaped_seat"] for record in records if "escaped_seat" in record["result"]} == {0}


@EITHER_WAY
async def test_a_bot_that_comes_back_late_plays_again(tmp_path: Path, way: str) -> None:
    async with network(tmp_path, [way]) as net:
        (distant,) = net.distant
        match = net.match(hands=MANY, time=BRIEF, max_escapes=MANY)
        await match.in_full_swing()
        await distant.proxy.refuse()
        distant.proxy.drop()
        await match.until(lambda: (0, Fault.UNREACHABLE) in match.moments.faults)
        await distant.proxy.accept()
        await match.until(lambda: match.seat(0).up)
        begun = match.moments.hands + len(match.moments.tables)
        records = await match.records()
        assert faults(records).keys() <= NETWORK
        assert begun < MANY and faults(records[begun:]) == {}


# Several at once -----------------------------------------------------------------------------------------------------


class Loopback:
    """Whether the arena can reach itself, and how often it has tried."""

    def __init__(self, *, works: bool) -> None:
        self.works = works
        self.tries = 0

    async def __call__(self) -> bool:
        self.tries += 1
        return self.works


async def lose_all(match: Match, net: Network) -> list[Question]:
    """Lose every distant bot at the same moment, while it owes answers; what they owe."""
    places = range(len(net.distant))
    await hold_all(match, net)
    for distant in net.distant:
        await distant.proxy.refuse()
    for distant in net.distant:
        distant.proxy.drop()
        distant.answers.release()
    await match.until(lambda: not any(match.seat(place).up for place in places))
    return [question for place in places for question in match.seat(place).outstanding()]


async def find_all(match: Match, net: Network) -> None:
    """Have them all back."""
    for distant in net.distant:
        await distant.proxy.accept()
    await match.until(lambda: all(match.seat(place).up for place, _ in enumerate(net.distant)))


def stopped(question: Question) -> bool:
    """Whether the question's clock stands: its loss counts from a moment that is yet to come."""
    return question.lost_at is not None and question.lost_at > asyncio.get_running_loop().time()


PAIRS = pytest.mark.parametrize("ways", [("stream", "stream"), ("stream", "joined"), ("joined", "joined")])


@PAIRS
async def test_several_bots_lost_at_once_stop_the_clocks_once_a_hand(tmp_path: Path, ways: tuple[str, str]) -> None:
    loopback = Loopback(works=True)
    async with network(tmp_path, ways, loopback=loopback) as net:
        match = net.match(hands=MANY)
        await match.in_full_swing()
        first = await lose_all(match, net)
        assert all(map(stopped, first)), [(question.lost_at, question.tries) for question in first]
        once = {question.asker.table for question in first}
        later = asyncio.get_running_loop().time() + TOGETHER
        await find_all(match, net)
        await match.until(lambda: asyncio.get_running_loop().time() > later)  # So that the next is another event.
        await match.until(lambda: not any(match.seat(place).owes(question) for place in (0, 1) for question in first))
        second = await lose_all(match, net)
        assert all(stopped(question) == (question.asker.table not in once) for question in second)
        await find_all(match, net)
        records = await match.records()
        assert loopback.tries == 2
        assert faults(records) == {}
        assert {record["attempt"] for record in records} == {0}


@PAIRS
async def test_hands_are_void_only_where_the_arena_cannot_reach_itself(tmp_path: Path, ways: tuple[str, str]) -> None:
    loopback = Loopback(works=False)
    async with network(tmp_path, ways, loopback=loopback) as net:
        match = net.match(hands=HANDS)
        await match.in_full_swing()
        await hold_all(match, net)
        waiting = {table.spec.hand_index for table in match.moments.tables}
        await lose_all(match, net)
        await match.until(lambda: match.moments.voided == len(waiting))
        await find_all(match, net)
        records = await match.records()
        assert loopback.tries == 1
        assert faults(records) == {}
        assert {record["hand_index"] for record in records if record["attempt"] == 1} == waiting
        assert {record["attempt"] for record in records} == {0, 1}
        assert match.moments.voided == len(waiting)


async def test_one_bot_lost_is_its_own_affair(tmp_path: Path) -> None:
    loopback = Loopback(works=False)
    async with network(tmp_path, ["stream", "joined"], loopback=loopback) as net:
        match = net.match(hands=HANDS)
        await match.in_full_swing()
        await hold_all(match, net)
        net.distant[0].proxy.drop()
        for distant in net.distant:
            distant.answers.release()
        assert faults(await match.records()) == {}
        assert (loopback.tries, match.moments.voided) == (0, 0)
