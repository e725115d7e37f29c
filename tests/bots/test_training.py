"""Training: a run follows from its seed, interrupted or not, and what it leaves says how it came about."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wakeng.bots.network import layout, weights
from wakeng.bots.training import checkpoint, result, run
from wakeng.cli.main import wakeng

HANDS = 1_700
"""Three rounds and a part of one, over both stages."""


def train(*words: str) -> Result:
    return CliRunner().invoke(wakeng, ["train", "net", *words], standalone_mode=False)


class Killed(BaseException):
    """What no code of ours expects."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The weights of an uninterrupted run."""
    out = tmp_path_factory.mktemp("whole") / "whole.net"
    told = train("--hands", str(HANDS), "--seed", "5", "--out", str(out), "--json")
    assert told.exception is None, told.output
    return out


def test_a_killed_run_that_goes_on_gives_the_same_bytes_as_one_that_was_not(whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "killed.net"
    held = tmp_path / "killed.net.checkpoint"
    begun = run.begin(hands=HANDS, seed=5)
    begun.one_round()
    begun.save(held)
    begun.one_round()  # What comes after the last checkpoint is lost with the process.
    assert train("--out", str(out), "--resume").exception is None
    assert out.read_bytes() == whole.read_bytes()


def test_an_interrupted_run_leaves_a_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "some.checkpoint"

    def interrupt(told: run.Told) -> None:
        if told.hands >= 2 * run.ROUND:
            raise Killed

    with pytest.raises(Killed):
        run.begin(hands=HANDS, seed=5).go(path, interrupt)
    assert sum(checkpoint.load(path).tally.hands) == 2 * run.ROUND


def test_the_record_tells_the_run_and_the_strength(whole: Path) -> None:
    record = weights.read(whole, preset="xian").training
    assert (record["hands"], record["seed"], record["features"]) == (HANDS, 5, layout.VERSION)
    assert sum(stage["hands"] for stage in record["stages"]) == HANDS
    assert min(stage["samples"] for stage in record["stages"]) > 3_000
    # So short a run learns nothing: what matters is that the record admits it.
    assert record["over_expert"]["points"] < 0


def test_another_seed_gives_another_network(whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "other.net"
    assert train("--hands", str(HANDS), "--seed", "6", "--out", str(out)).exception is None
    assert (weights.read(out).first != weights.read(whole).first).any()


def test_rows_that_no_position_uses_are_zero(whole: Path) -> None:
    first = weights.read(whole).first
    bidder = first[layout.BIDDER]
    assert not bidder[layout.BID_INPUTS :].any()
    assert bidder[: layout.HAND_BITS].any(axis=1).sum() > 40


def test_the_minutes_of_a_run_end_it() -> None:
    short = run.begin(minutes=0.001, seed=1)
    short.warm_up()
    told = short.one_round()
    assert told.progress == 1


def test_a_run_that_was_stopped_is_not_overwritten(tmp_path: Path) -> None:
    out = tmp_path / "my.net"
    run.begin(hands=10, seed=1).save(tmp_path / "my.net.checkpoint")
    told = train("--hands", "10", "--out", str(out))
    assert "--resume goes on with it" in str(told.exception)
    told = train("--seed", "3", "--out", str(out), "--resume")
    assert "keeps its --seed" in str(told.exception)


def test_a_finished_run_can_be_lengthened_by_what_it_is_measured_in(tmp_path: Path) -> None:
    out = tmp_path / "my.net"
    assert train("--hands", "500", "--seed", "1", "--out", str(out)).exception is None
    for words in (["--hands", "500"], ["--minutes", "10"]):
        told = train("--out", str(out), "--resume", *words)
        assert "the run has 500 hands; it goes on for more hands than that" in str(told.exception)
    assert train("--out", str(out), "--resume", "--hands", "600").exception is None
    record = weights.read(out).training
    assert (record["hands"], record["lengthened_from"]) == (600, [500])
    assert sum(stage["hands"] for stage in record["stages"]) == 600


def test_a_file_that_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    (tmp_path / "my.net.checkpoint").write_bytes(b"nothing of the kind")
    assert "no checkpoint" in str(train("--out", str(tmp_path / "my.net"), "--resume").exception)
    assert "no checkpoint" in str(train("--out", str(tmp_path / "gone.net"), "--resume").exception)


def test_a_checkpoint_is_there_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, begun = tmp_path / "some.checkpoint", run.begin(hands=10, seed=1)
    begun.save(path)
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="full"):
        begun.save(path)
    assert path.read_bytes() == before


def test_weights_of_a_run_that_taught_nothing_can_be_written_too(tmp_path: Path) -> None:
    weights.write(tmp_path / "none.net", result.weights_of(run.begin(hands=10, seed=1).state))
    assert not weights.read(tmp_path / "none.net").first.any()
