"""Whether the arena can reach itself: what tells its own outage from its bots'."""

import asyncio
from typing import Final

_WITHIN: Final = 1.0


async def loopback_works() -> bool:
    """One byte to a server of this process and back, over TCP on the loopback interface, within a second."""
    try:
        async with asyncio.timeout(_WITHIN):
            server = await asyncio.start_server(_echo, "127.0.0.1", 0)
            async with server:
                reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
                writer.write(b"!")
                answer = await reader.read(1)
                writer.close()
                return answer == b"!"
    except OSError:  # TimeoutError is one
        return False


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(await reader.read(1))
    writer.close()
