"""The public events of a match as a numbered list that spectators follow, from the start or from where they were.

Hands are played side by side and end in any order; after a restart, or once the match is over, what was is told from
the records. So that an event has the same number whenever it is read, the number says which hand and which event of it:
number n of hand i is 4096 i + n. Spectators get them in ascending order: the hand whose turn it is as it is played,
those after it when their turn comes. Who has seen a number has seen all below it, and can go on from there.

An event is kept as a few words, and becomes a message when somebody reads it.
"""

import asyncio
from bisect import bisect_right
from collections.abc import AsyncIterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple

from wakeng.engine import Fault, Hand, replay
from wakeng.services.table import Decided, Table
from wakeng.v1 import match_pb2

MOST_KEPT: Final = 50_000
"""Events a feed keeps; a spectator who asks for older ones is told where the rest begins."""
NUMBERS_A_HAND: Final = 4096
"""More than a hand has events, voided attempts included: none takes more than 225 (3 n + 3 + 52 n decisions of n)."""


class Gone(Exception):
    """Events were asked for that are no longer kept; `oldest` is the first that is."""

    def __init__(self, oldest: int) -> None:
        super().__init__(f"events before {oldest} are no longer kept; read the records of those hands")
        self.oldest = oldest


class _Event(NamedTuple):
    """`what` is a public event, the end of a hand, a state of the match, or None for the beginning of a hand."""

    sequence: int
    hand: int
    attempt: int
    what: "str | match_pb2.MatchHandEnded | match_pb2.MatchState.ValueType | None"


class _Hand:
    """A hand whose turn has come, or will; its history grows while it is played."""

    __slots__ = ("attempt", "begun", "ended", "hand", "number", "told")

    def __init__(self, attempt: int, hand: Hand, *, number: int = 0) -> None:
        self.attempt = attempt
        self.hand = hand
        self.number = number
        """How many of the hand's numbers are taken."""
        self.begun = False
        self.told = 0
        self.ended: match_pb2.MatchHandEnded | None = None


class MatchFeed:
    """A match's events. It is a watcher of tables, and knows nothing that is not public."""

    def __init__(self, hands: int) -> None:
        self._after_all = hands * NUMBERS_A_HAND + 1
        self._events: list[_Event] = []
        self._gone = 0
        """The number of the last event that is no longer kept."""
        self._hands: dict[int, _Hand] = {}
        self._turn = 0
        self._more = asyncio.Event()
        self.closed = False
        """Whether no event follows any more."""
        self.complete = False
        """Whether the last event is there: the match is in a final state."""

    def close(self, state: "match_pb2.MatchState.ValueType | None") -> None:
        """The match is over and this is its final state; or None, and it is only here that it does not go on."""
        if state is not None:
            for index in sorted(self._hands):
                self._turn = index
                self._tell()  # What was dropped has left gaps.
            self._add(_Event(self._after_all, 0, 0, state))
            self.complete = True
        self.closed = True
        self._wake()

    async def follow(self, after: int) -> AsyncIterator[match_pb2.MatchEvent]:
        """The events numbered beyond `after`, the past first, until the feed is closed; Gone if some are not kept."""
        while True:
            if after < self._gone:
                raise Gone(self._events[0].sequence)
            place = bisect_right(self._events, after, key=itemgetter(0))
            for event in self._events[place : place + _A_SLICE]:
                yield _message(event)
                after = event.sequence
            if place < len(self._events):
                continue
            if self.closed:
                return
            await self._more.wait()

    def _add(self, event: _Event) -> None:
        self._events.append(event)
        if len(self._events) > 2 * MOST_KEPT:
            self._gone = self._events[MOST_KEPT - 1].sequence
            del self._events[:MOST_KEPT]

    def _wake(self) -> None:
        self._more.set()
        self._more = asyncio.Event()

    # Whose turn it is -----------------------------------------------------------------------------------------------

    def _happened(self, index: int) -> None:
        """Something may be told of a hand, if it is its turn."""
        if index == self._turn:
            while self._tell():
                self._turn += 1
            self._wake()

    def _tell(self) -> bool:
        """Tell what is new of the hand whose turn it is; whether it is over."""
        hand = self._hands.get(self._turn)
        if hand is None:
            return False
        if not hand.begun:
            hand.begun = True
            self._number(hand, None)
        for event in hand.hand.history[hand.told :]:
            self._number(hand, event)
            hand.told += 1
        if hand.ended is None:
            return False
        self._number(hand, hand.ended)
        del self._hands[self._turn]
        return True

    def _number(self, hand: _Hand, what: str | match_pb2.MatchHandEnded | None) -> None:
        hand.number += 1
        self._add(_Event(self._turn * NUMBERS_A_HAND + hand.number, self._turn, hand.attempt, what))

    # As a watcher ---------------------------------------------------------------------------------------------------

    def hand_started(self, table: Table) -> None:
        """A table was set; what was told of a voided attempt keeps its numbers."""
        index, voided = table.spec.hand_index, self._hands.get(table.spec.hand_index)
        number = 0 if voided is None else voided.number
        self._hands[index] = _Hand(table.spec.attempt, table.hand, number=number)
        self._happened(index)

    def decided(self, told: Sequence[Decided]) -> None:
        """Tells what of them is public: a hidden decision shows only once its outcome does."""
        for decided in told:
            self._happened(decided.table.spec.hand_index)

    def faulted(self, table: Table, seat: int, fault: Fault) -> None:
        """Nothing: that a seat left shows in the hand's end."""

    def hand_ended(self, table: Table) -> None:
        """The result."""
        result = table.hand.result
        assert result is not None
        self._hands[table.spec.hand_index].ended = match_pb2.MatchHandEnded(
            hand_index=table.spec.hand_index,
            attempt=table.spec.attempt,
            winner=result.winner.value,
            scores=result.scores,
            digger=result.digger,
            stake=result.stake,
            escaped_seat=result.escaped_seat,
        )
        self._happened(table.spec.hand_index)

    def hand_voided(self, table: Table, reason: str) -> None:
        """Nothing: the hand begins again, as another attempt."""

    def recorded(self, record: Mapping[str, Any]) -> None:
        """A hand played before this process began: its events are told from its record."""
        index, attempt, result = record["hand_index"], record["attempt"], record["result"]
        hand = self._hands[index] = _Hand(attempt, replay(record))
        hand.ended = match_pb2.MatchHandEnded(
            hand_index=index,
            attempt=attempt,
            winner=result["winner"],
            scores=result["scores"],
            digger=result.get("digger"),
            stake=result.get("stake"),
            escaped_seat=result.get("escaped_seat"),
        )
        self._happened(index)


_A_SLICE: Final = 256


def _message(event: _Event) -> match_pb2.MatchEvent:
    sequence, index, attempt, what = event
    if what is None:
        started = match_pb2.MatchHandStarted(hand_index=index, attempt=attempt)
        return match_pb2.MatchEvent(sequence=sequence, hand_started=started)
    if isinstance(what, str):
        happened = match_pb2.MatchHandEvent(hand_index=index, attempt=attempt, event=what)
        return match_pb2.MatchEvent(sequence=sequence, hand_event=happened)
    if isinstance(what, match_pb2.MatchHandEnded):
        return match_pb2.MatchEvent(sequence=sequence, hand_ended=what)
    return match_pb2.MatchEvent(sequence=sequence, state=what)
