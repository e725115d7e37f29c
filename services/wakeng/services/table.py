"""One hand at a table: the engine plus the rules of time and fault, without a clock or a socket.

Events go in (`answer`, `fault`, `forfeit`), and after each the table stands at its next question or is over. Whoever
drives it measures time and tells it how long an answer took; the table keeps what is left of each seat's bank and
reconnect budget, plays the default action for a seat that failed, counts strikes, and lets a seat go at its last one
(docs/protocol.md 7). An illegal act of a bot is an event like any other and never raises.
"""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

from wakeng.engine import (
    ACTIONS,
    ALL_TOKENS,
    TOKENS,
    Bidding,
    Fault,
    Hand,
    IllegalAction,
    Phase,
    RuleSet,
    Side,
    deal_members,
    remembered_deal,
    result_members,
)
from wakeng.engine.record import MOST_NOTE_BYTES, MOST_OFFERED_BYTES, RECORD_VERSION
from wakeng.services.spec import TimeControl

_MOST_LATENCY_US: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Name:
    """What a record says of a seat: the bot's name, and its version where it described itself."""

    bot: str
    version: str | None = None

    def to_dict(self) -> dict[str, str]:
        """The form it has in records."""
        return {"bot": self.bot} if self.version is None else {"bot": self.bot, "version": self.version}


@dataclass(frozen=True, slots=True, kw_only=True)
class HandSpec:
    """Which hand is played: everything in its record that is known before it begins."""

    match_id: str
    hand_index: int
    rules: RuleSet
    seed: bytes
    time_control: TimeControl
    names: tuple[Name, ...]
    attempt: int = 0
    blind_first_seat: int | None = None
    assigned_digger: int | None = None
    match_commitment: str | None = None
    schedule: Mapping[str, str | int] | None = None
    """Where the hand stands in a tournament (docs/protocol.md 6)."""


class Decided(NamedTuple):
    """How a decision at a table went, for the journal and the metrics."""

    table: "Table"
    seat: int
    phase: Phase
    action: str
    latency_us: int
    fault: Fault | None = None
    offered: str | None = None
    note: str | None = None


_ACTION_OF: Final = {phase: actions.get for phase, actions in ACTIONS.items()}
_NO_ACTION: Final = -1
"""Of a word that is no action of the phase; it is never legal."""
_PHASES: Final = {phase: phase.value for phase in Phase}
"""Their names; an enum's own way to them is a call."""
_TOKENS: Final = dict(TOKENS)
"""Without the proxy, which takes as long as the dictionary behind it."""
_plainly_decided: Final = partial(tuple.__new__, Decided)
"""Of all its fields; the class's own way takes three times as long."""


class Table:
    """A hand being played. `hand` stands at the question for `seat`, or `over` is true and `record()` can be had."""

    __slots__ = (
        "_extras",
        "_faults",
        "_latencies",
        "_move_us",
        "_strikes",
        "bank_us",
        "hand",
        "last",
        "parting_fault",
        "paused",
        "reconnect_us",
        "spec",
    )

    def __init__(self, spec: HandSpec) -> None:
        players = spec.rules.players
        self.spec = spec
        self.hand = Hand(
            spec.rules,
            remembered_deal(spec.rules, spec.seed),
            blind_first_seat=spec.blind_first_seat,
            assigned_digger=spec.assigned_digger,
        )
        self._move_us = 1000 * spec.time_control.move_ms
        self.bank_us = [1000 * spec.time_control.bank_ms] * players
        self.reconnect_us = [1000 * spec.time_control.reconnect_ms] * players
        self.last: list[tuple[int, str | None] | None] = [None] * players
        """By seat how its previous decision went, which its bot is told: microseconds, and a fault if any."""
        self.parting_fault: Fault | None = None
        """What made a seat leave."""
        self.paused = False
        """Whether the clocks stood still once already, for a failure that may have been the arena's."""
        self._strikes = [0] * players
        self._latencies = array("i")
        """Of all decisions, microseconds; a list would keep an object for each."""
        self._extras: dict[int, dict[str, str]] = {}
        self._faults: dict[tuple[int, Fault], int] = {}

    @property
    def over(self) -> bool:
        """Whether the hand has ended."""
        return self.hand.phase is Phase.END

    @property
    def seat(self) -> int:
        """Who is asked."""
        return self.hand.turn

    @property
    def budget_us(self) -> int:
        """How long the present question may take: the move, and what is left of the seat's bank."""
        return self._move_us + self.bank_us[self.hand.turn]

    # Events ---------------------------------------------------------------------------------------------------------

    def answer(self, token: str, *, latency_us: int, network_us: int = 0, note: str | None = None) -> Decided | None:
        """The asked seat's answer; a token that is not legal here is a fault of its own.

        It took `latency_us`, of which `network_us` are not charged to the seat.
        Returns what was decided, None where it was the seat's last strike and the hand is over without a decision.
        """
        hand = self.hand
        seat, phase = hand.turn, hand.phase
        try:
            hand.apply(_ACTION_OF[phase](token, _NO_ACTION))
        except IllegalAction:
            fault = Fault.ILLEGAL_ACTION if token in ALL_TOKENS else Fault.MALFORMED
        else:
            if not 0 <= latency_us <= self._move_us:
                latency_us = self._charge(seat, latency_us, network_us)
            if note:
                return self._decided(Decided(self, seat, phase, token, latency_us, note=cut(note)))
            # Nearly all are of this kind, so they take the short way to the same.
            self.last[seat] = latency_us, None
            self._latencies.append(latency_us)
            return _plainly_decided((self, seat, phase, token, latency_us, None, None, None))
        return self.fault(fault, latency_us=latency_us, network_us=network_us, offered=escape(token))

    def fault(
        self, fault: Fault, *, latency_us: int, network_us: int = 0, offered: str | None = None
    ) -> Decided | None:
        """The asked seat failed: the default action is played and the seat gets a strike, or leaves at the last one."""
        hand = self.hand
        seat, phase = hand.turn, hand.phase
        latency_us = self._charge(seat, latency_us, network_us)
        self._strikes[seat] += 1
        if self._strikes[seat] >= self.spec.time_control.max_strikes:
            self.forfeit(seat, fault)
            return None
        action = hand.default_action()
        hand.apply(action)
        return self._decided(Decided(self, seat, phase, TOKENS[phase][action], latency_us, fault, offered))

    def forfeit(self, seat: int, fault: Fault) -> None:
        """The seat leaves: at its last strike, or because it was never there."""
        self.note_fault(seat, fault)
        self.parting_fault = fault
        self.hand.escape(seat)

    def note_fault(self, seat: int, fault: Fault) -> None:
        """Count a fault outside any decision; it costs nothing here."""
        if fault.side is Side.ARENA:
            raise ValueError(f"{fault.value} is the arena's own and stands in no record")
        self._faults[seat, fault] = self._faults.get((seat, fault), 0) + 1

    def spend_reconnect(self, seat: int, lost_us: int) -> None:
        """A seat's connection was away for so long during this hand."""
        self.reconnect_us[seat] = max(0, self.reconnect_us[seat] - lost_us)

    def _charge(self, seat: int, latency_us: int, network_us: int) -> int:
        """Draw on the bank what went beyond the move's own budget; the latency as it stands in the record."""
        latency_us = min(max(0, latency_us), _MOST_LATENCY_US)
        over = latency_us - network_us - self._move_us
        if over > 0:
            self.bank_us[seat] = max(0, self.bank_us[seat] - over)
        return latency_us

    def _decided(self, decided: Decided) -> Decided:
        self.last[decided.seat] = decided.latency_us, decided.fault and decided.fault.value
        if decided.fault is not None or decided.note:
            self._extras[len(self._latencies)] = _extras(decided)
        self._latencies.append(decided.latency_us)
        return decided

    # The record -----------------------------------------------------------------------------------------------------

    def record(self) -> dict[str, Any]:
        """The hand's record but for its checksum (docs/protocol.md 6); the hand must be over."""
        spec, hand = self.spec, self.hand
        if hand.result is None:
            raise ValueError("the hand is not over")
        record: dict[str, Any] = {
            "record_version": RECORD_VERSION,
            "match_id": spec.match_id,
            "hand_index": spec.hand_index,
            "attempt": spec.attempt,
            "rules": spec.rules.to_dict(),
            "seed": spec.seed.hex(),
            "time_control": spec.time_control.to_dict(),
            "seats": [name.to_dict() for name in spec.names],
            "deal": deal_members(hand.deal),
            "result": result_members(hand.result),
        }
        if spec.match_commitment is not None:
            record["match_commitment"] = spec.match_commitment
        if spec.rules.has_blind:
            first = spec.blind_first_seat
            record["blind_first_seat"] = hand.deal.first_dealt_seat if first is None else first
        if spec.rules.bidding is Bidding.ASSIGNED:
            record["assigned_digger"] = spec.assigned_digger
        if spec.schedule is not None:
            record["schedule"] = dict(spec.schedule)
        if decisions := self._decision_members():
            record["decisions"] = decisions
        if self._faults:
            record["faults"] = [
                {"seat": seat, "fault": fault.value, "count": count} for (seat, fault), count in self._faults.items()
            ]
        return record

    def _decision_members(self) -> Sequence[dict[str, Any]]:
        members: list[dict[str, Any]] = [
            {"seat": seat, "phase": _PHASES[phase], "action": _TOKENS[phase][action], "latency_us": latency}
            for (seat, phase, action), latency in zip(self.hand.decisions, self._latencies, strict=True)
        ]
        for i, extras in self._extras.items():
            members[i].update(extras)
        return members


def _extras(decided: Decided) -> dict[str, str]:
    """What of a decision does not always apply."""
    fault = decided.fault.value if decided.fault else None
    said = {"fault": fault, "offered": decided.offered, "note": decided.note}
    return {name: value for name, value in said.items() if value}


def escape(offered: str | bytes) -> str:
    """A rejected answer as it stands in records: printable ASCII, the rest as \\x, \\u escapes, at most 64 bytes."""
    text = offered[: 2 * MOST_OFFERED_BYTES]
    shown = repr(text)[2:-1] if isinstance(text, bytes) else ascii(text)[1:-1]
    return shown if len(shown) <= MOST_OFFERED_BYTES else shown[: MOST_OFFERED_BYTES - 3] + "..."


def cut(note: str) -> str:
    """An author's note, cut to 200 bytes between characters."""
    return note.encode("utf-8", "replace")[:MOST_NOTE_BYTES].decode("utf-8", "ignore")
