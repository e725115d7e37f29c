"""A real NATS server for the tests of what speaks to one."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.arena.queueing import NatsServer, nats_server
from wakeng.services.workers.connection import NatsOptions
from wakeng.services.workers.queue import Queue


@pytest.fixture
def server(tmp_path: Path) -> Iterator[NatsServer]:
    with nats_server(tmp_path / "nats") as made:
        yield made


@pytest_asyncio.fixture
async def queue(server: NatsServer) -> AsyncIterator[Queue]:
    made = await Queue.open(NatsOptions(url=server.url), who="test", redeliver_after=1)
    yield made
    await made.close()
