"""An event loop whose clock is moved by the test: waiting takes no time, and is exact to the microsecond.

Where a real loop would sleep until its next timer, this one sets its clock to that moment. A test that waits for what
never comes fails at once. `stall` is what a busy processor does to the loop: time passes and nothing runs.
"""

from __future__ import annotations

import asyncio
import functools
import selectors
from collections.abc import Callable, Coroutine
from typing import Any


class _Selector(selectors.SelectSelector):
    """Sees no time pass; says how long the loop would have slept."""

    def __init__(self) -> None:
        super().__init__()
        self.slept: Callable[[float], None] = lambda seconds: None

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            if timeout is None:
                raise RuntimeError("the test waits for something that never comes")
            self.slept(timeout)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """The loop. Its clock begins at 0."""

    def __init__(self) -> None:
        selector = _Selector()
        super().__init__(selector)
        selector.slept = self.stall
        self._now = 0.0
        self._clock_resolution = 1e-6  # Rounding never leaves a timer just ahead of its clock.

    def time(self) -> float:
        return self._now

    def stall(self, seconds: float) -> None:
        """Time passes."""
        self._now = round(self._now + seconds, 6)


def in_virtual_time(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Makes an async test a plain one that runs in a loop of this kind."""

    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            runner.run(test(*args, **kwargs))

    return run


def now() -> float:
    """The running loop's time in seconds."""
    return asyncio.get_running_loop().time()


def stall(seconds: float) -> None:
    """The loop does nothing for so long."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    loop.stall(seconds)


async def settled() -> None:
    """Everything that can run without time passing has run."""
    for _ in range(20):
        await asyncio.sleep(0)
