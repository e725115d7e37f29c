"""What a process that is a bot needs around its event loop: a fast one, and signals that end it in order."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop where it is installed, which is a tenth faster; else the default."""
    try:
        factory: Callable[[], asyncio.AbstractEventLoop] = import_module("uvloop").new_event_loop
    except ImportError:
        return None
    return factory


async def first_of(*futures: "asyncio.Future[Any]", within: float | None = None) -> None:
    """Return once one of these is done, or so many seconds are over; none of them is cancelled."""
    await asyncio.wait(futures, timeout=within, return_when=asyncio.FIRST_COMPLETED)


@contextmanager
def signals(asked: Callable[[], None]) -> Iterator[None]:
    """Has SIGINT and SIGTERM call back, where signals can be had: in a process's main thread."""
    loop = asyncio.get_running_loop()
    handled = []
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError, ValueError, RuntimeError):
            loop.add_signal_handler(number, asked)
            handled.append(number)
    try:
        yield
    finally:
        for number in handled:
            loop.remove_signal_handler(number)
