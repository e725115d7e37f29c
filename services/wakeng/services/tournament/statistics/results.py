"""Results as values: hands out of records, blocks out of hands, and the prefix of the schedule that counts.

A block is the hands played on one deal which are complete or worthless together; it is the unit of every statistic.
y of a bot in a block is its mean score per hand, in units of the rule set's base; copies of a bot at one table are
averaged. A block with an escaped hand is *dirty*, any other *clean* (docs/statistics.md 1, 6).

Unfinished blocks are the long ones, so whatever happens to be finished is a biased sample. The ledger therefore gives
out blocks 0..k-1 of the schedule alone, with k as large as it can be (docs/statistics.md 8).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wakeng.engine import PRESETS


@dataclass(frozen=True, slots=True)
class HandResult:
    """What statistics need of one hand; tuples go by seat."""

    block: int
    rotation: int
    """The hand's number within its block, from 0. It says who sits where, not when the hand was played."""
    bots: tuple[str, ...]
    scores: tuple[float, ...]
    """In units of the rule set's base."""
    digger: int | None = None
    """None where the hand was escaped before there was one."""
    digger_won: bool = False
    escaped_seat: int | None = None
    bids: tuple[bool, ...] = ()
    """Whether the seat made a bid. Empty where nothing is known of bids."""
    faults: tuple[Mapping[str, int], ...] = ()
    """Faults by their words. Empty where there were none."""
    played: int = 0
    """Ascends within a block in the order of play."""

    @property
    def leaver(self) -> str | None:
        """The bot that escaped."""
        return None if self.escaped_seat is None else self.bots[self.escaped_seat]

    @property
    def penalty(self) -> float:
        """What the leaver lost, as a positive number; 0 where nobody left."""
        return 0.0 if self.escaped_seat is None else -self.scores[self.escaped_seat]

    def seats_of(self, bot: str) -> list[int]:
        """Where the bot sits; more than one seat where it has copies."""
        return [seat for seat, name in enumerate(self.bots) if name == bot]

    def mean_of(self, bot: str) -> float:
        """The bot's score, the mean of its copies; ValueError if it is not at the table."""
        seats = self.seats_of(bot)
        if not seats:
            raise ValueError(f"{bot} is not at the table of block {self.block}")
        return math.fsum(self.scores[seat] for seat in seats) / len(seats)


def hand_result(record: Mapping[str, Any], bots: Sequence[str] | None = None) -> HandResult:
    """The result in a decoded record (docs/protocol.md 6) of a tournament; ValueError if it belongs to none.

    `bots` says by seat who they are, where the schedule knows that better than the record, which may hold addresses.
    """
    if "schedule" not in record:
        raise ValueError(f"hand {record['hand_index']} of {record['match_id']} belongs to no tournament")
    schedule, result, rules = record["schedule"], record["result"], record["rules"]
    base = rules.get("base", PRESETS[rules["preset"]].base)
    return HandResult(
        block=schedule["block"],
        rotation=schedule["rotation"],
        bots=tuple(bots or (seat["bot"] for seat in record["seats"])),
        scores=tuple(score / base for score in result["scores"]),
        digger=result.get("digger"),
        digger_won=result["winner"] == "DIGGER",
        escaped_seat=result.get("escaped_seat"),
        bids=_bids(record),
        faults=_faults(record),
        played=record["hand_index"],
    )


def _bids(record: Mapping[str, Any]) -> tuple[bool, ...]:
    bid = [False] * len(record["seats"])
    for decision in record.get("decisions", ()):
        if decision["phase"] == "BID" and decision["action"] != "pass":
            bid[decision["seat"]] = True
    return tuple(bid)


def _faults(record: Mapping[str, Any]) -> tuple[Mapping[str, int], ...]:
    found: list[dict[str, int]] = [{} for _ in record["seats"]]
    inside = ((decision, 1) for decision in record.get("decisions", ()) if "fault" in decision)
    beside = ((fault, fault["count"]) for fault in record.get("faults", ()))
    for said, count in (*inside, *beside):
        counts = found[said["seat"]]
        counts[said["fault"]] = counts.get(said["fault"], 0) + count
    return tuple(found) if any(found) else ()


@dataclass(frozen=True, slots=True)
class Block:
    """A complete block."""

    number: int
    hands: tuple[HandResult, ...]
    """By rotation."""
    line_up: Mapping[str, int]
    """How many seats each bot has; for a swap pair how many it has over both hands."""
    values: Mapping[str, float]
    """y: each bot's mean score per hand."""
    leavers: frozenset[str]
    """The bots that escaped a hand of it."""

    @property
    def clean(self) -> bool:
        """Nobody escaped."""
        return not self.leavers

    @property
    def players(self) -> int:
        """n, the seats at its table."""
        return len(self.hands[0].bots)


def block_of(hands: Iterable[HandResult]) -> Block:
    """The block that these hands make up, in whatever order they come."""
    ordered = tuple(sorted(hands, key=lambda hand: hand.rotation))
    line_up = _line_up(ordered)
    values = {bot: math.fsum(hand.mean_of(bot) for hand in ordered) / len(ordered) for bot in line_up}
    leavers = frozenset(hand.leaver for hand in ordered if hand.leaver is not None)
    return Block(ordered[0].block, ordered, line_up, values, leavers)


def _line_up(hands: Sequence[HandResult]) -> dict[str, int]:
    """Seats per bot, alike in all hands; hands whose seats differ are a swap pair's, and their seats are added up."""
    counts = [sorted(hand.bots) for hand in hands]
    alike = all(count == counts[0] for count in counts)
    seated = counts[0] if alike else [bot for count in counts for bot in count]
    return {bot: seated.count(bot) for bot in sorted(set(seated))}


def swap_value(block: Block, bot: str, other: str) -> float:
    """d of a swap pair, (X - Y) / 2: X what `bot` scores alone against `other`, Y the reverse.

    Nothing is dropped for an escape: who sits alone loses the penalty if he left, and wins it if the others did
    (docs/statistics.md 6). Where both bear one name the first rotation is taken for the bot's own.
    """
    mine, theirs = block.hands
    if bot != other and mine.bots.count(bot) != 1:
        mine, theirs = theirs, mine
    chair = block.number % block.players
    if mine.bots[chair] != bot or theirs.bots[chair] != other:
        raise ValueError(f"block {block.number} is no swap pair of {bot} and {other} about chair {chair}")
    return (_alone(mine, chair) - _alone(theirs, chair)) / 2


def _alone(hand: HandResult, chair: int) -> float:
    if hand.escaped_seat is None:
        return hand.scores[chair]
    return -hand.penalty if hand.escaped_seat == chair else hand.penalty


class Ledger:
    """A fold over the hands of a tournament: they come as they finish, and are counted in schedule order."""

    def __init__(self, hands_per_block: int) -> None:
        self._hands_per_block = hands_per_block
        self._open: dict[int, dict[int, HandResult]] = {}
        self._done: dict[int, Block | None] = {}
        self._prefix = 0
        self._blocks: list[Block] = []

    @classmethod
    def of(cls, hands: Iterable[HandResult], hands_per_block: int, struck_off: Iterable[int] = ()) -> Ledger:
        """The ledger of some hands, in any order; `struck_off` are the blocks given up for faults of the arena."""
        ledger = cls(hands_per_block)
        for block in struck_off:
            ledger.strike_off(block)
        for hand in hands:
            ledger.add(hand)
        return ledger

    @property
    def prefix(self) -> int:
        """k: blocks 0..k-1 of the schedule are over, those struck off among them."""
        return self._prefix

    @property
    def blocks(self) -> Sequence[Block]:
        """The blocks of the prefix in schedule order, without those struck off."""
        return tuple(self._blocks)

    @property
    def waiting(self) -> int:
        """Complete blocks that do not count yet, because an earlier one is not over."""
        return len(self._done)

    def add(self, hand: HandResult) -> Block | None:
        """Count a hand, once; the block which it completes, if it does. A hand told again must be the same."""
        number = hand.block
        if not 0 <= hand.rotation < self._hands_per_block:
            raise ValueError(f"block {number} has {self._hands_per_block} hands, and no rotation {hand.rotation}")
        if number < self._prefix or number in self._done:
            return None
        hands = self._open.setdefault(number, {})
        if hands.setdefault(hand.rotation, hand) != hand:
            raise ValueError(f"block {number}, rotation {hand.rotation} is told twice, with different results")
        if len(hands) < self._hands_per_block:
            return None
        block = block_of(hands.values())
        self._close(number, block)
        return block

    def strike_off(self, block: int) -> None:
        """Give a block up for all; its number stays used. Only faults of the arena may lead to it, never scores."""
        if block >= self._prefix and block not in self._done:
            self._close(block, None)

    def _close(self, number: int, block: Block | None) -> None:
        self._open.pop(number, None)
        self._done[number] = block
        while self._prefix in self._done:
            closed = self._done.pop(self._prefix)
            self._prefix += 1
            if closed is not None:
                self._blocks.append(closed)
