"""A load test as one HTML page that opens from disk: its styles and drawings are in it, and it fetches nothing.

Whatever a bot or a command line named is text here, never markup.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final

from wakeng.services.loadtest.plot import plot
from wakeng.services.loadtest.telling import PERCENTILES, duration, headline, remarks, title, warnings
from wakeng.services.plaintext import plain_text

_LATENCIES: Final = (*PERCENTILES, ("most", "most"))
_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c2430; --quiet: #5d6878; --line: #d8dde4; --ground: #fdfdfc;
  --p50: #2a7f62; --p99: #2f5fb3; --p99_9: #8a4fb0; --limit: #b3382c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --quiet: #9aa5b4; --line: #333c48; --ground: #14181e;
  --p50: #5fc39f; --p99: #7ea6ee; --p99_9: #c393e4; --limit: #ef8277; } }
body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.15rem; margin-top: 2.5rem; overflow-wrap: anywhere; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; }
th, td { padding: .15rem .7rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
p, li { color: var(--quiet); } .warning { color: var(--limit); }
svg { width: 100%; height: auto; } svg text { fill: var(--quiet); font: 12px system-ui, sans-serif; }
svg polyline { fill: none; stroke-width: 2; } .grid { stroke: var(--line); }
polyline.p50 { stroke: var(--p50); } polyline.p99 { stroke: var(--p99); } polyline.p99_9 { stroke: var(--p99_9); }
circle.p50, svg text.p50 { fill: var(--p50); } circle.p99, svg text.p99 { fill: var(--p99); }
circle.p99_9, svg text.p99_9 { fill: var(--p99_9); }
line.limit { stroke: var(--limit); stroke-dasharray: 6 4; } svg text.limit { fill: var(--limit); }
line.knee { stroke: var(--limit); stroke-dasharray: 2 3; } svg text.knee { fill: var(--limit); }
"""


def page(found: Mapping[str, Any]) -> str:
    """The page, of what `report.report` made."""
    test = found["loadtest"]
    machine = found["machine"]
    body = [
        "<h1>Load test</h1>",
        f"<p>{_text(headline(test))}</p>",
        *(f'<p class="warning">{_text(line)}</p>' for line in warnings(test)),
        *(part for target in test["targets"] for part in _target(test, target)),
        "<h2>How to read this</h2>",
        f"<p>{_text(_reading(test))}</p>",
        f"<p>{_text(_machine(machine))}</p>",
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>Load test</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def _target(test: Mapping[str, Any], target: dict[str, Any]) -> list[str]:
    return [
        f"<h2>{_text(title(target))}</h2>",
        plot(target, limit_us=1000 * test["limit_ms"], unit=test["load_unit"]),
        "<ul>" + "".join(f"<li>{_text(line)}</li>" for line in remarks(test, target)) + "</ul>",
        _table(f"load, {test['load_unit']}", "load", target["steps"]),
        _table("phase", "phase", target["phases"]),
    ]


def _table(name: str, key: str, rows: Sequence[Mapping[str, Any]]) -> str:
    speeds = ("answered/s",) if key == "load" else ()
    heads = (name, "decisions", *speeds, *(shown for _, shown in _LATENCIES), "over limit", "faults")
    lines = [_row("th", heads)]
    for row in rows:
        first = row[key] if isinstance(row[key], str) else f"{row[key]:,.4g}"
        cells = [first, f"{row['decisions']:,}"]
        cells += [f"{row['answered_per_s']:,.0f}"] if key == "load" else []
        cells += [duration(row["latency_us"][member]) for member, _ in _LATENCIES]
        lines.append(_row("td", [*cells, f"{row['over_limit']:,}", f"{sum(row['faults'].values()):,}"]))
    return f'<div class="wide"><table>{"".join(lines)}</table></div>'


def _row(tag: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{_text(cell)}</{tag}>" for cell in cells) + "</tr>"


def _text(text: str) -> str:
    return escape(plain_text(text))


def _reading(test: Mapping[str, Any]) -> str:
    if test["mode"] == "open":
        counted = (
            "Decisions were due at a rate that did not depend on the bot, and latency counts from when each was due, "
            "to the millisecond: what waited behind a slow answer is charged with its wait."
        )
    else:
        counted = "So many tables were kept busy, and latency counts from each question to its applied answer."
    return f"{counted} Percentiles are right to within a sixteenth of themselves."


def _machine(machine: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    return f"Python {machine['python']} on {machine['platform']}, {machine['cores']} cores; {versions}"
