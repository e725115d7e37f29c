"""All experiments of one seed, as a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from wakeng.engine import derive
from wakeng.services.tournament.simulation.arrival import arrival
from wakeng.services.tournament.simulation.escapes import escapes
from wakeng.services.tournament.simulation.fields import means, ratings, watched
from wakeng.services.tournament.simulation.sequential import one_sided, peeking, two_sided

RUNS: Final = 2000

Progress = Callable[[str, int, int], None]
"""Called before each experiment with its name, its number from 0 and how many there are; at the end with ""."""

Experiment = Callable[[np.random.Generator, int], list[dict[str, Any]]]

EXPERIMENTS: Final[Mapping[str, tuple[Experiment, int]]] = {
    "means": (means, 1),
    "watched": (watched, 1),
    "ratings": (ratings, 1),
    "escapes": (escapes, 4),
    "sprt": (one_sided, 1),
    "sprt_two_sided": (two_sided, 1),
    "peeking": (peeking, 1),
    "arrival": (arrival, 5),
}
"""By name, and what part of the runs it gets: 1 for all, 4 for a quarter."""


@dataclass(frozen=True, slots=True)
class SimulationReport:
    """What came of them: by experiment, rows of figures."""

    seed: str
    runs: int
    experiments: Mapping[str, tuple[Mapping[str, Any], ...]]

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "seed": self.seed,
            "runs": self.runs,
            "experiments": {
                name: [{key: _rounded(value) for key, value in row.items()} for row in rows]
                for name, rows in self.experiments.items()
            },
        }


def _rounded(value: object) -> object:
    return round(value, 6) if isinstance(value, float) else value


def simulate(seed: bytes, *, runs: int = RUNS, progress: Progress | None = None) -> SimulationReport:
    """Run every experiment; the same seed and number of runs give the same figures. 2000 runs take some minutes."""
    if runs < 1:
        raise ValueError(f"runs must be 1 or more, not {runs}")
    found = {}
    for place, (name, (experiment, part)) in enumerate(EXPERIMENTS.items()):
        if progress is not None:
            progress(name, place, len(EXPERIMENTS))
        # A generator of its own each, so that one experiment can change without the others.
        rng = np.random.default_rng(int.from_bytes(derive(seed, f"simulate {name}", 0)))
        found[name] = tuple(experiment(rng, max(1, runs // part)))
    if progress is not None:
        progress("", len(EXPERIMENTS), len(EXPERIMENTS))
    return SimulationReport(seed.hex(), runs, found)
