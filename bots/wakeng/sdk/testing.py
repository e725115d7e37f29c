"""For authors' tests: questions as the arena would put them, whole hands without a network, and old hands told anew."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import isawaitable
from typing import Any

from wakeng.engine import Hand, Phase, RuleSet, decode, rule_set
from wakeng.engine import replay as replayed
from wakeng.sdk.bot import Bot
from wakeng.sdk.decision import Answer, Decision
from wakeng.sdk.wire import observation_message
from wakeng.v1 import bot_pb2

MOVE_MS = 1_000
BANK_MS = 1_000
"""The arena's defaults (docs/protocol.md 7)."""


def decision_for(hand: Hand, seat: int | None = None, **fields: Any) -> Decision:
    """The hand's present question as the arena would put it.

    `seat`, where given, must be the seat that is asked. `fields` are further fields of the request, such as
    `decision_id` or `time_left_ms`. ValueError where nothing is asked of the seat.
    """
    if hand.phase is Phase.END:
        raise ValueError("the hand is over; nobody is asked anything")
    if seat not in (None, hand.turn):
        raise ValueError(f"seat {seat} is asked nothing now; the question is seat {hand.turn}'s")
    request = bot_pb2.DecideRequest(
        decision_id=len(hand.decisions) + 1,
        phase=hand.phase.value,
        observation=observation_message(hand.observe(hand.turn)),
        legal_actions=hand.legal_tokens(),
        time_left_ms=MOVE_MS,
        bank_left_ms=BANK_MS,
        match_id="test",
    )
    request.MergeFrom(bot_pb2.DecideRequest(**fields))
    return Decision(request)


def play_hand(
    rules: RuleSet | str,
    seed: bytes,
    bots: Sequence[Bot],
    *,
    blind_first_seat: int | None = None,
    assigned_digger: int | None = None,
) -> Hand:
    """A hand played to its end, without a network: `bots[s]` sits in seat s, and one bot may sit in several.

    `rules` may be a preset's name, `seed` has 32 bytes. A bot's exception comes through, an illegal answer is the
    engine's IllegalAction.
    """
    rules = rule_set(rules) if isinstance(rules, str) else rules
    if len(bots) != rules.players:
        raise ValueError(f"{rules.preset} has {rules.players} seats, not {len(bots)}")
    hand = Hand.from_seed(rules, seed, blind_first_seat=blind_first_seat, assigned_digger=assigned_digger)
    with _asking() as ask:
        while hand.phase is not Phase.END:
            hand.apply_token(ask(bots[hand.turn], decision_for(hand)))
    return hand


def replay(record_line: bytes | str, bot: Bot, seat: int) -> list[tuple[str, str]]:
    """What the record says the seat chose, beside what the bot would have chosen, question by question.

    RecordError where the line is no record. Where the record has a fault the first of the two is the default action.
    """
    record = decode(record_line.encode() if isinstance(record_line, str) else record_line.rstrip(b"\n"))
    hand = replayed({**record, "result": {}}, upto=0)
    told: list[tuple[str, str]] = []
    with _asking() as ask:
        for question in record.get("decisions", []):
            if question["seat"] == seat:
                told.append((question["action"], ask(bot, decision_for(hand, seat, **_ids(record)))))
            hand.apply_token(question["action"])
    return told


def _ids(record: Mapping[str, Any]) -> dict[str, Any]:
    ids = {name: record[name] for name in ("match_id", "hand_index", "attempt")}
    return {
        **ids,
        "time_left_ms": record["time_control"]["move_ms"],
        "bank_left_ms": record["time_control"]["bank_ms"],
    }


@contextmanager
def _asking() -> Iterator[Callable[[Bot, Decision], str]]:
    """A way to ask any bot without being async oneself; one event loop serves all that awaits."""
    with asyncio.Runner() as runner:

        def ask(bot: Bot, decision: Decision) -> str:
            choice = bot.choose(decision)
            if isawaitable(choice):
                choice = runner.run(_value(choice))
            return choice.action if isinstance(choice, Answer) else choice

        yield ask


async def _value(awaitable: Any) -> Any:
    return await awaitable
