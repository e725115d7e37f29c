"""What is counted of a hand: read off its record once, while that is at hand, for the tally and the store's figures."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Gist:
    """A record without its decisions, sixty values that nobody keeps, and what is counted of these."""

    head: Mapping[str, Any]
    """All other members."""
    latencies: Mapping[tuple[int, str], Sequence[int]]
    """In microseconds, by seat and phase."""
    faults: Mapping[int, Mapping[str, Any]]
    """The faulty decisions, by number."""

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> "Gist":
        """That of a record, whoever made it."""
        decisions: Sequence[Mapping[str, Any]] = record.get("decisions", ())
        latencies: dict[tuple[int, str], list[int]] = defaultdict(list)
        for one in decisions:
            latencies[one["seat"], one["phase"]].append(one["latency_us"])
        faults = {number: one for number, one in enumerate(decisions) if "fault" in one}
        head = {name: value for name, value in record.items() if name != "decisions"}
        return cls(head, latencies, faults)
