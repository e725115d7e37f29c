"""The simulated experiments: the same seed tells the same, and a few runs already tell what they are made to tell."""

from __future__ import annotations

import json

import numpy as np
import pytest

from wakeng.services.tournament.simulation import simulate
from wakeng.services.tournament.simulation.arrival import play
from wakeng.services.tournament.simulation.models import Pairs, all_line_ups, near_equals


def test_the_same_seed_gives_the_same_figures_and_progress_is_told() -> None:
    told: list[tuple[str, int, int]] = []
    one = simulate(bytes(32), runs=2, progress=lambda *step: told.append(step)).to_dict()
    assert one == simulate(bytes(32), runs=2).to_dict()
    assert one != simulate(bytes(31) + b"\1", runs=2).to_dict()
    assert [name for name, _, _ in told] == [*one["experiments"], ""]
    assert told[-1] == ("", 8, 8)
    assert json.loads(json.dumps(one, allow_nan=False)) == one


def test_no_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="runs must be 1 or more"):
        simulate(bytes(32), runs=0)


def test_a_population_has_the_mean_and_the_spread_it_promises() -> None:
    rng = np.random.default_rng(1)
    for pairs in (Pairs("full", 2.4), Pairs("sparse", 1.5, zeros=0.83)):
        level, leaning = pairs.draw(rng, 200_000, mean=0.0), pairs.draw(rng, 200_000, mean=0.2)
        assert level.std() == pytest.approx(pairs.spread, rel=0.02)
        assert level.mean() == pytest.approx(0, abs=0.025)
        assert leaning.mean() == pytest.approx(0.2, abs=0.025)
        assert (level == 0).mean() == pytest.approx(pairs.zeros, abs=0.01)


def test_line_ups_hold_different_bots() -> None:
    rng = np.random.default_rng(2)
    near = near_equals(rng, rng.normal(size=12), 300)
    for line_up in [*near.tolist(), *all_line_ups(rng, 12, 300).tolist()]:
        assert len(set(line_up)) == 3


def test_who_loses_slowly_seems_to_win_early() -> None:
    rng = np.random.default_rng(3)
    played = play(rng, 4000, tables=1024, losing=3.0, winning=1.0)
    order = np.argsort(played.finished)
    early, all_ = played.values[order[:500]].mean(), played.values.mean()
    assert abs(all_) < 0.2
    assert early > 0.8


@pytest.mark.slow
def test_many_runs_show_what_the_document_says() -> None:
    found = simulate(bytes(32), runs=800).experiments
    assert all(0.93 <= row["held"] <= 0.975 for row in found["means"])
    held = {row["interval"]: row["held_throughout"] for row in found["watched"]}
    assert held["watched"] >= 0.94
    assert held["plain"] < 0.7
    assert all(0.93 <= row["held"] <= 0.985 for row in found["ratings"])
    near = found["ratings"][-1]
    assert near["rank_correlation"] > near["rank_correlation_of_plain_means"] + 0.3
    gains = [row["leaver_gains"] for row in found["escapes"]]
    assert gains[0] < 0 < min(gains[1:3])
    for row in found["sprt"]:
        assert row["held"] >= 0.97
        assert row["truth"] > 0 or row["stronger"] <= 0.08
        assert row["truth"] < 0.2 or row["stronger"] >= 0.92
    for row in found["arrival"]:
        assert row["stronger_by_prefix"] <= 0.1
    assert found["arrival"][2]["stronger_by_arrival"] > 0.95
    assert found["arrival"][8]["stronger_by_arrival"] < 0.02
