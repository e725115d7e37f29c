"""Catalogues kept in step with what the pages say: `make catalogues` runs this, and a test holds that nothing is left.

It gathers every text of code and templates into each language's .po, where new ones wait for a translation, and
compiles them. Babel does it, which only those need who change the pages.
"""

import sys
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from wakeng.services.web.languages import DEFAULT, FOLDER, NAMES

HERE: Final = Path(__file__).parent
_DATE: Final = datetime(2026, 1, 1, tzinfo=UTC)
_METHODS: Final = [("templates/**.html", "jinja2"), ("**.py", "python")]
_HEAD: Final = (
    'msgid ""\nmsgstr ""\n"Language: {code}\\n"\n"MIME-Version: 1.0\\n"\n'
    '"Content-Type: text/plain; charset=utf-8\\n"\n"Content-Transfer-Encoding: 8bit\\n"\n'
    '"Plural-Forms: nplurals=1; plural=0;\\n"\n\n'
)


def said() -> list[str]:
    """Every text of code and templates, in order."""
    from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir

    keywords = {**DEFAULT_KEYWORDS, "N_": None, "say": None}
    found = extract_from_dir(str(HERE), _METHODS, keywords=keywords)
    return sorted({message for _, _, message, _, _ in found if isinstance(message, str) and message})


def catalogue(code: str) -> Any:
    """A language's catalogue, brought up to date with what is said now."""
    from babel.messages.catalog import Catalog
    from babel.messages.pofile import read_po

    with (_folder(code) / "wakeng.po").open("rb") as file:
        known = {message.id: message.string for message in read_po(file, locale=code) if message.id}
    # Equal catalogues give equal bytes, so no date of today stands in them.
    fresh = Catalog(locale=code, fuzzy=False, project="wakeng", version="1", creation_date=_DATE, revision_date=_DATE)
    for text in said():
        fresh.add(text, known.get(text, ""))
    return fresh


def files(code: str) -> dict[Path, bytes]:
    """The files of a language as they should be."""
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import write_po

    made = catalogue(code)
    text, compiled = BytesIO(), BytesIO()
    write_po(text, made, width=118, omit_header=True, sort_output=True)
    write_mo(compiled, made)
    head = _HEAD.format(code=code).encode()
    folder = _folder(code)
    return {folder / "wakeng.po": head + text.getvalue().lstrip(), folder / "wakeng.mo": compiled.getvalue()}


def _folder(code: str) -> Path:
    return FOLDER / code / "LC_MESSAGES"


def main() -> int:
    """Write all of them; the number of texts without a translation."""
    missing = 0
    for code in NAMES:
        if code == DEFAULT:
            continue
        for path, content in files(code).items():
            path.write_bytes(content)
        untranslated = [message.id for message in catalogue(code) if message.id and not message.string]
        missing += len(untranslated)
        for text in untranslated:
            sys.stderr.write(f"{code}: not translated: {text}\n")
    return missing


if __name__ == "__main__":
    sys.exit(min(main(), 1))
