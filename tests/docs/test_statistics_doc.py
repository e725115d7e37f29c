"""docs/statistics.md says what there is: every option, with its default, and every experiment."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from wakeng.services.tournament.options import DEFAULTS, key

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "statistics.md").read_text("utf-8")


def rows() -> dict[str, str]:
    """Section 11: defaults by option."""
    section = TEXT.partition("## 11. Options")[2].partition("## 12.")[0]
    found: dict[str, str] = {}
    for told, defaults in re.findall(r"^\| (`.+?`) \| (.+?) \|", section, re.MULTILINE):
        names = re.findall(r"`(\w+)`", told)
        values = re.split(r"[,;] (?=\d)", defaults, maxsplit=len(names) - 1) if len(names) > 1 else [defaults]
        found.update(zip(names, values * len(names) if len(values) == 1 else values, strict=True))
    return found


@pytest.mark.parametrize("name", DEFAULTS)
def test_an_option_is_told_with_its_default(name: str) -> None:
    told = rows()[key(name)]
    default = DEFAULTS[name]
    if default is not None:
        said = str(default).lower() if isinstance(default, bool) else f"{default:g}"
        assert told.split()[0] == said


def test_sections_bear_the_numbers_that_code_refers_to() -> None:
    assert re.findall(r"^## (\d+)\.", TEXT, re.MULTILINE) == [str(i) for i in range(1, 14)]
