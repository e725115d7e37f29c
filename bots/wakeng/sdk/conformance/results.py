"""What the checker says: one value per check, with what was sent, what came back, and what the rule says."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from google.protobuf.json_format import MessageToJson
from google.protobuf.message import Message

from wakeng.engine import Fault

MOST_CHARACTERS: Final = 4_096
"""Of what was sent or came back."""
_MOST_BYTES_SHOWN: Final = 64


class Status(Enum):
    """What came of a check; the value is the word in reports."""

    PASS = "pass"
    """The bot did what the protocol says."""
    FAIL = "fail"
    """It did not."""
    REMARK = "remark"
    """Nothing is wrong, but its author may want to know."""
    SKIPPED = "skipped"
    """The check does not apply to this bot, or an earlier failure left nothing to try."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What came of one check."""

    name: str
    """The check's name, short and always the same."""
    status: Status
    summary: str
    """What it found, in a sentence."""
    sent: str = ""
    """What was sent, as JSON or in words; empty where nothing in particular was."""
    received: str = ""
    """What came back, likewise."""
    rule: str = ""
    """What the protocol says, and where; empty where the check passed."""
    faults: tuple[Fault, ...] = ()
    """The faults that the arena would find (docs/protocol.md 7), in the order in which it would."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, all of them."""
        return {
            "name": self.name,
            "status": self.status.value,
            "summary": self.summary,
            "sent": self.sent,
            "received": self.received,
            "rule": self.rule,
            "faults": [fault.value for fault in self.faults],
        }


class Found(Exception):
    """Raised by a check that has come to its end early: with a failure, or with something else to say."""

    def __init__(
        self,
        summary: str,
        *faults: Fault,
        status: Status = Status.FAIL,
        sent: str = "",
        received: str = "",
        rule: str | None = None,
        last: bool = False,
    ) -> None:
        super().__init__(summary)
        self.summary = summary
        self.faults = faults
        self.status = status
        self.sent = sent
        self.received = received
        self.rule = rule
        """What the protocol says of it; None where that follows from the fault or the check."""
        self.last = last
        """Whether nothing is left to try after it."""


def shown(message: Message) -> str:
    """A message as JSON in one line, with the names of the proto."""
    return MessageToJson(message, preserving_proto_field_name=True, indent=None)[:MOST_CHARACTERS]


def shown_bytes(raw: bytes) -> str:
    """Bytes that are no message."""
    more = " …" if len(raw) > _MOST_BYTES_SHOWN else ""
    return f"{counted(len(raw), 'byte')}: {raw[:_MOST_BYTES_SHOWN].hex(' ')}{more}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 question`, `1,000 questions`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


RULES: Final[Mapping[Fault | str, str]] = {
    Fault.DEADLINE: "docs/protocol.md 7: an answer is due within the move's time and what is left of the hand's bank",
    Fault.ILLEGAL_ACTION: "docs/protocol.md 1: the answer is one of the tokens that are legal here",
    Fault.MALFORMED: "docs/protocol.md 1, 4 and 7: an answer is a readable message of at most 64 KiB, in a stream "
    "1 MiB, its action a token of the vocabulary; and no more than twice the messages that were asked for",
    Fault.STALE: "docs/protocol.md 4: an answer carries the decision_id of its question, and each is answered once",
    Fault.BOT_ERROR: "docs/protocol.md 2 and 7: an answer with an error, or an error status, is the bot's own fault",
    Fault.DISCONNECTED: "docs/protocol.md 7: a connection stays until the arena ends it",
    Fault.UNREACHABLE: "docs/protocol.md 7: a lost connection is back within the reconnect budget",
    Fault.NOT_READY: "docs/protocol.md 2 and 7: Describe, and the stream's first pings, are answered within the ready "
    "budget",
    "describe": "docs/protocol.md 2: what Describe says of the bot",
    "both": "docs/protocol.md 2: a bot implements Describe and at least one of Decide and Play",
    "phases": "docs/protocol.md 2: presets and override_fields name what the bot plays; none named means all",
    "unknown phase": "docs/protocol.md 2: a bot that meets a phase it does not know picks any token of legal_actions",
    "agreement": "docs/protocol.md 2: Decide and Play ask the same; a bot that plays by chance may answer otherwise",
    "latency": "docs/protocol.md 7: the move budget is for one decision; what takes longer is drawn from the bank",
    "burst": "docs/protocol.md 2: max_decisions says how many questions may be outstanding with the bot at once",
    "pings": "docs/protocol.md 2: a ping wants a pong with its id at once",
    "reconnect": "docs/protocol.md 3 and 7: when a stream breaks, what is pending is asked again under its old id",
}
"""What the protocol says, by the fault it earns or by the check."""
