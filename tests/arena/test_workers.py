"""`wakeng worker` as processes on a real NATS server: the same standings as in one process, whatever comes and goes."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.arena.crews import Crew, crew, terminated, until
from tests.arena.process import serve, wakeng
from tests.arena.queueing import NatsServer, nats_server
from tests.arena.tournaments import CALM, FIELD, Place, Standings, spec
from wakeng.sdk import Bot, Decision, start
from wakeng.services.store import Store

BLOCKS = 60
TEXT = spec(*FIELD, lines=(CALM,), blocks=BLOCKS)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Standings:
    return Place(tmp_path_factory.mktemp("undisturbed")).play(TEXT)


@pytest.fixture
def nats(tmp_path: Path) -> Iterator[NatsServer]:
    with nats_server(tmp_path / "nats") as server:
        yield server


@pytest.fixture
def here(tmp_path: Path, nats: NatsServer) -> Iterator[Crew]:
    with crew(tmp_path, nats.url) as made:
        yield made


def recorded(db: str) -> int:
    async def count() -> int:
        async with await Store.open(db) as store:
            return await store.count_hands("t")

    return asyncio.run(count())


def begun(here: Crew) -> bool:
    return Path(here.folder / "wakeng.db").exists() and recorded(here.db) > 0


# The same results ----------------------------------------------------------------------------------------------------


def test_two_workers_come_to_the_same_standings_and_each_plays_a_part(here: Crew, undisturbed: Standings) -> None:
    for name in ("one", "two"):
        here.worker(name, "--tables", "8")
    played = here.result(here.run(TEXT))
    assert played["complete"]
    assert played["hands_recorded"] == 3 * BLOCKS
    assert played["standings"] == undisturbed
    assert played["failed_blocks"] == []
    assert here.place.standings() == undisturbed
    for name in ("one", "two"):
        decisions = (here.folder / "journal" / f"worker-{name}.jsonl").read_bytes().count(b'"decision"')
        assert decisions > 1000


@pytest.mark.parametrize("form", [{"format": "swiss"}, {"format": "sprt"}], ids=lambda form: form["format"])
def test_what_depends_on_results_is_the_same_too(here: Crew, tmp_path: Path, form: dict[str, Any]) -> None:
    bots = FIELD[:2] if form["format"] == "sprt" else FIELD
    text = spec(*bots, lines=(CALM,), **form)
    alone = Place(tmp_path / "alone")
    alone.folder.mkdir()
    here.worker("one")
    here.worker("two", "--tables", "3")
    assert here.result(here.run(text))["standings"] == alone.play(text)


def test_workers_come_late_and_go_early_and_bots_have_processes_of_their_own(
    here: Crew, undisturbed: Standings
) -> None:
    coordinator = here.run(TEXT)
    until(lambda: begun_or_made(here))
    first = here.worker("first", "--tables", "4", in_process=False)
    until(lambda: begun(here))
    second = here.worker("second", "--tables", "4")
    assert terminated(first) == 0
    assert here.result(coordinator)["standings"] == undisturbed
    assert terminated(second) == 0


def begun_or_made(here: Crew) -> bool:
    return (here.folder / "wakeng.db").exists()


# The end of a worker -------------------------------------------------------------------------------------------------


def test_a_worker_that_is_asked_to_end_gives_back_what_it_cannot_finish_at_once(
    here: Crew, undisturbed: Standings
) -> None:
    leaving = here.worker("leaving", "--drain", "0", "--redeliver-after", "600")
    coordinator = here.run(TEXT)
    until(lambda: begun(here))
    assert terminated(leaving) == 0
    here.worker("staying", "--redeliver-after", "600")
    # Nothing that was not given back would come within the test's time.
    assert here.result(coordinator, within=60)["standings"] == undisturbed


def test_the_blocks_of_a_worker_that_is_killed_go_to_another(here: Crew, undisturbed: Standings) -> None:
    victim = here.worker("victim", "--tables", "8")
    coordinator = here.run(TEXT)
    until(lambda: begun(here))
    victim.kill()
    here.worker("heir")
    played = here.result(coordinator)
    assert played["standings"] == undisturbed
    assert played["failed_blocks"] == []


def test_a_coordinator_that_is_killed_goes_on_where_it_was(here: Crew, undisturbed: Standings) -> None:
    here.worker("one", "--tables", "4")
    coordinator = here.run(TEXT)
    until(lambda: begun(here))
    coordinator.kill()
    coordinator.wait(10)
    assert here.result(here.tournament("resume", "t"))["standings"] == undisturbed


def test_ctrl_c_at_the_coordinator_takes_the_rest_out_of_the_queue(here: Crew, undisturbed: Standings) -> None:
    here.worker("one", "--tables", "2")
    coordinator = here.run(TEXT)
    until(lambda: begun(here))
    coordinator.send_signal(signal.SIGINT)
    assert coordinator.wait(60) == 130
    left = recorded(here.db)
    assert 0 < left < 3 * BLOCKS
    assert "wakeng tournament resume t" in here.said(coordinator)
    assert here.result(here.tournament("resume", "t"))["standings"] == undisturbed


def test_a_nats_server_that_loses_its_disk_loses_no_hand(here: Crew, nats: NatsServer, undisturbed: Standings) -> None:
    here.worker("one", "--tables", "4")
    coordinator = here.run(TEXT)
    until(lambda: begun(here))
    nats.kill()
    nats.forget()
    nats.start()
    assert here.result(coordinator)["standings"] == undisturbed


# Blocks that cannot be played ----------------------------------------------------------------------------------------

POISON = """
import sys
from wakeng.services.tournament.docket import Docket
from wakeng.cli.main import main

add = Docket.add

def poisoned(self, work):
    if work.block.index == 5:
        {ill}
    add(self, work)

Docket.add = poisoned
sys.argv[0] = "wakeng"
main()
"""


@pytest.mark.parametrize(
    ("ill", "reason"),
    [
        ("raise RuntimeError('spoilt')", "1 attempt failed, the last because RuntimeError: spoilt"),
        (
            "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
            "1 attempt failed, the last because its worker fell silent",
        ),
    ],
    ids=["error", "death"],
)
def test_a_block_that_no_worker_can_play_is_given_up_and_the_operator_is_told_why(
    here: Crew, monkeypatch: pytest.MonkeyPatch, ill: str, reason: str
) -> None:
    monkeypatch.setattr("tests.arena.crews.WAKENG", [here_python(), "-c", POISON.format(ill=ill)])
    coordinator = here.run(TEXT)
    workers = [here.worker("w0", "--attempts", "1")]
    while "SIGKILL" in ill and len(workers) < 4:  # Two in the same boat with others, one by itself.
        workers[-1].wait(60)
        workers.append(here.worker(f"w{len(workers)}", "--attempts", "1"))
    played = here.result(coordinator)
    (failed,) = played["failed_blocks"]
    assert (failed["block"], failed["given_up"]) == (5, True)
    assert reason in failed["reason"]
    assert played["standings"]["prefix"] == BLOCKS
    assert played["standings"]["blocks"] == BLOCKS - 1
    assert '"event":"block_given_up"' in here.events()
    said = here.place.tournament("show", "t").stdout
    assert "block 5 was given up and is struck off for all" in said
    assert reason in " ".join(said.split())
    # It stays so for whoever counts again.
    assert here.place.standings() == played["standings"]


def here_python() -> str:
    import sys

    return sys.executable


# A bot that all of them reach ----------------------------------------------------------------------------------------


class Narrow(Bot):
    """Takes few hands at once, and keeps in which order it was asked about which."""

    name = "narrow"
    max_tables = 2

    def __init__(self) -> None:
        self.asked: list[tuple[int, int]] = []

    async def choose(self, decision: Decision) -> str:
        # Ids begin with what is the worker's own: a hand that is played twice is two hands for the bot.
        self.asked.append((decision.message.hand_index, decision.message.decision_id >> 35))
        return decision.legal[0]

    def most_at_once(self) -> int:
        """Hands between their first and their last question."""
        last = {hand: i for i, hand in enumerate(self.asked)}
        in_play, most = set[tuple[int, int]](), 0
        for i, hand in enumerate(self.asked):
            in_play.add(hand)
            most = max(most, len(in_play))
            if last[hand] == i:
                in_play.remove(hand)
        return most


async def test_a_bot_has_no_more_hands_in_play_with_all_workers_than_it_takes(here: Crew) -> None:
    bot = Narrow()
    async with await start(bot) as served:
        text = spec(
            *FIELD[:2], f'{{ name = "narrow", address = "{served.address}" }}', lines=(CALM,), blocks=60, tables=16
        )
        for name in ("one", "two", "three"):
            await asyncio.to_thread(here.worker, name, "--tables", "8")
        played = await asyncio.to_thread(lambda: here.result(here.run(text)))
    assert played["complete"]
    assert bot.most_at_once() == 2
    assert len({hand for hand, _ in bot.asked}) == 180
    for name in ("one", "two", "three"):
        assert (here.folder / "journal" / f"worker-{name}.jsonl").read_bytes().count(b'"decision"') > 100


# Through the arena ---------------------------------------------------------------------------------------------------


def test_an_arena_has_its_tournaments_played_by_workers(here: Crew, nats: NatsServer, undisturbed: Standings) -> None:
    with serve(here.folder, "--nats", nats.url) as arena:
        worker = here.worker("one")
        ran = wakeng(
            "tournament", "run", str(here.place.write(TEXT)), "--id", "t", "--arena", arena.address, "--json",
            env=here.place.env,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        assert json.loads(ran.stdout)["standings"] == undisturbed
        assert terminated(worker) == 0
    assert (here.folder / "journal" / "worker-one.jsonl").read_bytes().count(b'"decision"') > 1000
    assert b'"decision"' not in (here.folder / "journal.jsonl").read_bytes()


# Refusals ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--nats", "http://localhost"), "a URL of NATS looks like nats://HOST:4222"),
        (("--nats", "nats://h", "--in-process"), "are the workers' own affair"),
        (("--nats", "nats://h", "--arena", "127.0.0.1:1"), "are the arena's own affair"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    place = Place(tmp_path)
    refused = wakeng("tournament", "run", str(place.write(TEXT)), *options, env=place.env)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert said in refused.stderr
    assert "Traceback" not in refused.stderr
