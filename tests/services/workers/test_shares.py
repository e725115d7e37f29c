"""How workers divide a bot's limit: never more than it, fairly, and whoever is gone holds nothing."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from wakeng.services.workers.shares import Share, fair, read, renewed, scarce, write

WORKERS = ("a", "b", "c", "d", "e")
SHARES = st.dictionaries(
    st.sampled_from(WORKERS), st.builds(Share, st.integers(0, 40), st.integers(0, 10), st.integers(1, 9)), max_size=5
)


@given(SHARES, st.integers(1, 60))
def test_a_division_gives_nobody_more_than_he_needs_and_leaves_nothing_that_is_needed(
    shares: dict[str, Share], limit: int
) -> None:
    given_ = fair(shares, limit)
    needed = sum(share.need for share in shares.values())
    assert sum(given_.values()) == min(limit, needed)
    assert all(given_[worker] <= shares[worker].need for worker in shares)


@given(SHARES, st.integers(1, 60))
def test_it_is_even_among_those_who_need_more(shares: dict[str, Share], limit: int) -> None:
    given_ = fair(shares, limit)
    for worker, share in shares.items():
        if given_[worker] < share.need:
            assert given_[worker] + 1 >= max(given_.values())


def test_where_there_are_too_few_who_came_first_is_first() -> None:
    shares = {"a": Share(4, 0, 3), "b": Share(4, 0, 1), "c": Share(4, 0, 2)}
    assert fair(shares, 2) == {"b": 1, "c": 1, "a": 0}
    assert scarce(shares, 2)
    assert not scarce(shares, 3)


@settings(max_examples=200)
@given(st.integers(1, 12), st.randoms(use_true_random=False), st.integers(1, 200))
def test_whatever_workers_do_in_whatever_order_they_never_use_more_than_the_limit(
    limit: int, luck: random.Random, steps: int
) -> None:
    shares: dict[str, Share] = {}
    used = dict.fromkeys(WORKERS, 0)
    for _ in range(steps):
        worker = luck.choice(WORKERS)
        held = shares[worker].held if worker in shares else 0
        # Hands begin and end as they like, within what is held.
        used[worker] = luck.randint(0, held)
        need, turn = luck.randint(0, 20), luck.random() < 0.3
        shares = renewed(shares, worker, need=need, used=used[worker], limit=limit, live=WORKERS, to_the_end=turn)
        assert sum(share.held for share in shares.values()) <= limit
        assert all(used[worker] <= share.held for worker, share in shares.items())


@given(st.integers(1, 12), st.integers(1, 5))
def test_after_a_round_everybody_holds_what_is_fair(limit: int, workers: int) -> None:
    names = WORKERS[:workers]
    shares: dict[str, Share] = {}
    for _ in range(2):
        for worker in names:
            shares = renewed(shares, worker, need=20, used=0, limit=limit, live=names)
    assert {worker: share.held for worker, share in shares.items()} == fair(shares, limit)
    assert sum(share.held for share in shares.values()) == limit


def test_what_is_in_use_is_kept_until_the_hands_are_over() -> None:
    shares = renewed({}, "a", need=8, used=0, limit=8, live=("a", "b"))
    assert shares["a"].held == 8
    shares = renewed(shares, "b", need=8, used=0, limit=8, live=("a", "b"))
    assert shares["b"].held == 0
    shares = renewed(shares, "a", need=8, used=6, limit=8, live=("a", "b"))
    shares = renewed(shares, "b", need=8, used=0, limit=8, live=("a", "b"))
    assert (shares["a"].held, shares["b"].held) == (6, 2)


def test_one_unit_goes_round() -> None:
    shares: dict[str, Share] = {}
    turns = []
    for _ in range(3):
        for worker in ("a", "b", "c"):
            shares = renewed(shares, worker, need=5, used=0, limit=1, live=WORKERS)
    for _ in range(6):
        (holder,) = (worker for worker, share in shares.items() if share.held)
        turns.append(holder)
        shares = renewed(shares, holder, need=5, used=0, limit=1, live=WORKERS, to_the_end=True)
        for worker in ("a", "b", "c"):
            shares = renewed(shares, worker, need=5, used=0, limit=1, live=WORKERS)
    assert turns == ["a", "b", "c"] * 2


def test_what_the_gone_held_is_free() -> None:
    shares = renewed({}, "a", need=4, used=0, limit=4, live=("a", "b"))
    shares = renewed(shares, "b", need=4, used=0, limit=4, live=("b",))
    assert shares == {"b": Share(4, 4, 1)}


def test_who_needs_nothing_leaves_no_trace() -> None:
    shares = renewed({}, "a", need=4, used=0, limit=4, live=("a",))
    assert renewed(shares, "a", need=0, used=0, limit=4, live=("a",)) == {}


@given(SHARES)
def test_shares_are_read_as_they_were_written(shares: dict[str, Share]) -> None:
    assert read(write(shares)) == shares
    assert read(None) == {}
