"""A question to a bot, read lazily: nothing of the message is unpacked before it is asked for.

A bot that answers 100,000 questions a second looks at two or three fields of each, so a `Decision` costs no more to
make than an empty object. What takes work (`history`, `card_ids`) is kept once it is done.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from wakeng.engine import RuleSet, parse_cards
from wakeng.engine.plays import pack
from wakeng.sdk.legal import legal_tokens
from wakeng.sdk.wire import rules_from_bytes
from wakeng.v1 import bot_pb2, observation_pb2


class Answer(NamedTuple):
    """A choice with a note: an author's own remark, kept in the record and shown to nobody at the table."""

    action: str
    note: str = ""
    """Of the note's UTF-8 the first 200 bytes are kept."""


Choice = str | Answer
"""What a bot returns: the token alone, or with a note."""


class Event(NamedTuple):
    """One public event of a hand (docs/protocol.md 1)."""

    seat: int | None
    """Who acted; None for a lie-down refused, of which nobody learns whose it was."""
    phase: str
    """A phase's word, or LIE_DOWN for the outcome of its two hidden questions."""
    token: str
    """The token, or `lies` or `refused`."""


@lru_cache(maxsize=4_096)
def parse_event(text: str) -> Event:
    """An event of its text, `"0:PLAY:456"`. There are some 700 of them, so each is read once."""
    seat, phase, token = text.split(":", 2)
    return Event(None if seat == "-" else int(seat), phase, token)


class Decision:
    """One question to one seat, with all that the seat may know (docs/protocol.md 4).

    Cards are strings in ascending card id (`"4h5dKs3s"`), seats count from 0. `message` is the request as it came.
    """

    __slots__ = ("_card_ids", "_history", "_legal", "message")

    _card_ids: tuple[int, ...]
    _history: tuple[Event, ...]
    _legal: tuple[str, ...]

    def __init__(self, message: bot_pb2.DecideRequest) -> None:
        self.message = message

    # The question -------------------------------------------------------------------------------------------------

    @property
    def id(self) -> int:
        """Names the question; it never comes again."""
        return self.message.decision_id

    @property
    def phase(self) -> str:
        """BLIND, BID, GRAB, OPEN, BURY, LIE_DOWN_ASK, LIE_DOWN_CONSENT or PLAY."""
        return self.message.phase

    @property
    def legal(self) -> Sequence[str]:
        """Every legal token, in vocabulary order; to be read only. Worked out here where the arena sent none."""
        sent: Sequence[str] = self.message.legal_actions
        return sent or self._worked_out()

    def _worked_out(self) -> tuple[str, ...]:
        try:
            return self._legal
        except AttributeError:
            hand = pack(self.card_ids)
            self._legal = legal_tokens(self.rules, self.phase, hand, table=self.table, bid=self.bid)
            return self._legal

    @property
    def time_left_ms(self) -> int:
        """Milliseconds for this move, as the arena sent the question."""
        return self.message.time_left_ms

    @property
    def bank_left_ms(self) -> int:
        """Milliseconds of the hand's bank, drawn on once `time_left_ms` is over."""
        return self.message.bank_left_ms

    @property
    def match_id(self) -> str:
        """The match the hand belongs to."""
        return self.message.match_id

    @property
    def hand_index(self) -> int:
        """The hand's number in its match, from 0."""
        return self.message.hand_index

    @property
    def attempt(self) -> int:
        """How often the arena voided this deal before, from 0."""
        return self.message.attempt

    @property
    def last_latency_us(self) -> int | None:
        """Microseconds the seat's previous decision of this hand took; None in its first."""
        return self.message.last_latency_us if self.message.HasField("last_latency_us") else None

    @property
    def last_fault(self) -> str | None:
        """The fault of the seat's previous decision of this hand, None where there was none."""
        return self.message.last_fault if self.message.HasField("last_fault") else None

    # What the seat sees -------------------------------------------------------------------------------------------

    @property
    def observation(self) -> observation_pb2.Observation:
        """The message of what the seat sees."""
        return self.message.observation

    @property
    def rules(self) -> RuleSet:
        """The rules of the hand; RuleError where this version of the engine does not know them."""
        return rules_from_bytes(self.message.observation.rules.SerializeToString(deterministic=True))

    @property
    def seat(self) -> int:
        """The seat that decides."""
        return self.message.observation.seat

    @property
    def cards(self) -> str:
        """The seat's own remaining cards; empty in BLIND."""
        return self.message.observation.cards

    @property
    def card_ids(self) -> tuple[int, ...]:
        """The same as ids, 0 (`4c`) to 51 (`3s`)."""
        try:
            return self._card_ids
        except AttributeError:
            self._card_ids = parse_cards(self.message.observation.cards)
            return self._card_ids

    @property
    def cards_left(self) -> Sequence[int]:
        """How many cards each seat holds, by seat; all 0 in BLIND."""
        return self.message.observation.cards_left

    @property
    def kitty(self) -> str | None:
        """The kitty's cards, None until the digger takes it."""
        seen = self.message.observation
        return seen.kitty if seen.HasField("kitty") else None

    @property
    def digger(self) -> int | None:
        """The digger's seat, None until it is settled."""
        seen = self.message.observation
        return seen.digger if seen.HasField("digger") else None

    @property
    def bid(self) -> int:
        """What the hand is dug at as things stand; 0 while nobody bid."""
        return self.message.observation.bid

    @property
    def bombs(self) -> int:
        """Bombs played so far."""
        return self.message.observation.bombs

    @property
    def grabs(self) -> int:
        """Grabs so far."""
        return self.message.observation.grabs

    @property
    def opened(self) -> bool:
        """Whether the digger laid his hand open."""
        return self.message.observation.opened

    @property
    def blind(self) -> bool:
        """Whether a blind dig stands."""
        return self.message.observation.blind

    @property
    def lying_seat(self) -> int | None:
        """The seat that lies down, None where none does."""
        seen = self.message.observation
        return seen.lying_seat if seen.HasField("lying_seat") else None

    @property
    def opened_cards(self) -> str | None:
        """The digger's remaining cards where he laid them open, else None."""
        seen = self.message.observation
        return seen.opened_cards if seen.HasField("opened_cards") else None

    @property
    def marked_card(self) -> str | None:
        """The card whose holder bids first, None where the rule set marks none."""
        seen = self.message.observation
        return seen.marked_card if seen.HasField("marked_card") else None

    @property
    def marked_seat(self) -> int | None:
        """The seat dealt the marked card, -1 for the kitty; None before the deal or without such a card."""
        seen = self.message.observation
        return seen.marked_seat if seen.HasField("marked_seat") else None

    @property
    def task(self) -> str | None:
        """The hand's task (docs/rules.md 6), None before it is announced or where there are none."""
        seen = self.message.observation
        return seen.task if seen.HasField("task") else None

    @property
    def table(self) -> str:
        """The play to beat; empty for a leader, and before PLAY."""
        return self.message.observation.table

    @property
    def table_seat(self) -> int | None:
        """Who made the play to beat, None where there is none."""
        seen = self.message.observation
        return seen.table_seat if seen.HasField("table_seat") else None

    @property
    def history(self) -> tuple[Event, ...]:
        """The public events so far, oldest first."""
        try:
            return self._history
        except AttributeError:
            self._history = tuple(map(parse_event, self.message.observation.history))
            return self._history

    # What follows from it -----------------------------------------------------------------------------------------

    @property
    def leads(self) -> bool:
        """Whether this is PLAY onto an empty table."""
        return self.phase == "PLAY" and not self.table

    @property
    def is_digger(self) -> bool:
        """Whether this seat digs."""
        return self.digger == self.seat

    @property
    def partners(self) -> tuple[int, ...]:
        """The other seats of this one's side; none for the digger, nor before there is one."""
        digger, seat = self.digger, self.seat
        if digger is None or digger == seat:
            return ()
        return tuple(other for other in range(len(self.cards_left)) if other not in (seat, digger))

    def __repr__(self) -> str:
        onto = f" onto {self.table}" if self.table else ""
        return f"<Decision {self.id}: seat {self.seat}, {self.phase}{onto}, holding {self.cards or 'nothing'}>"
