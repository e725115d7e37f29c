"""Who is told what happens at the tables: the journal, the metrics, and the log of what the arena itself fails at."""

import logging
import sys
from collections import Counter
from collections.abc import Sequence

from wakeng.engine import Fault, RuleSet
from wakeng.services.journal import Journal, which_hand, who
from wakeng.services.metrics import Metrics
from wakeng.services.table import Decided, Table

log = logging.getLogger("wakeng.services")


class JournalWatcher:
    """Writes every decision and fault to the journal (docs/protocol.md 8)."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._whose: dict[Table, list[bytes]] = {}
        """What all lines on a seat's decisions say, by seat."""

    def hand_started(self, table: Table) -> None:
        """No line; the first decision says which hand it is of."""
        spec = table.spec
        hand = which_hand(match_id=spec.match_id, hand_index=spec.hand_index, attempt=spec.attempt)
        self._whose[table] = [hand + who(seat, name.bot) for seat, name in enumerate(spec.names)]

    def decided(self, told: Sequence[Decided]) -> None:
        """A line each."""
        self._journal.decisions(told, self._whose)

    def faulted(self, table: Table, seat: int, fault: Fault) -> None:
        """One line."""
        spec = table.spec
        self._journal.fault(
            match_id=spec.match_id,
            hand_index=spec.hand_index,
            attempt=spec.attempt,
            seat=seat,
            bot=spec.names[seat].bot,
            fault=fault.value,
        )

    def hand_ended(self, table: Table) -> None:
        """No line; the record tells it."""
        del self._whose[table]

    def hand_voided(self, table: Table, reason: str) -> None:
        """One line, as a voided hand has no record; and one in the log, for it is the operator's affair.

        That has the error's origin too, where it is an error that voids the hand.
        """
        del self._whose[table]
        spec = table.spec
        ids = {"match_id": spec.match_id, "hand_index": spec.hand_index, "attempt": spec.attempt}
        log.warning("a hand was voided and is played again", extra={**ids, "reason": reason}, exc_info=sys.exception())
        self._journal.event(
            "hand_voided",
            **ids,
            fault=Fault.ARENA_ERROR.value,
            reason=reason,
        )


class MetricsWatcher:
    """Counts hands, decisions, latencies and faults, with the labels of each bot bound once."""

    def __init__(self, metrics: Metrics, rules: RuleSet, bots: Sequence[str]) -> None:
        self._metrics = metrics
        self._rules = rules.preset
        self._bots = {bot: metrics.bot(bot) for bot in bots}

    def hand_started(self, table: Table) -> None:
        """Nothing; the arena knows how many are in play."""

    def decided(self, told: Sequence[Decided]) -> None:
        """Counts them, and their faults; answers that came in one message mostly took the same time."""
        alike = Counter(
            [
                (table.spec.names[seat].bot, phase, latency_us, fault)
                for table, seat, phase, _, latency_us, fault, _, _ in told
            ]
        )
        for (name, phase, latency_us, fault), count in alike.items():
            bot = self._bots[name]
            bot.decisions(phase, latency_us, count)
            if fault is not None:
                bot.fault(fault, count)

    def faulted(self, table: Table, seat: int, fault: Fault) -> None:
        """Counts it."""
        self._bots[table.spec.names[seat].bot].fault(fault)

    def hand_ended(self, table: Table) -> None:
        """Counts it."""
        result = table.hand.result
        assert result is not None
        self._metrics.hand(self._rules, result.winner)

    def hand_voided(self, table: Table, reason: str) -> None:
        """Counts it."""
        self._metrics.hands_voided.inc()
