"""What an arena may claim about bots, and how it computes it: blocks, intervals, ratings, tests, standings."""

from wakeng.services.tournament.statistics.leak import Leak, leak_check
from wakeng.services.tournament.statistics.means import Estimate, bootstrap, estimate, no_difference, watched_multiplier
from wakeng.services.tournament.statistics.ratings import Fit, bootstrap_numbers, fit, rater, with_escapes
from wakeng.services.tournament.statistics.results import Block, HandResult, Ledger, block_of, hand_result, swap_value
from wakeng.services.tournament.statistics.roles import RoleStrength, RoleStrengths, cross_table, role_strengths
from wakeng.services.tournament.statistics.sprt import (
    SprtOptions,
    SprtResult,
    SwapTest,
    Verdict,
    log_likelihood_ratio,
    sprt,
    sprt_options,
)
from wakeng.services.tournament.statistics.standings import Row, Standings, standings
from wakeng.services.tournament.statistics.student import t_quantile

__all__ = [
    "Block",
    "Estimate",
    "Fit",
    "HandResult",
    "Leak",
    "Ledger",
    "RoleStrength",
    "RoleStrengths",
    "Row",
    "SprtOptions",
    "SprtResult",
    "Standings",
    "SwapTest",
    "Verdict",
    "block_of",
    "bootstrap",
    "bootstrap_numbers",
    "cross_table",
    "estimate",
    "fit",
    "hand_result",
    "leak_check",
    "log_likelihood_ratio",
    "no_difference",
    "rater",
    "role_strengths",
    "sprt",
    "sprt_options",
    "standings",
    "swap_value",
    "t_quantile",
    "watched_multiplier",
    "with_escapes",
]
