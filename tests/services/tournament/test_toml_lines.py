"""Where keys stand in a TOML document, held against tomllib: the scanner finds every key that tomllib reads."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from wakeng.services.tournament.toml_lines import Path, key_lines

DOCUMENT = '''\
# A comment with "quotes" and [brackets]
name = "a # no comment \\" = ["
rules.preset = 'xian' # dotted
rules . "base" = 2

bots = [ "one", # the first
  "two", { name = "three", bot = "x:1" },
  [1, 2], # nested
]
text = """
[no.table]
key = "no key"
"""
raw = \'\'\'
also = no key\'\'\'
when = 1979-05-27 07:32:00

[options] # a table
alpha = 0.05
"quoted key" = +1_000

[[entries]]
name = "first"
[entries.more]
deep = true
[[entries]]
name = "second"
[[entries.inner]]
x = 1
[[entries.inner]]
x = [ { y = [] } ]
'''

EXPECTED: dict[Path, int] = {
    ("name",): 2,
    ("rules",): 3,
    ("rules", "preset"): 3,
    ("rules", "base"): 4,
    ("bots",): 6,
    ("bots", 0): 6,
    ("bots", 1): 7,
    ("bots", 2): 7,
    ("bots", 2, "name"): 7,
    ("bots", 2, "bot"): 7,
    ("bots", 3): 8,
    ("bots", 3, 0): 8,
    ("bots", 3, 1): 8,
    ("text",): 10,
    ("raw",): 14,
    ("when",): 16,
    ("options",): 18,
    ("options", "alpha"): 19,
    ("options", "quoted key"): 20,
    ("entries",): 22,
    ("entries", 0): 22,
    ("entries", 0, "name"): 23,
    ("entries", 0, "more"): 24,
    ("entries", 0, "more", "deep"): 25,
    ("entries", 1): 26,
    ("entries", 1, "name"): 27,
    ("entries", 1, "inner"): 28,
    ("entries", 1, "inner", 0): 28,
    ("entries", 1, "inner", 0, "x"): 29,
    ("entries", 1, "inner", 1): 30,
    ("entries", 1, "inner", 1, "x"): 31,
    ("entries", 1, "inner", 1, "x", 0): 31,
    ("entries", 1, "inner", 1, "x", 0, "y"): 31,
}


def paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """Every path of a tree, tables and arrays included."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from paths(item, (*path, key))


def test_every_key_stands_on_its_line() -> None:
    assert key_lines(DOCUMENT) == EXPECTED


def test_those_are_all_the_keys_there_are() -> None:
    assert set(paths(tomllib.loads(DOCUMENT))) == set(EXPECTED)


KEYS = st.one_of(st.from_regex(r"[A-Za-z0-9_-]{1,5}", fullmatch=True), st.text("ab.[]#\"'=\\ \u6316", max_size=4))
SCALARS = st.one_of(
    st.integers(-(10**6), 10**6),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text("ab#[]{},=\"'\\ \n", max_size=8),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def written(value: Any, *, newline: str) -> str:
    """A value in TOML; arrays are broken into lines by `newline`."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return quoted(value)
        case list():
            return "[" + newline + "".join(f"{written(item, newline=newline)},{newline}" for item in value) + "]"
        case dict():
            return "{" + ", ".join(f"{quoted(key)} = {written(item, newline='')}" for key, item in value.items()) + "}"
    return repr(value)


@given(
    st.dictionaries(KEYS, VALUES, max_size=5),
    st.dictionaries(KEYS, st.dictionaries(KEYS, VALUES, max_size=3), max_size=3),
    st.sampled_from(["", "\n", " # ] , } = \n"]),
)
def test_whatever_tomllib_reads_has_a_line_and_keys_stand_there(
    top: dict[str, Any], tables: dict[str, dict[str, Any]], newline: str
) -> None:
    lines: list[str] = []
    at: dict[Path, int] = {}

    def put(path: Path, line: str) -> None:
        at[path] = len(lines) + 1
        lines.extend(line.split("\n"))

    for key, value in top.items():
        if key not in tables:
            put((key,), f"{quoted(key)} = {written(value, newline=newline)}")
    for number, (name, table) in enumerate(tables.items()):
        header: Path = (name, 0) if number % 2 else (name,)
        put(header, f"[[{quoted(name)}]]" if number % 2 else f"[ {quoted(name)} ]")
        for key, value in table.items():
            put((*header, key), f"{quoted(key)} = {written(value, newline=newline)}")
    document = "\n".join(lines)
    found = key_lines(document)
    assert set(found) == set(paths(tomllib.loads(document)))
    assert {path: found[path] for path in at} == at
