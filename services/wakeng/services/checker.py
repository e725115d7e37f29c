"""The conformance checker as the registry streams it: the checks of `wakeng check-bot`, from where the arena is."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Final

from wakeng.sdk.client import BotClient
from wakeng.sdk.conformance import CheckResult, Status, check, scope_of
from wakeng.services.dialling import Target
from wakeng.services.registry import Checker
from wakeng.services.seating import BotTls
from wakeng.v1 import registry_pb2

MOST_SHOWN: Final = 4_096
"""Characters of a request or an answer that are shown."""

_OUTCOMES: Final = {
    Status.PASS: registry_pb2.CHECK_OUTCOME_PASSED,
    Status.FAIL: registry_pb2.CHECK_OUTCOME_FAILED,
    Status.REMARK: registry_pb2.CHECK_OUTCOME_REMARK,
    Status.SKIPPED: registry_pb2.CHECK_OUTCOME_SKIPPED,
}


def bot_checker(tls: BotTls) -> Checker:
    """A checker of bots that listen, with the arena's own trust in them."""

    async def checked(target: Target, request: registry_pb2.CheckBotRequest) -> AsyncIterator[registry_pb2.BotCheck]:
        credentials = tls.credentials(target.address if target.address.startswith("unix:") else f"{target.host}:0")
        scope = scope_of(
            move_ms=request.move_ms if request.HasField("move_ms") else 1_000,
            presets=tuple(request.presets),
            decisions=request.decisions if request.HasField("decisions") else 1_000,
        )
        results = check(lambda: BotClient(target.address, credentials=credentials, host=target.host), scope)
        async with aclosing(results):
            async for result in results:
                yield check_message(result)

    return checked


def check_message(result: CheckResult) -> registry_pb2.BotCheck:
    """A check's result for the wire; of several faults the one that is found first."""
    return registry_pb2.BotCheck(
        name=result.name,
        outcome=_OUTCOMES[result.status],
        summary=result.summary,
        sent=result.sent[:MOST_SHOWN],
        received=result.received[:MOST_SHOWN],
        rule=result.rule,
        fault=result.faults[0].value if result.faults else "",
    )
