"""The baselines of the arena: what grpc.aio gives to whoever uses it plainly, without a game and without packing.

A request of 300 bytes and an answer of 20, about a decision's. **Unary**: 64 calls in flight, which is where its
throughput ends. **Stream**: one message after the other on a bidirectional stream, which is the shortest round trip.
Both ends are processes of their own, and use the event loop that the arena and its bots use, but not its clock:
uvloop's has a grain of a millisecond.
"""

import asyncio
import gc
import sys
import time
from collections.abc import AsyncIterator, Coroutine
from statistics import median
from typing import Any, Final, TypeVar

from wakeng.sdk.polling import grpc
from wakeng.sdk.process import loop_factory
from wakeng.services.bench.child import announce

REQUEST: Final = bytes(300)
ANSWER: Final = bytes(20)
IN_FLIGHT: Final = 64
_SERVICE: Final = "wakeng.bench.Echo"

_Found = TypeVar("_Found")
Context = grpc.aio.ServicerContext[bytes, bytes]


def unary(address: str, seconds: float) -> dict[str, float]:
    """Calls a second, and the processor time of each in microseconds."""
    return _measure(_unary_calls(address, seconds))


def stream_round_trip_us(address: str, seconds: float) -> float:
    """The median round trip in microseconds."""
    return _measure(_round_trip_us(address, seconds))


def _measure(work: Coroutine[Any, Any, _Found]) -> _Found:
    gc.disable()  # In favour of the baseline.
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        return runner.run(work)


async def _unary_calls(address: str, seconds: float) -> dict[str, float]:
    async with grpc.aio.insecure_channel(address) as channel:
        call: Any = channel.unary_unary(f"/{_SERVICE}/Unary")
        await call(REQUEST, wait_for_ready=True)
        await _keep_all_calling(call, seconds / 4)  # Until it is as fast as it gets.
        began, used = time.perf_counter(), time.process_time()
        calls = await _keep_all_calling(call, seconds)
        return {
            "per_s": calls / (time.perf_counter() - began),
            "cpu_us": 1e6 * (time.process_time() - used) / calls,
        }


async def _keep_all_calling(call: Any, seconds: float) -> int:
    until = time.perf_counter() + seconds
    return sum(await asyncio.gather(*(_keep_calling(call, until) for _ in range(IN_FLIGHT))))


async def _keep_calling(call: Any, until: float) -> int:
    count = 0
    while time.perf_counter() < until:
        await call(REQUEST)
        count += 1
    return count


async def _round_trip_us(address: str, seconds: float) -> float:
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
