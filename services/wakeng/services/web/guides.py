"""Pages that explain: the rule sets as the engine plays them, and how to write a bot."""

from dataclasses import fields
from enum import Enum
from typing import Any, Final

from starlette.responses import Response

from wakeng.engine import CARD_NAMES, PRESETS, RuleSet, Task
from wakeng.services.spec import TimeControl
from wakeng.services.web.visit import Missing, Visit

_HIDDEN_FIELDS: Final = ("preset",)


async def rules(visit: Visit) -> Response:
    """All presets side by side."""
    return visit.page("rules.html", presets=PRESETS, tasks=list(Task))


async def preset(visit: Visit) -> Response:
    """One preset, told from its fields."""
    name = visit.asked("preset")
    if name not in PRESETS:
        raise Missing(visit.say("There is no rule set of that name."))
    found = PRESETS[name]
    return visit.page("preset.html", rules=found, fields=_fields(found), tasks=list(Task))


async def write_a_bot(visit: Visit) -> Response:
    """How to write a bot."""
    return visit.page("write_a_bot.html", times=TimeControl())


def _fields(rules: RuleSet) -> list[tuple[str, str]]:
    """Every field and its value, as files and flags have them."""
    return [(one.name, _shown(getattr(rules, one.name))) for one in fields(rules) if one.name not in _HIDDEN_FIELDS]


def _shown(value: Any) -> str:
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, tuple):
        return " ".join(CARD_NAMES[card] for card in value) or "–"
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:,}"
