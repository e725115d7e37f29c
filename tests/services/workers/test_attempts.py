"""When a block is given up: attempts that failed or fell silent count, those that were given back do not."""

from wakeng.services.store import BlockAttempts
from wakeng.services.workers.attempts import failed, given_back, judged, lost

FRESH = BlockAttempts(match_id="t", block=7)


def test_the_first_delivery_is_never_the_last() -> None:
    assert judged(FRESH, 1, most=1) is None


def test_a_delivery_of_which_nothing_was_heard_is_an_attempt() -> None:
    assert lost(FRESH, 3) == 2
    assert judged(FRESH, 3, most=3) is None
    verdict = judged(FRESH, 4, most=3)
    assert verdict is not None
    assert verdict.dead
    assert verdict.reason == "3 workers fell silent while playing it"


def test_the_last_failure_is_the_reason() -> None:
    known = failed(failed(FRESH, "KeyError: 'a'"), "KeyError: 'b'")
    verdict = judged(known, 4, most=3)
    assert verdict is not None
    assert verdict.reason == "1 worker fell silent while playing it; 2 attempts failed, the last by KeyError: 'b'"


def test_workers_that_end_in_order_are_no_attempts() -> None:
    known = FRESH
    for _ in range(10):
        known = given_back(known)
    assert judged(known, 11, most=1) is None
    assert judged(known, 12, most=1) is not None


def test_a_message_that_was_published_anew_is_counted_anew() -> None:
    assert lost(failed(FRESH, "x"), 1) == 0
