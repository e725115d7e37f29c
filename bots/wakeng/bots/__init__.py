"""Reference opponents, built on the SDK and the engine alone. Importing this loads none of them."""

from wakeng.bots.catalogue import BUILTIN_BOTS, FAULTY_BOTS, REFERENCE_BOTS, BotInfo, UnknownBot, create

__all__ = ["BUILTIN_BOTS", "FAULTY_BOTS", "REFERENCE_BOTS", "BotInfo", "UnknownBot", "create"]
