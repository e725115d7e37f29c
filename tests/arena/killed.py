"""`wakeng` that gets a signal at a moment of its own progress, for tests of what survives that.

    python tests/arena/killed.py MOMENT:N[:SIGNAL][,...] ARGUMENT ...

SIGNAL is KILL, if absent, or INT. MOMENT is `decision`, as the N-th decision of this process is applied; `record`, as
its N-th record is handed to the writer, before anything of it is written; or `committed`, as its N-th batch of records
is in the database and nobody has been told yet.
"""

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from wakeng.cli.main import main
from wakeng.services.store import RecordWriter, Store
from wakeng.services.watchers import JournalWatcher


def at(number: int, name: str) -> Callable[[], None]:
    """Signals when it is called for the `number`-th time; after SIGKILL nothing is flushed, closed or told."""
    left = number

    def count() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.Signals[f"SIG{name}"])

    return count


def arm(moment: str, number: int, name: str = "KILL") -> None:
    """Set the seam."""
    count = at(number, name)
    if moment == "decision":
        wrap(JournalWatcher, "decided", lambda told: [count() for _ in told])
    elif moment == "record":
        wrap(RecordWriter, "put", lambda *_: count())
    elif moment == "committed":
        add = Store.add

        async def committed(self: Store, entries: Any) -> Any:
            added = await add(self, entries)
            count()
            return added

        Store.add = committed  # type: ignore[method-assign]
    else:
        raise SystemExit(f"no such moment: {moment}")


def wrap(owner: type, name: str, count: Callable[..., object]) -> None:
    """Count what a method is called for, before it does anything."""
    method = getattr(owner, name)

    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        count(*args)
        return method(self, *args, **kwargs)

    setattr(owner, name, counted)


if __name__ == "__main__":
    for told in sys.argv[1].split(","):
        moment, number, *name = told.split(":")
        arm(moment, int(number), *name)
    sys.argv[1:] = sys.argv[2:]
    main()
