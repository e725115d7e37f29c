"""The checks of a bot at work: real hands, many questions at once, pings, and a connection that breaks."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from wakeng.engine import PRESETS, Fault, Hand, Phase, RuleSet
from wakeng.sdk.conformance.positions import Position, deal, position_of, positions
from wakeng.sdk.conformance.results import Found, Status, counted
from wakeng.sdk.conformance.run import Run
from wakeng.sdk.conformance.talk import Question, Reply, StreamTalk, Talk, UnaryTalk, milliseconds
from wakeng.sdk.wire import rules_message
from wakeng.v1 import bot_pb2

PINGS: Final = 8
_SLOW_PING: Final = 0.1
"""Seconds: what the arena takes for the network's share at most."""
_MATCH: Final = "check"
_DECISIONS_A_TABLE: Final = 125
"""About two hands, so that hands are played to their end however few decisions are wanted."""


# Real hands ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Table:
    """A hand in which the bot has every seat."""

    hand: Hand
    index: int
    bank: list[float]
    """Seconds left, by seat."""
    last_latency: dict[int, float] = field(default_factory=dict)

    def position(self) -> Position:
        """The question that it stands at."""
        position = position_of(self.hand, hand_index=self.index)
        if self.hand.turn in self.last_latency:
            position.request.last_latency_us = int(1e6 * self.last_latency[self.hand.turn])
        return position

    def take(self, reply: Reply, move: float) -> None:
        """A good answer, and what it cost."""
        seat = self.hand.turn
        self.last_latency[seat] = reply.latency
        self.bank[seat] = max(0.0, self.bank[seat] - max(0.0, reply.latency - move))
        self.hand.apply_token(reply.action)


class Tables:
    """As many hands as the bot takes at once, and always new ones for those that are over."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._live: list[Table] = []
        self._indices = count()
        self._rules = [PRESETS[name] for name in run.presets()]
        self.ended = 0

    def next(self, size: int, notices: bot_pb2.ArenaMessage) -> list[Table]:
        """The tables to ask about: so many, new ones among them, and what the bot is to be told of them."""
        size = min(size, self._run.max_tables)
        while len(self._live) < size:
            self._live.append(self._begin(notices))
        chosen, self._live = self._live[:size], self._live[size:]
        self._live += chosen
        return chosen

    def _begin(self, notices: bot_pb2.ArenaMessage) -> Table:
        index = next(self._indices)
        rules = self._rules[index % len(self._rules)]
        for seat in range(rules.players):
            notices.hands_started.add(match_id=_MATCH, hand_index=index, seat=seat, rules=rules_message(rules))
        return Table(deal(rules, self._run.scope.seed, index), index, [self._run.budgets.bank] * rules.players)

    def sweep(self, notices: bot_pb2.ArenaMessage) -> None:
        """Let hands go that are over, and say so."""
        for table in [table for table in self._live if table.hand.phase is Phase.END]:
            self._live.remove(table)
            self.ended += 1
            self._say_ended(table, notices)

    def leave(self, notices: bot_pb2.ArenaMessage) -> None:
        """Let all others go unfinished, as the arena lets go of a hand that it voids."""
        for table in self._live:
            for seat in range(table.hand.rules.players):
                notices.hands_ended.add(match_id=_MATCH, hand_index=table.index, seat=seat)

    def _say_ended(self, table: Table, notices: bot_pb2.ArenaMessage) -> None:
        result = table.hand.result
        assert result is not None
        for seat in range(table.hand.rules.players):
            notices.hands_ended.add(
                match_id=_MATCH, hand_index=table.index, seat=seat, winner=result.winner.value, scores=result.scores
            )


async def legality(run: Run) -> str:
    """Real hands, the bot in all seats, asked at its own pace and with the bank counted as the arena does."""
    wanted, move = run.scope.decisions, run.budgets.move
    talk = await run.talk()
    tables, at_once = Tables(run), min(run.pace(talk).careful, max(1, wanted // _DECISIONS_A_TABLE))
    notices, decided = bot_pb2.ArenaMessage(), 0
    while decided < wanted and run.now() < run.until:
        chosen = tables.next(min(at_once, wanted - decided), notices)
        asked = [run.question(table.position(), bank=table.bank[table.hand.turn]) for table in chosen]
        replies = await talk.ask(asked, notices=notices)
        await run.demand(talk, replies)
        for table, reply in zip(chosen, replies, strict=True):
            table.take(reply, move)
        run.ledger.latencies += [reply.latency for reply in replies]
        decided += len(replies)
        notices = bot_pb2.ArenaMessage()
        tables.sweep(notices)
    tables.leave(notices)
    await talk.tell(notices)
    if decided < wanted:
        summary = f"all legal, but only {decided:,} of {counted(wanted, 'decision')} fitted into the time there was"
        raise Found(summary, status=Status.REMARK, rule="")
    return f"{counted(decided, 'decision')} of real hands, all legal; {counted(tables.ended, 'hand')} played to the end"


async def latency(run: Run) -> str:
    """How long those answers took."""
    times = sorted(run.ledger.latencies)
    if not times:
        raise Found("no real hand was played", status=Status.SKIPPED)
    p50, p90, p99 = (times[min(len(times) - 1, int(len(times) * share))] for share in (0.5, 0.9, 0.99))
    told = f"p50 {milliseconds(p50)}, p90 {milliseconds(p90)}, p99 {milliseconds(p99)}"
    move = run.budgets.move
    if p90 > move:
        raise Found(f"{told}: one decision in ten takes more than the move's {milliseconds(move)}", Fault.DEADLINE)
    if p99 > move:
        raise Found(f"{told}: some take more than the move's {milliseconds(move)}, and bank", status=Status.REMARK)
    return f"{told} of the move's {milliseconds(move)}"


# Many at once --------------------------------------------------------------------------------------------------------


async def burst(run: Run) -> str:
    """As many questions at once as the bot takes, by its own word: twice as many each time, for as long as it answers
    them in half of its time, so that one that thinks serially is not buried.
    """
    size, reached, slowest = min(run.scope.at_once, run.max_decisions), 0, 0.0
    talk = await run.talk()
    strays = len(run.ledger.strays)
    within = run.budgets.move + run.budgets.bank
    while reached < size and slowest <= within / 2 and run.now() < run.until:
        reached = min(size, max(1, 2 * reached))
        replies = await talk.ask([run.question(position) for position in _many(run, reached)])
        await run.demand(talk, replies)
        slowest = max(reply.latency for reply in replies)
    if len(run.ledger.strays) > strays:
        summary = f"of {reached} at once it answered some twice"
        raise Found(summary, Fault.STALE, received=run.ledger.strays[-1])
    if reached < size:
        summary = (
            f"{reached} at once, the last after {milliseconds(slowest)}; more were not tried. The arena finds out"
            f" by itself how many it can ask, but max_decisions = {max(1, reached // 2)} would tell it"
        )
        raise Found(summary, status=Status.REMARK)
    return f"{size} at once, each answered once, the last after {milliseconds(slowest)}"


def _many(run: Run, size: int) -> Iterator[Position]:
    """So many positions, of all presets in turn."""
    pool = [
        position for name in run.presets() for position in positions(PRESETS[name], run.scope.seed, each=run.scope.each)
    ]
    return (pool[at % len(pool)] for at in range(size))


async def pings(run: Run) -> str:
    """Pings with nothing to do, then beside questions."""
    talk = await run.talk()
    if not isinstance(talk, StreamTalk):
        raise Found("it plays no stream", status=Status.SKIPPED)
    within = run.budgets.ready
    idle: list[float | None] = []
    while len(idle) < PINGS and None not in idle:
        idle.append(await run.ping(talk, within))
    asking = asyncio.ensure_future(talk.ask([run.question(next(_many(run, 1)))]))
    busy = await run.ping(talk, within)
    replies = await asking
    trips = [trip for trip in (*idle, busy) if trip is not None]
    if len(trips) <= PINGS:
        missing = PINGS + 1 - len(trips)
        raise Found(
            f"{counted(missing, 'ping')} had no pong within {milliseconds(within)}",
            Fault.DISCONNECTED,
            sent='{"message": {"ping": {"id": …}}}',
        )
    await run.demand(talk, replies)
    if max(trips) > _SLOW_PING:
        summary = f"all answered, but one took {milliseconds(max(trips))}: whatever thinks must not hold up the pong"
        raise Found(summary, status=Status.REMARK)
    return f"{counted(len(trips), 'ping')} answered, the slowest in {milliseconds(max(trips))}"


# A connection that breaks --------------------------------------------------------------------------------------------


async def reconnect(run: Run) -> str:
    """A question whose connection breaks before the answer, asked again under its old id."""
    talk = await run.talk()
    question = run.question(next(_many(run, 1)))
    if isinstance(talk, StreamTalk):
        return await _stream_again(run, talk, question)
    return await _call_again(run, question)


async def _stream_again(run: Run, talk: StreamTalk, question: Question) -> str:
    await talk.ask_and_break(question)
    again = await run.talk()
    await _demand_again(run, again, question)
    assert isinstance(again, StreamTalk)
    if not await again.finish(within=run.budgets.ready):
        summary = "it came back, but does not end a stream in which the arena has said its last"
        raise Found(summary, status=Status.REMARK)
    return "a question whose stream broke was answered in the next, and that one ended in order"


async def _call_again(run: Run, question: Question) -> str:
    other = run.new_caller()
    try:
        await _demand_again(run, UnaryTalk(other, run.ledger), question)
        await _demand_again(run, await run.talk(), question)
    finally:
        await run.let_go(other)
    return "a question was answered again when it was asked again, over another connection"


async def _demand_again(run: Run, talk: Talk, question: Question) -> None:
    await run.demand(talk, await talk.ask([question]))


def variants(run: Run) -> Iterator[RuleSet]:
    """What the bot says it understands beyond presets, of what changes the play most."""
    for name, value in (("must_beat", True), ("bidding", "assigned")):
        if (rules := run.variant(name, value)) is not None:
            yield rules
