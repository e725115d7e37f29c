"""Requests as encoded bytes, spliced from pieces instead of built as objects (docs/protocol.md 4).

A request says over again nearly all that the one before it said: the rules, the kitty, forty events of history. So
each table keeps the encoded history, which grows by an event, and the encoded facts that are settled once. A request
is one join of these with the few fields that change. Protocol buffers allow it: a message is its fields one
after another, each a key, a length and the bytes. Fields are written in ascending number, and what has its default is
left out, so the bytes are those of the objects of `wakeng.services.requests` (a test holds them equal).

The seat's cards are kept as thirteen strings, one per rank. A play takes equal ranks off the lowest suits, which is the
front of the string.
"""

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final

from wakeng.engine import CARD_NAMES, PLAYS, RANKS, TOKENS, Hand, Phase, Result, RuleSet, Winner, format_cards
from wakeng.engine.phases import EVENTS
from wakeng.sdk.wire import rules_message
from wakeng.services.table import HandSpec, Table

_PLAY: Final = Phase.PLAY
"""By a name of its own, since before Python 3.12 a member of an enum takes nine times as long to find."""
_VARINT: Final = 0
_BYTES: Final = 2


def _varint(value: int) -> bytes:
    """A base-128 number, least significant group first; a negative one as its 64-bit two's complement."""
    if 0 <= value < _READY:
        return _SMALL[value]
    return _long_varint(value)


@lru_cache(maxsize=1024)
def _long_varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    groups = bytearray()
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    groups.append(value)
    return bytes(groups)


_READY: Final = 2048
"""Numbers below this are looked up: lengths and milliseconds, for the most part."""
_SMALL: Final = tuple(map(_long_varint, range(_READY)))


_TAGGED_PAIRS: Final = tuple(b"\x08" + bytes((value & 127 | 128, value >> 7 | 128)) for value in range(1 << 14))
"""The key of field 1, and two groups of its number, with more to follow."""


def _decision_id(value: int) -> bytes:
    """Field 1. Of its number's nine bytes the last seven change once in 16,384 decisions."""
    return _TAGGED_PAIRS[value & 16383] + _upper(value >> 14) if value >> 14 else _number(1, value)


_upper: Final = lru_cache(maxsize=16)(_varint)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3 | _VARINT) + _varint(value)


def _text(field: int, text: str | bytes) -> bytes:
    raw = text.encode() if isinstance(text, str) else text
    return _varint(field << 3 | _BYTES) + _varint(len(raw)) + raw


# DecideRequest
_OBSERVATION: Final = _varint(3 << 3 | _BYTES)
_ASKED: Final = {phase: _text(2, phase.value) + _OBSERVATION for phase in Phase}
_LEGAL: Final = {phase: tuple(_text(4, token) for token in tokens).__getitem__ for phase, tokens in TOKENS.items()}
# Observation
_SEAT: Final = (b"", *(_number(1, seat) for seat in (1, 2, 3)))
_CARDS: Final = (b"", *(_varint(2 << 3 | _BYTES) + _varint(2 * cards) for cards in range(1, 53)))
"""Key and length, by how many cards follow."""
_CARDS_LEFT: Final = tuple(_varint(3 << 3 | _BYTES) + _varint(players) for players in range(5))
_LEFT: Final = len(_CARDS_LEFT[3])
"""Where the counts begin, of a byte each."""
_TO_BEAT: Final = tuple(
    tuple(b"" if play.id == 0 else _text(4, play.token) + _number(5, seat) for play in PLAYS)
    for seat in (0, 1, 2, 3, -1)
)
"""By who made it (nobody, at last) and play: what lies on the table."""
_LYING: Final = (*(_number(16, seat) for seat in range(4)), b"")
"""By seat; the last for nobody, who is -1."""
_NAME: Final = tuple(name.encode() for name in CARD_NAMES).__getitem__
_TAKEN: Final = tuple(
    tuple((RANKS[rank].encode(), 2 * play.size) for rank in range(play.bottom, play.top + 1)) for play in PLAYS
)
"""By play: its ranks, and how many bytes of cards it takes of each."""


@lru_cache(maxsize=1 << 14)
def _legal(phase: Phase, legal: tuple[int, ...]) -> bytes:
    """The same few choices come again and again: most who follow can only pass."""
    return b"".join(map(_LEGAL[phase], legal))


@lru_cache(maxsize=256)
def _time(left_s: float | None, bank_us: int, move_ms: int) -> bytes:
    """What is left of the move and of the bank."""
    bank_ms = bank_us // 1000
    time_left = move_ms if left_s is None else min(move_ms, int(1000 * left_s) - bank_ms)
    return (_number(5, time_left) if time_left > 0 else b"") + (_number(6, bank_ms) if bank_ms else b"")


@lru_cache(maxsize=1024)
def _last(how: tuple[int, str | None] | None) -> bytes:
    """How the seat's decision before went. Those whose answers came in one message waited for the same time."""
    if how is None:
        return b""
    latency_us, fault = how
    return _number(10, latency_us) + (b"" if fault is None else _text(11, fault))


@cache
def _event(event: str) -> bytes:
    return _text(15, event)


_PLAYED: Final = tuple(tuple(map(_event, seat[Phase.PLAY])) for seat in EVENTS)
"""By seat and play."""


@lru_cache(maxsize=256)
def _rules(rules: RuleSet) -> bytes:
    return _text(11, rules_message(rules).SerializeToString(deterministic=True))


_DECISIONS: Final = _varint(1 << 3 | _BYTES)
_LENGTH: Final = tuple(_DECISIONS + length for length in _SMALL)
"""Key and length of a request."""


def arena_message(requests: Iterable[tuple[int, bytes]], others: bytes) -> bytes:
    """A stream message of DecideRequests, as (id, encoded rest), and of other fields of an ArenaMessage, encoded too.

    Ids are what `wakeng.services.ids` gives, none below 2^35.

    PlayRequest and JoinResponse are the same on the wire: an ArenaMessage as field 1.
    """
    pieces: list[bytes] = []
    for decision_id, rest in requests:
        asked = _TAGGED_PAIRS[decision_id & 16383] + _upper(decision_id >> 14)
        length = len(asked) + len(rest)
        pieces += (_LENGTH[length] if length < _READY else _DECISIONS + _long_varint(length), asked, rest)
    pieces.append(others)
    return _text(1, b"".join(pieces))


# HandStarted and HandEnded
_STARTED: Final = 2
_ENDED: Final = 3


@lru_cache(maxsize=256)
def _rules_started(rules: RuleSet) -> bytes:
    return _text(5, rules_message(rules).SerializeToString(deterministic=True))


@lru_cache(maxsize=1024)
def _which_hand(match_id: str, hand_index: int, attempt: int) -> bytes:
    """What the notices to all its seats begin with."""
    return b"".join(
        (
            _text(1, match_id),
            _number(2, hand_index) if hand_index else b"",
            _number(3, attempt) if attempt else b"",
        )
    )


_NOTICED: Final = (b"", *(_number(4, seat) for seat in (1, 2, 3)))
"""By seat: the field that says it is told."""


@lru_cache(maxsize=1024)
def _outcome(winner: Winner, scores: tuple[int, ...], escaped_seat: int | None) -> bytes:
    """There are few, and each is told to all seats."""
    escaped = b"" if escaped_seat is None else _number(7, escaped_seat)
    return _text(5, winner.value) + _text(6, b"".join(map(_varint, scores))) + escaped


def hand_started(spec: HandSpec, seat: int) -> bytes:
    """The field of an ArenaMessage that tells a seat's bot that a hand begins."""
    hand = _which_hand(spec.match_id, spec.hand_index, spec.attempt)
    return _text(_STARTED, hand + _NOTICED[seat] + _rules_started(spec.rules))


def hand_ended(spec: HandSpec, seat: int, result: Result | None) -> bytes:
    """The field of an ArenaMessage that tells a seat's bot that a hand is over; None for one that was voided."""
    hand = _which_hand(spec.match_id, spec.hand_index, spec.attempt)
    outcome = b"" if result is None else _outcome(result.winner, result.scores, result.escaped_seat)
    return _text(_ENDED, hand + _NOTICED[seat] + outcome)


class RequestWriter:
    """Writes the requests of one table. Everything it keeps follows from the hand, which it reads and never changes.

    Before PLAY, where questions are few, each is told anew. In PLAY all that changes is the table, the cards of who
    plays, and the history.
    """

    __slots__ = (
        "_bombs",
        "_cards",
        "_history",
        "_identity",
        "_left",
        "_move_ms",
        "_settled",
        "_table",
        "_tail",
        "_told",
    )

    _cards: list[bytes]
    _left: bytearray
    _bombs: int
    _settled: bytes
    """What lies between the play to beat and the history."""
    _history: bytearray
    _tail: bytes
    """What follows the history. Of these there are none before PLAY."""

    def __init__(self, table: Table) -> None:
        spec = table.spec
        self._table = table
        self._move_ms = spec.time_control.move_ms
        self._identity = b"".join(
            (
                _text(7, spec.match_id),
                _number(8, spec.hand_index) if spec.hand_index else b"",
                _number(9, spec.attempt) if spec.attempt else b"",
            )
        )
        self._told = -1
        """How many decisions are in what is kept; none before PLAY."""

    def request(self, decision_id: int, *, left_s: float, legal_actions: bool) -> bytes:
        """The present question, as `requests.decide_request` would have it."""
        return _decision_id(decision_id) + self.after_id(left_s=left_s, legal_actions=legal_actions)

    def after_id(self, *, left_s: float | None = None, legal_actions: bool) -> bytes:
        """All of it but the id, which is its first field; where nothing is said of the time left, all of it is."""
        table = self._table
        hand = table.hand
        seat, phase = hand.turn, hand.phase
        if phase is _PLAY:
            if len(hand.decisions) != self._told:
                self._catch_up(hand)
            cards = self._cards[seat]
            observation = b"".join(
                (
                    _SEAT[seat],
                    _CARDS[len(cards) >> 1],
                    cards,
                    self._left,
                    _TO_BEAT[hand.holder][hand.table],
                    self._settled,
                    self._history,
                    self._tail,
                )
            )
        else:
            observation = _observation(hand, seat)
        length = len(observation)
        return b"".join(
            (
                _ASKED[phase],
                _SMALL[length] if length < _READY else _long_varint(length),
                observation,
                _legal(phase, hand.legal) if legal_actions else b"",
                _time(left_s, table.bank_us[seat], self._move_ms),
                self._identity,
                _last(table.last[seat]),
            )
        )

    def _catch_up(self, hand: Hand) -> None:
        """Take in the plays and passes since the last request."""
        if self._told < 0:
            self._begin(hand)
        decisions = hand.decisions
        for seat, _, action in decisions[self._told :]:
            self._history += _PLAYED[seat][action]
            if action:
                self._take(hand, seat, action)
        self._told = len(decisions)

    def _begin(self, hand: Hand) -> None:
        self._cards = [_names(hand.cards(seat)) for seat in range(hand.rules.players)]
        self._left = bytearray(_cards_left(hand))
        self._settled = _settled(hand)
        self._history = bytearray().join(map(_event, hand.history))
        self._tail = self._after_history(hand)
        self._told, self._bombs = len(hand.decisions), hand.bombs

    def _after_history(self, hand: Hand) -> bytes:
        return _LYING[hand.lying] + (_opened(self._cards[hand.digger]) if hand.opened else b"") + _marked(hand)

    def _take(self, hand: Hand, seat: int, action: int) -> None:
        """Take a play off its seat's cards."""
        cards = self._cards[seat]
        for rank, size in _TAKEN[action]:
            place = cards.index(rank)
            cards = cards[:place] + cards[place + size :]
        self._cards[seat] = cards
        self._left[_LEFT + seat] = len(cards) >> 1
        if hand.bombs != self._bombs:
            self._bombs = hand.bombs
            self._settled = _settled(hand)
        if hand.opened:
            self._tail = self._after_history(hand)


def _observation(hand: Hand, seat: int) -> bytes:
    """What the seat may know before PLAY."""
    cards = _names(hand.cards(seat)) if hand.dealt else b""
    return b"".join(
        (
            _SEAT[seat],
            _CARDS[len(cards) >> 1],
            cards,
            _cards_left(hand),
            _settled(hand),
            b"".join(map(_event, hand.history)),
            _LYING[hand.lying],
            _opened(_names(hand.cards(hand.digger))) if hand.opened else b"",
            _marked(hand),
        )
    )


def _names(cards: Iterable[int]) -> bytes:
    return b"".join(map(_NAME, cards))


def _cards_left(hand: Hand) -> bytes:
    planes = hand.planes
    return _CARDS_LEFT[len(planes)] + (bytes(map(int.bit_count, planes)) if hand.dealt else bytes(len(planes)))


def _settled(hand: Hand) -> bytes:
    """Who digs for how much, bombs, grabs, kitty, rules, whether the hand is open or blind, and the task."""
    deal, dug = hand.deal, hand.digger >= 0
    return b"".join(
        (
            _number(6, hand.digger) if dug else b"",
            _number(7, hand.bid) if hand.bid else b"",
            _number(8, hand.bombs) if hand.bombs else b"",
            _number(9, hand.grabs) if hand.grabs else b"",
            _text(10, format_cards(deal.kitty)) if dug else b"",
            _rules(hand.rules),
            _number(12, 1) if hand.opened else b"",
            _number(13, 1) if hand.blind else b"",
            _text(14, deal.task.value) if dug and deal.task is not None else b"",
        )
    )


def _opened(cards: bytes) -> bytes:
    return _text(17, cards)


def _marked(hand: Hand) -> bytes:
    deal = hand.deal
    card = b"" if deal.marked_card is None else _text(18, CARD_NAMES[deal.marked_card])
    seat = deal.marked_seat if hand.dealt else None
    return card if seat is None else card + _number(19, seat)
