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
from functools import lru_cache
from typing import Final

from wakeng.engine import CARD_NAMES, PLAYS, TOKENS, Fault, Hand, Phase, Result, RuleSet, format_cards
from wakeng.engine.phases import EVENTS
from wakeng.sdk.wire import rules_message
from wakeng.services.table import HandSpec, Table

_VARINT: Final = 0
_BYTES: Final = 2


def _varint(value: int) -> bytes:
    """A base-128 number, least significant group first; a negative one as its 64-bit two's complement."""
    if 0 <= value < _READY:
        return _SMALL[value]
    return _long_varint(value)


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


_PAIRS: Final = tuple(bytes((value & 127 | 128, value >> 7 | 128)) for value in range(1 << 14))
"""Two groups of a number at once, with more to follow."""


def _decision_id(value: int) -> bytes:
    """A varint of nine bytes, of which the last five change once in 2^28 decisions."""
    if value >> 28:
        return _PAIRS[value & 16383] + _PAIRS[value >> 14 & 16383] + _upper(value >> 28)
    return _varint(value)


@lru_cache(maxsize=16)
def _upper(value: int) -> bytes:
    return _varint(value)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3 | _VARINT) + _varint(value)


def _text(field: int, text: str | bytes) -> bytes:
    raw = text.encode() if isinstance(text, str) else text
    return _varint(field << 3 | _BYTES) + _varint(len(raw)) + raw


# DecideRequest
_ID: Final = _varint(1 << 3 | _VARINT)
_OBSERVATION: Final = _varint(3 << 3 | _BYTES)
_ASKED: Final = {phase: _text(2, phase.value) + _OBSERVATION for phase in Phase}
_LEGAL: Final = {phase: tuple(_text(4, token) for token in tokens).__getitem__ for phase, tokens in TOKENS.items()}
_TIME_LEFT: Final = _varint(5 << 3 | _VARINT)
_BANK_LEFT: Final = _varint(6 << 3 | _VARINT)
_LAST_LATENCY: Final = _varint(10 << 3 | _VARINT)
_LAST_FAULT: Final = {fault: _text(11, fault.value) for fault in Fault}
# Observation
_SEAT: Final = (b"", *(_number(1, seat) for seat in (1, 2, 3)))
_CARDS: Final = (b"", *(_varint(2 << 3 | _BYTES) + _varint(2 * cards) for cards in range(1, 53)))
"""Key and length, by how many cards follow."""
_CARDS_LEFT: Final = tuple(_varint(3 << 3 | _BYTES) + _varint(players) for players in range(5))
_TABLE: Final = tuple(b"" if play.id == 0 else _text(4, play.token) for play in PLAYS)
_TABLE_SEAT: Final = tuple(_number(5, seat) for seat in range(4))
_BOMBS: Final = (b"", *(_number(8, bombs) for bombs in range(1, 14)))
_LYING: Final = (*(_number(16, seat) for seat in range(4)), b"")
"""By seat; the last for nobody, who is -1."""
_NO_CARDS: Final[tuple[bytes, ...]] = (b"",) * 13
_NAMES: Final = tuple(name.encode() for name in CARD_NAMES)
_TAKEN: Final = tuple((range(play.bottom, play.top + 1), 2 * play.size) for play in PLAYS)
"""By play: its ranks, and the bytes that it takes of each."""


def _event(event: str) -> bytes:
    return _text(15, event)


_EVENT: Final = {event: _event(event) for seat in EVENTS for events in seat.values() for event in events}


@lru_cache(maxsize=256)
def _rules(rules: RuleSet) -> bytes:
    return _text(11, rules_message(rules).SerializeToString(deterministic=True))


_DECISIONS: Final = _varint(1 << 3 | _BYTES)


def arena_message(requests: Iterable[bytes], others: bytes) -> bytes:
    """A stream message of encoded DecideRequests, and of other fields of an ArenaMessage, encoded too.

    PlayRequest and JoinResponse are the same on the wire: an ArenaMessage as field 1.
    """
    pieces: list[bytes] = []
    for request in requests:
        pieces += (_DECISIONS, _varint(len(request)), request)
    pieces.append(others)
    return _text(1, b"".join(pieces))


# HandStarted and HandEnded
_STARTED: Final = 2
_ENDED: Final = 3


@lru_cache(maxsize=256)
def _rules_started(rules: RuleSet) -> bytes:
    return _text(5, rules_message(rules).SerializeToString(deterministic=True))


def _notice(spec: HandSpec, seat: int) -> bytes:
    return b"".join(
        (
            _text(1, spec.match_id),
            _number(2, spec.hand_index) if spec.hand_index else b"",
            _number(3, spec.attempt) if spec.attempt else b"",
            _number(4, seat) if seat else b"",
        )
    )


def hand_started(spec: HandSpec, seat: int) -> bytes:
    """The field of an ArenaMessage that tells a seat's bot that a hand begins."""
    return _text(_STARTED, _notice(spec, seat) + _rules_started(spec.rules))


def hand_ended(spec: HandSpec, seat: int, result: Result | None) -> bytes:
    """The field of an ArenaMessage that tells a seat's bot that a hand is over; None for one that was voided."""
    told = [_notice(spec, seat)]
    if result is not None:
        told += (_text(5, result.winner.value), _text(6, b"".join(map(_varint, result.scores))))
        if result.escaped_seat is not None:
            told.append(_number(7, result.escaped_seat))
    return _text(_ENDED, b"".join(told))


class RequestWriter:
    """Writes the requests of one table. Everything it keeps follows from the hand, which it reads and never changes."""

    __slots__ = ("_cards", "_dug", "_events", "_history", "_identity", "_moves", "_rules", "_settled", "_table")

    def __init__(self, table: Table) -> None:
        spec = table.spec
        self._table = table
        self._rules = _rules(spec.rules)
        self._identity = b"".join(
            (
                _text(7, spec.match_id),
                _number(8, spec.hand_index) if spec.hand_index else b"",
                _number(9, spec.attempt) if spec.attempt else b"",
            )
        )
        self._history = bytearray()
        self._events = 0
        self._moves = 0
        self._dug = False
        self._cards: list[list[bytes]] | None = None
        self._settled: tuple[bytes, bytes, bytes] | None = None

    def request(self, decision_id: int, *, left_s: float, legal_actions: bool) -> bytes:
        """The present question, as `requests.decide_request` would have it."""
        table = self._table
        hand = table.hand
        seat = hand.turn
        phase = hand.phase
        bank = table.bank_us[seat] // 1000
        time_left = min(table.spec.time_control.move_ms, int(1000 * left_s) - bank)
        observation = self._observation(hand, seat)
        pieces = [_ID, _decision_id(decision_id), _ASKED[phase], _varint(len(observation)), observation]
        if legal_actions:
            pieces += map(_LEGAL[phase], hand.legal)
        if time_left > 0:
            pieces += (_TIME_LEFT, _varint(time_left))
        if bank:
            pieces += (_BANK_LEFT, _varint(bank))
        pieces.append(self._identity)
        last = table.last[seat]
        if last is not None:
            pieces += (_LAST_LATENCY, _varint(last.latency_us))
            if last.fault is not None:
                pieces.append(_LAST_FAULT[last.fault])
        return b"".join(pieces)

    def _observation(self, hand: Hand, seat: int) -> bytes:
        self._catch_up(hand)
        dig, terms, tail = self._settled or self._facts(hand)
        cards = b"".join(self._held(hand, seat))
        planes = hand.planes
        table = hand.table
        return b"".join(
            (
                _SEAT[seat],
                _CARDS[len(cards) // 2],
                cards,
                _CARDS_LEFT[len(planes)],
                bytes(map(int.bit_count, planes)) if hand.dealt else bytes(len(planes)),
                _TABLE[table],
                _TABLE_SEAT[hand.holder] if table else b"",
                dig,
                _BOMBS[hand.bombs],
                terms,
                self._history,
                _LYING[hand.lying],
                _text(17, b"".join(self._held(hand, hand.digger))) if hand.opened else b"",
                tail,
            )
        )

    def _catch_up(self, hand: Hand) -> None:
        """Take in the events and plays since the last request."""
        history = hand.history
        for event in history[self._events :]:
            self._history += _EVENT.get(event) or _event(event)
        self._events = len(history)
        if self._dug is (hand.digger < 0):
            self._dug = not self._dug
            self._cards = None  # The digger has taken the kitty.
        decisions = hand.decisions
        if self._cards is not None:
            for seat, phase, action in decisions[self._moves :]:
                if action and phase in _SHEDDING:
                    _take(self._cards[seat], action)
        self._moves = len(decisions)

    def _held(self, hand: Hand, seat: int) -> Iterable[bytes]:
        if not hand.dealt:
            return _NO_CARDS
        if self._cards is None:
            self._cards = [_by_rank(hand.cards(held)) for held in range(hand.rules.players)]
        return self._cards[seat]

    def _facts(self, hand: Hand) -> tuple[bytes, bytes, bytes]:
        """Digger and bid; the other terms, kitty, rules, task; and the marked card. They stay so in play."""
        deal, dug = hand.deal, hand.digger >= 0
        dig = (_number(6, hand.digger) if dug else b"") + (_number(7, hand.bid) if hand.bid else b"")
        terms = (
            _number(9, hand.grabs) if hand.grabs else b"",
            _text(10, format_cards(deal.kitty)) if dug else b"",
            self._rules,
            _number(12, 1) if hand.opened else b"",
            _number(13, 1) if hand.blind else b"",
            _text(14, deal.task.value) if dug and deal.task is not None else b"",
        )
        tail = b"" if deal.marked_card is None else _text(18, CARD_NAMES[deal.marked_card])
        if hand.dealt and (marked := deal.marked_seat) is not None:
            tail += _number(19, marked)
        facts = dig, b"".join(terms), tail
        if hand.phase is Phase.PLAY:
            self._settled = facts
        return facts


_SHEDDING: Final = frozenset({Phase.PLAY, Phase.BURY})


def _by_rank(cards: Iterable[int]) -> list[bytes]:
    strings = [b""] * 13
    for card in cards:
        strings[card >> 2] += _NAMES[card]
    return strings


def _take(strings: list[bytes], play: int) -> None:
    """Take a play's cards off the front; the action of BURY is the id of the SINGLE of its rank."""
    ranks, size = _TAKEN[play]
    for rank in ranks:
        strings[rank] = strings[rank][size:]
