"""Latency against load as a drawing in SVG: a line per percentile, the limit, and the knee."""

from collections.abc import Iterator, Sequence
from html import escape
from math import ceil, floor, log10
from typing import Any, Final

from wakeng.services.loadtest.telling import duration
from wakeng.services.plaintext import plain_text

_LINES: Final = (("p50", "p50"), ("p99", "p99"), ("p99_9", "p99.9"))
_WIDTH: Final = 760
_HEIGHT: Final = 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 60, 20, 45
_TICKS: Final = 5


class Axes:
    """From loads and latencies to places: the load's scale is even, the latency's logarithmic."""

    def __init__(self, loads: Sequence[float], latencies: Sequence[float]) -> None:
        self.most_load = max(loads) or 1.0
        self.low = floor(log10(max(1.0, min(latencies))))
        self.high = max(self.low + 1, ceil(log10(max(1.0, *latencies))))

    def x(self, load: float) -> float:
        """From the left."""
        return round(_LEFT + (_WIDTH - _LEFT - _RIGHT) * load / self.most_load, 1)

    def y(self, microseconds: float) -> float:
        """From the top."""
        part = (log10(max(1.0, microseconds)) - self.low) / (self.high - self.low)
        return round(_HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * part, 1)


def plot(target: dict[str, Any], *, limit_us: float, unit: str) -> str:
    """The drawing of one bot; empty where nothing was measured."""
    steps = [step for step in target["steps"] if step["decisions"]]
    if not steps:
        return ""
    latencies = [step["latency_us"][member] for step in steps for member, _ in _LINES]
    axes = Axes([step["load"] for step in steps], [*latencies, limit_us])
    parts = [*_grid(axes, unit), _limit(axes, limit_us), *_knee(axes, target["knee"])]
    for member, shown in _LINES:
        parts += _line(axes, steps, member, shown)
    label = escape(plain_text(f"latency against load of {target['target']}"))
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def _grid(axes: Axes, unit: str) -> Iterator[str]:
    bottom = _HEIGHT - _BOTTOM
    for power in range(axes.low, axes.high + 1):
        y = axes.y(10.0**power)
        yield f'<line class="grid" x1="{_LEFT}" y1="{y}" x2="{_WIDTH - _RIGHT}" y2="{y}"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4}" text-anchor="end">{duration(10.0**power)}</text>'
    for tick in range(_TICKS + 1):
        load = axes.most_load * tick / _TICKS
        yield f'<text x="{axes.x(load)}" y="{bottom + 18}" text-anchor="middle">{load:,.4g}</text>'
    middle = (_LEFT + _WIDTH - _RIGHT) // 2
    yield f'<text x="{middle}" y="{bottom + 38}" text-anchor="middle">load, {escape(unit)}</text>'


def _limit(axes: Axes, limit_us: float) -> str:
    y = axes.y(limit_us)
    return (
        f'<line class="limit" x1="{_LEFT}" y1="{y}" x2="{_WIDTH - _RIGHT}" y2="{y}"/>'
        f'<text class="limit" x="{_WIDTH - _RIGHT + 6}" y="{y + 4}">limit</text>'
    )


def _knee(axes: Axes, knee: dict[str, Any] | None) -> Iterator[str]:
    if knee is not None:
        x = axes.x(knee["load"])
        yield f'<line class="knee" x1="{x}" y1="{_TOP}" x2="{x}" y2="{_HEIGHT - _BOTTOM}"/>'
        yield f'<text class="knee" x="{x + 4}" y="{_TOP + 10}">knee</text>'


def _line(axes: Axes, steps: Sequence[dict[str, Any]], member: str, shown: str) -> Iterator[str]:
    places = [(axes.x(step["load"]), axes.y(step["latency_us"][member]), step) for step in steps]
    line = " ".join(f"{x},{y}" for x, y, _ in places)
    yield f'<polyline class="{member}" points="{line}"/>'
    for x, y, step in places:
        said = f"{shown} {duration(step['latency_us'][member])} at {step['load']:,.4g}"
        yield f'<circle class="{member}" cx="{x}" cy="{y}" r="3"><title>{said}</title></circle>'
    x, y, _ = places[-1]
    yield f'<text class="{member}" x="{x + 6}" y="{y + 4}">{shown}</text>'
