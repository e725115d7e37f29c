"""The standings: one value from the blocks of the prefix alone (docs/statistics.md 3, 5, 6, 8, 11)."""

from __future__ import annotations

import json
import math
import random
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.services.tournament.statistics.scenes import FOUR_LINES, block, blocks, hand, tournaments
from wakeng.services.spec import SeatSpec
from wakeng.services.tournament.options import Options
from wakeng.services.tournament.spec import Entrant, Format, TournamentSpec, tournament_rules
from wakeng.services.tournament.statistics import (
    Block,
    Ledger,
    SprtOptions,
    Standings,
    block_of,
    fit,
    sprt_options,
    standings,
    t_quantile,
    watched_multiplier,
)

FOUR = "0123"


def field(cycles: int, *, seed: int = 1, bots: str = FOUR, spread: float = 2.0) -> list[Block]:
    """All line-ups in cycles; bots are a quarter of a point apart."""
    rng = np.random.default_rng(seed)
    found = []
    for number, line_up in enumerate(list(combinations(bots, 3)) * cycles):
        noise = rng.normal(0, spread, 3)
        strength = np.array([-0.25 * bots.index(bot) for bot in line_up]) + noise
        scores = np.round(6 * (strength - strength.mean())) / 6
        scores[2] = -scores[0] - scores[1]
        found.append(block("".join(line_up), *scores, number=number))
    return found


def test_bots_are_ranked_by_their_number_with_an_interval_of_fixed_length() -> None:
    found = field(10)
    table = standings(found, FOUR, planned=40)
    fitted = fit(found, FOUR)
    assert (table.prefix, table.blocks, table.hands, table.watched) == (40, 40, 120, False)
    numbers = [row.number or 0 for row in table.rows]
    assert numbers == sorted(numbers, reverse=True)
    assert [row.rank for row in table.rows] == [1, 2, 3, 4]
    for row in table.rows:
        i = FOUR.index(row.bot)
        half = t_quantile(0.975, 29) * fitted.errors[i]
        assert row.number is not None
        assert row.number == fitted.numbers[i]
        assert [row.low, row.high] == [pytest.approx(row.number - half), pytest.approx(row.number + half)]
        assert row.mean.mean == pytest.approx(row.number)  # Every pair met equally often.
        assert (row.blocks, row.conduct.hands, row.provisional) == (30, 90, False)


def test_while_it_runs_its_intervals_are_watched_ones() -> None:
    running = standings(field(10), FOUR, planned=80)
    assert running.watched
    fitted = fit(field(10), FOUR)
    for row in running.rows:
        assert row.high is not None
        assert row.number is not None
        # Of 80 blocks planned a bot plays 60.
        factor = watched_multiplier(30, planned=60)
        assert row.high - row.number == pytest.approx(factor * fitted.errors[FOUR.index(row.bot)])
    assert standings(field(10), FOUR).watched
    assert not standings(field(10), FOUR, watched=False).watched


def test_blocks_struck_off_are_in_the_prefix_and_nowhere_else() -> None:
    found = [b for b in field(10) if b.number != 7]
    table = standings(found, FOUR, prefix=40, planned=40)
    assert (table.prefix, table.blocks, table.watched) == (40, 39, False)


@settings(max_examples=20)
@given(st.randoms(use_true_random=False))
def test_they_do_not_depend_on_the_order_in_which_hands_finished(rng: random.Random) -> None:
    hands = [one for b in field(4) for one in b.hands]
    shuffled = rng.sample(hands, len(hands))
    one = standings(Ledger.of(hands, 3).blocks, FOUR).to_dict()
    assert standings(Ledger.of(shuffled, 3).blocks, FOUR).to_dict() == one


# What is held back --------------------------------------------------------------------------------


def test_below_ten_blocks_a_bot_is_provisional_and_has_no_interval() -> None:
    late = [block("014", 1, 2, -3, number=40), block("234", 0, -1, 1, number=41)]
    table = standings([*field(10), *late], "01234", planned=42)
    rows = {row.bot: row for row in table.rows}
    assert rows["4"].provisional
    assert (rows["4"].low, rows["4"].blocks) == (None, 2)
    assert rows["4"].number is not None
    assert rows["0"].low is not None


def test_a_provisional_bot_is_ranked_by_its_shrunk_number() -> None:
    lucky = block("014", -4, -4, 8, number=40)
    table = standings([*field(10), lucky], "01234")
    new = next(row for row in table.rows if row.bot == "4")
    others = [row for row in table.rows if row.bot != "4"]
    assert new.number is not None
    assert new.number > max(row.number or 0 for row in others)
    assert new.rank - 1 == sum((row.number or 0) > new.shrunk for row in others)


def test_intervals_need_two_blocks_a_bot() -> None:
    # Each in ten blocks and more, but only 2 N - 1 of them.
    few = standings(field(1), FOUR, options=Options(provisional_below=2))
    assert all(row.low is None and row.se is not None for row in few.rows)
    enough = standings(field(2), FOUR, options=Options(provisional_below=2))
    assert all(row.low is not None for row in enough.rows)


def test_neighbours_whose_difference_may_be_nothing_are_tied() -> None:
    table = standings(field(10), FOUR, planned=40)
    fitted = fit(field(10), FOUR)
    for row, following in zip(table.rows, table.rows[1:], strict=False):
        i, j = FOUR.index(row.bot), FOUR.index(following.bot)
        half = t_quantile(0.975, 29) * fitted.difference_error(i, j)
        assert row.tied_with_next == (abs(fitted.numbers[i] - fitted.numbers[j]) <= half)
    assert table.rows[-1].tied_with_next is None
    apart = standings(field(10, spread=0.3), FOUR, planned=40)
    assert [row.tied_with_next for row in apart.rows] == [False, False, False, None]
    assert [row.tied_with_next for row in standings(field(1), FOUR).rows] == [None] * 4


def test_bots_that_play_alike_are_tied_without_an_interval() -> None:
    level = [block("".join(line_up), 0, 0, 0, number=i) for i, line_up in enumerate(list(combinations(FOUR, 3)) * 5)]
    table = standings(level, FOUR, planned=20)
    assert [row.bot for row in table.rows] == list(FOUR)
    assert all(row.alike and row.low is None and row.number == 0 for row in table.rows)
    assert [row.tied_with_next for row in table.rows] == [True, True, True, None]


def test_pieces_of_the_field_that_no_table_links_are_ranked_apart() -> None:
    table = standings(blocks(*FOUR_LINES, "456 2 0 -2"), "01234567")
    assert [[row.bot for row in group] for group in table.groups] == [list("0123"), list("456"), ["7"]]
    assert [row.rank for row in table.rows] == [1, 2, 3, 4, 1, 2, 3, 1]
    assert table.rows[-1].number is None


def test_before_the_first_block_there_is_nothing_to_say() -> None:
    table = standings([], FOUR, planned=40)
    assert all(row.number is None for row in table.rows)
    assert (table.prefix, table.hands) == (0, 0)


# Escapes ------------------------------------------------------------------------------------------


def test_escapes_have_columns_of_their_own() -> None:
    found = field(10)
    left = block("012", -10, 5, 5, number=40, leaver="0")
    before, after = standings(found, FOUR, planned=40), standings([*found, left], FOUR, planned=41)
    rows = {row.bot: row for row in after.rows}
    assert (rows["0"].conduct.escapes, rows["0"].conduct.points_lost, rows["0"].dirty_blocks) == (1, 10, 1)
    assert (after.blocks, after.dirty_blocks, after.hands) == (41, 1, 123)
    assert rows["1"].conduct.hands == 93
    for row in before.rows:
        if row.bot != "0":
            assert rows[row.bot].number == row.number
            assert rows[row.bot].se == pytest.approx(row.se)


# sprt ---------------------------------------------------------------------------------------------


def pairs(*values: float) -> list[Block]:
    """Swap pairs of a and b in which a alone scores 2 d, and b alone nothing."""
    found = []
    for number, d in enumerate(values):
        chair = number % 3
        bots = ["".join(alone if seat == chair else others for seat in range(3)) for alone, others in ("ab", "ba")]
        scores = [[2 * d if seat == chair else -d for seat in range(3)], [0.0] * 3]
        found.append(block_of([hand(bots[r], *scores[r], block=number, rotation=r) for r in range(2)]))
    return found


def test_of_two_bots_in_a_test_the_number_is_the_mean_of_d() -> None:
    table = standings(pairs(*[2.0, 1.0] * 40), "ab", test=SprtOptions())
    assert table.sprt is not None
    assert table.sprt.verdict.value == "A stronger"
    assert (table.blocks, table.hands, table.prefix) == (50, 100, 80)
    first, second = table.rows
    assert (first.bot, first.number, second.number) == ("a", 1.5, -1.5)
    assert (first.low, first.high) == (table.sprt.low, table.sprt.high)
    assert second.high == -(table.sprt.low or 0)
    assert table.watched
    assert first.tied_with_next is False


def test_a_bot_against_itself_shows_no_difference() -> None:
    table = standings(pairs(*[0.0] * 1100), "ab", test=SprtOptions(two_sided=True))
    assert table.sprt is not None
    assert table.sprt.verdict.value == "no difference"
    assert table.blocks == 1000
    assert all(row.alike and row.number == 0 and row.low is None for row in table.rows)


def test_an_escape_in_a_swap_pair_is_counted_and_not_dropped() -> None:
    found = pairs(*[2.0, 1.0] * 20)
    left = block_of([hand("bab", -10, 3, 0, block=40, escaped_seat=0), hand("aba", 0, 0, 0, block=40, rotation=1)])
    table = standings([*found, left], "ab", test=SprtOptions())
    rows = {row.bot: row for row in table.rows}
    assert rows["a"].number == pytest.approx((60 + 10 / 2) / 41)
    assert (rows["b"].conduct.escapes, rows["b"].conduct.points_lost, rows["b"].blocks) == (1, 10, 41)


# What a report says of itself ---------------------------------------------------------------------


def sprt_spec(**more: Any) -> TournamentSpec:
    return TournamentSpec(
        name="t",
        rules=more.pop("rules", tournament_rules("three_feature")),
        bots=tuple(Entrant(bot, SeatSpec.parse("greedy")) for bot in "ab"),
        seed=bytes(32),
        format=Format.SPRT,
        **more,
    )


def test_it_names_every_option_that_differs_the_commitment_and_the_prefix() -> None:
    options = Options(interval=0.9, provisional_below=5)
    found = standings(field(10), FOUR, planned=40, options=options, commitment="c0ffee").to_dict()
    assert found["options"] == {"interval": 0.9, "provisional_below": 5}
    assert found["seed_commitment"] == "c0ffee"
    assert (found["prefix"], found["planned_blocks"]) == (40, 40)
    assert found["interval"] == {"level": 0.9, "watched": False}
    assert found["remarks"] == []
    more = {"duplicate": False, "interval": 0.9}
    assert standings(field(10), FOUR, options=options, differing=more).to_dict()["options"] == more


def test_where_the_pairing_followed_the_results_it_says_so() -> None:
    assert "followed the results" in standings(field(2), FOUR, adaptive=True).remarks[0]


def test_the_test_of_a_spec_has_the_base_divided_out() -> None:
    assert sprt_options(sprt_spec()) == SprtOptions()
    by_ten = tournament_rules("three_feature", {"base": 10})
    assert sprt_options(sprt_spec(rules=by_ten)) == SprtOptions()
    assert sprt_options(sprt_spec(rules=by_ten, options=Options(d1=4.0))).d1 == 0.4
    assigned = tournament_rules("three_feature", {"bidding": "assigned"})
    assert sprt_options(sprt_spec(rules=assigned)).d1 == 0.4
    two = Options(two_sided=True, look_every=8, max_blocks=800)
    assert sprt_options(sprt_spec(options=two)) == SprtOptions(two_sided=True, look_every=8, max_blocks=800)


@settings(max_examples=20)
@given(tournaments(bots=FOUR))
def test_it_is_json_without_figures_that_are_none(found: list[Block]) -> None:
    table = standings(found, FOUR)
    assert isinstance(table, Standings)
    text = json.dumps(table.to_dict(), allow_nan=False)
    read = json.loads(text)
    assert {row["bot"] for row in read["groups"][0]} <= set(FOUR)
    assert all(math.isfinite(row["f"]) for row in read["groups"][0])


def test_time_dependent_words_do_not_occur_in_it() -> None:
    keys: set[str] = set()

    def collect(value: object) -> None:
        if isinstance(value, dict):
            keys.update(value)
            for one in value.values():
                collect(one)
        elif isinstance(value, list):
            for one in value:
                collect(one)

    collect(standings(field(10), FOUR, test=None).to_dict())
    assert not [
        key for key in keys if key.endswith("_at") or any(word in key for word in ("latency", "time", "seconds"))
    ]
