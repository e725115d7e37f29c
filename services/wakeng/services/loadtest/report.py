"""A load test told: as plain values for machines, which are the source of all that people see (`telling`, `page`)."""

from collections.abc import Sequence
from math import inf
from typing import Any, Final

from wakeng.engine import Phase
from wakeng.services.bench.machine import conditions
from wakeng.services.loadtest.load import Lane, Load
from wakeng.services.loadtest.measure import Sums

PERCENTILES: Final = (("p50", 50), ("p90", 90), ("p99", 99), ("p99_9", 99.9))
_ENOUGH: Final = 100
"""Decisions without which a step's p99 says nothing of a knee."""
BUSY: Final = 0.9
"""Of its one core: from here on a test may be measuring itself."""


def report(load: Load) -> dict[str, Any]:
    """All of it. Latencies in microseconds, counted from when a decision was due; loads as in `load_unit`."""
    plan = load.plan
    return {
        "loadtest": {
            "mode": "open" if plan.open else "closed",
            "load_unit": "decisions/s" if plan.open else "tables",
            "rules": plan.rules.to_dict(),
            "tables": plan.tables,
            "rate": plan.rate,
            "ramp_s": plan.ramp_s,
            "duration_s": plan.duration_s,
            "limit_ms": plan.move_ms,
            "seconds": round(load.elapsed, 3),
            "complete": load.complete,
            "hands": load.hands,
            "hands_voided": load.voided,
            "targets": [_target(load, lane) for lane in load.lanes],
            "tester": _tester(load),
        },
        "machine": conditions(),
    }


def _target(load: Load, lane: Lane) -> dict[str, Any]:
    measured = lane.measured
    steps = [
        {
            "load": _share(load, step.load),
            "seconds": round(seconds, 3),
            "answered_per_s": round(answered / seconds, 1),
            **_sums(sums),
        }
        for step, sums, answered in zip(load.steps, measured.by_step, measured.answered, strict=True)
        if (seconds := min(step.ends, load.elapsed) - step.begins) > 0
    ]
    return {
        "target": lane.target.name,
        "version": lane.target.seat.name.version,
        "answered_per_s": round(sum(measured.answered) / load.elapsed, 1) if load.elapsed else None,
        **_sums(measured.all),
        "late_answers": lane.target.counts.late_answers,
        "stale_answers": lane.target.counts.stale_answers,
        "phases": [
            {"phase": phase.value, **_sums(measured.by_phase[phase])} for phase in Phase if phase in measured.by_phase
        ],
        "steps": steps,
        "knee": knee(steps, limit_us=1000 * load.plan.move_ms),
    }


def _share(load: Load, value: float) -> float:
    return round(value / len(load.lanes), 3)


def _sums(sums: Sums) -> dict[str, Any]:
    count = sums.decisions
    return {
        "decisions": count,
        "latency_us": {
            **{name: _percentile(sums, percent) for name, percent in PERCENTILES},
            "most": sums.most_us if count else None,
            "mean": round(sums.total_us / count) if count else None,
        },
        "over_limit": sums.over_limit,
        "unanswered": sums.unanswered,
        "deadline_misses": sums.faults["DEADLINE"],
        "illegal_actions": sums.faults["ILLEGAL_ACTION"],
        "faults": dict(sorted(sums.faults.items())),
    }


def _percentile(sums: Sums, percent: float) -> int | None:
    """The top of the percentile's bucket, which may lie above all that was measured."""
    found = sums.latencies.percentile(percent)
    return None if found is None else min(found, sums.most_us)


def knee(steps: Sequence[dict[str, Any]], *, limit_us: float) -> dict[str, Any] | None:
    """Where p99 crosses the limit, between the last step that held it and the first that did not; None if none did.

    In between p99 is taken to grow in a straight line. Where the first step is over already, nothing is known but that.
    """
    held: tuple[float, float] | None = None
    for step in steps:
        if step["decisions"] < _ENOUGH:
            continue
        load, p99 = step["load"], step["latency_us"]["p99"]
        if p99 > limit_us:
            at = load if held is None else held[0] + (load - held[0]) * (limit_us - held[1]) / (p99 - held[1])
            return {"load": round(at, 1), "held": held and held[0], "crossed": load}
        held = load, p99
    return None


def _tester(load: Load) -> dict[str, Any]:
    cpu = load.processor_s / load.elapsed if load.elapsed else inf
    lags = [lag.percentile(99) for lag in load.lag]
    return {
        "cpu": round(cpu, 3),
        "busy": cpu > BUSY,
        "lag_p99_us_by_step": [lag for lag in lags if lag is not None],
    }
