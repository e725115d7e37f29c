"""What one check found."""

from dataclasses import dataclass
from enum import Enum


class Grade(Enum):
    """How bad it is."""

    GOOD = "good"
    WARNING = "warning"
    """It works, and will not work well."""
    WRONG = "wrong"
    """It does not work."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of a report."""

    check: str
    grade: Grade
    found: str
    """What is so."""
    advice: str = ""
    """What to do; empty where there is nothing to be done."""

    def to_dict(self) -> dict[str, str]:
        """For machines."""
        return {"check": self.check, "grade": self.grade.value, "found": self.found, "advice": self.advice}


def good(check: str, found: str) -> Finding:
    """As it should be."""
    return Finding(check, Grade.GOOD, found)


def warning(check: str, found: str, advice: str) -> Finding:
    """It works, and will not work well."""
    return Finding(check, Grade.WARNING, found, advice)


def wrong(check: str, found: str, advice: str) -> Finding:
    """It does not work."""
    return Finding(check, Grade.WRONG, found, advice)
