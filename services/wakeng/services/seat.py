"""A bot as its tables see it: one seat per bot, shared by all of them.

Tables hand over questions (`ask`); the seat gathers all that come in one turn of the event loop, lets out as many as
the bot's window allows, and calls each question's table back exactly once, with the answer or the fault. The kinds of
seat differ in one thing, how a batch travels: over a stream, as unary calls, or to a bot in this process.

**Time.** A question's clock starts when its batch is handed to the transport. It ends at its deadline, whatever the
transport does: the deadline falls due in the arena's own heap, and nothing is cancelled. Before a deadline is declared
the lag of the loop is given back and what has arrived is drained.

**A lost connection** (docs/protocol.md 7). Questions stay, their clocks run on, and they are asked again under their
old ids once the bot is back. They fail when their budget or the hand's reconnect budget is used up, whichever is
first: DISCONNECTED where the connection was lost under them, UNREACHABLE where it was already gone.
"""

import asyncio
import math
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from operator import attrgetter
from typing import Final, Protocol

from wakeng.engine import Fault, RuleSet
from wakeng.services.deadlines import Deadlines
from wakeng.services.ids import Ids
from wakeng.services.leases import Leases
from wakeng.services.questions import Asker, Batch, Question
from wakeng.services.spec import TimeControl
from wakeng.services.table import Name, Table, escape
from wakeng.services.window import Window
from wakeng.v1 import bot_pb2

MOST_PER_MESSAGE: Final = 256
DEFAULT_MOST: Final = 1_000_000
_REMEMBERED: Final = 4096
"""How many ranges of ids that were given out are kept."""
_DEADLINE: Final = attrgetter("deadline")
_LAG_TOLERATED: Final = 0.001
"""Seconds a deadline may fall due late before the arena takes the delay upon itself."""


class NotReady(Exception):
    """No hand can be played with this bot; `fault` is what its forfeited hands are recorded with."""

    def __init__(self, fault: Fault, reason: str) -> None:
        super().__init__(reason)
        self.fault = fault


class Transport(ABC):
    """How batches of questions travel to a bot. It calls back into the seat, never from within `transmit`'s caller."""

    most_in_flight: float = math.inf
    """Batches that may be under way at once."""
    prepares = False
    """Whether requests are encoded as they are asked, with all their budget ahead, and not as they are sent.

    The table has just moved and lies in the processor's caches; when the question is sent, after some hundreds of
    others, it does so no more.
    """

    @abstractmethod
    def transmit(self, questions: list[Question]) -> None:
        """Hand a batch over; answers come through `Seat.take`, failures through `Seat.fail`."""

    @abstractmethod
    async def close(self) -> None:
        """Let the bot go."""

    async def greet(self, rules: RuleSet, time_control: TimeControl) -> None:
        """Tell the bot of another match; NotReady if it cannot play it, or is not there."""

    def hand_started(self, table: Table, seat: int) -> None:
        """Tell the bot that a hand begins; nothing waits for it."""

    def hand_ended(self, table: Table, seat: int) -> None:
        """Tell the bot that a hand is over."""


Opener = Callable[["Seat", RuleSet, TimeControl], Awaitable[Transport]]
"""Makes a bot ready for a match of these rules and says how it is reached; NotReady if it is not within its budget."""


class Counts(Protocol):
    """Where a seat counts answers that nobody awaits."""

    def late(self, count: int = 1) -> None:
        """An answer to a question that was given up."""

    def stale(self, count: int = 1) -> None:
        """An answer to a question never asked."""


class Seat:
    """One bot, shared by all its tables and matches; see the module's theory."""

    def __init__(self, name: str, opener: Opener, *, ids: Ids, deadlines: Deadlines, counts: Counts) -> None:
        self.name = Name(name)
        self.leases = Leases()
        """The hands it has in play, and how many it may have."""
        self.on_free: set[Callable[[], None]] = set()
        """Called when a lease is given back."""
        self.on_lost: Callable[[Seat], None] = lambda seat: None
        """Called when its connection is lost."""
        self.on_close: Callable[[], Awaitable[None]] | None = None
        """Awaited once the bot is let go: what else was started for it."""
        self.wants_legal_actions = True
        self.draining_since: float | None = None
        """When the bot asked for no new hands; None if it did not."""
        self.max_decisions = DEFAULT_MOST
        """Questions the bot takes at once, by its own word, or less where it was registered with less."""
        self._allowance_us = 0
        self.loop = asyncio.get_running_loop()
        self._most_tables = self._most_decisions = DEFAULT_MOST
        self._opener = opener
        self._opening = asyncio.Lock()
        self._transport: Transport | None = None
        self._prepares = False
        self._ids = ids
        self._deadlines = deadlines
        self.now = deadlines.clock
        """The arena's clock, in seconds."""
        self._counts = counts
        self.window = Window()
        self._pending: deque[Question] = deque()
        self._owed: deque[Question] = deque()
        """Outstanding questions that the bot, back after a loss, has not been asked again yet."""
        self._outstanding: dict[int, Question] = {}
        self._batches: list[Batch] = []
        self._given: list[int] = []
        """The ranges of ids that this bot's questions were given, oldest first: each one's first, and its end."""
        self._flush_due = False
        self._held = False
        """Whether a message of the bot is being read, at whose end is seen to what may be sent."""
        self._up = True

    async def make_ready(self, rules: RuleSet, time_control: TimeControl) -> None:
        """Reach the bot and tell it what will be played; NotReady if that is not done within its budget."""
        async with self._opening:
            if self._transport is None:
                self._transport = await self._opener(self, rules, time_control)
                self._prepares = self._transport.prepares
            else:
                await self._transport.greet(rules, time_control)
        self.window.bound(time_control.move_ms / 1000)

    async def close(self) -> None:
        """Let the bot go; questions still open get no answer any more."""
        self._pending.clear()
        self._owed.clear()
        self._outstanding.clear()
        self._drop_batches()
        if self._transport is not None:
            await self._transport.close()
        if self.on_close is not None:
            await self.on_close()

    # Leases ---------------------------------------------------------------------------------------------------------

    @property
    def free(self) -> bool:
        """Whether the bot takes another hand."""
        return self.leases.free and self.draining_since is None

    def lease(self) -> None:
        """One more hand in play; to be taken before the deal."""
        self.leases.take()

    def give_back(self) -> None:
        """A hand is over."""
        self.leases.give_back()
        for wake in list(self.on_free):
            wake()

    def describe(self, *, version: str, max_tables: int, max_decisions: int, wants_legal_actions: bool) -> None:
        """What the bot says of itself."""
        self.name = Name(self.name.bot, version)
        self.wants_legal_actions = wants_legal_actions
        self.leases.state(min(max_tables, self._most_tables))
        self.max_decisions = min(max_decisions, self._most_decisions)
        self.window.cap(self.max_decisions)

    def limit(self, *, max_tables: int | None, max_decisions: int | None) -> None:
        """Hold the bot to less than it may say of itself; None sets no limit."""
        self._most_tables = max_tables or DEFAULT_MOST
        self._most_decisions = max_decisions or DEFAULT_MOST

    @property
    def allowance(self) -> float:
        """The network's share of every answer's time in seconds, not charged to the bot."""
        return self._allowance_us / 1e6

    @allowance.setter
    def allowance(self, seconds: float) -> None:
        self._allowance_us = round(1e6 * seconds)

    @property
    def idle(self) -> bool:
        """Whether nothing is asked of the bot at present."""
        return not self._outstanding

    @property
    def waiting(self) -> int:
        """Hands that wait for the bot: what it was asked, and what it is still to be asked."""
        return len(self._outstanding) + len(self._pending)

    def hand_started(self, table: Table, seat: int) -> None:
        """Tell the bot that a hand begins."""
        if self._transport is not None:
            self._transport.hand_started(table, seat)

    def hand_ended(self, table: Table, seat: int) -> None:
        """Tell the bot that a hand is over."""
        if self._transport is not None:
            self._transport.hand_ended(table, seat)

    # Asking ---------------------------------------------------------------------------------------------------------

    def ask(self, asker: Asker) -> None:
        """Put the table's present question to the bot; the asker is called back, never from within this call."""
        prepared = asker.writer.after_id(legal_actions=self.wants_legal_actions) if self._prepares else None
        self._pending.append(Question(asker, prepared))
        if not self._flush_due:
            self._flush_soon()

    def _flush_soon(self) -> None:
        if not self._flush_due:
            self._flush_due = True
            self.loop.call_soon(self._flush)

    def _flush(self) -> None:
        """Send what may go; the rest waits for answers."""
        try:
            self._send_some()
        except Exception as error:
            self.broke(error)

    def broke(self, error: Exception) -> None:
        """An error of the arena's own at this seat: every hand that waits here is void, so that none waits forever."""
        waiting = [*self._pending, *self._outstanding.values()]
        self._pending.clear()
        self._owed.clear()
        self._outstanding.clear()
        self._drop_batches()
        for question in waiting:
            question.asker.voided(f"{type(error).__name__}: {error}")

    def _send_some(self) -> None:
        self._flush_due = False
        if not self._up:
            self._wait_for_connection()
            return
        transport = self._transport
        while (self._pending or self._owed) and transport and self._in_flight() < transport.most_in_flight:
            asked = len(self._outstanding)
            if self._owed:
                asked -= sum(map(self.owes, self._owed))
            room = min(self.window.limit - asked, MOST_PER_MESSAGE)
            if room <= 0:
                return
            if self._owed:
                self._ask_again(transport, room)
            else:
                self._launch(transport, self._next(room))

    def _next(self, most: int) -> list[Question]:
        """What has waited longest, and waits no more."""
        pending = self._pending
        if len(pending) > most:
            return [pending.popleft() for _ in range(most)]
        questions = list(pending)
        pending.clear()
        return questions

    def _in_flight(self) -> int:
        return sum([batch.in_flight for batch in self._batches])

    def _ask_again(self, transport: Transport, room: int) -> None:
        """What was asked before the connection was lost goes first, as far as it is still open."""
        owed = [self._owed.popleft() for _ in range(min(room, len(self._owed)))]
        questions = [question for question in owed if self.owes(question)]
        for question in questions:
            question.prepared = None
            question.tries += 1
            question.batch.open.pop(question.id, None)
        if questions:
            batch = Batch({question.id: question for question in questions}, sent=self.now())
            self._fly(transport, questions, batch)

    def _launch(self, transport: Transport, questions: list[Question]) -> None:
        self._fly(transport, questions, self._start_clocks(questions))

    def _start_clocks(self, questions: Sequence[Question]) -> Batch:
        """Ask from now on, under new ids; whatever is asked at once has ids in a row."""
        first = self._ids(len(questions))
        end = first + len(questions)
        now = self.now()
        batch = Batch(dict(zip(range(first, end), questions, strict=True)), sent=now)
        self._outstanding.update(batch.open)
        self._remember(first, end)
        late = now + self.allowance
        for decision_id, question in batch.open.items():
            question.id = decision_id
            question.sent = now
            question.deadline = late + question.budget
        return batch

    def _remember(self, first: int, end: int) -> None:
        """That so many ids were given to questions of this bot."""
        given = self._given
        if given and given[-1] == first:
            given[-1] = end
        else:
            given += (first, end)
            if len(given) > 4 * _REMEMBERED:
                del given[: 2 * _REMEMBERED]

    def _fly(self, transport: Transport, questions: list[Question], batch: Batch) -> None:
        self._batches.append(batch)
        try:
            transport.transmit(questions)
        except Exception as error:
            for question in questions:
                self._close(question)
                question.asker.voided(f"{type(error).__name__}: {error}")
        else:
            self._watch(batch)

    # Answers --------------------------------------------------------------------------------------------------------

    def take(self, answers: Iterable[bot_pb2.DecideResponse], now: float) -> None:
        """What the bot said in one message.

        An answer whose id is not awaited is late if its question expired, stale if it was never asked. What is asked
        meanwhile leaves together, at the end.
        """
        if not self._flush_due:
            self._flush_due = self._held = True
        outstanding, network_us = self._outstanding, self._allowance_us
        count, oldest, newest = 0, math.inf, 0.0
        batch: Batch | None = None
        sent, latency_us = -1.0, 0
        try:
            for answer in answers:
                question = outstanding.pop(answer.decision_id, None)
                if question is None:
                    self._unawaited(answer.decision_id)
                    continue
                count += 1
                if answer.HasField("error"):
                    self.fail(question, Fault.BOT_ERROR, offered=escape(answer.error))
                    continue
                if question.batch is not batch:
                    batch = question.batch
                    batch.in_flight = False
                    oldest, newest = min(oldest, batch.sent), max(newest, batch.sent)
                del batch.open[question.id]
                if question.sent != sent:
                    sent = question.sent
                    latency_us = int(1e6 * (now - sent))
                question.asker.answered(
                    answer.action, latency_us=latency_us, network_us=network_us, note=answer.note or None
                )
        finally:
            self._taken(count, fastest=now - newest, slowest=now - oldest)

    def _unawaited(self, decision_id: int) -> None:
        """Late answers cost nothing further; a stale one stands in the record of the hand that waits longest.

        An answer that comes twice is late as well: a question that was asked again may be answered again.
        """
        if bisect_right(self._given, decision_id) % 2:  # After a beginning and before its end: it was asked once.
            self._counts.late()
            return
        self._counts.stale()
        if waiting := self.oldest_in_flight():
            waiting[0].asker.noted(Fault.STALE)

    def _taken(self, count: int, *, fastest: float, slowest: float) -> None:
        """So many answers came in together; `slowest` is below nothing where all of them were errors, or late."""
        held, self._held = self._held, False
        if held:
            self._flush_due = False
        alone = count == 1 and not self._outstanding and self.window.limit == 1
        full = bool(self._pending) and len(self._outstanding) + count >= self.window.limit
        # Where the bot owes nothing, no more of its answers can come in this turn; and what the window has room for
        # need not wait for the books to be kept.
        at_once = held and not self._outstanding and len(self._pending) <= self.window.limit
        if at_once:
            self._flush()
        if slowest > -math.inf:
            self.window.answered(count, fastest=fastest, slowest=slowest, alone=alone, full=full)
        self._batches = [batch for batch in self._batches if batch.open]
        if not at_once:
            self._flush_soon()

    def fail(self, question: Question, fault: Fault, *, offered: str | None = None) -> None:
        """The bot failed at a question, which must still be open."""
        now = self.now()
        self._close(question)
        self._flush_soon()  # There is room for another.
        if question.lost_at is not None:
            self._spend_reconnect(question, now)
        latency = max(0, int(1e6 * (now - question.sent)))
        question.asker.failed(fault, latency_us=latency, network_us=self._allowance_us, offered=offered)

    def _close(self, question: Question) -> None:
        """It is over."""
        self._outstanding.pop(question.id, None)
        question.batch.open.pop(question.id, None)
        question.batch.in_flight = False

    def oldest_in_flight(self) -> list[Question]:
        """The open questions of the batch that has waited longest, which an unreadable answer is laid to."""
        batch = next((batch for batch in self._batches if batch.open), None)
        return list(batch.open.values()) if batch else []

    def owes(self, question: Question) -> bool:
        """Whether the question is still open."""
        return question.id in self._outstanding

    def outstanding(self) -> list[Question]:
        """Every question the bot owes an answer to."""
        return list(self._outstanding.values())

    # Deadlines ------------------------------------------------------------------------------------------------------

    def _watch(self, batch: Batch) -> None:
        earliest = min(map(_DEADLINE, batch.open.values()))
        self._deadlines.add(earliest, lambda due: self._look(batch, due), batch.open)

    def _look(self, batch: Batch, due: float) -> None:
        """A deadline of the batch fell due: declare it, or look again once the arena's own lag is given back."""
        if not batch.open:
            return
        lag = self.now() - due
        if not batch.second_look:
            batch.second_look = True
            again = due + lag + (lag if lag > _LAG_TOLERATED else 0.0)
            self._deadlines.add(again, lambda _: self._look_soon(batch, due), batch.open)
            return
        batch.second_look = False
        batch.in_flight = False
        now = self.now()
        for question in [q for q in batch.open.values() if q.deadline <= now]:
            verdict = self._verdict(question)
            if verdict is Fault.DEADLINE:
                self.leases.missed()
                self.window.expired()
            self.fail(question, verdict)
        if batch.open:
            self._watch(batch)
        else:
            self._batches = [other for other in self._batches if other is not batch]
        self._flush_soon()

    def _look_soon(self, batch: Batch, due: float) -> None:
        """Once more through the loop, so that answers which have arrived are read first."""
        self.loop.call_soon(self._look, batch, due)

    def _verdict(self, question: Question) -> Fault:
        if question.lost_at is None:
            return Fault.DEADLINE
        return Fault.DISCONNECTED if question.tries else Fault.UNREACHABLE

    # A lost connection ----------------------------------------------------------------------------------------------

    @property
    def up(self) -> bool:
        """Whether the connection stands."""
        return self._up

    def connection_lost(self) -> None:
        """The transport lost the bot; it goes on trying."""
        self._up = False
        now = self.now()
        for question in self._outstanding.values():
            self._lose(question, now)
        self._drop_batches()
        self._owed.clear()
        self._hold(Batch(dict(self._outstanding), sent=now))
        self._wait_for_connection()
        self.on_lost(self)

    def pause(self) -> None:
        """The fault may be the arena's: the clocks of what waits stand still, for one reconnect budget, once a hand."""
        for question in self._outstanding.values():
            table = question.asker.table
            if question.lost_at is not None and not table.paused:
                table.paused = True
                standing = table.spec.time_control.reconnect_ms / 1000
                question.sent += standing
                question.lost_at += standing
                question.deadline += standing

    def _wait_for_connection(self) -> None:
        """Questions asked while the bot is away: their clocks run, and their hand's reconnect budget with them."""
        if not self._pending:
            return
        waiting = self._next(len(self._pending))
        batch = self._start_clocks(waiting)
        now = self.now()
        for question in waiting:
            question.tries = 0
            self._lose(question, now)
        self._hold(batch)

    def _hold(self, batch: Batch) -> None:
        """Watch the deadlines of questions that cannot be sent now."""
        batch.in_flight = False
        if batch.open:
            self._batches.append(batch)
            self._watch(batch)

    def _drop_batches(self) -> None:
        """Forget how questions travelled; the deadlines of the old batches then find nothing."""
        for batch in self._batches:
            batch.open.clear()
        self._batches = []

    def _lose(self, question: Question, now: float) -> None:
        question.lost_at = now
        left = question.asker.table.reconnect_us[question.asker.table.seat] / 1e6
        question.deadline = min(question.deadline, now + left)

    def connection_back(self) -> None:
        """The bot is back: what it still owes is asked again under the old ids."""
        self._up = True
        now = self.now()
        questions = list(self._outstanding.values())
        for question in questions:
            if question.lost_at is not None:
                unused = max(0.0, question.lost_at - now)  # Of a pause, which ends when the bot is back.
                question.sent -= unused
                self._spend_reconnect(question, now)
                question.lost_at = None
                question.deadline = question.sent + self.allowance + question.budget
        self._drop_batches()
        self._hold(Batch(dict(self._outstanding), sent=now))
        self._owed = deque(questions)
        self._flush_soon()

    def _spend_reconnect(self, question: Question, now: float) -> None:
        assert question.lost_at is not None
        table = question.asker.table
        table.spend_reconnect(table.seat, max(0, int((now - question.lost_at) * 1e6)))
