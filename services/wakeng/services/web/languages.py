"""The languages of the pages: gettext catalogues, and which of them a browser asks for.

A sentence in code or template is its English text; the catalogue of another language has it translated. Catalogues lie
in `locale`, as text (.po) beside what `make catalogues` compiles of it (.mo).
"""

import gettext
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent / "locale"
NAMES: Final = {"en": "English", "zh": "中文"}
"""Every language by its code, in its own words."""
DEFAULT: Final = "en"
_MOST_ASKED: Final = 20
"""Languages of a header that are looked at."""


def N_(text: str) -> str:
    """Marks a text for translation where it stands in a table."""
    return text


@dataclass(frozen=True, slots=True)
class Language:
    """One language; call it to say something in it."""

    code: str
    translations: gettext.NullTranslations = field(repr=False)

    def __call__(self, text: str, **values: Any) -> str:
        """The text in this language, with its `%(name)s` filled in."""
        said = self.translations.gettext(text)
        return said % values if values else said


@cache
def language(code: str) -> Language:
    """The language of a code, English where there is no such."""
    if code not in NAMES:
        code = DEFAULT
    translations = gettext.NullTranslations() if code == DEFAULT else gettext.translation("wakeng", FOLDER, [code])
    return Language(code, translations)


def asked_for(header: str) -> Language:
    """What an Accept-Language header likes best of what there is."""
    liked = sorted(_weighed(header), key=lambda pair: -pair[1])
    return language(next((code for code, weight in liked if code in NAMES and weight > 0), DEFAULT))


def _weighed(header: str) -> Iterator[tuple[str, float]]:
    for part in header.split(",")[:_MOST_ASKED]:
        tag, _, parameter = part.partition(";")
        weight = parameter.strip().removeprefix("q=")
        try:
            yield tag.strip().lower().partition("-")[0], float(weight) if parameter else 1.0
        except ValueError:
            continue
