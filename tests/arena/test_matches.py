"""Matches over real gRPC between bots that are processes: every preset, each way of asking, the same hands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.arena.playing import SEED, BotProcess, bots, faults, folder_in, match, playing, read, story, streaming, unary
from tests.arena.process import wakeng
from wakeng.engine import PRESETS, hand_seed
from wakeng.services.store import MatchState

NAMES = ("random", "lowest", "greedy", "random")


@pytest.fixture(scope="module")
def streams() -> Iterator[list[BotProcess]]:
    """One bot for each seat, asked in a stream."""
    with bots(*(streaming(name, place) for place, name in enumerate(NAMES))) as started:
        yield started


@pytest.fixture(scope="module")
def calls() -> Iterator[list[BotProcess]]:
    """The same bots, asked by single calls."""
    with bots(*(unary(name, place) for place, name in enumerate(NAMES))) as started:
        yield started


@pytest.mark.parametrize("preset", PRESETS)
async def test_every_preset_is_played_alike_by_stream_by_calls_and_in_process(
    preset: str, streams: list[BotProcess], calls: list[BotProcess], tmp_path: Path
) -> None:
    players = PRESETS[preset].players
    async with playing(tmp_path) as arena:
        by_stream = await arena.match(match(*addresses(streams)[:players], rules=preset, match_id="by-stream"))
        by_call = await arena.match(match(*addresses(calls)[:players], rules=preset, match_id="by-call"))
        inside = await arena.match(match(*NAMES[:players], rules=preset, match_id="inside"), in_process=True)
        states = [
            (await arena.arena.store.get_match(match_id)).state for match_id in ("by-stream", "by-call", "inside")
        ]
    assert states == [MatchState.FINISHED] * 3
    assert [record["hand_index"] for record in by_stream] == list(range(10))
    assert [record["seed"] for record in by_stream] == [hand_seed(SEED, i).hex() for i in range(10)]
    assert not faults(by_stream) and not faults(by_call) and not faults(inside)
    assert list(map(story, by_stream)) == list(map(story, by_call)) == list(map(story, inside))


def addresses(started: list[BotProcess]) -> list[str]:
    return [bot.address for bot in started]


def test_the_same_seed_and_bots_give_the_same_records_whatever_the_command_says_of_tables_and_processes(
    tmp_path: Path,
) -> None:
    ways = {"processes": ("--tables", "3"), "one": ("--tables", "1", "--in-process"), "many": ("--in-process",)}
    told = {}
    for name, options in ways.items():
        file = tmp_path / f"{name}.jsonl"
        command = [
            "match",
            "--rules",
            "four_feature",
            "--seats",
            ",".join(NAMES),
            "--hands",
            "12",
            "--seed",
            SEED.hex(),
        ]
        places = ["--db", f"sqlite:///{tmp_path / name}.db", "--journal", str(tmp_path / f"{name}.log")]
        ran = wakeng(*command, *options, *places, "--records", str(file))
        assert (ran.returncode, ran.stderr) == (0, "")
        assert wakeng("verify", str(file)).returncode == 0
        told[name] = read(file)
    seats = [record["seats"] for record in told["processes"]]
    assert [[seat["bot"] for seat in places] for places in seats] == [list(NAMES)] * 12
    assert seats == [record["seats"] for record in told["many"]]
    assert list(map(story, told["processes"])) == list(map(story, told["one"])) == list(map(story, told["many"]))


async def test_the_journal_has_one_line_for_each_decision_with_the_words_of_the_record(tmp_path: Path) -> None:
    async with playing(tmp_path) as arena:
        records = await arena.match(match(*NAMES[:3], hands=5, tables=1), in_process=True)
        lines = [line for line in arena.journal() if line["event"] == "decision"]
    said = [
        {"match_id": "m1", "hand_index": record["hand_index"], "attempt": 0, **decision}
        for record in records
        for decision in record["decisions"]
    ]
    assert [
        {name: value for name, value in line.items() if name not in ("at", "event", "bot")} for line in lines
    ] == said
    assert all(line["bot"] == NAMES[line["seat"]] for line in lines)


async def test_greedy_is_ahead_of_random_by_a_clear_margin(tmp_path: Path) -> None:
    async with playing(tmp_path) as arena:
        records = await arena.match(match("greedy", "random", "random", hands=300), in_process=True)
    scores = [sum(record["result"]["scores"][seat] for record in records) for seat in range(3)]
    assert scores[0] > 300 and scores[0] > 2 * max(scores[1:])


async def test_a_bot_may_sit_in_several_seats_of_a_table(streams: list[BotProcess], tmp_path: Path) -> None:
    async with playing(tmp_path) as arena:
        address = streams[0].address
        records = await arena.match(match(address, address, "lowest"), in_process=True)
    assert len(records) == 10 and not faults(records)
    assert [seat["bot"] for seat in records[0]["seats"]] == [address, address, "lowest"]


async def test_a_match_goes_on_where_it_was_broken_off(tmp_path: Path) -> None:
    """The hands that have records are not played again, and the whole is what it would have been."""
    spec = match(*NAMES[:3], hands=12)
    async with playing(tmp_path) as arena:
        whole = await arena.match(spec, in_process=True)
    async with playing(folder_in(tmp_path, "again")) as arena:
        await arena.create(spec)
        await arena.arena.store.add_records([whole[index] for index in (0, 1, 5, 11)])
        records = await arena.play(spec, in_process=True)
    assert list(map(story, records)) == list(map(story, whole))
    assert [records[index] == whole[index] for index in (0, 1, 5, 11)] == [True] * 4
