"""The checks that begin a run and those of single questions: what the bot says of itself, its ways, its phases.

A check takes the run and returns what it found to be well, in a sentence; it raises Found with anything else.
"""

from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from wakeng.engine import PRESETS, Fault, RuleSet
from wakeng.engine.rules import FIELD_TYPES
from wakeng.sdk.client import CallError, Trouble
from wakeng.sdk.conformance.positions import Position, phases_of, positions
from wakeng.sdk.conformance.results import Found, Status, counted, shown
from wakeng.sdk.conformance.run import PROTOCOL_VERSION, NoStream, Run
from wakeng.sdk.conformance.talk import UnaryTalk, milliseconds
from wakeng.v1 import bot_pb2

_UNKNOWN_PHASE: Final = "COUNT_CARDS"
"""A phase that no rule set has."""
_MOST_NAME: Final = 64
_FIRST_WAY: Final = 0.7
"""The part of a check's time for the way that the arena would use; the rest is for the other."""


class Check(NamedTuple):
    """A check before it is done."""

    name: str
    act: Callable[[Run], Awaitable[str]]
    rule: str = ""
    """Where RULES says what it is about, if no fault does."""
    share: float = 1.0
    """The part of the time left that it may take."""


# What it says of itself ----------------------------------------------------------------------------------------------


async def describe(run: Run) -> str:
    """Asked twice, as it is by an arena that plays more than one match with the bot."""
    presets = [name for name in run.scope.presets if name in PRESETS] or list(PRESETS)
    began = run.now()
    run.told = await _described(run, PRESETS[presets[0]])
    took = run.now() - began
    _demand_sane(run)
    again = await _described(run, PRESETS[run.presets()[-1]])
    if again != run.told:
        raise Found(
            "it describes itself otherwise the second time", status=Status.REMARK,
            sent=shown(run.describe_request(PRESETS[run.presets()[-1]])), received=shown(again),
        )  # fmt: skip
    plays = ", ".join(run.told.presets) or "all presets"
    return f"{run.told.name[:_MOST_NAME]} {run.told.version[:_MOST_NAME]}: plays {plays}; took {milliseconds(took)}"


async def _described(run: Run, rules: RuleSet) -> bot_pb2.DescribeResponse:
    request = run.describe_request(rules)
    try:
        return await run.caller.describe(request, within=run.budgets.ready)
    except CallError as error:
        late = f" within {milliseconds(run.budgets.ready)}; is it there, and ready?"
        summary = f"it did not describe itself{late if error.trouble is Trouble.DEADLINE else f': {error}'}"
        raise Found(summary, Fault.NOT_READY, sent=shown(request), last=True) from None


def _demand_sane(run: Run) -> None:
    told = run.told
    received = shown(told)
    if told.protocol_version != PROTOCOL_VERSION:
        summary = f"it speaks protocol version {told.protocol_version}, not {PROTOCOL_VERSION}"
        raise Found(summary, Fault.NOT_READY, received=received, last=True)
    for field in ("max_tables", "max_decisions"):
        if told.HasField(field) and getattr(told, field) < 1:
            raise Found(f"{field} is {getattr(told, field)}; it counts from 1", received=received)
    if not run.presets():
        raise Found("it plays none of the presets that were asked for", received=received, last=True)
    odd = [f"there is no preset {name[:80]!r}" for name in told.presets if name not in PRESETS]
    odd += [f"no rule set has a field {name[:80]!r}" for name in told.override_fields if name not in FIELD_TYPES]
    odd += ["it has no name"] if not told.name else []
    if odd:
        raise Found("; ".join(odd), status=Status.REMARK, received=received)


# The two ways to ask it ----------------------------------------------------------------------------------------------


async def stream(run: Run) -> str:
    """The stream's first exchange, as the arena opens it."""
    began = run.now()
    try:
        talk = await run.open_stream(run.budgets.ready)
    except NoStream as problem:
        raise Found(problem.summary, status=Status.SKIPPED) from None
    run.streams = True
    run.keep(talk)
    return f"Play is there; its first exchange took {milliseconds(run.now() - began)}"


async def unary(run: Run) -> str:
    """A single question."""
    talk = UnaryTalk(run.caller, run.ledger)
    replies = await talk.ask([run.question(_first(run))])
    if talk.unimplemented and not run.streams:
        raise Found("it implements neither Decide nor Play", Fault.BOT_ERROR, last=True)
    if talk.unimplemented:
        raise Found("it does not implement Decide", status=Status.SKIPPED)
    run.single = True
    if not run.streams:
        run.keep(talk)
    await run.demand(talk, replies)
    return f"Decide is there; it answered in {milliseconds(replies[0].latency)}"


def _first(run: Run) -> Position:
    return positions(PRESETS[run.presets()[0]], run.scope.seed, each=1)[-1]


# Phases --------------------------------------------------------------------------------------------------------------


def phases(rules: RuleSet, *, share: float) -> Check:
    """Every phase of a rule set, both ways if there are two."""

    async def act(run: Run) -> str:
        asked = positions(rules, run.scope.seed, each=run.scope.each)
        ways = run.ways(await run.talk())
        heard = []
        for at, way in enumerate(ways, start=2 - len(ways)):
            until = run.until if at else run.now() + _FIRST_WAY * (run.until - run.now())
            replies = await run.ask_in_order(way, asked, until=until)
            await run.demand(way, replies)
            heard.append(replies)
        if len(heard) == 2:
            run.compared += zip(*heard, strict=False)
        answered = min(map(len, heard))
        if answered < len(asked):
            raise Found(_partly(answered, len(asked)), status=Status.REMARK, rule="")
        return f"{counted(answered, 'question')} of {', '.join(phase.value for phase in phases_of(rules))}"

    return Check(f"phases {_called(rules)}", act, "phases", share)


def _called(rules: RuleSet) -> str:
    words = (
        f"{name}={str(value).replace('True', 'on').replace('False', 'off')}"
        for name, value in rules.overrides().items()
    )
    return " ".join((rules.preset, *words))


def _partly(done: int, wanted: int) -> str:
    return f"all well, but only {done:,} of {counted(wanted, 'question')} fitted into the time of the whole check"


async def agreement(run: Run) -> str:
    """What was asked both ways."""
    if not run.compared:
        raise Found("there is only one way to ask it", status=Status.SKIPPED)
    differing = [(one, other) for one, other in run.compared if one.action != other.action]
    if differing:
        one, other = differing[0]
        raise Found(
            f"{len(differing):,} of {counted(len(run.compared), 'question')} got another answer by Decide than by Play",
            status=Status.REMARK,
            sent=shown(one.question.request),
            received=f"Play: {one.received} Decide: {other.received}",
        )
    return f"{counted(len(run.compared), 'question')} were answered the same by Decide and by Play"


async def unknown_phase(run: Run) -> str:
    """A question of a phase that may come one day."""
    if not run.wants_legal_actions:
        raise Found("it wants no legal actions", status=Status.SKIPPED)
    known = _first(run)
    request = bot_pb2.DecideRequest()
    request.CopyFrom(known.request)
    request.phase = _UNKNOWN_PHASE
    request.legal_actions[:] = ["no", "yes"]
    talk = await run.talk()
    replies = await talk.ask([run.question(Position(known.rules, ("no", "yes"), request))])
    if replies[0].faults:
        raise Found(
            f"it has no answer to a phase that it does not know: {replies[0].problem}", status=Status.REMARK,
            sent=shown(replies[0].question.request), received=replies[0].received,
        )  # fmt: skip
    return f"it answered a phase that it cannot know with {replies[0].action!r}"


async def no_bank(run: Run) -> str:
    """Questions late in a hand that went badly: the bank is used up, the last decision was a fault."""
    asked = positions(PRESETS[run.presets()[0]], run.scope.seed, each=1)
    for position in asked:
        position.request.last_latency_us = 1000 * (run.budgets.move_ms + run.budgets.bank_ms)
        position.request.last_fault = Fault.DEADLINE.value
    talk = await run.talk()
    replies = []
    for position in asked:
        replies += await talk.ask([run.question(position, bank=0.0)])
        await run.demand(talk, replies)
    return f"{counted(len(asked), 'question')} without a bank were answered within {milliseconds(run.budgets.move)}"
