"""The window: how many decisions a bot may have before it, as its answers show what it can do (docs/protocol.md 4)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wakeng.services.window import MOST, SILENT, START, Window

MOVE_S = 1.0


class OneByOne:
    """A bot that thinks about one decision at a time, so long about each, and answers each as it is decided."""

    def __init__(self, service: float) -> None:
        self.service = service

    def latencies(self, count: int) -> list[float]:
        return [self.service * (n + 1) for n in range(count)]


class AtOnce(OneByOne):
    """A bot that thinks about whatever it has side by side."""

    def latencies(self, count: int) -> list[float]:
        return [self.service] * count


def bounded(move: float = MOVE_S) -> Window:
    window = Window()
    window.bound(move)
    return window


def fed(window: Window, bot: OneByOne, *, rounds: int = 60, full: bool = True) -> list[float]:
    """Hand the bot all that it may have, round by round, each answer coming in alone; the slowest of each round."""
    slowest = []
    for _ in range(rounds):
        count = window.limit
        latencies = bot.latencies(count)
        for latency in latencies:
            window.answered(1, fastest=latency, slowest=latency, alone=count == 1, full=full)
        slowest.append(latencies[-1])
    return slowest


def test_it_starts_with_one_and_at_most_doubles() -> None:
    window = bounded()
    limits = [window.limit]
    while limits[-1] < MOST:
        fed(window, AtOnce(1e-4), rounds=1)
        limits.append(window.limit)
    assert limits == [START, 2, 4, 8, 16, 32, 64, 128, 256]


@given(st.floats(1e-6, 0.9), st.sampled_from([0.05, 1.0, 10.0]))
def test_a_bot_that_thinks_one_by_one_is_never_late_by_the_arenas_making(service: float, move: float) -> None:
    service *= move
    slowest = fed(bounded(move), OneByOne(service))
    assert max(slowest) <= move


@given(st.floats(1e-6, 0.05))
def test_it_settles_where_the_last_of_them_waits_a_quarter_of_the_move_and_wastes_no_more_than_half_of_that(
    service: float,
) -> None:
    window = bounded()
    fed(window, OneByOne(service))
    waits = service * (window.limit - 1)
    assert waits <= MOVE_S / 4 * 1.001
    assert window.limit == MOST or 2 * (waits + service) >= MOVE_S / 4 * 0.99


@given(st.floats(1e-4, MOVE_S / 2))
def test_a_bot_that_thinks_side_by_side_gets_all_it_takes_however_long_each_takes(service: float) -> None:
    window = bounded()
    fed(window, AtOnce(service))
    assert window.limit == MOST


def test_a_bot_too_slow_for_two_one_by_one_is_asked_one_at_a_time() -> None:
    window = bounded()
    fed(window, AtOnce(0.6))
    assert window.limit == 1


def test_without_others_waiting_nothing_is_learnt_and_nothing_grows() -> None:
    window = bounded()
    fed(window, AtOnce(1e-4), full=False)
    assert window.limit == START


def test_a_bots_own_word_is_an_upper_bound() -> None:
    window = bounded()
    window.cap(3)
    fed(window, AtOnce(1e-6))
    assert window.limit == 3
    window.cap(0)
    assert window.limit == 1


def test_of_several_matches_the_shortest_move_counts() -> None:
    short, long = bounded(0.4), bounded(10)
    long.bound(0.4)
    long.bound(5)
    for window in (short, long):
        fed(window, OneByOne(0.01))
    assert short.limit == long.limit < MOST


def test_a_bot_that_begins_to_queue_gets_less_at_once_and_one_that_merely_slows_down_gets_it_back() -> None:
    window = bounded()
    fed(window, AtOnce(1e-4))
    fed(window, OneByOne(0.05), rounds=8)
    assert window.limit <= 6
    fed(window, AtOnce(0.4), rounds=60)
    assert window.limit == MOST


def test_with_a_bot_that_never_answers_a_few_more_are_given_up_side_by_side() -> None:
    window = bounded()
    for _ in range(20):
        window.expired()
    assert window.limit == SILENT


def test_of_a_bot_that_has_answered_a_missed_deadline_says_no_such_thing() -> None:
    window = bounded()
    fed(window, OneByOne(0.9), rounds=1)
    window.expired()
    assert window.limit == 1
