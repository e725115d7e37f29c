"""Connections: nobody holds one by saying nothing or little, and no host holds all of them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.web.conftest import shown
from wakeng.services.web import connections
from wakeng.services.web.serving import WebServer

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def connect(pages: WebServer) -> Streams:
    return await asyncio.open_connection(*pages.address.rsplit(":", 1))


def request(pages: WebServer) -> bytes:
    return f"GET /login HTTP/1.1\r\nHost: {pages.address}\r\n\r\n".encode()


async def read_page(reader: asyncio.StreamReader) -> None:
    assert b" 200 " in await reader.readline()
    await reader.readuntil(b"</html>")


async def until_closed(reader: asyncio.StreamReader) -> None:
    try:
        while await reader.read(1 << 16):
            pass
    except ConnectionResetError:
        pass


@pytest.mark.parametrize("said", [b"", b"GET /login HT"], ids=["nothing", "half a line"])
@pytest.mark.parametrize("before", [0, 1], ids=["at first", "after an answer"])
async def test_who_does_not_end_a_request_is_not_waited_for(
    furnished: Path, monkeypatch: pytest.MonkeyPatch, said: bytes, before: int
) -> None:
    monkeypatch.setattr(connections, "REQUEST_S", 0.2)
    async with shown(furnished) as (pages, _):
        reader, writer = await connect(pages)
        for _ in range(before):
            writer.write(request(pages))
            await read_page(reader)
        writer.write(said)
        await until_closed(reader)
        writer.close()


async def test_a_body_that_does_not_come_is_not_waited_for(furnished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wakeng.services.web.visit.BODY_S", 0.2)
    async with shown(furnished) as (pages, _):
        reader, writer = await connect(pages)
        writer.write(f"POST /replay HTTP/1.1\r\nHost: {pages.address}\r\nContent-Length: 9\r\n\r\n{{".encode())
        assert b" 408 " in await reader.readline()
        await until_closed(reader)
        writer.close()


async def test_a_host_has_so_many_connections_and_no_more(furnished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_OF_A_HOST", 2)
    async with shown(furnished) as (pages, _):
        held = []
        for _ in range(2):
            reader, writer = await connect(pages)
            writer.write(request(pages))
            await read_page(reader)
            held.append(writer)
        reader, writer = await connect(pages)
        await until_closed(reader)
        for one in (*held, writer):
            one.close()
