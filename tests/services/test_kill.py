"""What was flushed is there after kill -9, in the store, the file of records and the journal."""

import asyncio
import subprocess
import sys
from pathlib import Path

from tests.services.records import played
from wakeng.engine import encode
from wakeng.services.store import Store

VICTIM = """
import asyncio, os, signal, sys
from tests.services.records import played
from wakeng.services.journal import Journal
from wakeng.services.store import RecordFile, RecordWriter, Store

async def main(folder):
    store = await Store.open(f"sqlite:///{folder}/wakeng.db")
    await store.create_match(match_id="m1", spec={}, seed="0", commitment="0", hands=9)
    journal = Journal.open(f"{folder}/journal.jsonl")
    writer = RecordWriter(store, file=RecordFile(f"{folder}/r.jsonl"))
    for index in range(9):
        writer.put(played(hand_index=index))
        journal.event("hand", hand_index=index)
    await writer.flush()
    journal.flush()
    writer.put(played(hand_index=9))
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main(sys.argv[1]))
"""


def test_nothing_that_was_flushed_is_lost(tmp_path: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", VICTIM, str(tmp_path)], check=False, stderr=subprocess.PIPE)
    assert (killed.returncode, killed.stderr) == (-9, b"")
    lines = [encode(played(hand_index=index)) for index in range(9)]
    assert asyncio.run(stored(tmp_path)) == lines
    assert (tmp_path / "r.jsonl").read_bytes().splitlines() == lines
    assert (tmp_path / "journal.jsonl").read_bytes().count(b"\n") == 9


async def stored(folder: Path) -> list[bytes]:
    async with await Store.open(f"sqlite:///{folder}/wakeng.db") as store:
        return [line async for line in store.records("m1")]
