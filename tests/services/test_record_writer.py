"""The writer takes records at once, writes them in batches, and loses none whatever happens."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.services.records import played
from wakeng.engine import encode
from wakeng.services.errors import LineFileError, StoreError, UnknownMatch
from wakeng.services.store import Added, Entry, RecordFile, RecordWriter, Store

LONG = 3600.0
"""A linger that no test lives to see the end of."""


class Shelf:
    """Stands for a store: keeps batches, fails while `broken`, waits while `gate` is closed."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.broken: Exception | None = None
        self.gate = asyncio.Event()
        self.gate.set()
        self.reached = asyncio.Event()

    async def add(self, entries: Sequence[Entry]) -> Added:
        self.reached.set()
        await self.gate.wait()
        if self.broken is not None:
            raise self.broken
        self.batches.append([entry.key[1] for entry in entries])
        return Added(tuple(entries), 0)

    @property
    def hands(self) -> list[int]:
        return [index for batch in self.batches for index in batch]


def record(index: int) -> dict[str, object]:
    return {"match_id": "m1", "hand_index": index, "attempt": 0}


async def test_what_was_put_is_in_the_store_after_a_flush(store: Store, tmp_path: Path) -> None:
    await store.create_match(match_id="m1", spec={}, seed="0", commitment="0", hands=9)
    records = [played(hand_index=index) for index in range(9)]
    with RecordFile(tmp_path / "r.jsonl") as file:
        writer = RecordWriter(store, file=file, linger_s=LONG)
        for each in records:
            writer.put(each)
        await writer.flush()
        assert [line async for line in store.records("m1")] == [encode(each) for each in records]
        assert (tmp_path / "r.jsonl").read_bytes().splitlines() == [encode(each) for each in records]


async def test_what_the_store_has_already_goes_to_the_file_no_second_time(store: Store, tmp_path: Path) -> None:
    await store.create_match(match_id="m1", spec={}, seed="0", commitment="0", hands=9)
    await store.add_records([played(hand_index=0)])
    with RecordFile(tmp_path / "r.jsonl") as file:
        async with RecordWriter(store, file=file, linger_s=LONG) as writer:
            for index in (0, 1, 1):
                writer.put(played(hand_index=index))
        assert writer.ignored == 2
        assert (tmp_path / "r.jsonl").read_bytes() == encode(played(hand_index=1)) + b"\n"


async def test_records_wait_for_company_and_go_in_batches() -> None:
    shelf = Shelf()
    writer = RecordWriter(shelf, linger_s=LONG)
    for index in range(300):
        writer.put(record(index))
        await asyncio.sleep(0)
    await writer.flush()
    assert shelf.hands == list(range(300))
    assert len(shelf.batches) == 3


async def test_a_record_alone_is_written_when_its_wait_is_over() -> None:
    shelf = Shelf()
    writer = RecordWriter(shelf, linger_s=0.001)
    writer.put(record(0))
    await shelf.reached.wait()
    await writer.close()
    assert shelf.hands == [0]


async def test_flush_waits_for_what_was_put_before_it_and_not_for_more() -> None:
    shelf = Shelf()
    writer = RecordWriter(shelf, linger_s=LONG)
    writer.put(record(0))
    shelf.gate.clear()
    flushed = asyncio.create_task(writer.flush())
    await shelf.reached.wait()
    writer.put(record(1))
    assert not flushed.done()
    shelf.gate.set()
    await flushed
    assert shelf.batches == [[0]]
    await writer.close()


async def test_a_flush_with_nothing_to_do_returns_at_once() -> None:
    await RecordWriter(Shelf()).flush()


async def test_room_is_back_pressure_not_loss() -> None:
    shelf = Shelf()
    shelf.gate.clear()
    writer = RecordWriter(shelf, most_waiting=2, linger_s=LONG)
    for index in range(3):
        writer.put(record(index))
    room = asyncio.create_task(writer.room())
    await shelf.reached.wait()
    assert not room.done()
    shelf.gate.set()
    await room
    await writer.close()
    assert shelf.hands == [0, 1, 2]


async def test_an_error_reaches_everyone_who_waits_and_the_records_stay() -> None:
    shelf = Shelf()
    shelf.broken = StoreError("the disk is full")
    writer = RecordWriter(shelf, linger_s=LONG)
    writer.put(record(0))
    told = await asyncio.gather(writer.flush(), writer.flush(), return_exceptions=True)
    assert [str(error) for error in told] == ["the disk is full"] * 2
    writer.put(record(1))
    with pytest.raises(StoreError):
        await writer.room()
    shelf.broken = None
    await writer.room()
    await writer.close()
    assert shelf.hands == [0, 1]


async def test_a_record_of_no_match_is_told_to_whoever_flushes(store: Store) -> None:
    writer = RecordWriter(store, linger_s=LONG)
    writer.put(played("m9"))
    with pytest.raises(UnknownMatch):
        await writer.close()


async def test_a_file_that_fails_gets_its_lines_later_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf()
    with RecordFile(tmp_path / "r.jsonl") as file:
        writer = RecordWriter(shelf, file=file, linger_s=LONG)

        def fail(_: object) -> None:
            raise LineFileError("full")

        with monkeypatch.context() as patched:
            patched.setattr(file, "append", fail)
            writer.put(record(0))
            with pytest.raises(LineFileError):
                await writer.flush()
        writer.put(record(1))
        await writer.close()
        lines = (tmp_path / "r.jsonl").read_bytes().splitlines()
    assert shelf.hands == [0, 1]
    assert lines == [encode(record(0)), encode(record(1))]


async def test_a_caller_who_is_cancelled_takes_no_batch_along() -> None:
    shelf = Shelf()
    shelf.gate.clear()
    writer = RecordWriter(shelf, linger_s=LONG)
    writer.put(record(0))
    flushing = asyncio.create_task(writer.flush())
    await shelf.reached.wait()
    flushing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await flushing
    shelf.gate.set()
    await writer.close()
    assert shelf.batches == [[0]]
