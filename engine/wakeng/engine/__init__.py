"""The game of 挖坑 (Wakeng): rules, hands, deals and records. Pure: no I/O, no clock, no global randomness."""

from wakeng.engine.cards import CARD_NAMES, RANKS, SUITS, format_cards, parse_card, parse_cards
from wakeng.engine.deal import (
    KITTY,
    Deal,
    Stream,
    blind_first_seat,
    commitment,
    deal_cards,
    derive,
    hand_seed,
    parse_seed,
    remembered_deal,
)
from wakeng.engine.faults import Fault, Side
from wakeng.engine.hand import Hand, IllegalAction, UnknownToken
from wakeng.engine.observe import Observation
from wakeng.engine.phases import ACTIONS, ALL_TOKENS, TOKENS, TRANSITIONS, Phase
from wakeng.engine.plays import PLAY_ID, PLAYS, Kind, Play, classify
from wakeng.engine.record import RecordError, deal_members, decode, encode, replay, result_members, verify
from wakeng.engine.rules import PRESETS, Bidding, FirstCaller, RuleError, RuleSet, rule_set
from wakeng.engine.settle import Result, Terms, Winner, settle, settle_escape, stake_of
from wakeng.engine.tasks import Task

__all__ = [
    "ACTIONS",
    "ALL_TOKENS",
    "CARD_NAMES",
    "KITTY",
    "PLAYS",
    "PLAY_ID",
    "PRESETS",
    "RANKS",
    "SUITS",
    "TOKENS",
    "TRANSITIONS",
    "Bidding",
    "Deal",
    "Fault",
    "FirstCaller",
    "Hand",
    "IllegalAction",
    "Kind",
    "Observation",
    "Phase",
    "Play",
    "RecordError",
    "Result",
    "RuleError",
    "RuleSet",
    "Side",
    "Stream",
    "Task",
    "Terms",
    "UnknownToken",
    "Winner",
    "blind_first_seat",
    "classify",
    "commitment",
    "deal_cards",
    "deal_members",
    "decode",
    "derive",
    "encode",
    "format_cards",
    "hand_seed",
    "parse_card",
    "parse_cards",
    "parse_seed",
    "remembered_deal",
    "replay",
    "result_members",
    "rule_set",
    "settle",
    "settle_escape",
    "stake_of",
    "verify",
]
