"""What a seat may know of a hand, and nothing else (docs/rules.md 8)."""

from dataclasses import dataclass

from wakeng.engine.phases import Phase
from wakeng.engine.rules import RuleSet
from wakeng.engine.tasks import Task


@dataclass(frozen=True, slots=True)
class Observation:
    """A hand as one seat sees it at one moment.

    Cards are ids in ascending order; what does not (yet) exist is None. `table` is the id of the play to beat, 0 for
    a leader, and `table_seat` who played it. `bid` is the highest so far, 0 for none; `digger` is known once GRAB is
    over. `marked_seat` is where the marked card went, -1 for the kitty. Before the deal (BLIND) `cards` is empty and
    `cards_left` is all zeros. `cards_left` of a seat that lies down is what it laid aside.
    """

    rules: RuleSet
    seat: int
    phase: Phase
    cards: tuple[int, ...]
    cards_left: tuple[int, ...]
    kitty: tuple[int, ...] | None
    digger: int | None
    bid: int
    bombs: int
    grabs: int
    opened: bool
    blind: bool
    lying_seat: int | None
    opened_cards: tuple[int, ...] | None
    marked_card: int | None
    marked_seat: int | None
    task: Task | None
    table: int
    table_seat: int | None
    history: tuple[str, ...]
