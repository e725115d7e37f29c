"""`net`: the same choice in any company, expert where it is not trained, and weights files that say what they are."""

from __future__ import annotations

import importlib
import random
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.bots.positions import decisions
from tests.sdk.asking import questions
from wakeng.bots import REFERENCE_BOTS, UnknownBot, create, extras
from wakeng.bots.extras import MissingExtra
from wakeng.bots.net import Net
from wakeng.bots.network import weights
from wakeng.bots.network.weights import WeightsError
from wakeng.cli.main import wakeng
from wakeng.engine import PRESETS, rule_set
from wakeng.sdk import Decision
from wakeng.sdk.bot import description


def test_10000_choices_are_the_same_alone_in_a_batch_and_in_any_order() -> None:
    asked, bot = decisions(10_000), Net()
    alone = [bot.choose(decision) for decision in asked]
    order = random.Random(1).sample(range(len(asked)), len(asked))
    for size in (7, 64):
        for start in range(0, len(order), size):
            places = order[start : start + size]
            assert bot.choose_batch([asked[place] for place in places]) == [alone[place] for place in places]


@pytest.mark.parametrize("preset", [preset for preset in PRESETS if preset != "xian"])
def test_where_there_is_no_network_it_plays_as_expert(preset: str) -> None:
    net, expert = Net(), create("expert")
    for ask in questions(150, preset):
        assert net.choose(Decision(ask)) == expert.choose(Decision(ask))


def test_it_says_so_when_it_describes_itself() -> None:
    assert "other rule sets as expert" in description(Net()).version


@pytest.mark.parametrize(
    ("overrides", "fits"),
    [
        ({}, True),
        ({"black_dig": False, "escape_settles": True, "base": 100, "escape_factor": 3}, True),
        ({"bidding": "assigned"}, True),
        ({"bombs": False}, False),
        ({"bomb_cap": 8}, False),
        ({"must_beat": True}, False),
        ({"straight_min": 4}, False),
        ({"open": True}, False),
        ({"lie_down": True}, False),
    ],
)
def test_a_network_fits_rules_with_the_same_card_play(overrides: dict[str, object], *, fits: bool) -> None:
    assert weights.read().fits(rule_set("xian", overrides)) is fits


def test_it_digs_unseen_as_little_as_expert() -> None:
    blind = next(Decision(ask) for ask in questions(1) if ask.phase == "BLIND")
    assert Net().choose(blind) == "no"


# The weights file ----------------------------------------------------------------------------------------------------


def test_the_weights_in_the_package_are_small_and_say_how_they_were_made() -> None:
    found = weights.read(preset="xian")
    assert weights.BUILT_IN.stat().st_size <= 600_000
    assert found.training["over_expert"]["points"] > 0.5
    assert sum(stage["hands"] for stage in found.training["stages"]) > 1_000_000
    assert {"seed", "minutes", "features"} <= set(found.training)


def test_writing_what_was_read_gives_the_same_bytes(tmp_path: Path) -> None:
    copy = tmp_path / "copy.net"
    weights.write(copy, weights.read())
    assert copy.read_bytes() == weights.BUILT_IN.read_bytes()


def changed(**fields: Any) -> bytes:
    import orjson

    line, _, rest = weights.BUILT_IN.read_bytes().partition(b"\n")
    return orjson.dumps(orjson.loads(line) | fields) + b"\n" + rest


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no weights file"),
        (b"\x00\xff" * 100, "no weights file"),
        (b"[1, 2]\n", "no weights file"),
        (b"{}\n", "no weights file"),
        (changed(rules={"preset": "atlantis"}), "no weights file"),
        (changed(rules={"preset": "baoji_feature"}), "was trained for baoji_feature, not for xian"),
        (changed(features=99), "inputs 99; this version reads"),
        (weights.BUILT_IN.read_bytes()[:-5_000], "damaged"),
        (weights.BUILT_IN.read_bytes()[:2_000] + b"\x00" * 3_000, "damaged"),
    ],
)
def test_a_file_that_is_not_for_this_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "some.net"
    path.write_bytes(content)
    with pytest.raises(WeightsError, match=said):
        weights.read(path, preset="xian")
    with pytest.raises(WeightsError, match=said):
        create("net", weights=path).ready()


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"gone\.net: No such file"):
        weights.read(tmp_path / "gone.net")


def test_only_a_bot_that_learns_takes_weights() -> None:
    with pytest.raises(ValueError, match="greedy plays by no weights file"):
        create("greedy", weights=weights.BUILT_IN)


# Nothing weakens silently --------------------------------------------------------------------------------------------


@pytest.fixture
def without(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package that is missed for the time of a test; bots are loaded anew in it."""
    missing: str = request.param

    def find(name: str) -> object:
        return None if name == missing else object()

    monkeypatch.setattr(extras, "find_spec", find)
    for module in ("wakeng.bots.net", "wakeng.bots.search", "wakeng.bots.seer"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    return missing


@pytest.mark.parametrize(
    ("without", "name", "extra"),
    [("numpy", "net", "net"), ("numpy", "search", "search"), ("numba", "search", "search")],
    indirect=["without"],
)
def test_a_bot_whose_extra_is_missing_does_not_start_and_names_it(without: str, name: str, extra: str) -> None:
    with pytest.raises(MissingExtra, match=rf"{name} needs {without}, .*wakeng\[{extra}\]"):
        create(name)
    told = CliRunner().invoke(wakeng, ["serve-bot", name, "--listen", "127.0.0.1:0"], standalone_mode=False)
    assert f"wakeng[{extra}]" in str(told.exception)


@pytest.mark.parametrize("without", ["numba"], indirect=True)
def test_net_needs_no_compiler(without: str) -> None:
    assert importlib.import_module("wakeng.bots.net").Net().choose(decisions(100)[50])


def test_seer_gets_no_seat_and_says_why() -> None:
    assert "seer" not in REFERENCE_BOTS
    with pytest.raises(UnknownBot, match="it sees all cards, so it may not sit at a table"):
        create("seer")
