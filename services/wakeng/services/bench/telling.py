"""Benchmarks told to people: a line for each figure, with its range, and the ratios to the baselines of the run."""

from collections.abc import Mapping
from typing import Any, Final

from rich.console import Console
from rich.table import Table

_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "engine": {
        "hands_per_s": "random hands/s, this engine",
        "naive_hands_per_s": "naive, loops over ranks",
        "openspiel_hands_per_s": "OpenSpiel dou_dizhu",
        "rlcard_hands_per_s": "RLCard doudizhu",
        "vs_naive": "x naive",
        "vs_openspiel": "x OpenSpiel",
        "vs_rlcard": "x RLCard",
    },
    "arena": {
        "tables": "tables at once",
        "decisions_per_s": "decisions/s, everything on",
        "unary_per_s": "plain unary calls/s, 64 in flight",
        "vs_unary": "x unary",
        "unary_alike_per_s": "unary calls/s, gRPC loaded as ours",
        "vs_unary_alike": "x that",
        "arena_cpu_us": "processor us a decision, arena",
        "unary_cpu_us": "processor us a unary call, caller",
        "vs_unary_cpu": "x unary, by processor time",
        "bot_cpu_us": "processor us a decision, bot",
        "single_table_p50_us": "us a decision, one table alone",
        "stream_p50_us": "us a round trip, bare stream",
        "single_table_vs_stream": "x bare stream",
        "stream_alike_p50_us": "us a round trip, gRPC loaded as ours",
        "single_table_vs_stream_alike": "x that",
    },
    "tables": {
        "tables": "tables at once",
        "kib_each": "KiB each, in play",
        "idle_kib_each": "KiB each, at their first question",
        "decisions_per_s": "decisions/s, bot of 5 ms",
        "false_deadlines": "false DEADLINE faults",
        "other_faults": "other faults",
        "loop_lag_most_ms": "ms the loop was late, most",
    },
    "store": {
        "hands_per_s": "hands/s through the writer",
        "one_by_one_hands_per_s": "hands/s, a transaction each",
        "vs_one_by_one": "x a transaction each",
        "loop_lag_p50_ms": "ms the loop was late meanwhile, p50",
        "loop_lag_p99_ms": "ms, p99",
        "loop_lag_most_ms": "ms, most",
    },
    "pages": {
        "hands": "hands in the store",
        "slowest_p50_ms": "ms, the slowest page's median",
        "home_p50_ms": "ms, home",
        "tournament_p50_ms": "ms, a tournament of most of the hands",
        "match_p50_ms": "ms, a match",
        "bot_p50_ms": "ms, a bot",
        "hand_p50_ms": "ms, a replay",
    },
    "viewers": {
        "viewers": "viewers of one table",
        "decisions_per_s": "decisions/s, nobody looking",
        "decisions_per_s_watched": "decisions/s, all looking",
        "vs_alone": "x nobody looking",
        "cpu_vs_alone": "x processor time a decision",
    },
    "fairness": {
        "hands": "hands a run",
        "hands_per_s": "hands/s, bots alike",
        "hands_per_s_beside_slow": "hands/s, one of them 50 times slower",
        "fall": "share lost",
        "fall_of_whole_run": "share lost, beginning and end of the run included",
    },
    "workers": {
        "hands": "hands a run",
        "hands_per_s": "hands/s, one worker on one core",
        "hands_per_s_of_two": "hands/s, two workers on two cores",
        "vs_one_worker": "x one worker",
        "worker_cpu_us": "processor us a hand, workers",
        "coordinator_cpu_us": "processor us a hand, coordinator",
        "server_cpu_us": "processor us a hand, NATS server",
    },
}
"""By section and member: its name for people, in the order they are told."""
_HINTS: Final = {
    "vs_openspiel": "OpenSpiel is not installed here; pip install 'wakeng[bench]' compares with it",
    "vs_rlcard": "RLCard is not installed here; pip install 'wakeng[bench]' compares with it",
}


def tell(found: Mapping[str, Any]) -> None:
    """What a benchmark found."""
    out = Console(markup=False, highlight=False, emoji=False)
    for name, words in _WORDS.items():
        if name in found:
            section = found[name]
            out.print(_table(name, words, section))
            for grown, figures in section.get("by_tables", {}).items():
                out.print(f"{int(grown):>7,} tables  {figures['decisions_per_s']:>10,} decisions/s")
            for member, hint in _HINTS.items():
                if member in section and section[member] is None:
                    out.print(hint, style="dim")
    load = found["machine"]["load_before"]
    if load is not None and load > 1:
        out.print(
            f"the machine was busy before (load {load:g}): trust the ratios more than the figures", style="yellow"
        )


def _table(name: str, words: Mapping[str, str], section: Mapping[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(name, overflow="fold")
    for head in ("median", "lowest", "highest"):
        table.add_column(head, justify="right")
    for member, shown in words.items():
        value = section.get(member)
        if value is not None:
            table.add_row(shown, _number(value), *map(_number, section.get(f"{member}_range", ())))
    return table


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1_000 or value == int(value) else f"{value:.3g}"
