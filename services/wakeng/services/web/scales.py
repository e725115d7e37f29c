"""Where a number stands in a picture."""

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """A line of numbers from `low` to `high` on a picture of a width; zero always lies on it."""

    low: float
    high: float
    width: float

    @classmethod
    def over(cls, values: Iterable[float], *, width: float) -> "Scale":
        """Wide enough for these and zero, with a margin at both ends."""
        found = [0.0, *values]
        low, high = min(found), max(found)
        margin = (high - low) * 0.05 or 1.0
        return cls(low - margin, high + margin, width)

    def at(self, value: float) -> float:
        """Where a value stands, within the picture."""
        place = (value - self.low) / (self.high - self.low) * self.width
        return round(min(self.width, max(0.0, place)), 2)

    @property
    def zero(self) -> float:
        """Where zero stands."""
        return self.at(0)

    @property
    def ticks(self) -> list[float]:
        """Round numbers to mark, a handful of them."""
        step = 10 ** math.floor(math.log10((self.high - self.low) / 2))
        step *= next(k for k in (1, 2, 5, 10) if (self.high - self.low) / (step * k) <= 5)
        first = math.ceil(self.low / step)
        return [round(n * step, 9) for n in range(first, math.floor(self.high / step) + 1)]
