"""One run of the checker: its way to the bot, its clock and its pace, which all checks share."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from wakeng.engine import PRESETS, Fault, RuleError, RuleSet, rule_set
from wakeng.sdk.client import CallError, Trouble
from wakeng.sdk.conformance.callers import Budgets, Caller, Connect
from wakeng.sdk.conformance.positions import Position
from wakeng.sdk.conformance.results import Found, shown
from wakeng.sdk.conformance.talk import Ledger, Question, Reply, StreamTalk, Talk, UnaryTalk, clock, milliseconds
from wakeng.sdk.process import first_of
from wakeng.sdk.wire import rules_message
from wakeng.v1 import bot_pb2, rules_pb2

PROTOCOL_VERSION: Final = 1
FIRST_PINGS: Final = 3
_MOST_AT_ONCE: Final = 64
_SHARE: Final = 0.9
_CAREFUL_SHARE: Final = 0.25
_LATE_PATIENCE: Final = 1.5
"""Seconds that the checker listens, once, whether a missing answer is only late."""
_CLOSE_WITHIN: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """How much is tried, and how."""

    budgets: Budgets = field(default_factory=Budgets)
    presets: Sequence[str] = ()
    """Which; none named means all that the bot says it plays."""
    decisions: int = 1_000
    """Of real hands, for legality and latency."""
    each: int = 2
    """Questions of each phase."""
    at_once: int = 256
    """Questions of the burst, where the bot takes as many."""
    seed: bytes = bytes(32)
    """What hands and chance follow from."""
    first_id: int = 1
    """The first decision id. An arena's ids never repeat towards a bot, a checker's should not either."""
    limit: float = 60.0
    """Seconds for everything; what does not fit is skipped, and said to be."""


class Pace:
    """How many questions are asked at once by one way: one at first, then more as long as the last of them would be
    answered within the move budget, so that a bot that thinks serially is never late by the checker's making.
    """

    def __init__(self, most: int, move: float) -> None:
        self._most = max(1, min(most, _MOST_AT_ONCE))
        self._move = move
        self._least = move
        """Seconds a question at the bot's best."""
        self.size = 1

    def took(self, number: int, seconds: float) -> None:
        """So many questions were answered in so long."""
        each = max(seconds / number, 1e-6)
        self._least = min(self._least, each)
        self.size = max(1, min(self._most, 2 * self.size, int(_SHARE * self._move / each)))

    def fitting(self, seconds: float) -> int:
        """As many as are answered in so long, if the bot is at its best; one at least."""
        return max(1, min(self.size, int(seconds / self._least)))

    @property
    def careful(self) -> int:
        """As many as are answered within a quarter of the budget, which is what the arena asks (docs/protocol.md 4)."""
        return max(1, min(self._most, int(_CAREFUL_SHARE * self._move / self._least)))


class Run:
    """What the checks share. They raise Found where something is wrong."""

    def __init__(self, connect: Connect, scope: Scope) -> None:
        self.scope = scope
        self.budgets = scope.budgets
        self.ledger = Ledger()
        self.told = bot_pb2.DescribeResponse()
        """What the bot says of itself."""
        self.streams = False
        self.single = False
        """Whether it answers Play, and Decide."""
        self.compared: list[tuple[Reply, Reply]] = []
        """The same question, asked both ways."""
        self._connect = connect
        self._caller: Caller | None = None
        self._talk: Talk | None = None
        self._ids = count(scope.first_id)
        self._pings = count(1)
        self._ends = clock() + scope.limit
        self._listened = False
        self._paces: dict[str, Pace] = {}
        self.until = self._ends
        """When the present check should have come to an end."""

    # Time -----------------------------------------------------------------------------------------------------------

    def left(self) -> float:
        """Seconds left of the whole."""
        return max(0.0, self._ends - clock())

    def share(self, part: float) -> None:
        """Give the present check that part of the time that is left."""
        self.until = self.now() + part * self.left()

    def now(self) -> float:
        """The checker's clock."""
        return clock()

    # The bot --------------------------------------------------------------------------------------------------------

    @property
    def caller(self) -> Caller:
        """The way to the bot."""
        if self._caller is None:
            self._caller = self._connect()
        return self._caller

    @property
    def max_decisions(self) -> int:
        """Questions that may be outstanding with the bot, by its own word."""
        return max(1, self.told.max_decisions) if self.told.HasField("max_decisions") else 256

    @property
    def max_tables(self) -> int:
        """Hands that it can have in play, by its own word."""
        return max(1, self.told.max_tables) if self.told.HasField("max_tables") else 1_024

    @property
    def wants_legal_actions(self) -> bool:
        """Whether questions list the legal actions."""
        return self.told.wants_legal_actions if self.told.HasField("wants_legal_actions") else True

    def presets(self) -> list[str]:
        """Those to try."""
        plays = [name for name in self.told.presets if name in PRESETS] or list(PRESETS)
        return [name for name in plays if not self.scope.presets or name in self.scope.presets]

    def variant(self, field: str, value: object) -> RuleSet | None:
        """The first preset with a field overridden, None if the bot does not understand that or it cannot be."""
        if self.told.override_fields and field not in self.told.override_fields:
            return None
        try:
            return rule_set(self.presets()[0], {field: value})
        except (RuleError, IndexError):
            return None

    def describe_request(self, rules: RuleSet) -> bot_pb2.DescribeRequest:
        """As the arena asks before a match."""
        budgets = self.budgets
        control = rules_pb2.TimeControl(
            move_ms=budgets.move_ms, bank_ms=budgets.bank_ms, ready_ms=budgets.ready_ms,
            reconnect_ms=budgets.reconnect_ms, max_strikes=3,
        )  # fmt: skip
        return bot_pb2.DescribeRequest(
            protocol_version=PROTOCOL_VERSION,
            arena_version="check",
            rules=rules_message(rules),
            time_control=control,
        )

    # Ways to ask ----------------------------------------------------------------------------------------------------

    async def open_stream(self, within: float) -> StreamTalk:
        """A stream whose first pings were answered in so many seconds; Found says why there is none."""
        talk = StreamTalk(self.caller.play(), self.ledger)
        until = self.now() + within
        for _ in range(FIRST_PINGS):
            trip = await talk.ping(next(self._pings), within=max(0.0, until - self.now()))
            if trip is None:
                talk.abandon()
                raise self._no_stream(talk, within)
        return talk

    def _no_stream(self, talk: StreamTalk, within: float) -> Found:
        if talk.trouble is Trouble.UNIMPLEMENTED:
            return NoStream("it does not implement Play")
        fault, why = talk.ending or (Fault.NOT_READY, f"no pong within {milliseconds(within)}")
        return Found(
            f"the stream's first exchange failed: {why}",
            fault if fault is Fault.MALFORMED else Fault.NOT_READY,
            sent='{"message": {"ping": {…}}}',
        )

    async def talk(self) -> Talk:
        """The way that the arena would use, made again if it was lost; Found if it cannot be."""
        if self._talk is None or self._talk.ending is not None:
            self._talk = await self._new_talk()
        return self._talk

    async def _new_talk(self) -> Talk:
        lost = self._talk is not None
        within = self.budgets.reconnect if lost else self.budgets.ready
        try:
            if self.streams:
                return await self.open_stream(within)
            if lost:
                await self.caller.describe(self.describe_request(PRESETS[self.presets()[0]]), within=within)
        except (Found, CallError) as problem:
            if not lost:
                raise
            why = f"the connection was lost, and not back within {milliseconds(within)}: {problem}"
            raise Found(why, Fault.UNREACHABLE, last=True) from None
        return UnaryTalk(self.caller, self.ledger)

    def ways(self, talk: Talk) -> list[Talk]:
        """That way, and the other one if the bot has it."""
        return [talk, UnaryTalk(self.caller, self.ledger)] if self.streams and self.single else [talk]

    def keep(self, talk: Talk) -> None:
        """Use that from now on."""
        self._talk = talk

    async def ping(self, talk: StreamTalk, within: float) -> float | None:
        """A ping's trip in seconds, None if no pong comes so soon."""
        return await talk.ping(next(self._pings), within=within)

    # Questions ------------------------------------------------------------------------------------------------------

    def question(self, position: Position, *, bank: float | None = None, within: float | None = None) -> Question:
        """A position with an id of its own and `bank` seconds left of the hand; `within` is how long to wait for it."""
        bank = self.budgets.bank if bank is None else bank
        request = bot_pb2.DecideRequest()
        request.CopyFrom(position.request)
        request.decision_id = next(self._ids)
        request.time_left_ms = self.budgets.move_ms
        request.bank_left_ms = int(1000 * bank)
        if not self.wants_legal_actions:
            del request.legal_actions[:]
        return Question(position, request, self.budgets.move + bank if within is None else within)

    async def ask_in_order(self, talk: Talk, positions: Sequence[Position], *, until: float) -> list[Reply]:
        """The replies to positions at the bot's pace, up to the first that is wrong, or until that moment."""
        pace = self.pace(talk)
        replies: list[Reply] = []
        while len(replies) < len(positions) and self.now() < until and talk.ending is None:
            size = pace.fitting(until - self.now())
            batch = [self.question(position) for position in positions[len(replies) : len(replies) + size]]
            began = self.now()
            replies += await talk.ask(batch)
            pace.took(len(batch), self.now() - began)
            if any(reply.faults for reply in replies):
                break
        return replies

    def pace(self, talk: Talk) -> Pace:
        """The bot's pace by that way."""
        return self._paces.setdefault(talk.name, Pace(self.max_decisions, self.budgets.move))

    async def demand(self, talk: Talk, replies: Sequence[Reply]) -> None:
        """Found, if one of the replies is wrong or something came beside them."""
        wrong = next((reply for reply in replies if reply.faults), None)
        if wrong is not None:
            later = await self._whether_late(talk, wrong)
            raise Found(
                f"{wrong.question.position.phase} by {talk.name}: {wrong.problem}{later}",
                *wrong.faults,
                sent=shown(wrong.question.request),
                received=wrong.received,
            )

    async def _whether_late(self, talk: Talk, reply: Reply) -> str:
        """Listens once more for a missing answer, since no answer and a late one have different causes. A single call
        has ended by then.
        """
        if reply.faults != (Fault.DEADLINE,) or not isinstance(talk, StreamTalk) or self._listened:
            return ""
        self._listened = True
        listening = asyncio.ensure_future(self.ledger.late_heard.wait())
        await first_of(listening, within=_LATE_PATIENCE)
        listening.cancel()
        if self.ledger.late:
            return f"; it came {milliseconds(self.ledger.late[-1])} later"
        return f", nor within {milliseconds(_LATE_PATIENCE)} more"

    # The end --------------------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Let the bot go, whatever it does."""
        if self._talk is not None:
            self._talk.abandon()
        if self._caller is not None:
            await self.let_go(self._caller)

    def new_caller(self) -> Caller:
        """A new way to the bot beside the present one."""
        return self._connect()

    async def let_go(self, caller: Caller) -> None:
        """Close a way to the bot, whatever it does."""
        await first_of(asyncio.ensure_future(caller.close()), within=_CLOSE_WITHIN)


class NoStream(Found):
    """The bot does not implement Play."""
