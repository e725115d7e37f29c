"""The baselines of the arena: what grpc.aio gives to whoever uses it plainly, without a game and without packing.

A request of 300 bytes and an answer of 20, about a decision's. **Unary**: 64 calls in flight, which is where its
throughput ends. **Stream**: one message after the other on a bidirectional stream, which is the shortest round trip.
Both ends use the event loop that the arena and its bots use, but not its clock: uvloop's has a grain of a millisecond.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from statistics import median
from typing import Any, Final

import grpc
import grpc.aio

from wakeng.sdk.process import loop_factory
from wakeng.services.bench.child import announce

REQUEST: Final = bytes(300)
ANSWER: Final = bytes(20)
IN_FLIGHT: Final = 64
_SERVICE: Final = "wakeng.bench.Echo"

Context = grpc.aio.ServicerContext[bytes, bytes]


async def unary(address: str, *, seconds: float) -> tuple[int, float]:
    """Calls made, and the seconds they took."""
    async with grpc.aio.insecure_channel(address) as channel:
        call: Any = channel.unary_unary(f"/{_SERVICE}/Unary")
        await call(REQUEST, wait_for_ready=True)
        began = time.perf_counter()
        counts = await asyncio.gather(*(_keep_calling(call, began + seconds) for _ in range(IN_FLIGHT)))
        return sum(counts), time.perf_counter() - began


async def _keep_calling(call: Any, until: float) -> int:
    count = 0
    while time.perf_counter() < until:
        await call(REQUEST)
        count += 1
    return count


async def stream_round_trip_us(address: str, *, seconds: float) -> float:
    """The median round trip in microseconds."""
    async with grpc.aio.insecure_channel(address) as channel:
        stream: Any = channel.stream_stream(f"/{_SERVICE}/Stream")(wait_for_ready=True)
        trips = []
        until = time.perf_counter() + seconds
        while (began := time.perf_counter()) < until:
            await stream.write(REQUEST)
            await stream.read()
            trips.append(time.perf_counter() - began)
        await stream.done_writing()
        await stream.read()
        return 1e6 * median(trips)


def serve_echo() -> None:
    """Be the server, until standard input closes."""
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(_serve())


async def _serve() -> None:
    server = grpc.aio.server()
    handlers: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
        "Unary": grpc.unary_unary_rpc_method_handler(_unary),
        "Stream": grpc.stream_stream_rpc_method_handler(_stream),
    }
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(_SERVICE, handlers)])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    announce(f"127.0.0.1:{port}")
    await asyncio.to_thread(sys.stdin.buffer.read)
    await server.stop(0)


async def _unary(request: bytes, context: Context) -> bytes:
    return ANSWER


async def _stream(requests: AsyncIterator[bytes], context: Context) -> None:
    async for _ in requests:
        await context.write(ANSWER)
