"""Cards, rule sets and tasks as they are shown: short lines, red suits where colours show."""

from collections.abc import Iterable, Mapping
from typing import Final

from rich.text import Text

from wakeng.cli.terminal import HEAD, RED
from wakeng.engine import CARD_NAMES, RuleSet, Task

TASK_WORDS: Final[Mapping[Task, str]] = {
    Task.WIN_AS_DEFENDER: "win as a defender",
    Task.WIN_AS_DIGGER: "win as the digger",
    Task.OUT_WITH_PAIR: "end the hand with a pair",
    Task.OUT_WITH_STRAIGHT: "end the hand with a straight",
    Task.OUT_WITH_SINGLE_4: "end the hand with a single 4",
    Task.TWO_PAIR_RUNS: "play two pair runs or more",
    Task.STRAIGHT_OF_FIVE: "play a straight of five or more",
    Task.WIN_WITHOUT_3: "win without playing a 3",
    Task.PLAY_QUAD: "play a quad",
}


def card_row(cards: Iterable[int]) -> Text:
    """`4c 5h Td`, ascending."""
    names = [CARD_NAMES[card] for card in sorted(cards)]
    return Text(" ").join(Text(name, style=RED if name[1] in "dh" else "") for name in names) if names else Text("-")


def rules_line(rules: RuleSet) -> Text:
    """`xian`, or `xian with bombs=off base=5`."""
    overrides = " ".join(f"{field}={shown(value)}" for field, value in rules.overrides().items())
    return Text.assemble((rules.preset, HEAD), f" with {overrides}" if overrides else "")


Plain = bool | int | str


def shown(value: Plain) -> str:
    """A field's value as `--set` takes it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
