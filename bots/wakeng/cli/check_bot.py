"""`wakeng check-bot`: whether a bot keeps to the protocol, tried as the arena would, and what is wrong if not."""

import os
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from wakeng.sdk.options import ADDRESS

if TYPE_CHECKING:
    from wakeng.sdk.conformance import CheckResult, Connect, Scope

FAILED: Final = 1
MOST_MOVE_MS: Final = 60_000
_FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)
_STYLES: Final = {"pass": "green", "fail": "bold red", "remark": "yellow", "skipped": "dim"}


@click.command("check-bot")
@click.argument("address", type=ADDRESS)
@click.option(
    "--move-ms", type=click.IntRange(1, MOST_MOVE_MS), default=1_000, show_default=True, help="A move's time."
)
@click.option("--quick", "in_short", is_flag=True, help="A tenth of the questions.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, once all is done.")
@click.option("--ca", type=_FILE, help="PEM certificates that the bot's must be signed by; so: by TLS.")
@click.option("--cert", type=_FILE, help="A PEM certificate to show the bot, where it demands one.")
@click.option("--key", type=_FILE, help="The key of --cert.")
@click.option("--insecure", is_flag=True, help="No TLS, though the bot is on another machine.")
def command(address: str, move_ms: int, *, in_short: bool, as_json: bool, **trust: Any) -> int:
    """Try the bot that listens at ADDRESS as the arena would, and report check by check.

    It is asked to describe itself, in every phase of every preset that it plays, for 1,000 decisions of real hands,
    many at once, and after its connection broke. Nothing that it does can hang the check, which takes a second mostly
    and a minute at most (longer where --move-ms is). The exit status is 0 if no check has failed; remarks and skipped
    checks are fine.

    \b
    wakeng check-bot 127.0.0.1:50051
    wakeng check-bot 127.0.0.1:50051 --move-ms 50 --json
    """
    # gRPC's own log lines say nothing to people that the report does not.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    import asyncio

    from wakeng.sdk.conformance import Status, quick, scope_of

    scope = scope_of(move_ms=move_ms)
    report = _Json(address) if as_json else _Lines()
    with asyncio.Runner() as runner:
        results = runner.run(_check(_connect(address, **trust), quick(scope) if in_short else scope, report))
    report.end(results)
    return FAILED if any(result.status is Status.FAIL for result in results) else 0


def _connect(address: str, **trust: Any) -> "Connect":
    from wakeng.sdk import BotClient
    from wakeng.sdk.dialling import Dialling

    try:
        credentials = Dialling(address=address, **trust).credentials()
    except ValueError as problem:
        raise click.UsageError(str(problem)) from None
    return lambda: BotClient(address, credentials=credentials)


async def _check(connect: "Connect", scope: "Scope", report: "_Lines | _Json") -> "list[CheckResult]":
    from wakeng.sdk.conformance import check

    results = []
    async with aclosing(check(connect, scope)) as found:
        async for result in found:
            results.append(result)
            report.show(result)
    return results


class _Json:
    """One document when all is done."""

    def __init__(self, address: str) -> None:
        self._address = address

    def show(self, result: "CheckResult") -> None:
        """Later."""

    def end(self, results: "list[CheckResult]") -> None:
        """The document."""
        from wakeng.cli.terminal import print_json

        passed = all(result.status.value != "fail" for result in results)
        checks = [result.to_dict() for result in results]
        print_json({"address": self._address, "passed": passed, "checks": checks})


class _Lines:
    """A line for each check as it is done, and then everything that its author should look at."""

    def __init__(self) -> None:
        from wakeng.cli.terminal import console

        self._out = console()
        self._skipped = ""
        """Why the last check was skipped; that is said once for all that follow."""

    def show(self, result: "CheckResult") -> None:
        """One line."""
        summary = result.summary
        if result.status.value == "skipped" and summary == self._skipped:
            return
        self._skipped = summary if result.status.value == "skipped" else ""
        self._line(result.status.value, result.name, _said(result))

    def _line(self, status: str, name: str, said: str) -> None:
        from rich.text import Text

        from wakeng.cli.text import clean

        row = Text(f"{status:8}", _STYLES[status]).append(f"{name:34}", "default").append(clean(said), "default")
        self._out.print(row, soft_wrap=True)

    def end(self, results: "list[CheckResult]") -> None:
        """What is wrong, with what was asked and answered; what may be worth a look; and how many of each there are."""
        for result in results:
            if result.status.value in ("fail", "remark"):
                self._explain(result)
        counts = ", ".join(f"{number} {word}" for word, number in _counts(results) if number)
        self._out.print(f"\n{counts}", soft_wrap=True)

    def _explain(self, result: "CheckResult") -> None:
        from rich.text import Text

        from wakeng.cli.text import clean

        self._out.print(Text(f"\n{result.status.value} {result.name}", _STYLES[result.status.value]))
        parts = {"found": _said(result), "sent": result.sent, "received": result.received, "rule": result.rule}
        if "DEADLINE" in _said(result) and result.sent and not result.received:
            parts["received"] = "nothing"
        for part, text in parts.items():
            if text:
                self._out.print(Text(f"  {part:10}", "dim").append(clean(text), "default"), soft_wrap=True)


def _said(result: "CheckResult") -> str:
    """What was found, with the faults that the arena would find."""
    faults = ", then ".join(fault.value for fault in result.faults)
    return f"{faults}: {result.summary}" if faults else result.summary


def _counts(results: "list[CheckResult]") -> list[tuple[str, int]]:
    words = {"fail": "failed", "remark": "with a remark", "skipped": "skipped", "pass": "passed"}
    return [(said, sum(result.status.value == word for result in results)) for word, said in words.items()]
