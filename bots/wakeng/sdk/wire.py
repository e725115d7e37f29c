"""Engine values as messages of the wire, and rule sets back again (docs/protocol.md 4).

Equal values give equal messages, so that what a seat may not know cannot show in the bytes it is sent.
"""

from functools import lru_cache
from typing import Any

from wakeng.engine import CARD_NAMES, PLAYS, Observation, RuleSet, format_cards, rule_set
from wakeng.v1 import observation_pb2, rules_pb2

_TABLE = tuple("" if play.id == 0 else play.token for play in PLAYS)


def rules_message(rules: RuleSet) -> rules_pb2.RuleSet:
    """The preset and the fields that differ from it."""
    overrides: dict[str, Any] = rules.overrides()
    return rules_pb2.RuleSet(preset=rules.preset, **overrides)


def rules_from_message(message: rules_pb2.RuleSet) -> RuleSet:
    """The rule set of a message; RuleError names the field that is impossible, `preset` where none is named."""
    overrides = {field.name: value for field, value in message.ListFields() if field.name != "preset"}
    return rule_set(message.preset, overrides)


@lru_cache(maxsize=64)
def rules_from_bytes(encoded: bytes) -> RuleSet:
    """The same from an encoded message. A bot meets few rule sets and many questions, hence the cache."""
    return rules_from_message(rules_pb2.RuleSet.FromString(encoded))


def observation_message(seen: Observation) -> observation_pb2.Observation:
    """What a seat is told. Where the engine says None the field is absent."""
    return observation_pb2.Observation(
        seat=seen.seat,
        cards=format_cards(seen.cards),
        cards_left=seen.cards_left,
        table=_TABLE[seen.table],
        table_seat=seen.table_seat,
        digger=seen.digger,
        bid=seen.bid,
        bombs=seen.bombs,
        grabs=seen.grabs,
        kitty=None if seen.kitty is None else format_cards(seen.kitty),
        rules=rules_message(seen.rules),
        opened=seen.opened,
        blind=seen.blind,
        task=None if seen.task is None else seen.task.value,
        history=seen.history,
        lying_seat=seen.lying_seat,
        opened_cards=None if seen.opened_cards is None else format_cards(seen.opened_cards),
        marked_card=None if seen.marked_card is None else CARD_NAMES[seen.marked_card],
        marked_seat=seen.marked_seat,
    )
