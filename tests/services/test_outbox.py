"""What is said over one connection: at once where nobody writes, in order, one message at a time."""

from __future__ import annotations

import asyncio

import grpc.aio
import pytest

from wakeng.services.outbox import Outbox


class Wire:
    """A connection on which each write lasts until the test lets it end."""

    def __init__(self) -> None:
        self.begun: list[bytes | None] = []
        self.ends: list[asyncio.Future[None]] = []

    async def write(self, message: bytes | None) -> None:
        self.begun.append(message)
        self.ends.append(asyncio.get_running_loop().create_future())
        await self.ends[-1]

    async def let_end(self) -> None:
        """The write in progress is over."""
        self.ends[-1].set_result(None)
        await asyncio.sleep(0)


async def test_a_message_is_being_written_when_put_returns() -> None:
    outbox, wire = Outbox(), Wire()
    outbox.written_by(wire.write)
    outbox.put_nowait(b"first")
    assert wire.begun == [b"first"]


async def test_one_write_follows_the_other_in_the_order_of_the_messages() -> None:
    outbox, wire = Outbox(), Wire()
    outbox.written_by(wire.write)
    for message in (b"1", b"2", b"3"):
        outbox.put_nowait(message)
    assert wire.begun == [b"1"]
    await wire.let_end()
    assert wire.begun == [b"1", b"2"]
    outbox.put_nowait(b"4")
    for _ in range(3):
        await wire.let_end()
    assert wire.begun == [b"1", b"2", b"3", b"4"]
    assert outbox.empty()


async def test_messages_wait_for_somebody_who_writes_them() -> None:
    outbox, wire = Outbox(), Wire()
    outbox.put_nowait(b"early")
    assert not outbox.empty()
    outbox.written_by(wire.write)
    assert wire.begun == [b"early"]


async def test_after_the_end_nothing_more_is_written() -> None:
    outbox, wire = Outbox(), Wire()
    outbox.written_by(wire.write)
    for message in (b"last", None, b"too late"):
        outbox.put_nowait(message)
    await wire.let_end()
    await wire.let_end()
    assert wire.begun == [b"last", None]


async def test_a_write_that_fails_in_grpc_is_only_not_done() -> None:
    outbox, tried = Outbox(), []

    async def write(message: bytes | None) -> None:
        tried.append(message)
        raise grpc.aio.UsageError("the call is over")

    outbox.written_by(write)
    outbox.put_nowait(b"1")
    outbox.put_nowait(b"2")
    assert tried == [b"1", b"2"]


async def test_what_waits_behind_a_write_that_fails_later_is_written_all_the_same() -> None:
    outbox, wire, told = Outbox(), Wire(), []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context["exception"]))
    outbox.written_by(wire.write)
    outbox.put_nowait(b"1")
    outbox.put_nowait(b"2")
    wire.ends[-1].set_exception(error := ZeroDivisionError())
    await asyncio.sleep(0)
    assert wire.begun == [b"1", b"2"]
    assert told == [error]


async def test_any_other_error_is_for_whoever_speaks() -> None:
    async def write(message: bytes | None) -> None:
        raise ZeroDivisionError

    outbox = Outbox()
    outbox.written_by(write)
    with pytest.raises(ZeroDivisionError):
        outbox.put_nowait(b"1")
