"""The catalogue of random tasks, in the order in which a deal draws from it (docs/rules.md 6)."""

from collections.abc import Iterable
from enum import Enum

from wakeng.engine.plays import PLAYS, Kind, Play


class Task(Enum):
    """What a winning seat may have done to earn its bonus."""

    WIN_AS_DEFENDER = "WIN_AS_DEFENDER"
    WIN_AS_DIGGER = "WIN_AS_DIGGER"
    OUT_WITH_PAIR = "OUT_WITH_PAIR"
    OUT_WITH_STRAIGHT = "OUT_WITH_STRAIGHT"
    OUT_WITH_SINGLE_4 = "OUT_WITH_SINGLE_4"
    TWO_PAIR_RUNS = "TWO_PAIR_RUNS"
    STRAIGHT_OF_FIVE = "STRAIGHT_OF_FIVE"
    WIN_WITHOUT_3 = "WIN_WITHOUT_3"
    PLAY_QUAD = "PLAY_QUAD"

    @property
    def bonus(self) -> int:
        """What it pays, in units of `base`."""
        return _BONUS[self]


CATALOGUE = tuple(Task)
_BONUS = dict(zip(CATALOGUE, (1, 1, 2, 3, 5, 4, 2, 3, 4), strict=True))
_THREE = 12


def completed(task: Task, *, plays: Iterable[int], is_digger: bool, went_out: bool) -> bool:
    """Whether a seat on the winning side that does not lie down has done the task.

    `plays` are the ids of all its plays in order, without passes; `went_out` says that the last of them ended the hand.
    """
    made = [PLAYS[play] for play in plays]
    last = made[-1] if went_out else None
    match task:
        case Task.WIN_AS_DEFENDER:
            return not is_digger
        case Task.WIN_AS_DIGGER:
            return is_digger
        case Task.OUT_WITH_PAIR:
            return last is not None and last.kind is Kind.PAIR
        case Task.OUT_WITH_STRAIGHT:
            return last is not None and last.kind is Kind.STRAIGHT
        case Task.OUT_WITH_SINGLE_4:
            return last is not None and last.kind is Kind.SINGLE and last.top == 0
        case Task.TWO_PAIR_RUNS:
            return sum(play.kind is Kind.PAIR_RUN for play in made) >= 2
        case Task.STRAIGHT_OF_FIVE:
            return any(play.kind is Kind.STRAIGHT and play.groups >= 5 for play in made)
        case Task.WIN_WITHOUT_3:
            return not any(_uses(play, _THREE) for play in made)
        case Task.PLAY_QUAD:
            return any(play.kind is Kind.QUAD for play in made)


def _uses(play: Play, rank: int) -> bool:
    return play.bottom <= rank <= play.top
