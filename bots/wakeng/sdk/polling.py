"""gRPC, loaded so that whoever waits for a connection reads it.

Since version 1.80 gRPC's core gives Python's connections to threads of an "event engine": what comes in is read by one
of these, told to the thread that waits for the core, and by that to the event loop. Before, the thread that waits read
itself, and the core still can, up to the releases that drop the way back. With a thread less on the way an exchange of
messages takes a third less time (docs/performance.md). Which way is taken is settled as gRPC is loaded, by a variable
of the environment; so all of ours have gRPC from here.

Nothing is changed where GRPC_EXPERIMENTS is set, even to nothing, nor with a gRPC that nobody measured. The variable is
gone again afterwards: what is started from here, a bot in another language perhaps, has a gRPC of its own.
"""

import os
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Final

__all__ = ["grpc"]

_VARIABLE: Final = "GRPC_EXPERIMENTS"
_WAY_BACK: Final = "-event_engine_client,-event_engine_listener"
_MEASURED: Final = ((1, 80), (1, 85))
"""The first version and the last that have both ways and were tried."""


def goes_back() -> bool:
    """Whether gRPC, as installed and not yet loaded, is to be loaded so that whoever waits reads."""
    return _VARIABLE not in os.environ and "grpc" not in sys.modules and _MEASURED[0] <= _version() <= _MEASURED[1]


def _version() -> tuple[int, ...]:
    try:
        return tuple(map(int, version("grpcio").split(".")[:2]))
    except (PackageNotFoundError, ValueError):
        return ()


if goes_back():
    os.environ[_VARIABLE] = _WAY_BACK
    try:
        import grpc
        import grpc.aio
    finally:
        del os.environ[_VARIABLE]
else:
    import grpc
    import grpc.aio
