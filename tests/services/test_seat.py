"""The seat: when questions leave, whose answers count, and what is laid to a bot that fails (docs/protocol.md 4 and 7).

The transport is the test's own and so is the clock: time passes exactly where a test says so.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable
from itertools import count

import pytest

from tests.services.tables import table
from tests.services.virtual import in_virtual_time, now, settled, stall
from wakeng.engine import Fault, rule_set
from wakeng.services.deadlines import Deadlines
from wakeng.services.encoding import RequestWriter
from wakeng.services.ids import Ids
from wakeng.services.questions import Question
from wakeng.services.seat import NotReady, Seat, Transport
from wakeng.services.spec import TimeControl
from wakeng.services.table import Table
from wakeng.v1 import bot_pb2

MOVE_S, BANK_S, RECONNECT_S = 1.0, 0.5, 2.0
TIMES = {"move_ms": 1000, "bank_ms": 500, "reconnect_ms": 2000, "max_strikes": 1000}


class Wire(Transport):
    """Keeps what was handed to it. At most `messages` batches are in flight."""

    def __init__(self, messages: int) -> None:
        self.sent: list[list[int]] = []
        self.most_in_flight = messages

    def transmit(self, questions: list[Question]) -> None:
        self.sent.append([question.id for question in questions])

    async def close(self) -> None:
        pass


class Counted:
    """What nobody waited for."""

    def __init__(self) -> None:
        self.lates = self.stales = 0

    def late(self, count: int = 1) -> None:
        self.lates += count

    def stale(self, count: int = 1) -> None:
        self.stales += count


class Player:
    """Who asked: keeps how each of its questions went, and asks no further."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.writer = RequestWriter(table)
        self.answers: list[tuple[str, int]] = []
        """Tokens and latencies in microseconds."""
        self.faults: list[tuple[Fault, int]] = []
        self.noted_faults: list[Fault] = []
        self.voids: list[str] = []

    def answered(self, action: str, *, latency_us: int, network_us: int, note: str | None) -> None:
        self.answers.append((action, latency_us))

    def failed(self, fault: Fault, *, latency_us: int, network_us: int, offered: str | None = None) -> None:
        self.faults.append((fault, latency_us))
        self.table.fault(fault, latency_us=latency_us, network_us=network_us, offered=offered)

    def noted(self, fault: Fault) -> None:
        self.noted_faults.append(fault)

    def voided(self, reason: str) -> None:
        self.voids.append(reason)


class Scene:
    """A seat whose bot is the test. A `known` one has earned a window of eight questions, as a quick bot soon does."""

    def __init__(self, *, messages: int = 2, most: int = 256, known: bool = True) -> None:
        self.known = known
        self.wire = Wire(messages)
        self.counted = Counted()
        self.most = most
        self._hands = count()
        loop = asyncio.get_running_loop()
        self.seat = Seat("bot", self._open, ids=Ids(0), deadlines=Deadlines(loop), counts=self.counted)

    async def _open(self, seat: Seat, rules: object, time_control: object) -> Transport:
        seat.describe(version="1", max_tables=1000, max_decisions=self.most, wants_legal_actions=True)
        return self.wire

    async def start(self) -> Scene:
        await self.seat.make_ready(rule_set("xian"), TimeControl(**TIMES))
        if self.known:
            self.seat.window.limit = min(8, self.most)
        return self

    async def ask(self, tables: int = 1) -> list[Player]:
        """So many fresh tables put their first question."""
        players = [Player(table(hand_index=next(self._hands), times=TIMES)) for _ in range(tables)]
        for player in players:
            self.seat.ask(player)
        await settled()
        return players

    def answer(self, *ids: int, action: str = "no") -> int:
        """The bot answers so in one message; how many of the ids were awaited."""
        awaited = {question.id for question in self.seat.outstanding()}
        self.seat.take([bot_pb2.DecideResponse(decision_id=asked, action=action) for asked in ids], now())
        return len(awaited.intersection(ids))

    async def answer_all(self) -> None:
        """The bot answers whatever comes, at once, until nothing more does."""
        while owed := self.seat.outstanding():
            self.answer(*(question.id for question in owed))
            await settled()


def faults(players: Iterable[Player]) -> list[Fault]:
    return [fault for player in players for fault, _ in player.faults]


# Packing -------------------------------------------------------------------------------------------------------------


@in_virtual_time
async def test_what_is_asked_in_one_turn_travels_in_one_message() -> None:
    scene = await Scene().start()
    await scene.ask(5)
    assert [len(message) for message in scene.wire.sent] == [5]


@in_virtual_time
async def test_while_two_messages_are_in_flight_all_else_gathers_for_the_next() -> None:
    scene = await Scene().start()
    for _ in range(5):
        await scene.ask()
    assert [len(message) for message in scene.wire.sent] == [1, 1]
    scene.answer(*scene.wire.sent[0])
    await settled()
    assert [len(message) for message in scene.wire.sent] == [1, 1, 3]


@in_virtual_time
async def test_a_message_is_in_flight_until_its_first_answer() -> None:
    scene = await Scene().start()
    await scene.ask(2)
    await scene.ask(2)
    await scene.ask(2)
    assert len(scene.wire.sent) == 2
    scene.answer(scene.wire.sent[0][0])
    await settled()
    assert [len(message) for message in scene.wire.sent] == [2, 2, 2]


@in_virtual_time
async def test_or_until_its_earliest_deadline() -> None:
    scene = await Scene().start()
    await scene.ask(2)
    await scene.ask(2)
    await scene.ask(2)
    await asyncio.sleep(MOVE_S + BANK_S + 0.01)
    assert [len(message) for message in scene.wire.sent] == [2, 2, 2]


@in_virtual_time
async def test_no_more_is_outstanding_than_the_bot_takes() -> None:
    scene = await Scene(messages=100, most=3).start()
    players = await scene.ask(10)
    assert len(scene.seat.outstanding()) == 3
    await scene.answer_all()
    assert max(map(len, scene.wire.sent)) <= 3
    assert sum(len(player.answers) for player in players) == 10


@in_virtual_time
async def test_the_window_is_small_at_first_and_grows_with_a_quick_bot() -> None:
    scene = await Scene(messages=100, known=False).start()
    await scene.ask(300)
    sizes = []
    while owed := scene.seat.outstanding():
        sizes.append(len(owed))
        scene.answer(*(question.id for question in owed))
        await settled()
    assert sizes[:7] == [1, 2, 4, 8, 16, 32, 64]


@in_virtual_time
async def test_a_bot_that_thinks_serially_is_never_handed_more_than_it_answers_in_a_quarter_of_the_move() -> None:
    """At 50 ms a decision and 1 s a move that is five besides the one it thinks about."""
    scene = await Scene(messages=100, known=False).start()
    players = await scene.ask(60)
    while owed := scene.seat.outstanding():
        await asyncio.sleep(0.05)
        scene.answer(owed[0].id)
        await settled()
        assert len(scene.seat.outstanding()) <= 6
    assert max(latency for player in players for _, latency in player.answers) <= 300_000
    assert not faults(players)


@in_virtual_time
async def test_a_question_whose_clock_does_not_run_yet_is_not_late() -> None:
    """It waits behind others with the arena, which is nobody's time."""
    scene = await Scene(most=1).start()
    players = await scene.ask(4)
    for _ in range(4):
        await asyncio.sleep(MOVE_S)
        scene.answer(scene.seat.outstanding()[0].id)
        await settled()
    assert not faults(players)
    assert [player.answers for player in players] == [[("no", 1_000_000)]] * 4


# Answers that nobody awaits ------------------------------------------------------------------------------------------


@in_virtual_time
async def test_a_late_answer_is_counted_and_changes_nothing() -> None:
    scene = await Scene().start()
    (player,) = await scene.ask()
    ((decision_id,),) = scene.wire.sent
    await asyncio.sleep(MOVE_S + BANK_S + 0.01)
    assert player.faults == [(Fault.DEADLINE, 1_500_000)]
    assert scene.answer(decision_id) == 0
    assert (scene.counted.lates, scene.counted.stales) == (1, 0)
    assert not player.answers and not player.noted_faults and len(player.faults) == 1


@in_virtual_time
async def test_a_stale_answer_is_noted_where_the_bot_is_awaited_and_leaves_the_question_open() -> None:
    scene = await Scene().start()
    (player,) = await scene.ask()
    ((decision_id,),) = scene.wire.sent
    assert scene.answer(decision_id + 1000) == 0
    assert (scene.counted.lates, scene.counted.stales) == (0, 1)
    assert player.noted_faults == [Fault.STALE]
    assert scene.answer(decision_id) == 1
    assert player.answers and not player.faults


@in_virtual_time
async def test_a_second_answer_to_a_question_is_late_and_not_stale() -> None:
    scene = await Scene().start()
    (player, other) = await scene.ask(2)
    first, _ = scene.wire.sent[0]
    assert [scene.answer(first), scene.answer(first)] == [1, 0]
    assert (scene.counted.lates, scene.counted.stales) == (1, 0)
    assert not player.noted_faults and not other.noted_faults


@in_virtual_time
async def test_ids_never_repeat() -> None:
    scene = await Scene(messages=100).start()
    await scene.ask(50)
    await scene.answer_all()
    ids = [decision_id for message in scene.wire.sent for decision_id in message]
    assert len(set(ids)) == 50


# Deadlines -----------------------------------------------------------------------------------------------------------


@in_virtual_time
async def test_a_deadline_is_the_move_and_the_bank_after_the_message_left() -> None:
    scene = await Scene().start()
    await asyncio.sleep(3)
    (player,) = await scene.ask()
    await asyncio.sleep(MOVE_S + BANK_S - 0.001)
    assert not player.faults
    await asyncio.sleep(0.002)
    assert player.faults == [(Fault.DEADLINE, 1_500_000)]
    assert not scene.seat.outstanding()


@in_virtual_time
async def test_the_network_share_is_given_on_top() -> None:
    scene = await Scene().start()
    scene.seat.allowance = 0.08
    (player,) = await scene.ask()
    await asyncio.sleep(MOVE_S + BANK_S + 0.07)
    assert not player.faults
    await asyncio.sleep(0.02)
    assert player.faults == [(Fault.DEADLINE, 1_580_000)]
    (failed,) = (seat for seat in range(3) if player.table.last[seat])
    assert player.table.bank_us[failed] == 0


@in_virtual_time
async def test_the_arenas_own_lag_is_not_charged() -> None:
    """The loop sleeps through the deadline; the answer, read as soon as it wakes, was in time for all anyone knows."""
    scene = await Scene().start()
    (player,) = await scene.ask()
    ((decision_id,),) = scene.wire.sent
    stall(MOVE_S + BANK_S + 0.3)
    asyncio.get_running_loop().call_soon(scene.answer, decision_id)
    await settled()
    assert player.answers and not player.faults


@in_virtual_time
async def test_lag_is_given_back_once() -> None:
    scene = await Scene().start()
    (player,) = await scene.ask()
    stall(MOVE_S + BANK_S + 0.3)
    await asyncio.sleep(0.29)
    assert not player.faults
    await asyncio.sleep(0.02)
    assert faults([player]) == [Fault.DEADLINE]


@in_virtual_time
async def test_what_has_arrived_is_read_before_a_deadline_is_declared() -> None:
    """The bytes are in the socket when the deadline falls due; who reads them is a task that wakes a turn later."""
    scene = await Scene().start()
    (player,) = await scene.ask()
    ((decision_id,),) = scene.wire.sent
    loop = asyncio.get_running_loop()
    arena, bot = socket.socketpair()
    with arena, bot:
        loop.add_reader(arena, lambda: (arena.recv(1), loop.call_soon(scene.answer, decision_id)))
        await asyncio.sleep(MOVE_S)
        bot.send(b"!")
        stall(BANK_S)
        await asyncio.sleep(5)
        loop.remove_reader(arena)
    assert player.answers == [("no", 1_500_000)]
    assert not player.faults


@in_virtual_time
async def test_each_question_of_a_message_has_its_own_deadline() -> None:
    scene = await Scene().start()
    rich, poor = (Player(table(hand_index=i, times={**TIMES, "bank_ms": bank})) for i, bank in enumerate((500, 0)))
    scene.seat.ask(rich)
    scene.seat.ask(poor)
    await asyncio.sleep(MOVE_S + 0.01)
    assert (faults([rich]), faults([poor])) == ([], [Fault.DEADLINE])
    await asyncio.sleep(BANK_S)
    assert faults([rich]) == [Fault.DEADLINE]


@in_virtual_time
async def test_a_failure_makes_room_for_what_waits() -> None:
    """Nothing else need happen: a bot that fails at all it is asked does not leave the rest waiting for ever."""
    scene = await Scene().start()
    players = await scene.ask(20)
    while owed := scene.seat.outstanding():
        for question in owed:
            scene.seat.fail(question, Fault.MALFORMED, offered="")
        await settled()
    assert faults(players) == [Fault.MALFORMED] * 20


@in_virtual_time
async def test_a_bot_that_cannot_decide_fails_one_question() -> None:
    scene = await Scene().start()
    player, other = await scene.ask(2)
    scene.seat.take([bot_pb2.DecideResponse(decision_id=scene.wire.sent[0][0], error="no idea")], now())
    assert (faults([player]), faults([other])) == ([Fault.BOT_ERROR], [])


@in_virtual_time
async def test_a_message_that_cannot_be_made_voids_its_hands(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = await Scene().start()

    def broken(questions: list[Question]) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr(scene.wire, "transmit", broken)
    (player,) = await scene.ask()
    assert player.voids == ["ZeroDivisionError: ours"]
    assert not player.faults and not scene.seat.outstanding()


# A lost connection ---------------------------------------------------------------------------------------------------


@in_virtual_time
async def test_what_is_pending_is_asked_again_under_its_old_id_when_the_bot_is_back() -> None:
    scene = await Scene().start()
    players = await scene.ask(3)
    scene.seat.connection_lost()
    await asyncio.sleep(0.4)
    scene.seat.connection_back()
    await settled()
    assert scene.wire.sent[1] == scene.wire.sent[0]
    await asyncio.sleep(0.1)
    scene.answer(*scene.wire.sent[1])
    assert [player.answers for player in players] == [[("no", 500_000)]] * 3
    assert not faults(players)


@in_virtual_time
async def test_the_move_clock_runs_on_meanwhile() -> None:
    scene = await Scene().start()
    (player,) = await scene.ask()
    scene.seat.connection_lost()
    await asyncio.sleep(1)
    scene.seat.connection_back()
    await asyncio.sleep(MOVE_S + BANK_S - 1 - 0.001)
    assert not player.faults
    await asyncio.sleep(0.01)
    assert player.faults == [(Fault.DEADLINE, 1_500_000)]


@in_virtual_time
async def test_a_question_that_was_with_the_bot_when_it_was_lost_is_disconnected_and_a_later_one_unreachable() -> None:
    scene = await Scene().start()
    asked = await scene.ask(2)
    scene.seat.connection_lost()
    later = await scene.ask(2)
    await asyncio.sleep(MOVE_S + BANK_S + 0.01)
    assert faults(asked) == [Fault.DISCONNECTED] * 2
    assert faults(later) == [Fault.UNREACHABLE] * 2
    assert len(scene.wire.sent) == 1


@in_virtual_time
async def test_it_fails_with_the_reconnect_budget_where_that_is_shorter_than_the_move() -> None:
    scene = await Scene().start()
    player = Player(table(times={**TIMES, "move_ms": 60_000}))
    scene.seat.ask(player)
    await settled()
    scene.seat.connection_lost()
    await asyncio.sleep(RECONNECT_S - 0.001)
    assert not player.faults
    await asyncio.sleep(0.01)
    assert player.faults == [(Fault.DISCONNECTED, 2_000_000)]


@in_virtual_time
async def test_the_reconnect_budget_is_one_for_the_whole_hand() -> None:
    scene = await Scene().start()
    player = Player(table(times={**TIMES, "move_ms": 60_000}))
    scene.seat.ask(player)
    await settled()
    for away in (0.5, 1.2):
        scene.seat.connection_lost()
        await asyncio.sleep(away)
        scene.seat.connection_back()
        await settled()
    assert player.table.reconnect_us[player.table.seat] == 300_000
    scene.seat.connection_lost()
    await asyncio.sleep(0.299)
    assert not player.faults
    await asyncio.sleep(0.01)
    assert faults([player]) == [Fault.DISCONNECTED]


@in_virtual_time
async def test_with_no_budget_left_a_question_fails_at_once() -> None:
    scene = await Scene().start()
    player = Player(table(times={**TIMES, "reconnect_ms": 0}))
    scene.seat.connection_lost()
    scene.seat.ask(player)
    await settled()
    assert player.faults == [(Fault.UNREACHABLE, 0)]


@in_virtual_time
async def test_what_was_asked_while_the_bot_was_away_is_sent_when_it_is_back() -> None:
    scene = await Scene().start()
    scene.seat.connection_lost()
    (player,) = await scene.ask()
    assert not scene.wire.sent
    scene.seat.connection_back()
    await settled()
    assert scene.answer(*scene.wire.sent[0]) == 1
    assert player.answers


@in_virtual_time
async def test_a_bot_that_comes_back_is_asked_no_more_at_once_than_it_takes() -> None:
    scene = await Scene(most=3).start()
    scene.seat.connection_lost()
    players = await scene.ask(8)
    scene.seat.connection_back()
    await settled()
    first = scene.wire.sent[0]
    assert len(first) == 3
    scene.answer(*first[:2])
    await settled()
    assert [len(sent) for sent in scene.wire.sent] == [3, 2]
    await scene.answer_all()
    assert all(player.answers for player in players)
    assert not faults(players)


@in_virtual_time
async def test_what_still_waits_to_be_asked_again_keeps_its_deadline_and_fails_once() -> None:
    scene = await Scene(most=1).start()
    scene.seat.connection_lost()
    players = await scene.ask(3)
    scene.seat.connection_back()
    await settled()
    assert [len(sent) for sent in scene.wire.sent] == [1]
    await asyncio.sleep(2 * (MOVE_S + BANK_S))
    assert faults(players) == [Fault.DEADLINE] * 3
    assert not scene.seat.outstanding()


@in_virtual_time
async def test_an_answer_given_twice_because_it_was_asked_twice_is_no_fault() -> None:
    scene = await Scene().start()
    player, other = await scene.ask(2)
    scene.seat.connection_lost()
    scene.seat.connection_back()
    await settled()
    first, _ = scene.wire.sent[0]
    assert [scene.answer(first), scene.answer(first)] == [1, 0]
    assert scene.counted.stales == 0
    assert not faults([player, other]) and not other.noted_faults


@in_virtual_time
async def test_a_pause_stops_the_clocks_of_what_waits_for_one_reconnect_budget_once_a_hand() -> None:
    scene = await Scene().start()
    (player,) = await scene.ask()
    scene.seat.connection_lost()
    scene.seat.pause()
    scene.seat.pause()
    await asyncio.sleep(RECONNECT_S + MOVE_S + BANK_S - 0.01)
    assert not player.faults
    await asyncio.sleep(0.02)
    assert player.faults == [(Fault.DISCONNECTED, 1_500_000)]


@in_virtual_time
async def test_a_pause_costs_nothing_where_the_bot_comes_back_in_it() -> None:
    scene = await Scene().start()
    (player,) = await scene.ask()
    await asyncio.sleep(0.2)
    scene.seat.connection_lost()
    scene.seat.pause()
    await asyncio.sleep(1.5)
    scene.seat.connection_back()
    await asyncio.sleep(0.1)
    scene.answer(*scene.wire.sent[-1])
    assert player.answers == [("no", 300_000)]
    assert player.table.reconnect_us[player.table.seat] == 2_000_000


# Being there ---------------------------------------------------------------------------------------------------------


@in_virtual_time
async def test_a_bot_that_cannot_be_made_ready_says_why() -> None:
    async def never(seat: Seat, rules: object, time_control: object) -> Transport:
        raise NotReady(Fault.NOT_READY, "it sleeps")

    loop = asyncio.get_running_loop()
    seat = Seat("bot", never, ids=Ids(0), deadlines=Deadlines(loop), counts=Counted())
    with pytest.raises(NotReady, match="it sleeps"):
        await seat.make_ready(rule_set("xian"), TimeControl())
    await seat.close()


@in_virtual_time
async def test_leases_are_as_many_as_the_bot_takes_and_are_given_back() -> None:
    scene = await Scene().start()
    freed = []
    scene.seat.limit(max_tables=2, max_decisions=None)
    scene.seat.describe(version="1", max_tables=1000, max_decisions=256, wants_legal_actions=True)
    scene.seat.on_free.add(lambda: freed.append(now()))
    assert scene.seat.free
    scene.seat.lease()
    scene.seat.lease()
    assert not scene.seat.free
    scene.seat.give_back()
    assert scene.seat.free and freed == [0.0]


@in_virtual_time
async def test_after_the_close_nobody_is_called_back() -> None:
    scene = await Scene().start()
    (player,) = await scene.ask()
    await scene.seat.close()
    await asyncio.sleep(10)
    assert not player.faults and not player.answers


@in_virtual_time
async def test_an_error_of_the_arenas_own_voids_what_waits_at_the_seat() -> None:
    scene = await Scene(most=1).start()
    scene.wire.most_in_flight = None  # type: ignore[assignment]  # Comparing with it raises.
    players = await scene.ask(3)
    assert [len(player.voids) for player in players] == [1] * 3
    assert scene.seat.idle
