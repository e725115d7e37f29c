"""The queue on a real server: a block has one message, the oldest comes first, and what is not heard of comes again."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.arena.certificates import Authority
from tests.arena.queueing import NatsServer, nats_server
from tests.services.tournament.worlds import spec_of
from wakeng.services.tournament.schedule import Schedule, schedule_of
from wakeng.services.workers.connection import NatsOptions, QueueError
from wakeng.services.workers.ids import unique_ids
from wakeng.services.workers.queue import BlockMessage, Queue, token, tournament_of

SPEC = spec_of(5, blocks=50)


def messages(count: int, tournament_id: str = "spring.1") -> list[BlockMessage]:
    schedule: Schedule[object] = schedule_of(SPEC)
    blocks = [schedule.next() for _ in range(count)]
    return [BlockMessage(tournament_id=tournament_id, block=block) for block in blocks if block is not None]


class Taker:
    """Takes blocks, and keeps what came."""

    def __init__(self, queue: Queue) -> None:
        self.came: asyncio.Queue[Any] = asyncio.Queue()
        self._pull = queue.pull(self.came.put)

    async def take(self, count: int, *, room: int | None = None) -> list[Any]:
        """So many, of which there is room for at least as many."""
        await self._pull.ask(count if room is None else room)
        async with asyncio.timeout(20):
            return [await self.came.get() for _ in range(count)]

    async def close(self) -> None:
        await self._pull.close()


def blocks(came: Sequence[Any]) -> list[int]:
    return [BlockMessage.decode(message.data).block.index for message in came]


async def test_a_message_is_read_as_it_was_written() -> None:
    (message,) = messages(1)
    full = BlockMessage(tournament_id="t", block=message.block, done=frozenset({2}), voids={1: 2})
    assert BlockMessage.decode(full.encode()) == full
    work = full.work(SPEC)
    assert (work.block, work.done, work.voids) == (full.block, full.done, full.voids)
    assert [hand.place for hand in work.hands] == [0, 1, 2]


def test_ids_are_words_of_subjects() -> None:
    assert token("a.b-c") == "a%2Eb-c"
    assert tournament_of(token("a.b-c")) == "a.b-c"


async def test_a_block_that_is_published_twice_is_queued_once(queue: Queue) -> None:
    one, two = messages(2)
    assert await queue.publish(one)
    assert not await queue.publish(one)
    assert await queue.publish(two)
    assert await queue.queued("spring.1") == {0, 1}
    assert await queue.queued("spring") == set()
    taker = Taker(queue)
    (came,) = await taker.take(1)
    assert not await queue.publish(one), "a worker holds it"
    await came.ack()
    await queue.client.flush()
    while 0 in await queue.queued("spring.1"):
        pass
    assert await queue.publish(one), "it is gone, so it may be queued again"
    await taker.close()


async def test_the_first_published_comes_first_and_no_table_waits_for_a_batch_to_be_full(queue: Queue) -> None:
    for message in messages(5):
        await queue.publish(message)
    taker = Taker(queue)
    assert blocks(await taker.take(3)) == [0, 1, 2]
    assert blocks(await taker.take(2, room=40)) == [3, 4]
    later = messages(6)[5]
    await queue.publish(later)
    assert blocks(await taker.take(1, room=40)) == [5]
    await taker.close()


async def test_what_is_not_heard_of_comes_again_and_before_what_is_new(queue: Queue) -> None:
    for message in messages(3):
        await queue.publish(message)
    lost, other = Taker(queue), Taker(queue)
    await lost.take(1)
    await lost.close()
    (kept,) = await other.take(1)
    again = await _again(other, kept)
    assert blocks([again]) == [0]
    assert again.metadata.num_delivered == 2
    await other.close()


async def _again(taker: Taker, kept: Any) -> Any:
    """The next that was delivered before, while signs of life keep the other."""
    while True:
        await kept.in_progress()
        (came,) = await taker.take(1)
        if came.metadata.num_delivered > 1:
            return came


async def test_what_is_given_back_comes_again_at_once(queue: Queue) -> None:
    for message in messages(2):
        await queue.publish(message)
    taker = Taker(queue)
    first, _ = await taker.take(2)
    await first.nak()
    assert blocks(await taker.take(1)) == [0]
    await taker.close()


async def test_a_tournament_is_forgotten_and_its_workers_are_told(queue: Queue) -> None:
    for message in (*messages(3), *messages(2, "other")):
        await queue.publish(message)
    told: asyncio.Queue[str] = asyncio.Queue()
    await queue.on_stop(told.put_nowait)
    await queue.forget("spring.1")
    async with asyncio.timeout(10):
        assert await told.get() == "spring.1"
    assert await queue.queued("spring.1") == set()
    assert await queue.queued("other") == {0, 1}


async def test_notices_go_to_who_waits_for_them(queue: Queue) -> None:
    told: asyncio.Queue[list[int]] = asyncio.Queue()
    await queue.on_done("a", told.put_nowait)
    await queue.tell_done("b", [1])
    await queue.tell_done("a", [2, 3])
    async with asyncio.timeout(10):
        assert await told.get() == [2, 3]


async def test_arenas_of_different_names_do_not_meet(queue: Queue, server: NatsServer) -> None:
    other = await Queue.open(NatsOptions(url=server.url, name="club"), who="other")
    (message,) = messages(1)
    assert await queue.publish(message)
    assert await other.publish(message)
    await other.forget("spring.1")
    assert await queue.queued("spring.1") == {0}
    await other.close()


async def test_no_two_processes_have_the_same_decision_ids(queue: Queue) -> None:
    starts = [(await unique_ids(queue))() for _ in range(5)]
    assert len({start >> 35 for start in starts}) == 5
    assert max(starts) < 2**63


# Who is let in -------------------------------------------------------------------------------------------------------


async def let_in(folder: Path, lines: Sequence[str], *, scheme: str = "nats", **identity: Any) -> None:
    """Whoever shows his identity is let in, and nobody else."""
    with nats_server(folder / "guarded", lines, scheme=scheme) as server:
        queue = await Queue.open(NatsOptions(url=server.url, **identity), who="friend")
        await queue.publish(messages(1)[0])
        await queue.close()
        # Only what is trusted may stay, where it is not the identity that is asked for.
        bare = {name: identity[name] for name in ("ca",) if name in identity}
        with pytest.raises(QueueError, match="cannot reach NATS at"):
            await Queue.open(NatsOptions(url=server.url, **bare), who="stranger", within=2)


async def test_by_user_and_password(tmp_path: Path) -> None:
    await let_in(tmp_path, ["authorization { user: arena, password: hush }"], user="arena", password="hush")


async def test_by_token(tmp_path: Path) -> None:
    await let_in(tmp_path, ["authorization { token: hush }"], token="hush")


async def test_by_nkey(tmp_path: Path) -> None:
    import nkeys

    pair = nkeys.from_seed(nkeys.encode_seed(os.urandom(32), nkeys.PREFIX_BYTE_USER))
    seed = tmp_path / "seed.nk"
    seed.write_bytes(pair.seed)
    public = pair.public_key.decode()
    await let_in(tmp_path, [f"authorization {{ users: [ {{ nkey: {public} }} ] }}"], nkey=seed)


async def test_by_certificate(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "us")
    served, mine = authority.sign("server"), authority.sign("arena")
    files = f'cert_file: "{served.cert}", key_file: "{served.key}", ca_file: "{authority.pair.cert}"'
    lines = [f"tls {{ {files}, verify: true }}"]
    await let_in(tmp_path, lines, scheme="tls", ca=authority.pair.cert, cert=mine.cert, key=mine.key)


async def test_a_server_that_is_not_trusted_is_told_nothing(tmp_path: Path) -> None:
    ours, theirs = Authority(tmp_path, "us"), Authority(tmp_path, "them")
    served = theirs.sign("server")
    lines = [f'tls {{ cert_file: "{served.cert}", key_file: "{served.key}" }}']
    with (
        nats_server(tmp_path / "foreign", lines, scheme="tls") as server,
        pytest.raises(QueueError, match="certificate verify failed"),
    ):
        await Queue.open(NatsOptions(url=server.url, ca=ours.pair.cert), who="us", within=2)


async def test_a_server_that_is_not_there_is_named_without_secrets(server: NatsServer) -> None:
    server.stop()
    url = server.url.replace("//", "//me:secret@")
    with pytest.raises(QueueError, match=f"cannot reach NATS at {server.url}: no server within 1 s") as told:
        await Queue.open(NatsOptions(url=url), who="us", within=1)
    assert "secret" not in str(told.value)
