"""The journal: every decision and every fault as a line of JSON, at once (docs/protocol.md 8).

A line is made by structlog when its event happens, and put into a buffer. The line of a plain decision, of which there
are tens of thousands a second, is joined from what is encoded already (a test holds it equal). One writer, a thread
that sleeps while there is nothing to do, takes all that has gathered and writes it in one go: the event loop neither
waits for the disk nor makes a system call per line. The buffer is bounded. When it is full, whoever brings the next
line writes it out, and so is as slow as the disk; no line is ever dropped.
"""

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, Final, Self

from structlog import BoundLoggerBase

from wakeng.engine import TOKENS
from wakeng.services.errors import LineFileError
from wakeng.services.linefile import LineFile
from wakeng.services.plaintext import json_line
from wakeng.services.table import Decided, Table

MOST_BYTES: Final = 256 << 20
BACKUPS: Final = 4
_MOST_BUFFERED: Final = 8192
_LINGER_S: Final = 0.02


def wall_clock_us() -> int:
    """Microseconds since 1970."""
    return time.time_ns() // 1000


def _stamp(us: int) -> str:
    second, rest = divmod(us, 1_000_000)
    return f"{_second(second)}.{rest:06d}Z"


@lru_cache(maxsize=4)
def _second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")


@lru_cache(maxsize=4)
def _second_bytes(second: int) -> bytes:
    return _second(second).encode()


_MADE: Final = {
    phase: {
        token: b',"phase":"%s","action":"%s","latency_us":' % (phase.value.encode(), token.encode()) for token in tokens
    }
    for phase, tokens in TOKENS.items()
}
"""What a line says of a decision, by phase and action."""


def which_hand(*, match_id: str, hand_index: int, attempt: int) -> bytes:
    """What the lines on the decisions of one hand say; with `who`, for `Journal.decisions`, what a seat's say."""
    return _inside({"match_id": match_id, "hand_index": hand_index, "attempt": attempt}) + b","


@lru_cache(maxsize=4096)
def who(seat: int, bot: str) -> bytes:
    """What all lines on the decisions of a bot in a seat say."""
    return _inside({"seat": seat, "bot": bot})


def _inside(fields: dict[str, str | int]) -> bytes:
    return json_line(None, "", fields)[1:-2]


_PLAIN_LINE: Final = b'%b%b%b%d,"event":"decision"}\n'


class Journal:
    """A file of events, and its older parts as FILE.1, FILE.2 and so on. LineFileError where the disk fails."""

    def __init__(
        self,
        file: "_Rotating",
        *,
        clock: Callable[[], int] = wall_clock_us,
        on_lines: Callable[[int], object] = lambda _: None,
        on_failure: Callable[[], object] = lambda: None,
        most_buffered: int = _MOST_BUFFERED,
    ) -> None:
        """For `open`, which is how one gets a journal."""
        self._buffer = _Buffer(file, on_lines, on_failure, most_buffered)
        self._clock = clock
        self._tell = _Teller(self._buffer, [json_line], {}).tell

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        max_bytes: int = MOST_BYTES,
        backups: int = BACKUPS,
        clock: Callable[[], int] = wall_clock_us,
        on_lines: Callable[[int], object] = lambda _: None,
        on_failure: Callable[[], object] = lambda: None,
        most_buffered: int = _MOST_BUFFERED,
    ) -> Self:
        """The journal at `path`, continued if there is one.

        A part is closed before it would outgrow `max_bytes`; the newest `backups` of them are kept. `on_lines` is told
        after each batch how many lines were written, and `on_failure` that the disk took none, from the thread that
        wrote.
        """
        file = _Rotating(Path(path), max_bytes, backups)
        return cls(file, clock=clock, on_lines=on_lines, on_failure=on_failure, most_buffered=most_buffered)

    def decisions(self, told: Sequence[Decided], whose: Mapping[Table, Sequence[bytes]]) -> None:
        """Decisions that were applied together; `whose` has by table and seat what `which_hand` and `who` say.

        Where there is no more to say of one than that, it has its line in a tenth of the time that `decision` takes.
        """
        second, us = divmod(self._clock(), 1_000_000)
        at = b'{"at":"%b.%06dZ",' % (_second_bytes(second), us)
        lines: list[bytes] = []
        for decided in told:
            table, seat, phase, action, latency_us, fault, _, note = decided
            if fault is None and note is None:
                lines.append(_PLAIN_LINE % (at, whose[table][seat], _MADE[phase][action], latency_us))
            else:
                self._buffer.extend(lines)
                lines = []
                self._decision(decided)
        self._buffer.extend(lines)

    def _decision(self, decided: Decided) -> None:
        spec = decided.table.spec
        self.decision(
            match_id=spec.match_id,
            hand_index=spec.hand_index,
            attempt=spec.attempt,
            seat=decided.seat,
            bot=spec.names[decided.seat].bot,
            phase=decided.phase.value,
            action=decided.action,
            latency_us=decided.latency_us,
            fault=decided.fault.value if decided.fault else None,
            offered=decided.offered,
            note=decided.note,
        )

    def decision(
        self,
        *,
        match_id: str,
        hand_index: int,
        attempt: int,
        seat: int,
        bot: str,
        phase: str,
        action: str,
        latency_us: int,
        fault: str | None = None,
        offered: str | None = None,
        note: str | None = None,
    ) -> None:
        """A decision was applied; with `fault`, it was the default action (docs/protocol.md 7)."""
        fields: dict[str, Any] = {
            "at": _stamp(self._clock()),
            "match_id": match_id,
            "hand_index": hand_index,
            "attempt": attempt,
            "seat": seat,
            "bot": bot,
            "phase": phase,
            "action": action,
            "latency_us": latency_us,
        }
        if fault is not None:
            fields["fault"] = fault
        if offered is not None:
            fields["offered"] = offered
        if note is not None:
            fields["note"] = note
        self._tell("decision", fields)

    def fault(
        self,
        *,
        match_id: str,
        hand_index: int,
        attempt: int,
        seat: int,
        bot: str,
        fault: str,
        **more: Any,
    ) -> None:
        """A fault happened, in a decision or outside; `more` is what helps to understand it, such as a phase."""
        self.event(
            "fault",
            match_id=match_id,
            hand_index=hand_index,
            attempt=attempt,
            seat=seat,
            bot=bot,
            fault=fault,
            **more,
        )

    def event(self, name: str, /, **fields: Any) -> None:
        """Anything else, such as a hand voided or a bot quarantined; `at` and `event` are the journal's own fields."""
        self._tell(name, {"at": _stamp(self._clock()), **fields})

    def flush(self) -> None:
        """Returns when every line told so far is the kernel's, where a kill cannot reach it."""
        self._buffer.flush()

    def close(self) -> None:
        """Flushes, and ends the writer; to close twice changes nothing, and to tell more is an error."""
        self._buffer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Teller(BoundLoggerBase):
    """structlog's logger in its shortest form: one level, and events given as what they hold."""

    def tell(self, event: str, fields: dict[str, Any]) -> None:
        arguments, _ = self._process_event("append", event, fields)
        self._logger.append(*arguments)


class _Buffer:
    """Lines on their way to the file, and the thread that takes them there."""

    def __init__(
        self, file: "_Rotating", on_lines: Callable[[int], object], on_failure: Callable[[], object], most: int
    ) -> None:
        self._file = file
        self._on_lines = on_lines
        self._on_failure = on_failure
        self._most = most
        self._lines: list[bytes] = []
        self._awake = False
        """Whether the writer was told; a flag of its own, since tens of thousands a second look at it."""
        self._told = Event()
        self._closing = Event()
        self._writing = Lock()
        self._thread = Thread(target=self._write_on, name="wakeng-journal", daemon=True)
        self._thread.start()

    def append(self, line: bytes) -> None:
        """Takes a line; the logger's sink."""
        self.extend([line])

    def extend(self, lines: list[bytes]) -> None:
        """Takes some lines, a buffer's fill or less at a time."""
        while len(self._lines) + len(lines) > self._most:
            room = max(0, self._most - len(self._lines))
            self._lines += lines[:room]
            lines = lines[room:]
            self._make_room()
        self._lines += lines
        # The writer lowers the flag before it takes the lines: a line it does not find finds the flag lowered.
        if not self._awake:
            self._awake = True
            self._told.set()

    def _make_room(self) -> None:
        if self._closing.is_set():
            raise LineFileError("the journal is closed")
        self.flush()

    def flush(self) -> None:
        """Writes all that is there; raises, and keeps it, if that fails."""
        with self._writing:
            count = len(self._lines)
            if count == 0:
                return
            written = 0
            try:
                for part in self._file.parts(self._lines[:count]):
                    self._file.append(part)
                    written += len(part)
            except LineFileError:
                self._on_failure()
                raise
            finally:
                # Others may append meanwhile, but only here is anything taken away.
                del self._lines[:written]
                self._on_lines(written)

    def close(self) -> None:
        if self._closing.is_set():
            return
        self._closing.set()
        self._most = 0  # So whoever brings another line looks why there is no room.
        self._told.set()
        self._thread.join()
        try:
            self.flush()
        finally:
            self._file.close()

    def _write_on(self) -> None:
        while not self._closing.is_set():
            self._told.wait()
            self._closing.wait(_LINGER_S)
            self._told.clear()
            self._awake = False
            try:
                self.flush()
            except LineFileError:
                # The lines stay. Who fills the buffer, flushes or closes tries again, and is told.
                continue


class _Rotating:
    """A file of lines that begins anew when it is full; what was in it moves on by one place."""

    def __init__(self, path: Path, max_bytes: int, backups: int) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._backups = backups
        self._file = LineFile(path)

    def parts(self, lines: Iterable[bytes]) -> Iterable[list[bytes]]:
        """The lines in parts that go into one file each, at least a line to a file."""
        part: list[bytes] = []
        size = self._file.size
        for line in lines:
            if size and size + len(line) > self._max_bytes and self._file.regular:
                if part:
                    yield part
                    part = []
                self._rotate()
                size = 0
            part.append(line)
            size += len(line)
        yield part

    def append(self, lines: list[bytes]) -> None:
        self._file.append(b"".join(lines))

    def close(self) -> None:
        self._file.close()

    def _rotate(self) -> None:
        try:
            self._move_on()
        except OSError as problem:
            raise LineFileError(f"cannot begin {self._path} anew: {problem.strerror}") from problem

    def _move_on(self) -> None:
        # From the oldest on, each gives its place to the next newer; without backups the file itself is dropped.
        names = [self._path, *(Path(f"{self._path}.{number}") for number in range(1, self._backups + 1))]
        names[-1].unlink(missing_ok=True)
        for older, newer in zip(names[:0:-1], names[-2::-1], strict=True):
            if newer.exists():
                newer.replace(older)
        fresh = LineFile(self._path)
        self._file.close()
        self._file = fresh
