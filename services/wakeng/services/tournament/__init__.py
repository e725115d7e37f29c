"""Tournaments: who meets whom, on which deals, and what may be concluded from it (docs/statistics.md)."""

from wakeng.services.tournament.blocks import Block, BlockHand, BlockKind, Dealer
from wakeng.services.tournament.docket import Docket, Turn, Work
from wakeng.services.tournament.options import Options
from wakeng.services.tournament.pairing import Rate, Ratings
from wakeng.services.tournament.prefix import Progress, Recorded
from wakeng.services.tournament.schedule import Schedule, Stop, schedule_of
from wakeng.services.tournament.spec import Entrant, Format, TournamentSpec, tournament_rules
from wakeng.services.tournament.spec_file import BadSpec, CheckBot, parse_spec

__all__ = [
    "BadSpec",
    "Block",
    "BlockHand",
    "BlockKind",
    "CheckBot",
    "Dealer",
    "Docket",
    "Entrant",
    "Format",
    "Options",
    "Progress",
    "Rate",
    "Ratings",
    "Recorded",
    "Schedule",
    "Stop",
    "TournamentSpec",
    "Turn",
    "Work",
    "parse_spec",
    "schedule_of",
    "tournament_rules",
]
