"""Replays: a recorded hand, or one that is dropped onto the page, checked and shown and then forgotten."""

from typing import Any, Final

import orjson
from google.protobuf import json_format
from starlette.responses import Response

from wakeng.engine import RecordError, replay, verify
from wakeng.engine.record import MOST_LINE_BYTES, rules_of
from wakeng.sdk.wire import observation_message
from wakeng.services import record_access
from wakeng.services.store import Match
from wakeng.services.store.figures import BESIDE
from wakeng.services.web import words
from wakeng.services.web.frames import replay_of
from wakeng.services.web.matches import told_below
from wakeng.services.web.visit import Missing, TooLarge, Visit

_MOST_SAID: Final = 300
"""Characters of what is wrong with a record."""


async def hand(visit: Visit) -> Response:
    """A recorded hand."""
    match, record, line = await _record(visit)
    index = record["hand_index"]
    below = await told_below(visit, match)
    near = await visit.site.store.pages.hands(match.match_id, first=max(0, index - 1), most=3, below=below)
    indices = [one.hand_index for one in near]
    return visit.page(
        "hand.html",
        match=match,
        record=record,
        data=replay_of(record, visit.say),
        rules=rules_of(record),
        before=index - 1 if index - 1 in indices else None,
        after=next((one for one in indices if one > index), None),
        name=match.spec.get("tournament", match.spec).get("name") or match.match_id,
        line=line.decode(),
    )


async def line(visit: Visit) -> Response:
    """The record itself, as it stands in files."""
    _, record, text = await _record(visit)
    name = f"{record['match_id']}-{record['hand_index']}.jsonl".replace('"', "")
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "private, no-cache"}
    return Response(text + b"\n", media_type="application/x-ndjson", headers=headers)


async def fault(visit: Visit) -> Response:
    """The exact question and answer of a fault."""
    match, record, _ = await _record(visit)
    number = int(visit.asked("number"))
    decisions, beside = record.get("decisions", []), record.get("faults", [])
    if number >= BESIDE and number - BESIDE < len(beside):
        told = beside[number - BESIDE]
        return visit.page("fault.html", match=match, record=record, told=told, number=None, asked=None)
    if number >= len(decisions) or "fault" not in decisions[number]:
        raise Missing(visit.say("There is no such fault."))
    told = decisions[number]
    return visit.page("fault.html", match=match, record=record, told=told, number=number, asked=_asked(record, number))


async def dropped_page(visit: Visit) -> Response:
    """The page that records can be dropped onto."""
    return visit.page("replay.html")


async def dropped(visit: Visit) -> Response:
    """A record that was dropped: checked, and shown if it is true. Nothing of it is kept."""
    try:
        record = verify((await visit.body(MOST_LINE_BYTES)).strip(b"\r\n"))
    except TooLarge:
        return _problem(visit, visit.say("A record has at most 1 MiB."), 413)
    except RecordError as problem:
        told_why = visit.say("No true record: %(why)s", why=str(problem)[:_MOST_SAID])
        return _problem(visit, told_why, 422)
    told = replay_of(record, visit.say)
    rules = visit.render("record_head.html", record=record, rules=rules_of(record))
    return visit.json({"replay": told, "head": _head(visit, record), "summary": rules})


def _problem(visit: Visit, text: str, status: int) -> Response:
    answer = visit.json({"problem": text})
    answer.status_code = status
    return answer


def _head(visit: Visit, record: Any) -> str:
    preset = words.word(visit.say, words.PRESETS, record["rules"]["preset"])
    return visit.say(
        "Hand %(n)s of %(match)s, %(rules)s", n=record["hand_index"], match=record["match_id"], rules=preset
    )


async def _record(visit: Visit) -> tuple[Match, Any, bytes]:
    """The match, the record and its line, if they are for who looks."""
    match = await visit.match()
    text = visit.asked("index")
    index = int(text) if text.isdecimal() and len(text) < 10 else -1
    found = await record_access.record(visit.site.store, match, index, visit.who) if index >= 0 else None
    if found is None:
        raise Missing(visit.say("That hand has no record here (yet)."))
    return match, orjson.loads(found), found


def _asked(record: Any, number: int) -> dict[str, Any]:
    """What the seat was asked by a decision, as the wire says it."""
    hand = replay(record, upto=number)
    seat = hand.turn
    message = json_format.MessageToDict(observation_message(hand.observe(seat)), preserving_proto_field_name=True)
    return {
        "phase": hand.phase.value,
        "legal_actions": hand.legal_tokens(),
        "text": orjson.dumps(message, option=orjson.OPT_INDENT_2).decode(),
    }
