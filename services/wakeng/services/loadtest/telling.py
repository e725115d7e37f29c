"""A load test told to people: a view while it runs, and the report on the terminal."""

from collections.abc import Mapping
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from wakeng.services.loadtest.load import Load
from wakeng.services.plaintext import plain_text

PERCENTILES: Final = (("p50", "p50"), ("p90", "p90"), ("p99", "p99"), ("p99_9", "p99.9"))
"""By member of the report: its name for people."""


def console(*, stderr: bool = False) -> Console:
    """One that takes every text as it is."""
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def live(load: Load) -> Table:
    """The test as it stands: the load of the moment, and each bot under it."""
    now = min(load.now, load.plan.duration_s)
    unit = "decisions/s" if load.plan.open else "tables"
    table = _grid("bot", "tables", "decisions", "a second", "p50", "p99", "over limit", "faults")
    table.title = f"{now:.0f} of {load.plan.duration_s:.0f} s, load {load.step.load:,.0f} {unit}"
    table.title_justify = "left"
    for lane in load.lanes:
        of_step, of_all = lane.measured.by_step[load.step.index], lane.measured.all
        spent = max(0.001, now - load.step.begins)
        table.add_row(
            plain_text(lane.target.name),
            f"{lane.running:,}",
            f"{of_all.decisions:,}",
            f"{of_step.decisions / spent:,.0f}",
            duration(of_step.latencies.percentile(50)),
            duration(of_step.latencies.percentile(99)),
            f"{of_all.over_limit:,}",
            f"{of_all.faults.total():,}",
        )
    return table


def tell(found: Mapping[str, Any]) -> None:
    """The report, of what `report.report` made."""
    out = console()
    test = found["loadtest"]
    out.print(headline(test), soft_wrap=True)
    for target in test["targets"]:
        out.print()
        out.print(plain_text(title(target)), style="bold", soft_wrap=True)
        out.print(_table("load", "load", target["steps"]))
        out.print()
        out.print(_table("phase", "phase", target["phases"]))
        out.print(
            f"load: {test['load_unit']}; p50 to p99.9: latencies in ms; over: decisions over the limit", style="dim"
        )
        for line in remarks(test, target):
            out.print(line, soft_wrap=True)
    for line in warnings(test):
        out.print(f"\n{line}", style="yellow", soft_wrap=True)


def headline(test: Mapping[str, Any]) -> str:
    """What was done."""
    how = f"{test['rate']:,.0f} decisions/s in open loop" if test["mode"] == "open" else "closed loop"
    done = "" if test["complete"] else f" of {test['duration_s']:g}, interrupted"
    rules = test["rules"]["preset"]
    return f"{rules}, {test['tables']:,} tables, {how}, limit {test['limit_ms']:,} ms; {test['seconds']:.1f} s{done}"


def title(target: Mapping[str, Any]) -> str:
    """Which bot, as it is named and as it says."""
    return f"{target['target']} {target['version']}" if target["version"] else str(target["target"])


def remarks(test: Mapping[str, Any], target: Mapping[str, Any]) -> list[str]:
    """What the tables do not say of a bot."""
    said = [f"{target['decisions']:,} decisions, {target['answered_per_s'] or 0:,.0f} answered a second"]
    faults = ", ".join(f"{fault} {count:,}" for fault, count in target["faults"].items())
    said.append(f"faults: {faults or 'none'}; over the limit: {target['over_limit']:,}")
    if target["unanswered"]:
        said.append(f"still open at the end: {target['unanswered']:,}, counted with the time they had waited by then")
    said.append(_knee(test, target["knee"]))
    return said


def _knee(test: Mapping[str, Any], knee: Mapping[str, Any] | None) -> str:
    unit = test["load_unit"]
    if knee is None:
        return f"knee: none; p99 kept to {test['limit_ms']:,} ms at every load"
    if knee["held"] is None:
        return f"knee: below {knee['crossed']:,.0f} {unit}; p99 was over {test['limit_ms']:,} ms from the first step on"
    return (
        f"knee: about {knee['load']:,.0f} {unit}; p99 kept to {test['limit_ms']:,} ms at {knee['held']:,.0f}"
        f" and not at {knee['crossed']:,.0f}"
    )


def warnings(test: Mapping[str, Any]) -> list[str]:
    """What makes the figures doubtful."""
    tester = test["tester"]
    said = []
    if tester["busy"]:
        said.append(f"the test itself used {100 * tester['cpu']:.0f} % of its core: the highest loads may measure it")
    if test["hands_voided"]:
        said.append(f"{test['hands_voided']:,} hands were given up for a failure of the arena's own")
    return said


def _table(name: str, key: str, rows: list[dict[str, Any]]) -> Table:
    speeds = ("answered/s",) if key == "load" else ()
    table = _grid(name, "decisions", *speeds, *(shown for _, shown in PERCENTILES), "over", "faults")
    for row in rows:
        first = row[key] if isinstance(row[key], str) else f"{row[key]:,.0f}"
        table.add_row(
            first,
            f"{row['decisions']:,}",
            *([f"{row['answered_per_s']:,.0f}"] if key == "load" else []),
            *(milliseconds(row["latency_us"][member]) for member, _ in PERCENTILES),
            f"{row['over_limit']:,}",
            f"{sum(row['faults'].values()):,}",
        )
    return table


def _grid(first: str, *others: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(first, overflow="fold", min_width=min(16, len(first)))
    for other in others:
        table.add_column(other, justify="right", no_wrap=True)
    return table


def duration(microseconds: float | None) -> str:
    """A latency as people say it."""
    if microseconds is None:
        return "-"
    if microseconds < 1_000:
        return f"{microseconds:.0f} us"
    if microseconds < 1_000_000:
        return f"{microseconds / 1_000:.3g} ms"
    return f"{microseconds / 1_000_000:.3g} s"


def milliseconds(microseconds: float | None) -> str:
    """A latency in a column of milliseconds, to three digits."""
    if microseconds is None:
        return "-"
    return f"{microseconds / 1_000:,.0f}" if microseconds >= 100_000 else f"{microseconds / 1_000:.3g}"
