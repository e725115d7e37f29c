"""What the faulty bots share: apart from its fault each plays as `lowest` does, so nothing else is wrong with it."""

from typing import ClassVar

from wakeng.bots.lowest import Lowest
from wakeng.engine import Fault


class FaultyBot(Lowest):
    """A bot with one fault. It errs whenever it can, and always the same way."""

    earns: ClassVar[tuple[Fault, ...]] = ()
    """The faults an arena must find in it, in the order in which it must find them (docs/protocol.md 7)."""
