"""Bots that are broken on purpose, each in one way: what an arena must survive, and what a checker must find."""

from wakeng.bots.faulty.bad_choices import Crash, Hang, Illegal, Late
from wakeng.bots.faulty.bad_servers import Flood, Garbage, HalfOpen, Oversize, SlowStart, WrongId
from wakeng.bots.faulty.base import FaultyBot

__all__ = [
    "Crash",
    "FaultyBot",
    "Flood",
    "Garbage",
    "HalfOpen",
    "Hang",
    "Illegal",
    "Late",
    "Oversize",
    "SlowStart",
    "WrongId",
]
