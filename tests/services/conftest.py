"""A store in a file of its own."""

from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path

import pytest

from wakeng.services.store import Store


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'wakeng.db'}"


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    """A store whose clock goes on by a second with each look at it."""
    ticks = count(1_000_000, 1_000_000)
    async with await Store.open(url, clock=lambda: next(ticks)) as opened:
        yield opened
