"""Templates by language, and how figures are written in them."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from wakeng.engine import CARD_NAMES
from wakeng.services.web import words
from wakeng.services.web.languages import NAMES, language

HERE: Final = Path(__file__).parent
STATIC: Final = HERE / "static"
MINUS: Final = "\N{MINUS SIGN}"
NOTHING: Final = "\N{EN DASH}"
_CARD_SUITS: Final = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}


@cache
def environment(code: str) -> Environment:
    """The templates in one language."""
    say = language(code)
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    made.install_gettext_translations(say.translations, newstyle=True)  # type: ignore[attr-defined]
    made.filters.update(FILTERS)
    made.globals.update(
        say=say,
        languages=NAMES,
        static=static,
        words=words,
        word=word_in(code),
        task_words=lambda table: {task: say(text) for task, text in table.items()},
        card_names=CARD_NAMES,
    )
    return made


def word_in(code: str) -> Any:
    """What templates say a word of a table by."""
    say = language(code)
    return lambda table, key: words.word(say, getattr(words, table), key)


@cache
def static(name: str) -> str:
    """The path of a static file, which changes with its content, so that it may be kept for ever."""
    return f"/static/{name}?v={sha256((STATIC / name).read_bytes()).hexdigest()[:12]}"


# Filters ------------------------------------------------------------------------------------------------------------


def signed(value: float | None, places: int = 2) -> str:
    """+1.25, with a true minus; a dash for nothing."""
    if value is None or not math.isfinite(value):
        return NOTHING
    text = f"{abs(value):,.{places}f}"
    if not float(text.replace(",", "")):
        return text
    return f"{MINUS if value < 0 else '+'}{text}"


def number(value: float | None, places: int = 0) -> str:
    """1,234."""
    return NOTHING if value is None else f"{value:,.{places}f}".replace("-", MINUS)


def percent(part: float | None, whole: float | None = 1.0, places: int = 0) -> str:
    """37 %, of a part of a whole."""
    if part is None or not whole:
        return NOTHING
    return f"{100 * part / whole:.{places}f}\N{NARROW NO-BREAK SPACE}%"


def duration(microseconds: float | None) -> str:
    """A latency in the unit that suits it."""
    if microseconds is None:
        return NOTHING
    if microseconds < 1_000:
        return f"{microseconds:.0f}\N{NARROW NO-BREAK SPACE}µs"
    if microseconds < 1_000_000:
        value = microseconds / 1_000
        return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}\N{NARROW NO-BREAK SPACE}ms"
    return f"{microseconds / 1_000_000:.2f}\N{NARROW NO-BREAK SPACE}s"


def moment(microseconds: int | None) -> Markup | str:
    """A time in UTC, for people and for programs."""
    if microseconds is None:
        return NOTHING
    at = datetime.fromtimestamp(microseconds / 1e6, UTC)
    return Markup('<time datetime="{}">{}</time>').format(at.strftime("%Y-%m-%dT%H:%M:%SZ"), f"{at:%Y-%m-%d %H:%M} UTC")


def part(text: str) -> str:
    """A text as one part of a path."""
    return quote(text, safe="")


def cards(text: str) -> list[dict[str, str]]:
    """The cards of `4h5dKs` for a template to draw."""
    return [card(text[i : i + 2]) for i in range(0, len(text), 2)]


def card(name: str) -> dict[str, str]:
    """One of them."""
    return {"rank": name[0].replace("T", "10"), "suit": _CARD_SUITS[name[1]], "red": "red" if name[1] in "dh" else ""}


def tint(value: float | None, most: float) -> str:
    """The class of a cell by its value: five shades each way."""
    if value is None or not most:
        return ""
    shade = min(5, math.ceil(5 * abs(value) / most))
    return f"tint-{'plus' if value > 0 else 'minus'}-{shade}" if shade else ""


FILTERS: Final[Mapping[str, Any]] = {
    "signed": signed,
    "number": number,
    "percent": percent,
    "duration": duration,
    "moment": moment,
    "part": part,
    "cards": cards,
    "tint": tint,
    "shown": words.shown,
}
