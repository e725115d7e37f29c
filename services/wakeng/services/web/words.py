"""The game's words on pages: phases, actions, faults, tasks and kinds of plays, for every language to translate."""

from collections.abc import Mapping
from typing import Any, Final

from wakeng.engine import Kind, Phase
from wakeng.services.web.languages import N_, Language

PHASES: Final[Mapping[str, str]] = {
    "BLIND": N_("Blind"),
    "BID": N_("Bid"),
    "GRAB": N_("Grab"),
    "OPEN": N_("Open"),
    "BURY": N_("Bury"),
    "LIE_DOWN_ASK": N_("Lie down?"),
    "LIE_DOWN_CONSENT": N_("Agree to lie down?"),
    "PLAY": N_("Play"),
    "END": N_("End"),
}
_DEEDS: Final[Mapping[tuple[str, str], str]] = {
    ("BLIND", "no"): N_("waits"),
    ("BLIND", "yes"): N_("digs unseen"),
    ("BID", "pass"): N_("passes"),
    ("BID", "bid1"): N_("bids 1"),
    ("BID", "bid2"): N_("bids 2"),
    ("BID", "bid3"): N_("bids 3"),
    ("GRAB", "no"): N_("lets it be"),
    ("GRAB", "yes"): N_("grabs"),
    ("OPEN", "no"): N_("keeps the hand closed"),
    ("OPEN", "yes"): N_("lays the hand open"),
    ("BURY", "pass"): N_("buries nothing"),
    ("LIE_DOWN_ASK", "no"): N_("does not ask"),
    ("LIE_DOWN_ASK", "yes"): N_("asks the partner to lie down"),
    ("LIE_DOWN_CONSENT", "no"): N_("refuses"),
    ("LIE_DOWN_CONSENT", "yes"): N_("lies down"),
    ("PLAY", "pass"): N_("passes"),
}
_OPTIONS: Final[Mapping[str, str]] = {
    "no": N_("no"),
    "yes": N_("yes"),
    "pass": N_("pass"),
    "bid1": "1",
    "bid2": "2",
    "bid3": "3",
}
KINDS: Final[Mapping[str, str]] = {
    "SINGLE": N_("single"),
    "PAIR": N_("pair"),
    "TRIPLE": N_("triple"),
    "QUAD": N_("quad"),
    "STRAIGHT": N_("straight"),
    "PAIR_RUN": N_("pair run"),
    "TRIPLE_RUN": N_("triple run"),
    "QUAD_RUN": N_("quad run"),
}
FAULTS: Final[Mapping[str, str]] = {
    "DEADLINE": N_("no answer in time"),
    "ILLEGAL_ACTION": N_("a token of the vocabulary, but not legal here"),
    "MALFORMED": N_("no such token, or an unreadable or oversized message"),
    "STALE": N_("an answer to a question that was never asked"),
    "BOT_ERROR": N_("the call returned an error of the bot's own"),
    "DISCONNECTED": N_("the connection was lost"),
    "UNREACHABLE": N_("the bot could not be reached"),
    "NOT_READY": N_("the bot was not ready at the first deal"),
    "ARENA_ERROR": N_("the arena's own failure"),
}
TASKS: Final[Mapping[str, str]] = {
    "WIN_AS_DEFENDER": N_("wins as a defender"),
    "WIN_AS_DIGGER": N_("wins as the digger"),
    "OUT_WITH_PAIR": N_("ends the hand with a pair"),
    "OUT_WITH_STRAIGHT": N_("ends the hand with a straight"),
    "OUT_WITH_SINGLE_4": N_("ends the hand with a single 4"),
    "TWO_PAIR_RUNS": N_("plays two pair runs or more"),
    "STRAIGHT_OF_FIVE": N_("plays a straight of five or more"),
    "WIN_WITHOUT_3": N_("wins and plays no 3"),
    "PLAY_QUAD": N_("plays a quad"),
}
STATES: Final[Mapping[str, str]] = {
    "PENDING": N_("pending"),
    "RUNNING": N_("running"),
    "PAUSED": N_("paused"),
    "FINISHED": N_("finished"),
    "CANCELLED": N_("cancelled"),
    "FAILED": N_("failed"),
}
WINNERS: Final[Mapping[str, str]] = {
    "DIGGER": N_("digger"),
    "DEFENDERS": N_("defenders"),
    "ESCAPED": N_("escaped"),
}
FORMATS: Final[Mapping[str, str]] = {
    "all": N_("every line-up"),
    "balanced": N_("balanced line-ups"),
    "gauntlet": N_("gauntlet"),
    "swiss": N_("Swiss"),
    "ladder": N_("ladder"),
    "sprt": N_("sequential test"),
}
PRESETS: Final[Mapping[str, str]] = {
    "xian": N_("Xi'an"),
    "three_traditional": N_("Three, traditional"),
    "three_feature": N_("Three, feature"),
    "three_blind": N_("Three, blind"),
    "four_traditional": N_("Four, traditional"),
    "four_feature": N_("Four, feature"),
    "four_blind": N_("Four, blind"),
    "baoji_traditional": N_("Baoji, traditional"),
    "baoji_feature": N_("Baoji, feature"),
    "baoji_blind": N_("Baoji, blind"),
}


REMARKS: Final[Mapping[str, str]] = {
    # The words of wakeng.services.tournament.statistics, which say nothing else.
    "the pairing followed the results: intervals hold the truth less often than they say": N_(
        "the pairing followed the results: intervals hold the truth less often than they say"
    ),
}


def option(say: Language, token: str) -> str:
    """A legal action as it stands among the others: plays as the wire says them, the rest in words."""
    if token.startswith("bury"):
        return say("bury %(rank)s", rank=shown(token.removeprefix("bury")))
    known = _OPTIONS.get(token)
    return shown(token) if known is None else say(known)


def deed(say: Language, phase: str, token: str, *, leads: bool = False, bomb: bool = False) -> str:
    """What a seat did, to stand behind its name."""
    if phase == Phase.BURY.value and token != "pass":
        return say("buries %(rank)s", rank=shown(token.removeprefix("bury")))
    if phase == Phase.PLAY.value and token != "pass":
        text = N_("bombs %(play)s") if bomb else N_("leads %(play)s") if leads else N_("plays %(play)s")
        return say(text, play=shown(token))
    return say(_DEEDS[phase, token])


def kind(say: Language, kind_: Kind) -> str:
    """A kind of play."""
    return say(KINDS[kind_.value])


def shown(ranks: str) -> str:
    """Ranks for people: a ten is 10, set off where it would run into others."""
    if "T" not in ranks or len(ranks) == 1:
        return ranks.replace("T", "10")
    return "·".join(ranks).replace("T", "10")


def word(say: Language, table: Mapping[str, str], key: Any) -> str:
    """A word of one of the tables; what is not in it, as it is."""
    return say(table[key]) if key in table else str(key)
