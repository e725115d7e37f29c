"""Cards as small ints: id = 4 x rank index + suit index, 0 (`4c`) to 51 (`3s`) (docs/rules.md 1).

A set of cards is an int too, with bit 13 x suit index + rank index for each: four planes of 13 bits, one a suit.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import Final

RANKS: Final = "456789TJQKA23"
"""The thirteen ranks, low to high; a rank index is a place in this string."""
SUITS: Final = "cdhs"
"""The four suits, in the order in which equal ranks leave a hand."""

DECK: Final = tuple(range(52))
HEARTS: Final = tuple(4 * rank + SUITS.index("h") for rank in range(13))
"""The hearts, low to high: they alone decide who calls and leads."""

CARD_BITS: Final = tuple(1 << 13 * (card & 3) + (card >> 2) for card in DECK)
"""By id: the set of that card alone."""
_card_bit: Final = CARD_BITS.__getitem__

CARD_NAMES: Final = tuple(rank + suit for rank in RANKS for suit in SUITS)
_CARD_IDS: Final = {name: card for card, name in enumerate(CARD_NAMES)}


def parse_card(name: str) -> int:
    """The id of one card; ValueError names what is no card."""
    try:
        return _CARD_IDS[name]
    except KeyError:
        raise ValueError(f"{name!r} is no card; a card is a rank of {RANKS} and a suit of {SUITS}, as in 4h") from None


def parse_cards(text: str) -> tuple[int, ...]:
    """The cards of a string like `4h5dKs`, ascending; ValueError on what is no card or comes twice."""
    cards = sorted(parse_card(text[i : i + 2]) for i in range(0, len(text), 2))
    for a, b in pairwise(cards):
        if a == b:
            raise ValueError(f"{CARD_NAMES[a]} comes twice in {text!r}")
    return tuple(cards)


def format_cards(cards: Iterable[int]) -> str:
    """The string form of cards, in ascending id whatever order they come in."""
    return "".join(map(CARD_NAMES.__getitem__, sorted(cards)))


def card_set(cards: Iterable[int]) -> int:
    """The set of different card ids."""
    return sum(map(_card_bit, cards))


_RANKS_OF_SUIT: Final = (1 << 13) - 1


def _suited(suit: int) -> tuple[tuple[int, ...], ...]:
    """By a plane: the ids of the cards of a suit."""
    rows: list[tuple[int, ...]] = [()]
    for rank in range(13):
        rows += [(*row, 4 * rank + suit) for row in rows]
    return tuple(rows)


_CLUBS, _DIAMONDS, _HEARTS, _SPADES = map(_suited, range(4))


def card_ids(cards: int) -> tuple[int, ...]:
    """The ids in a set, ascending."""
    low = _CLUBS[cards & _RANKS_OF_SUIT] + _DIAMONDS[cards >> 13 & _RANKS_OF_SUIT]
    return tuple(sorted(low + _HEARTS[cards >> 26 & _RANKS_OF_SUIT] + _SPADES[cards >> 39]))


def count_ranks(cards: Iterable[int]) -> list[int]:
    """How many cards of each of the thirteen ranks."""
    counts = [0] * 13
    for card in cards:
        counts[card >> 2] += 1
    return counts
