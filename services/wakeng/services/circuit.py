"""When a bot is still dealt in: a circuit breaker over its hands in one match, without a clock (docs/protocol.md 7).

    CLOSED     hands are dealt
    OPEN       quarantined: its hands are forfeited at once; a probe is due after a pause
    PROBING    the bot is being asked whether it is there
    HALF_OPEN  it was: one hand is dealt as a trial, the others are still forfeited

A hand played to its end closes the circuit, wherever it stood. Another escape on trial opens it again, for twice as
long. Times are seconds of any monotonic clock, given by the caller.
"""

from enum import Enum
from typing import Final

from wakeng.engine import Fault

FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 60.0


class State(Enum):
    """Where a circuit stands."""

    CLOSED = "CLOSED"
    OPEN = "OPEN"
    PROBING = "PROBING"
    HALF_OPEN = "HALF_OPEN"


class Circuit:
    """One bot's circuit in one match. `fault` is what its forfeited hands are recorded with."""

    def __init__(self, max_escapes: int) -> None:
        self.state = State.CLOSED
        self.fault = Fault.NOT_READY
        self.probe_at = 0.0
        """When a probe is due; it means something in OPEN only."""
        self._max_escapes = max_escapes
        self._escapes = 0
        self._pause = FIRST_PAUSE
        self._on_trial = False

    @property
    def dealt_in(self) -> bool:
        """Whether the next hand is played; in HALF_OPEN that is so once."""
        return self.state is State.CLOSED or (self.state is State.HALF_OPEN and not self._on_trial)

    def deal_in(self) -> None:
        """A hand is dealt; in HALF_OPEN it is the trial."""
        self._on_trial = self.state is State.HALF_OPEN

    def escaped(self, fault: Fault, now: float) -> None:
        """The bot left a hand in which it was dealt in."""
        self._escapes += 1
        if self.state is State.HALF_OPEN:
            self._pause = min(2 * self._pause, LONGEST_PAUSE)
            self.trip(fault, now)
        elif self.state is State.CLOSED and self._escapes >= self._max_escapes:
            self.trip(fault, now)

    def completed(self) -> None:
        """The bot played a hand to its end."""
        self.state = State.CLOSED
        self._escapes = 0
        self._pause = FIRST_PAUSE
        self._on_trial = False

    def trip(self, fault: Fault, now: float) -> None:
        """Open the circuit: too many escapes, or the bot is not there."""
        self.state = State.OPEN
        self.fault = fault
        self._on_trial = False
        self.probe_at = now + self._pause

    def probing(self) -> None:
        """The bot is being asked."""
        self.state = State.PROBING

    def probed(self, *, there: bool, now: float) -> None:
        """It answered, or did not."""
        if self.state is not State.PROBING:
            return  # A hand that was still in play has closed it meanwhile.
        if there:
            self.state = State.HALF_OPEN
        else:
            self._pause = min(2 * self._pause, LONGEST_PAUSE)
            self.trip(self.fault, now)
