"""A recorded hand as a sequence of what happened, in words: decisions gathered into phases and tricks."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from wakeng.cli.cards import TASK_WORDS
from wakeng.cli.text import clean, listed
from wakeng.engine import CARD_NAMES, PLAYS, Bidding, Hand, Kind, Phase
from wakeng.engine.hand import NOBODY
from wakeng.engine.record import begin


@dataclass
class Chapter:
    """One line of the story: a phase, a trick, or something nobody decided. `slowest_us` is None without decisions."""

    title: str
    moves: list[tuple[str, str]] = field(default_factory=list)
    """Who and what, or a thing that came about by itself and nothing."""
    remarks: list[str] = field(default_factory=list)
    slowest_us: int | None = None

    def add(self, seat: str, deed: str, decision: Mapping[str, Any]) -> None:
        """Another decision."""
        self.moves.append((seat, deed))
        self.slowest_us = max(self.slowest_us or 0, decision["latency_us"])
        self.remarks += _remarks(seat, decision)

    @property
    def text(self) -> str:
        """The moves on one line; seats that decline one after the other are told of together."""
        told = []
        for deed, moves in groupby(self.moves, key=itemgetter(1)):
            seats = [seat for seat, _ in moves]
            if len(seats) > 1 and deed in _PLURALS:
                told.append(f"{listed(seats)} {_PLURALS[deed]}")
            else:
                told += [f"{seat} {deed}".strip() for seat in seats]
        return ", ".join(told)


_PASSES: Final = "passes"
_PLURALS: Final = {_PASSES: "pass", "waits": "wait", "lets it be": "let it be"}
_TITLES: Final = {
    Phase.BLIND: "blind",
    Phase.BID: "bid",
    Phase.GRAB: "grab",
    Phase.OPEN: "open",
    Phase.BURY: "bury",
    Phase.LIE_DOWN_ASK: "lie down",
    Phase.LIE_DOWN_CONSENT: "lie down",
}
_OFFERS: Final = {
    (Phase.BLIND, "no"): "waits",
    (Phase.BLIND, "yes"): "digs unseen",
    (Phase.GRAB, "no"): "lets it be",
    (Phase.GRAB, "yes"): "grabs",
    (Phase.OPEN, "no"): "keeps the hand closed",
    (Phase.OPEN, "yes"): "lays the hand open",
    (Phase.BURY, "pass"): "buries nothing",
    (Phase.LIE_DOWN_ASK, "no"): "does not ask",
    (Phase.LIE_DOWN_ASK, "yes"): "asks the partner to lie down",
    (Phase.LIE_DOWN_CONSENT, "no"): "refuses",
    (Phase.LIE_DOWN_CONSENT, "yes"): "lies down",
    (Phase.BID, "pass"): _PASSES,
}


def tell(record: Mapping[str, Any]) -> Iterator[Chapter]:
    """The chapters of a verified record, in order."""
    hand = begin(record)
    if hand.digger != NOBODY:
        yield from _dig(hand)
    trick = 0
    chapter: Chapter | None = None
    for decision in record.get("decisions", []):
        leads = hand.phase is Phase.PLAY and not hand.table
        trick += leads
        title = _TITLES.get(hand.phase, str(trick))
        if chapter is not None and (leads or chapter.title != title):
            yield chapter
            chapter = None
        chapter = chapter or Chapter(title)
        undug = hand.digger == NOBODY
        seat, deed = _apply(hand, decision["action"])
        chapter.add(seat, deed, decision)
        if undug and hand.digger != NOBODY:
            yield chapter
            chapter = None
            yield from _dig(hand)
    if chapter is not None:
        yield chapter
    yield from _afterwards(record, hand)


def name(hand: Hand, seat: int) -> str:
    """A seat, with a star once it digs."""
    return f"{seat}*" if seat == hand.digger else str(seat)


def _apply(hand: Hand, token: str) -> tuple[str, str]:
    """Play a decision; gives who decided and what it came to."""
    seat, phase, table = hand.turn, hand.phase, hand.table
    who = name(hand, seat)
    hand.apply_token(token)
    return who, _play(hand, table, token, seat) if phase is Phase.PLAY else _deed(phase, token)


def _deed(phase: Phase, token: str) -> str:
    if phase is Phase.BURY and token != "pass":
        return f"buries {token.removeprefix('bury')}"
    return _OFFERS.get((phase, token)) or f"bids {token.removeprefix('bid')}"


def _play(hand: Hand, table: int, token: str, seat: int) -> str:
    if token == "pass":
        return _PASSES
    kind = PLAYS[hand.decisions[-1][2]].kind
    verb = "bombs" if kind is Kind.QUAD and hand.rules.bombs else "beats it with" if table else "leads"
    return f"{verb} {token}{'' if hand.count(seat) else ' and is out'}"


def _dig(hand: Hand) -> Iterator[Chapter]:
    """What follows at once when the digger is known."""
    dug = Chapter("digger")
    digger = name(hand, hand.digger)
    if hand.rules.bidding is Bidding.ASSIGNED:
        dug.moves.append((digger, f"is assigned, at {hand.bid}"))
    elif hand.decisions[-1][1] is Phase.BID and not any(act for _, phase, act in hand.decisions if phase is Phase.BID):
        dug.moves.append((digger, f"called first, so digs at {hand.bid}, as nobody bids"))
    else:
        dug.moves.append((digger, f"digs at {hand.bid}"))
    if hand.deal.kitty:
        dug.moves.append((f"and takes {' '.join(CARD_NAMES[card] for card in hand.deal.kitty)}", ""))
    yield dug
    task = hand.deal.task
    if task is not None:
        yield Chapter("task", [(task.value, f"bonus {task.bonus * hand.rules.base}: {TASK_WORDS[task]}")])


def _afterwards(record: Mapping[str, Any], hand: Hand) -> Iterator[Chapter]:
    faults = Chapter("faults")
    for fault in record.get("faults", []):
        times = f", {fault['count']} times" if fault["count"] > 1 else ""
        faults.moves.append((name(hand, fault["seat"]), f"{fault['fault']}{times}"))
    if faults.moves:
        yield faults
    escaped = record["result"].get("escaped_seat")
    if escaped is not None:
        yield Chapter("escape", [(name(hand, escaped), "leaves the hand")])


def _remarks(seat: str, decision: Mapping[str, Any]) -> Iterator[str]:
    if "fault" in decision:
        offered = f", offered {_quoted(decision['offered'])}" if "offered" in decision else ""
        yield f"! {seat} {decision['fault']}{offered}; {decision['action']} was played by default"
    if "note" in decision:
        yield f"> {seat} at {decision['action']}: {_quoted(decision['note'])}"


def _quoted(text: str) -> str:
    return f'"{clean(text)}"'
