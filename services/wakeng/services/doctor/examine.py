"""The checks, in the order in which a person would make them, each a function from settings to findings.

Nothing here changes anything: no database is made or brought up, no port is kept.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Final

from wakeng.services.doctor.finding import Finding, good, warning, wrong
from wakeng.services.doctor.machine import clock, data_folder, files, versions
from wakeng.services.doctor.network import certificates, nats, ports, traces
from wakeng.services.doctor.store import database
from wakeng.services.settings import Settings, SettingsError, load

WITHIN: Final = 10.0
"""Seconds a check may take; what takes longer is wrong by that alone."""

Check = Callable[[Settings], AsyncGenerator[Finding, None]]

CHECKS: Final[Mapping[str, Check]] = {
    "versions": versions,
    "data": data_folder,
    "files": files,
    "clock": clock,
    "database": database,
    "certificates": certificates,
    "ports": ports,
    "nats": nats,
    "traces": traces,
}


async def examine(file: Path | None, environment: Mapping[str, str]) -> list[Finding]:
    """Every check. Where the settings are wrong the rest is checked by the defaults, which is better than nothing."""
    try:
        loaded = load(file, environment=environment)
    except SettingsError as error:
        advice = "see `wakeng config check` and docs/configuration.md; what follows is checked by the defaults"
        found = [wrong("configuration", problem, advice) for problem in error.problems]
        settings = Settings()
    else:
        found = [good("configuration", f"{loaded.file or 'no file'}, nothing is wrong"), *_warned(loaded.warnings)]
        settings = loaded.settings
    for name, check in CHECKS.items():
        found += await _within(name, check, settings)
    return found


def _warned(warnings: tuple[str, ...]) -> Iterator[Finding]:
    for line in warnings:
        yield warning("configuration", line, "take it away, or write it as docs/configuration.md does")


async def _within(name: str, check: Check, settings: Settings) -> list[Finding]:
    found: list[Finding] = []
    try:
        async with asyncio.timeout(WITHIN), aclosing(check(settings)) as findings:
            async for finding in findings:
                found.append(finding)
    except TimeoutError:
        found.append(
            wrong(name, f"no answer within {WITHIN:g} s", "see whether it is overloaded, or a firewall is between")
        )
    return found
