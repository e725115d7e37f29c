"""Ctrl-C on a command that plays: the first lets the hands in play finish, the second drops them."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, Protocol

import click

INTERRUPTED: Final = 130
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class Stoppable(Protocol):
    """A run of a match or a tournament."""

    stopping: bool

    def stop(self) -> None:
        """Begin no further hand."""


@contextmanager
def finishing(run: Stoppable, playing: "asyncio.Task[Any]") -> Iterator[None]:
    """While `playing` plays the run; that it was cancelled by a second signal is no error."""
    loop = asyncio.get_running_loop()

    def interrupt() -> None:
        if run.stopping:
            playing.cancel()
        else:
            run.stop()
            click.echo("finishing the hands in play; Ctrl-C again to drop them", err=True)

    for number in _SIGNALS:
        loop.add_signal_handler(number, interrupt)
    try:
        yield
    except asyncio.CancelledError:
        if not run.stopping:
            raise
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
