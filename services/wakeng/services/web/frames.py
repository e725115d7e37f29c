"""A hand as a sequence of frames: the table at every step as the engine has it, ready to be drawn.

A record is played again by the engine, and each frame is read off the `Hand` at that step, so what a page shows is the
engine's state by construction; the browser only draws. A frame says for each point of view what may be seen from there
(`sees`), as `Hand.observe` has it: the page hides what a chosen seat could not see, and reckons nothing itself.

`live_frame` is the one frame of a hand that is being played: public information alone, with no card in it that is not.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from wakeng.engine import CARD_NAMES, KITTY, PLAYS, Hand, Phase, Terms, stake_of
from wakeng.engine.hand import NOBODY
from wakeng.engine.phases import HIDDEN
from wakeng.engine.record import begin, replay
from wakeng.services.web import words
from wakeng.services.web.languages import Language

Frame = dict[str, Any]
Record = Mapping[str, Any]

_MOST_MOVES: Final = 40
"""Of a table in play."""


def replay_of(record: Record, say: Language) -> dict[str, Any]:
    """Everything a page needs to show a verified record."""
    hand = begin(record)
    decisions: Sequence[Mapping[str, Any]] = record.get("decisions", ())
    frames: list[Frame] = []
    moves: list[dict[str, Any]] = []
    trick = _Trick(hand.rules.players)
    number = 0
    for decision in decisions:
        leads = hand.phase is Phase.PLAY and not hand.table
        number += leads
        frames.append({**_table(hand, trick), "ask": _question(hand, decision, say)})
        moves.append(_move(hand, decision, say, trick=number, leads=leads))
        trick.before(hand)
        hand.apply_token(decision["action"])
        trick.after(hand, decision)
    end = replay(record)  # An escape is played with the last decision.
    frames.append({**_table(end, trick), "end": _end(record, end, say)})
    return {
        "seats": [{"bot": seat["bot"], "version": seat.get("version", "")} for seat in record["seats"]],
        "digger": record["result"].get("digger"),
        "frames": frames,
        "moves": moves,
        "faults": [_fault(fault, say) for fault in record.get("faults", ())],
    }


def live_frame(hand: Hand, say: Language) -> Frame:
    """A hand in play, as everybody may see it."""
    seen = hand.observe(0)
    shown: list[list[str] | None] = [None] * hand.rules.players
    if seen.opened_cards is not None and seen.digger is not None:
        shown[seen.digger] = _names(seen.opened_cards)
    # Who is asked whether to lie down is nobody's business.
    asked = hand.turn if hand.phase not in HIDDEN and hand.phase is not Phase.END else None
    return {
        **_public(hand),
        "phase": "PLAY" if hand.phase in HIDDEN else hand.phase.value,
        "turn": asked,
        "hands": shown,
        "last": _last_of_trick(hand),
        "sees": [],
        "moves": _events(hand, say)[-_MOST_MOVES:],
    }


def _table(hand: Hand, trick: "_Trick") -> Frame:
    """The table with every card on it, and who may see what of them."""
    players = range(hand.rules.players)
    return {
        **_public(hand),
        "phase": hand.phase.value,
        "turn": None if hand.turn == NOBODY else hand.turn,
        "hands": [_names(hand.cards(seat)) for seat in players],
        "kitty_cards": _names(hand.deal.kitty),
        "last": trick.shown(hand),
        "sees": [_sees(hand, seat) for seat in players],
    }


def _public(hand: Hand) -> Frame:
    """What everybody may see."""
    seen = hand.observe(0)
    play = PLAYS[hand.table]
    return {
        "dealt": hand.dealt or hand.phase is Phase.END,
        "left": list(seen.cards_left),
        "digger": seen.digger,
        "bid": seen.bid,
        "bombs": seen.bombs,
        "grabs": seen.grabs,
        "opened": seen.opened,
        "blind": seen.blind,
        "lying": seen.lying_seat,
        "kitty": None if seen.kitty is None else _names(seen.kitty),
        "marked": None if seen.marked_card is None else CARD_NAMES[seen.marked_card],
        "marked_seat": None if seen.marked_seat == KITTY else seen.marked_seat,
        "task": None if seen.task is None else seen.task.value,
        "table": {"token": play.token, "kind": play.kind.value, "seat": hand.holder} if hand.table else None,
        "stake": _stake(hand),
    }


def _stake(hand: Hand) -> int | None:
    """What the hand is played for as it stands; None before there is a digger."""
    if hand.digger == NOBODY:
        return None
    lying = None if hand.lying == NOBODY else hand.lying
    terms = Terms(hand.digger, hand.bid, hand.bombs, hand.grabs, hand.opened, lying, hand.blind)
    won = hand.result is None or hand.result.winner.value != "DEFENDERS"
    return stake_of(hand.rules, terms, digger_wins=won)


def _sees(hand: Hand, seat: int) -> dict[str, Any]:
    """What a seat sees of the hands, and whether a question to another one is known to it."""
    seen = hand.observe(seat)
    hands = [other == seat and hand.dealt for other in range(hand.rules.players)]
    if seen.opened_cards is not None and seen.digger is not None:
        hands[seen.digger] = True
    return {"hands": hands, "phase": seen.phase.value, "turn": hand.phase not in HIDDEN or hand.turn == seat}


def _question(hand: Hand, decision: Mapping[str, Any], say: Language) -> dict[str, Any]:
    """What a seat is asked, what it may do, and what it did."""
    told: dict[str, Any] = {
        "seat": hand.turn,
        "phase": hand.phase.value,
        "title": say(words.PHASES[hand.phase.value]),
        "legal": [[token, words.option(say, token)] for token in hand.legal_tokens()],
        "action": decision["action"],
        "latency_us": decision["latency_us"],
    }
    for name in ("note", "offered"):
        if name in decision:
            told[name] = decision[name]
    if "fault" in decision:
        told["fault"] = decision["fault"]
        told["fault_text"] = words.word(say, words.FAULTS, decision["fault"])
    return told


def _move(hand: Hand, decision: Mapping[str, Any], say: Language, *, trick: int, leads: bool) -> dict[str, Any]:
    token, phase = decision["action"], hand.phase
    bomb = phase is Phase.PLAY and hand.rules.bombs and _is_quad(token)
    return {
        "seat": hand.turn,
        "phase": phase.value,
        "trick": trick if phase is Phase.PLAY else 0,
        "leads": leads,
        "text": words.deed(say, phase.value, token, leads=leads, bomb=bomb),
        "pass": token in ("pass", "no"),
        "fault": decision.get("fault"),
        "note": "note" in decision,
        "hidden": phase in HIDDEN,
    }


def _events(hand: Hand, say: Language) -> list[dict[str, Any]]:
    """The public history in words."""
    found: list[dict[str, Any]] = []
    others = hand.rules.players - 1 - (hand.lying != NOBODY)
    passes = others  # So that the first play is a lead.
    for event in hand.history:
        seat, phase, token = event.split(":")
        if phase == "LIE_DOWN":
            text = say("lies down") if token == "lies" else say("lying down was refused")
        else:
            bomb = phase == "PLAY" and hand.rules.bombs and _is_quad(token)
            text = words.deed(say, phase, token, leads=phase == "PLAY" and passes >= others, bomb=bomb)
        if phase == "PLAY":
            passes = passes + 1 if token == "pass" else 0
        found.append({"seat": None if seat == "-" else int(seat), "text": text, "pass": token in ("pass", "no")})
    return found


def _is_quad(token: str) -> bool:
    return len(token) == 4 and len(set(token)) == 1


def _end(record: Record, hand: Hand, say: Language) -> dict[str, Any]:
    result = record["result"]
    told = {name: result[name] for name in ("winner", "scores", "task_bonus", "escaped_seat") if name in result}
    return {**told, "factors": factors(record, hand, say), "stake": result.get("stake")}


def factors(record: Record, hand: Hand, say: Language) -> list[list[Any]]:
    """What the stake is made of, each with its words; their product is the stake (docs/rules.md 4)."""
    result, rules = record["result"], hand.rules
    if "stake" not in result:
        return []
    won = result["digger"] != result["escaped_seat"] if "escaped_seat" in result else result["winner"] == "DIGGER"
    all_of_them = (
        (say("base"), rules.base, True),
        (say("bid"), result["bid"], True),
        (say("bombs"), min(1 << min(result["bombs"], 32), rules.bomb_cap), result["bombs"]),
        (say("grabs"), 1 << result["grabs"], result["grabs"]),
        (say("laid open"), 2, result["opened"]),
        (say("lies down"), 2, "lying_seat" in result),
        (say("dug unseen"), 2, result["blind"] and won),
    )
    return [[text, value] for text, value, applies in all_of_them if applies]


def _fault(fault: Mapping[str, Any], say: Language) -> dict[str, Any]:
    return {**fault, "text": words.word(say, words.FAULTS, fault["fault"])}


def _last_of_trick(hand: Hand) -> list[Any]:
    """By seat, what it did last in the trick that goes on: the token of its play, or None."""
    last: list[Any] = [None] * hand.rules.players
    if not hand.table:
        return last
    for event in reversed(hand.history):
        seat, phase, token = event.split(":")
        if phase != "PLAY":
            break
        if last[int(seat)] is None:
            last[int(seat)] = {"pass": True} if token == "pass" else {"token": token}
        if int(seat) == hand.holder and token != "pass":
            break
    return last


class _Trick:
    """What lies before each seat in the trick that goes on, with the cards themselves."""

    def __init__(self, players: int) -> None:
        self._last: list[Any] = [None] * players
        self._held: tuple[int, ...] = ()

    def before(self, hand: Hand) -> None:
        """A decision is about to be applied."""
        self._held = hand.cards(hand.turn)
        if hand.phase is Phase.PLAY and not hand.table:
            self._last = [None] * len(self._last)

    def after(self, hand: Hand, decision: Mapping[str, Any]) -> None:
        """It was applied."""
        if decision["phase"] != "PLAY":
            return
        seat, token = decision["seat"], decision["action"]
        left = set(hand.cards(seat))
        cards = [card for card in self._held if card not in left]
        self._last[seat] = {"pass": True} if token == "pass" else {"token": token, "cards": _names(cards)}

    def shown(self, hand: Hand) -> list[Any]:
        """By seat; nothing once the table is cleared."""
        return list(self._last) if hand.table else [None] * len(self._last)


def _names(cards: Sequence[int]) -> list[str]:
    return [CARD_NAMES[card] for card in cards]
