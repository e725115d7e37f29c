"""Languages: which one a browser gets, and that the catalogues say everything, with the same blanks to fill."""

from __future__ import annotations

import re

import pytest

from wakeng.services.web import catalogues, words
from wakeng.services.web.languages import DEFAULT, NAMES, asked_for, language

OTHERS = [code for code in NAMES if code != DEFAULT]


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("en-GB,en;q=0.9,zh;q=0.8", "en"),
        ("fr, zh;q=0.5", "zh"),
        ("fr", "en"),
        ("", "en"),
        ("zh;q=0, en;q=0.1", "en"),
        ("zh;q=nonsense, en", "en"),
        ("," * 10_000 + "zh", "en"),
    ],
)
def test_a_browser_gets_the_language_it_likes_best_of_what_there_is(header: str, code: str) -> None:
    assert asked_for(header).code == code


@pytest.mark.parametrize("code", OTHERS)
def test_everything_that_is_said_is_translated(code: str) -> None:
    untranslated = [message.id for message in catalogues.catalogue(code) if message.id and not message.string]
    assert untranslated == []


@pytest.mark.parametrize("code", OTHERS)
def test_the_files_of_a_language_are_what_make_catalogues_would_write(code: str) -> None:
    for path, content in catalogues.files(code).items():
        assert path.read_bytes() == content, "run `make catalogues`"


@pytest.mark.parametrize("code", OTHERS)
def test_a_translation_has_the_blanks_and_the_marks_of_its_text(code: str) -> None:
    for message in catalogues.catalogue(code):
        if message.id:
            for pattern in (r"%\(\w+\)s", r"</?\w+>"):
                assert sorted(re.findall(pattern, message.string)) == sorted(re.findall(pattern, message.id)), (
                    message.id
                )


@pytest.mark.parametrize("code", OTHERS)
def test_every_word_of_the_game_is_said_in_the_language(code: str) -> None:
    say = language(code)
    tables = (words.PHASES, words.KINDS, words.FAULTS, words.TASKS, words.STATES, words.WINNERS, words.PRESETS)
    same = [text for table in tables for text in table.values() if say(text) == text]
    assert same == []
