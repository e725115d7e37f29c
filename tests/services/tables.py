"""Tables for tests: a hand set up at its first question, with the bots `a`, `b`, `c` (and `d`) in its seats."""

from typing import Any

from wakeng.engine import derive, rule_set
from wakeng.services.spec import TimeControl
from wakeng.services.table import HandSpec, Name, Table

SEED = bytes(32)


def table(
    preset: str = "three_feature", *, hand_index: int = 0, times: dict[str, int] | None = None, **spec: Any
) -> Table:
    """A table; `times` are fields of its time control, `spec` further fields of its HandSpec."""
    rules = rule_set(preset, spec.pop("overrides", {}))
    given: dict[str, Any] = {
        "match_id": "m1",
        "hand_index": hand_index,
        "rules": rules,
        "seed": derive(SEED, "hand", hand_index),
        "time_control": TimeControl(**(times or {})),
        "names": tuple(Name(bot, "1") for bot in "abcd"[: rules.players]),
        "blind_first_seat": 0 if rules.has_blind else None,
    }
    return Table(HandSpec(**{**given, **spec}))


def play_on(table: Table, *, decisions: int = 10_000, latency_us: int = 0, **answer: Any) -> Table:
    """Everybody says the first legal token that is no pass, up to so many decisions or the end of the hand."""
    while decisions and not table.over:
        table.answer(table.hand.legal_tokens()[-1], latency_us=latency_us, **answer)
        decisions -= 1
    return table


def until(table: Table, phase: str) -> Table:
    """Everybody says the first legal token until the phase is reached."""
    while table.hand.phase.value != phase:
        table.answer(table.hand.legal_tokens()[0], latency_us=0)
    return table
