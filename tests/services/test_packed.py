"""What goes through a stream to a bot, whoever dialled it: packed questions, notices, pings, and what is too much."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.services.tables import play_on, table
from tests.services.test_seat import Counted, Player, faults
from tests.services.virtual import in_virtual_time, settled
from wakeng.engine import Fault, rule_set
from wakeng.services.deadlines import Deadlines
from wakeng.services.ids import Ids
from wakeng.services.packed import PING_EVERY, Flood, PackedTransport
from wakeng.services.seat import Seat, Transport
from wakeng.services.spec import TimeControl
from wakeng.v1 import bot_pb2


class Stream(PackedTransport):
    """One whose bytes stay in the outbox until the test takes them, as the bot would."""

    abandoned = 0

    def abandon(self) -> None:
        self.abandoned += 1

    async def close(self) -> None:
        pass

    def said(self) -> list[bot_pb2.ArenaMessage]:
        """What the arena has said since it was last asked."""
        found = []
        while not self.outbox.empty():
            raw = self.outbox.get_nowait()
            assert raw is not None
            found.append(bot_pb2.PlayRequest.FromString(raw).message)
        return found

    def hear(self, **parts: Any) -> None:
        """The bot says something."""
        raw = bot_pb2.PlayResponse(message=bot_pb2.BotMessage(**parts)).SerializeToString()
        self.receive(raw, self.parse(raw))


async def stream() -> Stream:
    """A stream to a bot that is ready."""
    loop = asyncio.get_running_loop()
    made: list[Stream] = []

    async def open_(seat: Seat, rules: object, time_control: object) -> Transport:
        seat.describe(version="1", max_tables=1000, max_decisions=256, wants_legal_actions=True)
        made.append(Stream(seat))
        return made[0]

    seat = Seat("bot", open_, ids=Ids(0), deadlines=Deadlines(loop), counts=Counted())
    await seat.make_ready(rule_set("xian"), TimeControl())
    seat.window.limit = 8  # As a quick bot soon has it.
    return made[0]


async def ask(to: Stream, tables: int = 1, *, first: int = 0, move_ms: int = 600_000) -> list[Player]:
    """So many tables put their first question."""
    players = [Player(table(hand_index=first + i, times={"move_ms": move_ms})) for i in range(tables)]
    for player in players:
        to.seat.ask(player)
    await settled()
    return players


def answers(message: bot_pb2.ArenaMessage) -> list[bot_pb2.DecideResponse]:
    """The first legal token to each question of a message."""
    return [
        bot_pb2.DecideResponse(decision_id=asked.decision_id, action=asked.legal_actions[0])
        for asked in message.decisions
    ]


# Questions and answers -----------------------------------------------------------------------------------------------


@in_virtual_time
async def test_the_questions_of_a_turn_are_one_message_and_may_be_answered_in_any_grouping() -> None:
    to = await stream()
    players = await ask(to, 5)
    (message,) = to.said()
    assert [asked.hand_index for asked in message.decisions] == [0, 1, 2, 3, 4]
    first, second, *rest = answers(message)
    to.hear(answers=[second])
    to.hear(answers=[*rest, first])
    assert all(len(player.answers) == 1 for player in players)


@in_virtual_time
async def test_a_bot_that_cannot_decide_fails_that_decision_and_no_other() -> None:
    to = await stream()
    one, other = await ask(to, 2)
    (message,) = to.said()
    to.hear(answers=[bot_pb2.DecideResponse(decision_id=message.decisions[0].decision_id, error="no\nidea")])
    assert (faults([one]), faults([other])) == ([Fault.BOT_ERROR], [])


@in_virtual_time
async def test_what_cannot_be_read_is_laid_to_the_message_that_waits_longest() -> None:
    to = await stream()
    early = await ask(to, 2)
    late = await ask(to, 2, first=2)
    to.receive(b"\xff", to.parse(b"\xff"))
    await settled()
    assert (faults(early), faults(late)) == ([Fault.MALFORMED] * 2, [])


@in_virtual_time
async def test_what_cannot_be_read_while_nothing_is_asked_costs_nobody_anything() -> None:
    to = await stream()
    to.receive(b"\xff", to.parse(b"\xff"))
    (player,) = await ask(to)
    to.hear(answers=answers(to.said()[0]))
    assert player.answers and not player.faults


# Notices -------------------------------------------------------------------------------------------------------------


@in_virtual_time
async def test_notices_go_along_with_the_next_message() -> None:
    to = await stream()
    began, over = table(hand_index=1), play_on(table(hand_index=0))
    to.seat.hand_started(over, 2)
    await ask(to, 1, first=5)
    to.seat.hand_started(began, 0)
    to.seat.hand_ended(over, 2)
    assert [len(message.hands_started) for message in to.said()] == [1]
    await ask(to, 1, first=6)
    (message,) = to.said()
    assert [(notice.hand_index, notice.seat) for notice in message.hands_started] == [(1, 0)]
    (ended,) = message.hands_ended
    assert over.hand.result is not None
    assert (ended.seat, ended.winner, tuple(ended.scores)) == (
        2,
        over.hand.result.winner.value,
        over.hand.result.scores,
    )


@in_virtual_time
async def test_a_hand_that_ends_before_the_bot_heard_of_it_is_not_mentioned() -> None:
    to = await stream()
    over = play_on(table())
    for seat in range(3):
        to.seat.hand_started(over, seat)
        to.seat.hand_ended(over, seat)
    to.flush_notices()
    assert to.said() == []


@in_virtual_time
async def test_a_voided_hand_ends_without_a_winner() -> None:
    to = await stream()
    dropped = table()
    to.seat.hand_started(dropped, 0)
    to.flush_notices()
    to.seat.hand_ended(dropped, 0)
    to.flush_notices()
    _, message = to.said()
    (ended,) = message.hands_ended
    assert not ended.HasField("winner") and not ended.scores


# Pings and the network's share ---------------------------------------------------------------------------------------


async def trip(to: Stream, seconds: float) -> None:
    """A ping and, so much later, its pong."""
    to.ping()
    (message,) = to.said()
    await asyncio.sleep(seconds)
    to.hear(pong=bot_pb2.Pong(id=message.ping.id))


@in_virtual_time
async def test_the_networks_share_is_the_shortest_of_the_last_trips() -> None:
    to = await stream()
    assert to.seat.allowance == 0
    for seconds, share in ((0.05, 0.05), (0.03, 0.03), (0.08, 0.03)):
        await trip(to, seconds)
        assert to.seat.allowance == pytest.approx(share)
    for _ in range(8):
        await trip(to, 0.06)
    assert to.seat.allowance == pytest.approx(0.06), "the short ones are long ago"


@in_virtual_time
async def test_it_is_a_tenth_of_a_second_at_most() -> None:
    to = await stream()
    await trip(to, 3)
    assert to.seat.allowance == 0.1


@in_virtual_time
async def test_a_trip_on_which_the_bot_had_something_to_do_says_nothing_about_the_network() -> None:
    to = await stream()
    await trip(to, 0.01)
    await ask(to)
    asked = answers(to.said()[0])
    await trip(to, 0.001)
    to.hear(answers=asked)
    assert to.seat.allowance == pytest.approx(0.01)


@in_virtual_time
async def test_pongs_of_pings_that_nobody_sent_say_nothing() -> None:
    to = await stream()
    to.hear(pong=bot_pb2.Pong(id=99))
    assert to.seat.allowance == 0


@in_virtual_time
async def test_the_arena_pings_every_ten_seconds() -> None:
    to = await stream()
    to.keep_pinging()
    for _ in range(3):
        await asyncio.sleep(PING_EVERY)
        (message,) = to.said()
        to.hear(pong=bot_pb2.Pong(id=message.ping.id))
    to.stop_pinging()
    await asyncio.sleep(100)
    assert to.said() == [] and not to.abandoned


@in_virtual_time
async def test_a_connection_without_a_sign_of_life_is_given_up() -> None:
    to = await stream()
    to.keep_pinging()
    await asyncio.sleep(2 * PING_EVERY)
    assert not to.abandoned, "it may be late"
    await asyncio.sleep(2 * PING_EVERY)
    assert to.abandoned
    to.stop_pinging()


# Too much, and no more -----------------------------------------------------------------------------------------------


def flood(to: Stream, messages: int) -> None:
    for _ in range(messages):
        to.hear()


@in_virtual_time
async def test_more_than_twice_the_messages_asked_for_is_a_flood() -> None:
    to = await stream()
    await ask(to, 8)
    with pytest.raises(Flood):
        flood(to, 2 * 8 + 1_000)


@in_virtual_time
async def test_a_bot_that_answers_each_question_and_each_ping_by_itself_floods_nobody() -> None:
    to = await stream()
    for turn in range(300):
        to.ping()
        await ask(to, 4, first=4 * turn)
        for message in to.said():
            if message.HasField("ping"):
                to.hear(pong=bot_pb2.Pong(id=message.ping.id))
            for answer in answers(message):
                to.hear(answers=[answer])
        await settled()


@in_virtual_time
async def test_a_bot_that_drains_takes_no_new_hands_until_it_is_connected_anew() -> None:
    to = await stream()
    await asyncio.sleep(3)
    assert to.seat.free
    to.hear(drain=True)
    assert not to.seat.free and to.seat.draining_since == 3
    to.new_connection()
    assert to.seat.free
