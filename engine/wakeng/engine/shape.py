"""Shapes of plain JSON values: what a record may hold, checked strictly and said as data."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

Shape = Callable[[Any, str], None]
"""A check of a value found at a dotted path; it raises ShapeError."""

LARGEST = 2**31 - 1


class ShapeError(ValueError):
    """A value of the wrong shape; `field` is its dotted path, such as `decisions[3].action`."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}" if field else problem)
        self.field = field
        self.problem = problem


def number(least: int = 0, most: int = LARGEST) -> Shape:
    """A whole number in a range."""

    def check(value: Any, field: str) -> None:
        if type(value) is not int or not least <= value <= most:
            raise ShapeError(field, f"must be a whole number of {least} to {most}, not {_brief(value)}")

    return check


def flag(value: Any, field: str) -> None:
    """true or false."""
    if type(value) is not bool:
        raise ShapeError(field, f"must be true or false, not {_brief(value)}")


def text(most_bytes: int, *, least_bytes: int = 0) -> Shape:
    """A string of so many bytes of UTF-8."""

    def check(value: Any, field: str) -> None:
        if type(value) is not str or not least_bytes <= len(value.encode()) <= most_bytes:
            raise ShapeError(field, f"must be text of {least_bytes} to {most_bytes} bytes, not {_brief(value)}")

    return check


def hexadecimal(digits: int) -> Shape:
    """A string of so many lower-case hex digits."""

    def check(value: Any, field: str) -> None:
        if type(value) is not str or len(value) != digits or not set(value) <= set("0123456789abcdef"):
            raise ShapeError(field, f"must be {digits} lower-case hex digits, not {_brief(value)}")

    return check


def word(words: Collection[str]) -> Shape:
    """One of a few words."""

    def check(value: Any, field: str) -> None:
        if type(value) is not str or value not in words:
            raise ShapeError(field, f"must be one of {', '.join(sorted(words))}, not {_brief(value)}")

    return check


def any_of_json(value: Any, field: str) -> None:
    """A bool, whole number or string, for values that are read elsewhere."""
    if type(value) not in (bool, int, str):
        raise ShapeError(field, f"must be a plain value, not {_brief(value)}")


def listing(item: Shape, *, least: int = 1, most: int = 10_000) -> Shape:
    """A list; by default it may not be empty, since an empty list is left out."""

    def check(value: Any, field: str) -> None:
        if type(value) is not list or not least <= len(value) <= most:
            raise ShapeError(field, f"must be a list of {least} to {most} items, not {_brief(value)}")
        for i, member in enumerate(value):
            item(member, f"{field}[{i}]")

    return check


def members(required: Mapping[str, Shape], optional: Mapping[str, Shape] | None = None) -> Shape:
    """An object with exactly these members."""
    optional = optional or {}
    shapes = {**required, **optional}

    def check(value: Any, field: str) -> None:
        if type(value) is not dict:
            raise ShapeError(field, f"must be an object, not {_brief(value)}")
        dot = f"{field}." if field else ""
        for name in required:
            if name not in value:
                raise ShapeError(dot + name, "is missing")
        for name, member in value.items():
            if name not in shapes:
                raise ShapeError(dot + name[:80], "is no member known here")
            shapes[name](member, dot + name)

    return check


def first_difference(expected: Any, found: Any, field: str = "") -> tuple[str, str] | None:
    """Where two plain values first differ, members in sorted order: (dotted path, what stands there), or None."""
    if isinstance(expected, dict) and isinstance(found, dict):
        dot = f"{field}." if field else ""
        for name in sorted(expected.keys() | found.keys()):
            if name not in found:
                return dot + name, f"is missing; it should be {_brief(expected[name])}"
            if name not in expected:
                return dot + name, f"should be absent, not {_brief(found[name])}"
            if difference := first_difference(expected[name], found[name], dot + name):
                return difference
        return None
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = enumerate(zip(expected, found, strict=True))
        return next(
            (d for i, (a, b) in pairs if (d := first_difference(a, b, f"{field}[{i}]"))),
            None,
        )
    if type(expected) is type(found) and expected == found:
        return None
    return field, f"should be {_brief(expected)}, not {_brief(found)}"


def _brief(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else shown[:77] + "..."
