"""The public events of a match as a numbered list that spectators follow, from the start or from where they were."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from wakeng.engine import Fault, replay
from wakeng.services.table import Decided, Table
from wakeng.v1 import match_pb2

MOST_KEPT: Final = 50_000
"""Events a feed keeps; a spectator who asks for older ones is told where the rest begins."""


class Gone(Exception):
    """Events were asked for that are no longer kept; `oldest` is the first that is."""

    def __init__(self, oldest: int) -> None:
        super().__init__(f"events before {oldest} are no longer kept; read the records of those hands")
        self.oldest = oldest


class MatchFeed:
    """A match's events, numbered from 1. It is a watcher of tables, and knows nothing that is not public."""

    def __init__(self) -> None:
        self._events: list[match_pb2.MatchEvent] = []
        self._first = 1
        self._told: dict[int, int] = {}
        self._more = asyncio.Event()
        self.closed = False

    def close(self, state: "match_pb2.MatchState.ValueType") -> None:
        """The match is over; no event follows the one that says so."""
        self._add(match_pb2.MatchEvent(state=state))
        self.closed = True
        self._wake()

    async def follow(self, after: int) -> AsyncIterator[match_pb2.MatchEvent]:
        """The events numbered beyond `after`, the past first, until the match is over; Gone if some are not kept."""
        following = after + 1
        while True:
            if following < self._first:
                raise Gone(self._first)
            while (place := following - self._first) < len(self._events):
                yield self._events[place]
                following += 1
                if following < self._first:
                    raise Gone(self._first)
            if self.closed:
                return
            await self._more.wait()

    def _add(self, event: match_pb2.MatchEvent) -> None:
        event.sequence = self._first + len(self._events)
        self._events.append(event)
        if len(self._events) > 2 * MOST_KEPT:
            del self._events[:MOST_KEPT]
            self._first += MOST_KEPT
        self._wake()

    def _wake(self) -> None:
        self._more.set()
        self._more = asyncio.Event()

    # As a watcher ---------------------------------------------------------------------------------------------------

    def hand_started(self, table: Table) -> None:
        """A table was set."""
        self._started(table.spec.hand_index, table.spec.attempt)
        self._told[table.spec.hand_index] = 0

    def decided(self, table: Table, decided: Decided) -> None:
        """Tells what of it is public: a hidden decision shows only once its outcome does."""
        index = table.spec.hand_index
        history = table.hand.history
        self._happened(index, table.spec.attempt, history[self._told[index] :])
        self._told[index] = len(history)

    def faulted(self, table: Table, seat: int, fault: Fault) -> None:
        """Nothing: that a seat left shows in the hand's end."""

    def hand_ended(self, table: Table) -> None:
        """The result."""
        del self._told[table.spec.hand_index]
        result = table.hand.result
        assert result is not None
        self._ended(
            match_pb2.MatchHandEnded(
                hand_index=table.spec.hand_index,
                attempt=table.spec.attempt,
                winner=result.winner.value,
                scores=result.scores,
                digger=result.digger,
                stake=result.stake,
                escaped_seat=result.escaped_seat,
            )
        )

    def hand_voided(self, table: Table, reason: str) -> None:
        """Nothing: the hand begins again, as another attempt."""
        del self._told[table.spec.hand_index]

    def recorded(self, record: Mapping[str, Any]) -> None:
        """A hand played before this process began: its events are told from its record."""
        index, attempt, result = record["hand_index"], record["attempt"], record["result"]
        self._started(index, attempt)
        self._happened(index, attempt, replay(record).history)
        self._ended(
            match_pb2.MatchHandEnded(
                hand_index=index,
                attempt=attempt,
                winner=result["winner"],
                scores=result["scores"],
                digger=result.get("digger"),
                stake=result.get("stake"),
                escaped_seat=result.get("escaped_seat"),
            )
        )

    def _started(self, index: int, attempt: int) -> None:
        started = match_pb2.MatchHandStarted(hand_index=index, attempt=attempt)
        self._add(match_pb2.MatchEvent(hand_started=started))

    def _happened(self, index: int, attempt: int, events: list[str]) -> None:
        for event in events:
            happened = match_pb2.MatchHandEvent(hand_index=index, attempt=attempt, event=event)
            self._add(match_pb2.MatchEvent(hand_event=happened))

    def _ended(self, ended: match_pb2.MatchHandEnded) -> None:
        self._add(match_pb2.MatchEvent(hand_ended=ended))
