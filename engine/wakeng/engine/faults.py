"""The closed list of faults and whom each is laid to (docs/protocol.md 7)."""

from enum import Enum


class Side(Enum):
    """To whom a fault is attributed: what the bot's author is told; it never changes the cost."""

    BOT = "bot"
    NETWORK = "network"
    ARENA = "arena"


class Fault(Enum):
    """Everything that can go wrong between the arena and a bot; the value is the word in records and logs."""

    DEADLINE = "DEADLINE"
    ILLEGAL_ACTION = "ILLEGAL_ACTION"
    MALFORMED = "MALFORMED"
    STALE = "STALE"
    BOT_ERROR = "BOT_ERROR"
    DISCONNECTED = "DISCONNECTED"
    UNREACHABLE = "UNREACHABLE"
    NOT_READY = "NOT_READY"
    ARENA_ERROR = "ARENA_ERROR"

    @property
    def side(self) -> Side:
        """The bot, unless the connection or the arena itself failed."""
        return _SIDES.get(self, Side.BOT)


_SIDES = {
    Fault.DISCONNECTED: Side.NETWORK,
    Fault.UNREACHABLE: Side.NETWORK,
    Fault.ARENA_ERROR: Side.ARENA,
}
