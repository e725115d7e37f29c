"""The checks of the whole run: what came too late, what was never asked for, what could not be read."""

from wakeng.engine import Fault
from wakeng.sdk.client import MOST_STREAM_BYTES
from wakeng.sdk.conformance.results import Found, Status, counted
from wakeng.sdk.conformance.run import Run
from wakeng.sdk.conformance.talk import milliseconds


async def deadlines(run: Run) -> str:
    """No answer came when its time was over."""
    ledger = run.ledger
    missing = len(ledger.expired) + len(ledger.late)
    _demand_any(run)
    if not missing:
        return f"none of {counted(ledger.asked, 'question')} was answered too late"
    late = f", {len(ledger.late):,} of them up to {milliseconds(max(ledger.late))} later" if ledger.late else ""
    summary = f"{missing:,} of {counted(ledger.asked, 'question')} were not answered in time{late}"
    raise Found(summary, Fault.DEADLINE)


async def ids(run: Run) -> str:
    """Every answer was to a question, and no question was answered twice."""
    strays = run.ledger.strays
    _demand_any(run)
    if strays:
        raise Found(
            f"{counted(len(strays), 'answer')} to what was not asked, or was answered before", Fault.STALE,
            received=strays[0],
        )  # fmt: skip
    return "no answer was to what was not asked, and none was given twice"


async def messages(run: Run) -> str:
    """Every message could be read, and was of a sane size."""
    ledger = run.ledger
    _demand_any(run)
    if ledger.malformed:
        summary = f"{counted(len(ledger.malformed), 'message')} could not be read, or should not have come"
        raise Found(summary, Fault.MALFORMED, received=ledger.malformed[0])
    largest = f"{ledger.largest:,} bytes of the {MOST_STREAM_BYTES:,} that are read"
    return f"{counted(ledger.messages, 'message')}, all readable, the largest {largest}"


def _demand_any(run: Run) -> None:
    if not run.ledger.asked:
        raise Found("nothing was asked", status=Status.SKIPPED)
