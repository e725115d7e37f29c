"""`wakeng doctor`: what is wrong with an installation, and what to do about it."""

import asyncio
import os
from typing import Final

import click
import orjson

from wakeng.services.commands.settings_options import CONFIG_OPTION, config_file

UNWELL: Final = 1


@click.command("doctor")
@CONFIG_OPTION
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(*, as_json: bool) -> int:
    """Examine the settings and all that they name, and say what to do; exit status 1 if anything is wrong.

    \b
    wakeng doctor --config arena.toml
    wakeng doctor --json | jq '.findings[] | select(.grade != "good")'

    Looked at are configuration, versions, places for data, the clock, the database and its schema, certificates, ports,
    NATS and the receiver of traces, each where the settings name one. Nothing is changed.
    """
    from wakeng.services.doctor import Finding, Grade, examine

    findings = asyncio.run(examine(config_file(), os.environ))
    well = all(finding.grade is not Grade.WRONG for finding in findings)
    if as_json:
        report = {"well": well, "findings": [finding.to_dict() for finding in findings]}
        click.echo(orjson.dumps(report, option=orjson.OPT_INDENT_2).decode())
        return 0 if well else UNWELL
    looks = {Grade.GOOD: ("ok", "green"), Grade.WARNING: ("warning", "yellow"), Grade.WRONG: ("WRONG", "red")}

    def say(finding: Finding) -> None:
        word, colour = looks[finding.grade]
        click.echo(f"{click.style(f'{word:8}', fg=colour)}{finding.check:14}{finding.found}")
        if finding.advice:
            click.echo(f"{'':22}-> {finding.advice}")

    for finding in findings:
        say(finding)
    return 0 if well else UNWELL
