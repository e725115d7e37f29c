"""What goes into the store and comes out: matches as values, and the rows that a hand's record makes."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

import orjson

from wakeng.engine import decode, encode
from wakeng.services.errors import BadPageToken
from wakeng.services.gist import Gist

Key = tuple[str, int]
"""A hand in the store: match id and hand index."""


class MatchState(Enum):
    """Where a match stands; the value is the word in the store."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    """Only a tournament is."""
    FINISHED = "FINISHED"
    CANCELLED = "CANCELLED"
    FAILED = "FAILED"

    @property
    def final(self) -> bool:
        """Whether the match is over; it then never changes again."""
        return self not in UNFINISHED


UNFINISHED: Final = (MatchState.PENDING, MatchState.RUNNING, MatchState.PAUSED)


class MatchKind(Enum):
    """What the hands of a row belong to; the value is the word in the store."""

    MATCH = "match"
    TOURNAMENT = "tournament"


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A match as the store has it. Times are microseconds since 1970, UTC."""

    match_id: str
    request_id: str | None
    spec: Mapping[str, Any]
    seed: str
    """64 lower-case hex digits."""
    commitment: str
    """SHA-256 of the seed, in hex."""
    state: MatchState
    hands: int
    """To be played, from 1."""
    created_us: int
    finished_us: int | None
    """None until a final state."""
    reason: str | None
    """Why it was cancelled or failed."""
    kind: MatchKind = MatchKind.MATCH


@dataclass(frozen=True, slots=True)
class Page:
    """Some matches, and what to ask with for those after them; empty where there are none."""

    matches: tuple[Match, ...]
    next_page_token: str


@dataclass(frozen=True, slots=True)
class SeatTotals:
    """Sums over the recorded hands of one seat of a match."""

    score: int
    task_bonus: int
    hands_as_digger: int
    """Played to the end."""
    wins_as_digger: int
    wins_as_defender: int
    escapes: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A record's canonical line, and what the store's rows say of it."""

    gist: Gist
    line: bytes

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> "Entry":
        """Of a record that the arena has just made; its line is encoded here."""
        return cls(Gist.of(record), encode(record))

    @classmethod
    def of_line(cls, line: bytes) -> "Entry":
        """Of a line from anywhere; RecordError if its shape or its checksum is not right."""
        return cls(Gist.of(decode(line)), line)

    @property
    def key(self) -> Key:
        """Which hand it is."""
        head = self.gist.head
        return head["match_id"], head["hand_index"]

    @property
    def attempt(self) -> int:
        """Of how many at the hand, from 0."""
        return int(self.gist.head["attempt"])


@dataclass(frozen=True, slots=True)
class Added:
    """What became of a batch of records."""

    written: tuple[Entry, ...]
    ignored: int
    """How many were there already, in this or a later attempt."""


def plain_spec(spec: Mapping[str, Any]) -> str:
    """The one text of a spec, so that equal specs are equal texts."""
    return orjson.dumps(spec, option=orjson.OPT_SORT_KEYS).decode()


def match_of(row: Mapping[str, Any]) -> Match:
    """The match of a row of `matches`."""
    return Match(
        **{**row, "spec": orjson.loads(row["spec"]), "state": MatchState(row["state"]), "kind": MatchKind(row["kind"])}
    )


def hand_row(entry: Entry, finished_us: int) -> dict[str, Any]:
    """The row of `hand_records`."""
    head, result = entry.gist.head, entry.gist.head["result"]
    return {
        "match_id": head["match_id"],
        "hand_index": head["hand_index"],
        "attempt": head["attempt"],
        "line": entry.line.decode(),
        "winner": result["winner"],
        "digger": result.get("digger"),
        "stake": result.get("stake"),
        "checksum": _checksum(entry.line),
        "finished_us": finished_us,
    }


_CHECKSUM: Final = b'"checksum":"'


def _checksum(line: bytes) -> str:
    # Only numbers stand before it in a canonical line, and parsing the line would cost more than all the rest.
    start = line.index(_CHECKSUM) + len(_CHECKSUM)
    return line[start : start + 64].decode()


def seat_rows(entry: Entry, finished_us: int) -> list[dict[str, Any]]:
    """The rows of `hand_seats`."""
    head, result = entry.gist.head, entry.gist.head["result"]
    bonus, escaped, digger = result.get("task_bonus"), result.get("escaped_seat"), result.get("digger")
    wins_by_digging = {"DIGGER": True, "DEFENDERS": False}.get(result["winner"])
    return [
        {
            "match_id": head["match_id"],
            "hand_index": head["hand_index"],
            "seat": seat,
            "bot": who["bot"],
            "score": result["scores"][seat],
            "task_bonus": bonus[seat] if bonus else None,
            "escaped": seat == escaped,
            "finished_us": finished_us,
            "dug": None if digger is None else seat == digger,
            "won": None if wins_by_digging is None else (seat == digger) is wins_by_digging,
        }
        for seat, who in enumerate(head["seats"])
    ]


def latest(entries: Iterable[Entry]) -> dict[Key, Entry]:
    """By hand, the entry of the highest attempt, and of equal ones the first: what one after the other would leave."""
    found: dict[Key, Entry] = {}
    for entry in entries:
        known = found.get(entry.key)
        if known is None or entry.attempt > known.attempt:
            found[entry.key] = entry
    return found


def token_after(last: Match) -> str:
    """What asks for the page after the one that ends with this match."""
    return urlsafe_b64encode(orjson.dumps([last.created_us, last.match_id])).decode()


def read_page_token(token: str) -> tuple[int, str]:
    """Creation time and id of the match that the page before ended with."""
    with suppress(ValueError):
        match orjson.loads(urlsafe_b64decode(token.encode("ascii"))):
            case [int(created_us), str(match_id)] if 0 <= created_us < 2**63 and "\0" not in match_id:
                return created_us, match_id
    raise BadPageToken("page_token: is none that a page gave")
