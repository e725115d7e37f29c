"""When a bot is dealt in: closed, open, probed, on trial (docs/protocol.md 7)."""

from hypothesis import given
from hypothesis import strategies as st

from wakeng.engine import Fault
from wakeng.services.circuit import FIRST_PAUSE, LONGEST_PAUSE, Circuit, State


def tripped(max_escapes: int = 3) -> Circuit:
    circuit = Circuit(max_escapes)
    for _ in range(max_escapes):
        circuit.deal_in()
        circuit.escaped(Fault.DEADLINE, now=0.0)
    return circuit


def test_it_opens_at_the_third_escape_in_a_row() -> None:
    circuit = Circuit(3)
    for _ in range(2):
        circuit.escaped(Fault.DEADLINE, now=0.0)
        assert circuit.dealt_in
    circuit.escaped(Fault.BOT_ERROR, now=5.0)
    assert not circuit.dealt_in
    assert circuit.fault is Fault.BOT_ERROR
    assert circuit.probe_at == 5.0 + FIRST_PAUSE


def test_a_hand_played_to_its_end_breaks_the_row() -> None:
    circuit = Circuit(3)
    for _ in range(5):
        circuit.escaped(Fault.DEADLINE, now=0.0)
        circuit.escaped(Fault.DEADLINE, now=0.0)
        circuit.completed()
    assert circuit.dealt_in


def test_a_bot_that_was_never_ready_is_open_from_the_start() -> None:
    circuit = Circuit(3)
    circuit.trip(Fault.NOT_READY, now=1.0)
    assert circuit.state is State.OPEN
    assert circuit.fault is Fault.NOT_READY


def test_after_a_good_probe_one_hand_is_dealt_on_trial_and_no_other() -> None:
    circuit = tripped()
    circuit.probing()
    assert not circuit.dealt_in
    circuit.probed(there=True, now=2.0)
    assert circuit.dealt_in
    circuit.deal_in()
    assert not circuit.dealt_in


def test_a_trial_that_is_played_to_its_end_closes_it() -> None:
    circuit = tripped()
    circuit.probing()
    circuit.probed(there=True, now=2.0)
    circuit.deal_in()
    circuit.completed()
    assert circuit.state is State.CLOSED
    circuit.escaped(Fault.DEADLINE, now=3.0)
    assert circuit.dealt_in, "the count of escapes begins anew"


def test_a_trial_that_fails_doubles_the_pause() -> None:
    circuit = tripped()
    circuit.probing()
    circuit.probed(there=True, now=2.0)
    circuit.deal_in()
    circuit.escaped(Fault.DEADLINE, now=10.0)
    assert circuit.state is State.OPEN
    assert circuit.probe_at == 10.0 + 2 * FIRST_PAUSE


def test_a_probe_that_fails_doubles_the_pause_up_to_a_limit() -> None:
    circuit = tripped()
    for _ in range(20):
        circuit.probing()
        circuit.probed(there=False, now=100.0)
    assert circuit.probe_at == 100.0 + LONGEST_PAUSE


def test_a_hand_that_was_still_in_play_closes_it_even_while_the_bot_is_probed() -> None:
    circuit = tripped()
    circuit.probing()
    circuit.completed()
    circuit.probed(there=False, now=1.0)
    assert circuit.state is State.CLOSED


@given(st.lists(st.sampled_from(["escape", "complete", "probe", "no", "yes"]), max_size=60), st.integers(1, 5))
def test_whatever_happens_a_hand_is_dealt_only_when_closed_or_once_on_trial(events: list[str], most: int) -> None:
    circuit = Circuit(most)
    in_a_row = trials = 0
    for now, event in enumerate(events):
        if event in ("escape", "complete") and circuit.dealt_in:
            trials = trials + 1 if circuit.state is State.HALF_OPEN else 0
            assert trials <= 1
            circuit.deal_in()
            if event == "escape":
                in_a_row += 1
                circuit.escaped(Fault.DEADLINE, now)
            else:
                in_a_row = 0
                circuit.completed()
        elif event == "probe" and circuit.state is State.OPEN:
            circuit.probing()
        elif circuit.state is State.PROBING:
            trials = 0
            circuit.probed(there=event == "yes", now=now)
        assert (circuit.state is State.CLOSED) == (in_a_row < most)
