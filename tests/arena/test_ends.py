"""How `wakeng match` ends when it does not end by itself: nothing is lost, and no bot outlives it."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from tests.arena.hosts import Host
from tests.arena.playing import SEED, WAKENG, Record, folder_in, match, playing, read, story
from wakeng.sdk import start
from wakeng.services.store import MatchState, Store


@asynccontextmanager
async def a_match(folder: Path, host: Host, *options: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """`wakeng match` with the host in seat 0 and two bots of its own."""
    async with await start(host) as server:
        process = await asyncio.create_subprocess_exec(
            *WAKENG, "match", "--rules", "three_feature", "--hands", "100000", "--move-ms", "600000",
            "--seats", f"{server.address},lowest,random", "--seed", SEED.hex(),
            "--db", f"sqlite:///{folder / 'wakeng.db'}", "--journal", str(folder / "journal.jsonl"),
            "--records", str(folder / "records.jsonl"), *options,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
            await process.communicate()


async def stored(folder: Path) -> tuple[MatchState, list[bytes]]:
    """The state of the only match in a store, and its records."""
    async with await Store.open(f"sqlite:///{folder / 'wakeng.db'}") as store:
        (found,) = (await store.list_matches()).matches
        return found.state, [line async for line in store.records(found.match_id)]


async def test_ctrl_c_lets_the_hands_in_play_end_and_keeps_all(tmp_path: Path) -> None:
    host = Host(hands=20)
    async with a_match(tmp_path, host, "--tables", "5") as process:
        await host.reached.wait()
        process.send_signal(signal.SIGINT)
        out, err = await process.communicate()
    assert process.returncode == 130
    assert b"finishing the hands in play" in err and b"Traceback" not in err
    assert b"what was played is kept" in out
    state, lines = await stored(tmp_path)
    assert state is MatchState.CANCELLED
    assert (tmp_path / "records.jsonl").read_bytes().splitlines() == lines
    records = read(tmp_path / "records.jsonl")
    assert [record["hand_index"] for record in records] == list(range(len(records)))
    assert 20 <= len(records) < 100_000
    await true_to_seed(records, tmp_path)


async def true_to_seed(records: list[Record], folder: Path) -> None:
    """The records are those of the same match played to the end elsewhere."""
    async with playing(folder_in(folder, "elsewhere")) as arena, await start(Host()) as server:
        spec = match(server.address, "lowest", "random", rules="three_feature", hands=len(records))
        whole = await arena.match(spec, in_process=True)
    assert list(map(story, records)) == list(map(story, whole))


async def test_a_second_ctrl_c_ends_at_once_and_what_was_finished_is_kept(tmp_path: Path) -> None:
    host = Host(decisions=300)
    async with a_match(tmp_path, host, "--tables", "3") as process:
        await host.reached.wait()
        assert process.stderr is not None
        process.send_signal(signal.SIGINT)
        assert b"finishing the hands in play" in await process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, err = await process.communicate()
    assert process.returncode == 130
    assert b"Traceback" not in err
    state, lines = await stored(tmp_path)
    assert state is MatchState.CANCELLED
    assert (tmp_path / "records.jsonl").read_bytes().splitlines() == lines
    assert read(tmp_path / "records.jsonl")


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="tells a process's children by /proc")
async def test_no_bot_outlives_an_arena_that_is_killed(tmp_path: Path) -> None:
    host = Host(decisions=3)
    async with a_match(tmp_path, host) as process:
        await host.reached.wait()
        with watched(children(process.pid)) as ends:
            assert len(ends) == 2
            process.kill()
            await process.wait()
            for end in ends:
                assert await asyncio.to_thread(ended, end)


def children(pid: int) -> list[int]:
    """The processes whose parent it is."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text()
        except OSError:
            continue  # It has ended meanwhile.
        if int(stat.rpartition(")")[2].split()[1]) == pid:
            found.append(int(folder.name))
    return found


@contextmanager
def watched(pids: list[int]) -> Iterator[list[int]]:
    """A handle for each process that becomes readable when it ends, and never means another."""
    handles = [os.pidfd_open(pid) for pid in pids]
    try:
        yield handles
    finally:
        for handle in handles:
            os.close(handle)


def ended(handle: int) -> bool:
    return bool(select.select([handle], [], [], 30)[0])
