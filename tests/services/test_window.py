"""The window: how many decisions a bot may have before it, as its answers show what it can do (docs/protocol.md 4)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wakeng.services.window import MOST, START, Window

MOVE_S = 1.0


def fed(window: Window, *, service: float, rounds: int = 50, batch: int | None = None) -> Window:
    """A bot that is handed all it may have, `batch` at a time if that is less, and takes so long for each."""
    now = 0.0
    for _ in range(rounds):
        count = min(window.limit, batch or window.limit)
        window.sent(now, 0)
        now += service * count
        window.answered(now, count)
    return window


def bounded(move: float = MOVE_S) -> Window:
    window = Window()
    window.bound(move)
    return window


def test_it_starts_small_and_at_most_doubles() -> None:
    window = bounded()
    limits = [window.limit]
    while limits[-1] < MOST:
        fed(window, service=1e-6, rounds=1)
        limits.append(window.limit)
    assert limits == [START, 16, 32, 64, 128, 256]


@given(st.floats(1e-6, 10), st.sampled_from([0.05, 1.0, 10.0]))
def test_the_last_of_them_is_answerable_within_a_quarter_of_the_move(service: float, move: float) -> None:
    limit = fed(bounded(move), service=service).limit
    assert limit == 1 or limit * service <= move / 4 * 1.001
    assert limit in (1, MOST) or (limit + 1) * service > move / 4 * 0.999, "and no fewer than that"


def test_one_is_always_let_out() -> None:
    assert fed(bounded(), service=60).limit == 1


def test_a_bot_that_answers_many_at_once_gets_many_however_long_each_answer_takes() -> None:
    window, now = bounded(), 0.0
    for _ in range(20):
        window.sent(now, 0)
        now += 0.02
        window.answered(now, window.limit)
    assert window.limit == MOST


def test_time_without_work_is_not_service() -> None:
    window, now = bounded(), 0.0
    for _ in range(50):
        now += 60
        window.sent(now, 0)
        now += 0.001
        window.answered(now, 1)
    assert window.limit in (249, 250)


def test_a_bots_own_word_is_an_upper_bound_from_the_first_message_on() -> None:
    window = bounded()
    window.cap(3)
    assert window.limit == 3
    assert fed(window, service=1e-6).limit == 3
    window.cap(0)
    assert window.limit == 1


def test_of_several_matches_the_shortest_move_counts() -> None:
    window = bounded(10)
    window.bound(0.4)
    window.bound(5)
    assert fed(window, service=0.01).limit == 10


def test_a_bot_that_slows_down_gets_less() -> None:
    window = fed(bounded(), service=1e-6)
    assert fed(window, service=0.05).limit == 5
