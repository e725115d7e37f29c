"""`wakeng check-bot`: its report for people and for programs, and its exit status."""

from __future__ import annotations

import json
import re

import pytest

from tests.cli.test_main import run
from tests.cli.test_serve_bot import serving

NOWHERE = "127.0.0.1:1"


def test_a_good_bot_gets_a_line_for_each_check_and_a_count() -> None:
    with serving("greedy") as (_, address):
        result = run("check-bot", address, "--move-ms", "30000")  # A busy machine is no reason for a remark.
    assert result.exit_code == 0, result.output
    *lines, empty, counts = result.output.splitlines()
    assert lines[0].startswith("pass    describe                          greedy 2: plays all presets")
    assert {line.split()[0] for line in lines} == {"pass"}
    assert (empty, counts) == ("", f"{len(lines)} passed")


def test_a_bad_bot_gets_what_it_was_asked_and_said_and_what_the_rule_says() -> None:
    with serving("faulty:illegal") as (_, address):
        result = run("check-bot", address, "--quick")
    assert result.exit_code == 1
    assert re.search(r"^fail    unary +ILLEGAL_ACTION: PLAY by Decide: 'pass' is not legal here", result.output, re.M)
    told = re.search(
        r"^fail unary\n  found     ILLEGAL_ACTION: .*\n  sent      (\{.*\})\n  received  (\{.*\})\n"
        r"  rule      docs/protocol.md 1: .*\n",
        result.output,
        re.MULTILINE,
    )
    assert told
    assert json.loads(told[1])["phase"] == "PLAY"
    assert json.loads(told[2])["action"] == "pass"
    assert re.search(r"^skipped \S.* +after 3 failures$", result.output, re.MULTILINE)
    assert result.output.count("after 3 failures") == 1, "said once for all that follow"
    assert re.fullmatch(r"3 failed, \d+ skipped, \d+ passed", result.output.splitlines()[-1])


def test_json_is_one_document_with_everything() -> None:
    with serving("faulty:garbage") as (_, address):
        result = run("check-bot", address, "--quick", "--json")
    document = json.loads(result.output)
    assert result.exit_code == 1
    assert (document["address"], document["passed"]) == (address, False)
    checks = {check["name"]: check for check in document["checks"]}
    assert (checks["describe"]["status"], checks["unary"]["status"]) == ("pass", "fail")
    assert checks["unary"]["faults"] == ["MALFORMED"]
    assert checks["unary"]["received"].startswith("32 bytes: ff ff")
    assert set(checks["unary"]) == {"name", "status", "summary", "sent", "received", "rule", "faults"}


def test_what_a_bot_calls_itself_cannot_rule_the_terminal() -> None:
    from wakeng.cli.check_bot import _Lines
    from wakeng.sdk.conformance import CheckResult, Status

    with pytest.MonkeyPatch.context() as patched:
        shown: list[str] = []
        lines = _Lines()
        patched.setattr(lines._out, "print", lambda text, **_: shown.append(str(text)))
        lines.show(CheckResult(name="describe", status=Status.REMARK, summary="\x1b[2J\n[red]evil"))
        lines.end([CheckResult(name="describe", status=Status.REMARK, summary="x", received="\x9b2J")])
    text = "".join(shown)
    assert "\\x1b[2J\\n[red]evil" in text and "\\x9b2J" in text
    assert not any(char in text for char in "\x1b\x9b")


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["nowhere"], "is no address"),
        ([NOWHERE, "--move-ms", "0"], "--move-ms"),
        ([NOWHERE, "--cert", __file__], "cert and key go together"),
        ([NOWHERE, "--insecure", "--ca", __file__], "insecure means no TLS"),
    ],
)
def test_what_cannot_be_asked_is_said_in_one_line(args: list[str], why: str) -> None:
    result = run("check-bot", *args)
    assert result.exit_code == 2
    assert why in result.stderr and result.stderr.count("\n") == 1
