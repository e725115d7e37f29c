"""The checker: every check in its order, each bounded in time, none able to take the checker down with it."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Final

from wakeng.engine import PRESETS
from wakeng.sdk.client import BotClient
from wakeng.sdk.conformance import checks, play, totals
from wakeng.sdk.conformance.callers import Budgets, Connect
from wakeng.sdk.conformance.checks import Check
from wakeng.sdk.conformance.results import MOST_CHARACTERS, RULES, CheckResult, Found, Status
from wakeng.sdk.conformance.run import Run, Scope

log = logging.getLogger("wakeng.sdk")

_LIMIT: Final = 60.0
"""Seconds for everything, with a move budget of up to a second; in proportion where it is longer."""
_FIRST_ID: Final = 1 << 29
"""Beyond the ids that an arena which started in the same second will have used."""
MOST_FAILURES: Final = 3
"""After so many nothing more is asked of the bot."""
_PHASES: Final = 0.5
"""The part of the time that all phases may take together."""
_SLACK: Final = 5.0
"""Seconds a check may take beyond the time of the whole, which it keeps to by itself."""

_FIRST: Final = (
    Check("describe", checks.describe, "describe"),
    Check("stream", checks.stream, "both"),
    Check("unary", checks.unary, "both"),
)
_AT_WORK: Final = (
    Check("unknown phase", checks.unknown_phase, "unknown phase"),
    Check("no bank", checks.no_bank),
    Check("agreement", checks.agreement, "agreement"),
    Check("legality", play.legality, share=0.5),
    Check("latency", play.latency, "latency"),
    Check("burst", play.burst, "burst"),
    Check("pings", play.pings, "pings"),
    Check("reconnect", play.reconnect, "reconnect"),
)
_TOTALS: Final = (
    Check("deadlines", totals.deadlines),
    Check("ids", totals.ids),
    Check("messages", totals.messages),
)


def quick(scope: Scope) -> Scope:
    """The same with a tenth of the questions."""
    return replace(scope, decisions=max(1, scope.decisions // 10), each=1, at_once=min(scope.at_once, 64))


def scope_of(
    *,
    move_ms: int = 1_000,
    presets: Sequence[str] = (),
    decisions: int = 1_000,
    wall_clock_s: int | None = None,
) -> Scope:
    """A run of its own: ids that no run before it has used, as an arena numbers its decisions."""
    began = int(time.time()) if wall_clock_s is None else wall_clock_s
    return Scope(
        budgets=Budgets(move_ms=move_ms),
        presets=presets,
        decisions=decisions,
        first_id=(began << 30) + _FIRST_ID,
        limit=_LIMIT * max(1.0, move_ms / 1000),
    )


async def check(target: str | Connect, scope: Scope | None = None) -> AsyncGenerator[CheckResult]:
    """Try the bot at an address, or reached as `target` says, and give what came of each check as it is done.

    The bot has passed if no check has failed. It ends in bounded time, whatever the bot does: about `scope.limit`, and
    earlier after a few failures. Give the iterator its end (`aclosing`), or its connections stay open for as long.
    """
    connect = (lambda: BotClient(target)) if isinstance(target, str) else target
    run = Run(connect, scope or scope_of())
    try:
        async with aclosing(_all(run)) as results:
            async for result in results:
                yield result
    finally:
        await run.close()


async def _all(run: Run) -> AsyncGenerator[CheckResult]:
    failures, why = 0, ""
    for one in _checks(run):
        if not why and not run.left():
            why = f"the {run.scope.limit:g} s for the whole check were over"
        if why and one not in _TOTALS:
            yield CheckResult(name=one.name, status=Status.SKIPPED, summary=why)
            continue
        result, last = await _done(one, run)
        yield result
        failures += result.status is Status.FAIL
        if last or failures >= MOST_FAILURES:
            why = why or (f"after {one.name} nothing more can be tried" if last else f"after {failures} failures")


def _checks(run: Run) -> Iterator[Check]:
    """Which ones there are for phases is known once the bot has described itself."""
    yield from _FIRST
    tried = [*(PRESETS[preset] for preset in run.presets()), *play.variants(run)]
    for at, rules in enumerate(tried):
        yield checks.phases(rules, share=_PHASES / (len(tried) - _PHASES * at))
    yield from _AT_WORK
    yield from _TOTALS


async def _done(one: Check, run: Run) -> tuple[CheckResult, bool]:
    """What came of a check, and whether it was the last that can be tried."""
    try:
        run.share(one.share)
        async with asyncio.timeout(run.left() + _SLACK):
            summary = await one.act(run)
    except Found as found:
        return _result(one, found), found.last
    except TimeoutError:
        return _result(one, Found("it did not come to an end")), True
    except Exception as error:
        # A bot must not be able to take the checker down, nor a mistake of ours pass for a bot's success.
        log.exception("the check %s failed by itself", one.name)
        broken = Found(f"the checker failed at it: {type(error).__name__}: {error}", rule="")
        return _result(one, broken), one is _FIRST[0]
    return CheckResult(name=one.name, status=Status.PASS, summary=summary), False


def _result(one: Check, found: Found) -> CheckResult:
    rule = found.rule
    if rule is None:
        rule = RULES.get(found.faults[0] if found.faults else one.rule, "")
    return CheckResult(
        name=one.name,
        status=found.status,
        summary=found.summary,
        sent=found.sent[:MOST_CHARACTERS],
        received=found.received[:MOST_CHARACTERS],
        rule=rule,
        faults=found.faults,
    )
