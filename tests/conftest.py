"""What all tests share: how Hypothesis searches, and golden files, which `make goldens` writes anew."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

import wakeng.sdk.polling  # noqa: F401  # Before any test loads gRPC by itself, and not as ours is loaded.
from tests.postgres import Server, running

# A test machine under load is slow now and then; what is too slow is for benchmarks to say, not for tests.
settings.register_profile("default", deadline=None)
# In CI the same examples every time, so that a change fails for what it changed.
settings.register_profile("ci", deadline=None, derandomize=True, database=None, print_blob=True)
# Many examples, for tests that count theirs by it: `pytest --hypothesis-profile=soak`, as `make soak` does.
settings.register_profile("soak", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "default")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-goldens", action="store_true", help="write golden files instead of comparing")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A server of PostgreSQL, shared by the tests of one process; where there is none the tests fail and say so."""
    with running() as server:
        yield server


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Holds a text against the golden file of that path; tests that use it have `golden` in their name."""
    writing: bool = request.config.getoption("--write-goldens")

    def check(path: Path, text: str) -> None:
        if writing:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8", newline="\n")
        assert path.is_file(), f"{path.name} is not there yet: `make goldens` writes it"
        assert text == path.read_text("utf-8"), "where the change is meant, `make goldens` accepts it"

    return check
