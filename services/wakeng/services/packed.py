"""Many decisions in one message: what a stream to a bot has in common, whoever dialled it.

Whatever is asked in one turn of the loop travels together, and while two messages are in flight everything further
gathers for the next (docs/protocol.md 4): a lone table gets its answer in one round trip, and a thousand tables cost
few messages. Notices that hands begin and end go along. The arena pings in the stream; the shortest of the last trips
on which the bot had nothing else to do is the network's share of an answer, which is not charged.
"""

import asyncio
from abc import abstractmethod
from itertools import count
from typing import Final

from google.protobuf.message import DecodeError

from wakeng.engine import Fault
from wakeng.services.encoding import arena_message, hand_ended, hand_started
from wakeng.services.outbox import Outbox
from wakeng.services.questions import Question
from wakeng.services.seat import Seat, Transport
from wakeng.services.table import Table, escape
from wakeng.v1 import bot_pb2

MESSAGES_IN_FLIGHT: Final = 2
PING_EVERY: Final = 10.0
_DEAD_AFTER: Final = 2 * PING_EVERY
"""Seconds without a pong after which a connection counts as lost, whatever TCP thinks of it."""
FIRST_PINGS: Final = 3
"""The first trip on a new connection is far from typical."""
_MOST_ALLOWANCE: Final = 0.1
_PINGS_REMEMBERED: Final = 8
_MESSAGES_SPARE: Final = 64
"""Messages a bot may send beyond twice what it was asked, before it counts as a flood."""


class Flood(Exception):
    """The bot sends more than twice the messages it was asked for."""


class PackedTransport(Transport):
    """Questions in, messages out; messages in, answers out. Subclasses carry the bytes."""

    most_in_flight = MESSAGES_IN_FLIGHT
    prepares = True

    def __init__(self, seat: Seat) -> None:
        self.seat = seat
        self.outbox = Outbox()
        """Encoded messages for the present connection; None ends it."""
        self._starts: dict[tuple[str, int, int], bytes] = {}
        self._ends: list[bytes] = []
        self._pings: dict[int, tuple[float, bool]] = {}
        self._ping_ids = count(1)
        self._trips: list[float] = []
        self._timer: asyncio.TimerHandle | None = None
        self._asked = 0
        self._heard = 0

    # Sending --------------------------------------------------------------------------------------------------------

    def transmit(self, questions: list[Question]) -> None:
        """Say in one message all the questions, and the notices that have gathered."""
        requests = [(question.id, question.prepared or self._after_id(question)) for question in questions]
        self._asked += len(questions)
        self.outbox.put_nowait(arena_message(requests, self._notices()))

    def _after_id(self, question: Question) -> bytes:
        left_s = question.deadline - self.seat.now()
        return question.asker.writer.after_id(left_s=left_s, legal_actions=self.seat.wants_legal_actions)

    def _put(self, message: bot_pb2.ArenaMessage) -> None:
        self.outbox.put_nowait(arena_message((), message.SerializeToString()))

    def hand_started(self, table: Table, seat: int) -> None:
        """Goes along with the next message."""
        spec = table.spec
        self._starts[spec.match_id, spec.hand_index, seat] = hand_started(spec, seat)

    def hand_ended(self, table: Table, seat: int) -> None:
        """Goes along with the next message; a hand of whose start the bot was not yet told is not mentioned at all."""
        spec = table.spec
        if self._starts.pop((spec.match_id, spec.hand_index, seat), None) is None:
            self._ends.append(hand_ended(spec, seat, table.hand.result))

    def _notices(self) -> bytes:
        """What has gathered, encoded; it has then been said."""
        if not self._starts and not self._ends:
            return b""
        notices = b"".join((*self._starts.values(), *self._ends))
        self._starts.clear()
        self._ends.clear()
        return notices

    def flush_notices(self) -> None:
        """Send what has gathered without waiting for a question."""
        if notices := self._notices():
            self.outbox.put_nowait(arena_message((), notices))

    def new_connection(self) -> None:
        """Nothing of the old one is awaited any more."""
        self.outbox.put_nowait(None)
        self.outbox = Outbox()
        self._pings.clear()
        self._asked = self._heard = 0
        self.seat.draining_since = None

    # Receiving ------------------------------------------------------------------------------------------------------

    def receive(self, raw: bytes, message: bot_pb2.BotMessage | None) -> None:
        """One message of the bot, None where its bytes cannot be read; Flood when it is one too many."""
        self._heard += 1
        if self._heard > 2 * self._asked + _MESSAGES_SPARE:
            raise Flood
        if message is None:
            self.blame(Fault.MALFORMED, escape(raw))
            return
        now = self.seat.now()
        if message.HasField("pong"):
            self._pong(message.pong.id, now)
        if message.drain:
            self.seat.draining_since = now
        self.seat.take(message.answers, now)

    def blame(self, fault: Fault, offered: str) -> None:
        """Lay something that names no decision to those that have waited longest."""
        for question in self.seat.oldest_in_flight():
            self.seat.fail(question, fault, offered=offered)

    @staticmethod
    def parse(raw: bytes) -> bot_pb2.BotMessage | None:
        """What a PlayResponse holds, None if it is none."""
        try:
            return bot_pb2.PlayResponse.FromString(raw).message
        except DecodeError:
            return None

    # Pings ----------------------------------------------------------------------------------------------------------

    def ping(self) -> None:
        """Ask whether the bot is there."""
        ping = next(self._ping_ids)
        self._pings[ping] = self.seat.now(), self.seat.idle
        self._asked += 1
        self._put(bot_pb2.ArenaMessage(ping=bot_pb2.Ping(id=ping)))

    def keep_pinging(self) -> None:
        """Ping now and then, until `stop_pinging`."""
        self._timer = self.seat.loop.call_later(PING_EVERY, self._ping_again)

    def _ping_again(self) -> None:
        self.keep_pinging()
        if not self.seat.up:
            return
        oldest = next(iter(self._pings.values()), None)
        if oldest is not None and self.seat.now() - oldest[0] > _DEAD_AFTER:
            self.abandon()
        elif len(self._pings) < _PINGS_REMEMBERED:
            self.ping()

    @abstractmethod
    def abandon(self) -> None:
        """Give the present connection up."""

    def stop_pinging(self) -> None:
        """No more pings."""
        if self._timer is not None:
            self._timer.cancel()

    def _pong(self, ping: int, now: float) -> None:
        sent = self._pings.pop(ping, None)
        if sent is None:
            return
        began, idle = sent
        if idle and self.seat.idle:
            self._trips = [*self._trips[1 - _PINGS_REMEMBERED :], now - began]
            self.seat.allowance = min(*self._trips, _MOST_ALLOWANCE)
