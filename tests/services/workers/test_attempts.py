"""When a block is given up: what fails by itself counts, what was in the same boat does not."""

import pytest

from wakeng.services.store import BlockAttempts
from wakeng.services.workers.attempts import failed, given_back, judged, passed, suspect, tried

FRESH = BlockAttempts(match_id="t", block=7)


@pytest.mark.parametrize(("deliveries", "is_suspect"), [(1, False), (2, False), (3, True), (9, True)])
def test_a_block_that_came_to_nothing_twice_is_suspect(deliveries: int, is_suspect: bool) -> None:  # noqa: FBT001
    assert suspect(FRESH, deliveries) is is_suspect


def test_but_deliveries_alone_never_give_it_up() -> None:
    assert judged(FRESH, most=1) is None


def test_workers_that_end_in_order_make_nothing_suspect() -> None:
    known = FRESH
    for _ in range(10):
        known = given_back(known)
    assert not suspect(known, 12)
    assert suspect(known, 13)


def test_an_attempt_that_begins_has_failed_until_it_is_heard_of() -> None:
    known = tried(tried(FRESH))
    verdict = judged(known, most=2)
    assert verdict is not None
    assert verdict.dead
    assert verdict.reason == "2 attempts failed, the last because its worker fell silent"
    assert judged(passed(known), most=2) is None


def test_who_has_failed_once_is_suspect_for_good() -> None:
    known = failed(FRESH, "KeyError: 'a'", noted=False)
    assert suspect(known, 1)
    assert suspect(passed(tried(known)), 1)


def test_an_attempt_that_was_noted_counts_once() -> None:
    known = failed(tried(FRESH), "KeyError: 'b'", noted=True)
    assert known.failures == 1
    verdict = judged(known, most=1)
    assert verdict is not None
    assert verdict.reason == "1 attempt failed, the last because KeyError: 'b'"
