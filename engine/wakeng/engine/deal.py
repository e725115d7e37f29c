"""Seeds, their stream of random numbers, and the deal they give: the whole of docs/rules.md 7."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import sha256
from operator import mod
from struct import unpack
from typing import Any, Final, NamedTuple

from wakeng.engine.cards import CARD_BITS, HEARTS, card_ids, card_set
from wakeng.engine.rules import Bidding, FirstCaller, RuleSet
from wakeng.engine.tasks import CATALOGUE, Task

SEED_BYTES = 32
KITTY = -1
"""Stands where a seat would, for a marked card that fell into the kitty."""


def derive(seed: bytes, label: str, n: int) -> bytes:
    """The n-th seed that follows from `seed` for a purpose: SHA-256 of seed, ASCII label, n (8 bytes, big-endian)."""
    return sha256(seed + label.encode("ascii") + n.to_bytes(8, "big")).digest()


def commitment(match_seed: bytes) -> str:
    """What is published before a match so that nobody can change its cards: SHA-256 of the seed, in hex."""
    return sha256(match_seed).hexdigest()


def parse_seed(text: str) -> bytes:
    """A seed of 64 hex digits as 32 bytes; ValueError says what is wrong with another text."""
    if len(text) != 2 * SEED_BYTES or not set(text) <= set("0123456789abcdefABCDEF"):
        raise ValueError(f"a seed is {2 * SEED_BYTES} hex digits, not {text[:80]!r} ({len(text)} characters)")
    return bytes.fromhex(text)


# Names of their own, since before Python 3.12 a member of an enum takes nine times as long to find.
_ASSIGNED: Final = Bidding.ASSIGNED
_MARKED_CARD: Final = FirstCaller.MARKED_CARD
_HEARTS: Final = tuple(CARD_BITS[card] for card in HEARTS)
_BLOCK_BYTES: Final = 32
_BLOCK_NUMBERS: Final = tuple(n.to_bytes(8, "big") for n in range(8))
"""The blocks that a deal takes, as they are hashed."""
_HIGH: Final = b"\xff\xff\xff"
"""What a word begins with that may be passed over in a draw from 256 or fewer."""


class Stream:
    """Uniform draws from a seed: big-endian 32-bit words of SHA-256(seed || block number), block after block."""

    def __init__(self, seed: bytes) -> None:
        if len(seed) != SEED_BYTES:
            raise ValueError(f"a seed is {SEED_BYTES} bytes, not {len(seed)}")
        self._seed = seed
        self._blocks = 0
        self._ahead = b""
        """What of the blocks so far is not drawn."""

    def _take(self, count: int) -> bytes:
        """The next so many bytes."""
        seed, first = self._seed, self._blocks
        missing = max(count - len(self._ahead), 0)
        self._blocks = end = first + (missing + _BLOCK_BYTES - 1) // _BLOCK_BYTES
        within = end <= len(_BLOCK_NUMBERS)
        numbers = _BLOCK_NUMBERS[first:end] if within else [n.to_bytes(8, "big") for n in range(first, end)]
        words = self._ahead + b"".join([sha256(seed + number).digest() for number in numbers])
        self._ahead = words[count:]
        return words[:count]

    def below(self, n: int) -> int:
        """A number in 0..n-1, all equally likely: words that would favour the low ones are passed over."""
        limit = 2**32 - 2**32 % n
        while True:
            word = int.from_bytes(self._take(4), "big")
            if word < limit:
                return word % n

    def draw(self, bounds: Sequence[int]) -> Iterable[int]:
        """A number below each bound in turn; none of them is above 256.

        A word is passed over once in a hundred million; where none can be, all are drawn at once, since that is most of
        what a deal costs.
        """
        words = self._take(4 * len(bounds))
        if _HIGH not in words:
            return map(mod, unpack(f">{len(bounds)}I", words), bounds)
        self._ahead = words + self._ahead
        return [self.below(n) for n in bounds]

    def shuffle(self, items: list[int]) -> None:
        """Fisher-Yates in place, from the last place down."""
        bounds = range(len(items), 1, -1)
        _exchange(items, self.draw(bounds) if len(items) <= 256 else map(self.below, bounds))


def _exchange(items: list[int], places: Iterable[int]) -> None:
    """Exchange the item at each place from the last down with the one at the place drawn for it."""
    i = len(items)
    for j in places:
        i -= 1
        items[i], items[j] = items[j], items[i]


class _Dealt(NamedTuple):
    first_dealt_seat: int
    hand_sets: tuple[int, ...]
    kitty_set: int
    marked_card: int | None
    task: Task | None


class Deal(_Dealt):
    """Who was dealt what; `marked_card` and `task` are None where the rule set has none.

    It keeps sets of cards, since nothing in a hand hangs on an order; their ids, ascending, are made when asked for.
    """

    __slots__ = ()

    def __new__(
        cls,
        first_dealt_seat: int,
        hands: Iterable[Iterable[int]],
        kitty: Iterable[int],
        marked_card: int | None = None,
        task: Task | None = None,
    ) -> "Deal":
        """The deal of some card ids."""
        return cls._make((first_dealt_seat, tuple(map(card_set, hands)), card_set(kitty), marked_card, task))

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (self.first_dealt_seat, self.hands, self.kitty, self.marked_card, self.task)

    def __repr__(self) -> str:
        return f"Deal{self.__getnewargs__()}"

    @property
    def hands(self) -> tuple[tuple[int, ...], ...]:
        """The cards dealt to each seat."""
        return tuple(map(card_ids, self.hand_sets))

    @property
    def kitty(self) -> tuple[int, ...]:
        """The cards dealt aside."""
        return card_ids(self.kitty_set)

    @property
    def lowest_heart_seat(self) -> int:
        """The seat dealt the lowest heart outside the kitty: the first lead is its own (docs/rules.md 3.10)."""
        for heart in _HEARTS:
            for seat, cards in enumerate(self.hand_sets):
                if cards & heart:
                    return seat
        raise ValueError("no hand holds a heart; a rule set leaves more hearts in the deck than the kitty takes")

    @property
    def marked_seat(self) -> int | None:
        """The seat dealt the marked card, KITTY where it lies there, None where no card is marked."""
        if self.marked_card is None:
            return None
        marked = CARD_BITS[self.marked_card]
        return next((seat for seat, cards in enumerate(self.hand_sets) if cards & marked), KITTY)

    @property
    def first_caller(self) -> int:
        """The seat that bids first (docs/rules.md 3.3)."""
        marked = self.marked_seat
        return self.lowest_heart_seat if marked is None or marked == KITTY else marked


def deal_cards(rules: RuleSet, seed: bytes) -> Deal:
    """The deal of a hand's seed (32 bytes), drawn in the order of docs/rules.md 7."""
    first, *places = Stream(seed).draw(rules.draws)
    marked = task = None
    if rules.first_caller is _MARKED_CARD:
        marked = rules.deck[first]
        first = places.pop(0)
    if rules.tasks:
        task = CATALOGUE[places.pop()]
    deck = list(rules.deck_bits)
    _exchange(deck, places)
    players = rules.players
    dealt = players * rules.hand_size
    hands = tuple([sum(deck[(seat - first) % players : dealt : players]) for seat in range(players)])
    return tuple.__new__(Deal, (first, hands, sum(deck[dealt:]), marked, task))


remembered_deal: Final = lru_cache(maxsize=256)(deal_cards)
"""The same, for deals of a match: the hand that follows asks for it too (`blind_first_seat`), or the turned deal."""


def hand_seed(match_seed: bytes, hand_index: int) -> bytes:
    """The seed of hand `hand_index` (from 0) of a match."""
    return derive(match_seed, "hand", hand_index)


def blind_first_seat(rules: RuleSet, match_seed: bytes, hand_index: int) -> int | None:
    """The seat that BLIND asks first in a hand of a match, None where BLIND does not occur (docs/rules.md 3.1).

    It is the seat dealt the previous hand's lowest heart, which follows from seeds alone, so that the hands of a match
    can be played side by side.
    """
    if not rules.has_blind:
        return None
    if hand_index == 0:
        return remembered_deal(rules, hand_seed(match_seed, 0)).first_dealt_seat
    return remembered_deal(rules, hand_seed(match_seed, hand_index - 1)).lowest_heart_seat


def check_assigned_digger(rules: RuleSet, assigned_digger: int | None) -> None:
    """ValueError unless a digger is assigned exactly where the rule set's bidding says so, and is a seat."""
    if (rules.bidding is _ASSIGNED) != (assigned_digger is not None):
        raise ValueError("assigned_digger: to be given with bidding=assigned, and only then")
    if assigned_digger is not None and not 0 <= assigned_digger < rules.players:
        raise ValueError(f"assigned_digger: {assigned_digger} is no seat of 0..{rules.players - 1}")
