"""A golden record per preset: any change of rules, deals, table or record shows as a difference of these files.

`make goldens` writes them anew; read the difference before you commit it.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from wakeng.bots import create
from wakeng.engine import PRESETS, Bidding, Fault, blind_first_seat, commitment, derive, encode, hand_seed, verify
from wakeng.sdk.decision import Answer, Decision
from wakeng.services.requests import decide_request
from wakeng.services.spec import TimeControl
from wakeng.services.table import HandSpec, Name, Table

FOLDER = Path(__file__).parent / "golden"
MATCH_SEED = derive(bytes(32), "golden", 0)
BOTS = ("random", "greedy", "lowest", "random")


def play(preset: str) -> bytes:
    """Hand 1 of a match by three reference bots and one fault of each kind of event, latencies made up."""
    rules = PRESETS[preset]
    names = BOTS[: rules.players]
    bots = [create(name, derive(MATCH_SEED, "bot", seat)) for seat, name in enumerate(names)]
    table = Table(
        HandSpec(
            match_id="golden",
            hand_index=1,
            rules=rules,
            seed=hand_seed(MATCH_SEED, 1),
            time_control=TimeControl(),
            names=tuple(Name(name, "1") for name in names),
            blind_first_seat=blind_first_seat(rules, MATCH_SEED, 1),
            assigned_digger=1 if rules.bidding is Bidding.ASSIGNED else None,
            match_commitment=commitment(MATCH_SEED),
        )
    )
    asked = 0
    while not table.over:
        asked += 1
        latency = 1000 + 17 * asked
        if asked == 10:
            table.fault(Fault.DEADLINE, latency_us=2_000_000)
        elif asked == 12:
            table.note_fault(table.seat, Fault.STALE)
            table.answer("no such word", latency_us=latency)
        else:
            decision = Decision(decide_request(table, asked, left_s=2.0, legal_actions=True))
            choice = bots[table.seat].choose(decision)
            answer = choice if isinstance(choice, Answer) else Answer(str(choice))
            table.answer(answer.action, latency_us=latency, note="第一步" if asked == 1 else answer.note)
    return encode(table.record())


@pytest.mark.parametrize("preset", PRESETS)
def test_golden_record(preset: str, golden: Callable[[Path, str], None]) -> None:
    line = play(preset)
    verify(line)
    golden(FOLDER / f"{preset}.jsonl", line.decode() + "\n")


def test_every_preset_has_its_golden_record_and_nothing_else_lies_there() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(PRESETS)
