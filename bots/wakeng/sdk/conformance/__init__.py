"""Whether a bot keeps to the protocol: `async for result in check(address)` tries it as the arena would."""

from wakeng.sdk.conformance.callers import Budgets, Caller, Connect, Conversation
from wakeng.sdk.conformance.checking import check, quick, scope_of
from wakeng.sdk.conformance.results import CheckResult, Status
from wakeng.sdk.conformance.run import Scope

__all__ = [
    "Budgets",
    "Caller",
    "CheckResult",
    "Connect",
    "Conversation",
    "Scope",
    "Status",
    "check",
    "quick",
    "scope_of",
]
