"""Repeated measurements and what they come to: medians, ranges, and ratios taken pair by pair.

A machine's speed drifts by a fifth within minutes, with its clock and with its neighbours, so a figure alone says
little, and a ratio of two figures says something only where both were taken at the same time. So contestants take
turns: each is measured once a round, the rounds run forwards and backwards by turns (so that none always follows the
same other), and a ratio is the median of the rounds' ratios. What is absolute is told beside it, with its range.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

T = TypeVar("T")
Say = Callable[[str], None]
"""Told what is being measured, for whoever waits."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One quantity, measured several times."""

    values: tuple[float, ...]

    @classmethod
    def of(cls, values: Iterable[float]) -> "Figure":
        """At least one value."""
        return cls(tuple(values))

    @property
    def median(self) -> float:
        """The one to quote."""
        return median(self.values)

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest."""
        return min(self.values), max(self.values)


def ratio(figure: Figure, base: Figure) -> Figure:
    """Round by round, how often the base goes into the figure."""
    return Figure.of(a / b for a, b in zip(figure.values, base.values, strict=True))


async def interleave(
    contestants: Mapping[str, Callable[[], Awaitable[T]]], *, rounds: int, say: Say
) -> dict[str, list[T]]:
    """What each contestant gave in each round."""
    samples: dict[str, list[T]] = {name: [] for name in contestants}
    for number in range(rounds):
        order = list(contestants)
        for name in order if number % 2 == 0 else reversed(order):
            say(f"round {number + 1} of {rounds}: {name}")
            samples[name].append(await contestants[name]())
    return samples
