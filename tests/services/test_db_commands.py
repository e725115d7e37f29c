"""`wakeng db`, as an operator uses it, on both kinds of store."""

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.arena.process import Ran, wakeng
from tests.postgres import Server
from tests.services.databases import Database, PostgresDatabase, SQLiteFile
from tests.services.records import played
from wakeng.engine import encode
from wakeng.services.store import MatchState, Store, downgrade, newest_schema
from wakeng.services.store.backup import back_up
from wakeng.services.store.database import database_url

HANDS = 30
LONG_AGO = 1_000_000


def db(*arguments: str, url: str, **env: str) -> Ran:
    return wakeng("db", *arguments, "--db", url, env=env)


def told(*arguments: str, url: str, status: int = 0) -> Any:
    ran = db(*arguments, "--json", url=url)
    assert ran.returncode == status, ran.stderr
    return json.loads(ran.stdout)


async def fill(url: str) -> None:
    async with await Store.open(url, clock=lambda: LONG_AGO) as store:
        for match_id in ("old", "running"):
            await store.create_match(match_id=match_id, spec={}, seed="5eed", commitment="0", hands=HANDS)
            await store.add_records([played(match_id, index) for index in range(HANDS)])
        await store.set_state("old", MatchState.FINISHED)


async def lines(url: str, match_id: str = "old") -> list[bytes]:
    async with await Store.open(url, migrate=False) as store:
        return [line async for line in store.records(match_id)]


@pytest.fixture
def filled(database: Database) -> Database:
    asyncio.run(fill(database.url))
    return database


# upgrade ------------------------------------------------------------------------------------------


def test_an_empty_database_becomes_a_store(empty_database: Database) -> None:
    assert told("upgrade", url=empty_database.url)["from"] is None
    said = db("upgrade", url=empty_database.url).stdout
    assert said == f"the store has schema {newest_schema()}, the newest: nothing to do\n"


def test_an_old_store_is_upgraded_and_says_how_far(filled: Database) -> None:
    asyncio.run(downgrade(filled.url, to="0004"))
    refused = db("prune", "--keep", "9", url=filled.url)
    assert refused.returncode == 2
    assert "wakeng db upgrade" in refused.stderr
    steps = ["0005", "0006", "0007", "0008"]
    assert told("upgrade", url=filled.url) == {"from": "0004", "to": newest_schema(), "steps": steps}
    assert len(asyncio.run(lines(filled.url))) == HANDS


def test_the_store_may_be_named_by_the_environment(filled: Database) -> None:
    assert wakeng("db", "check", env={"WAKENG_STORE_URL": filled.url}).returncode == 0


# check --------------------------------------------------------------------------------------------


def findings(url: str, *options: str, status: int = 0) -> dict[str, Any]:
    return {one["check"]: one for one in told("check", *options, url=url, status=status)["findings"]}


def test_a_sound_store_is_found_so(filled: Database) -> None:
    found = findings(filled.url, "--records", "all")
    assert list(found) == ["schema", "integrity", "references", "seats", "records"]
    assert all(one["ok"] for one in found.values())
    assert found["records"]["told"].startswith(f"{2 * HANDS} of {2 * HANDS} records read")
    assert findings(filled.url, "--records", "7")["records"]["told"].startswith(f"7 of {2 * HANDS} ")
    said = db("check", url=filled.url).stdout
    assert [line[:3] for line in said.splitlines()] == ["ok "] * 5


def test_a_damaged_record_is_named(filled: Database) -> None:
    filled.sql(
        "UPDATE hand_records SET line = replace(line, '\"latency_us\":100', '\"latency_us\":101')"
        " WHERE match_id = 'old' AND hand_index = 3",
        "UPDATE hand_records SET attempt = 5 WHERE match_id = 'running' AND hand_index = 4",
        "UPDATE hand_records SET line = 'x' WHERE match_id = 'running' AND hand_index = 5",
    )
    found = findings(filled.url, "--records", "all", status=1)["records"]
    assert "3 damaged: old hand 3: " in found["told"]
    assert "running hand 4: the row is not the record's" in found["told"]
    assert "running hand 5: " in found["told"]
    assert "backup" in found["advice"]
    ran = db("check", "--records", "all", url=filled.url)
    assert ran.returncode == 1
    assert "BAD records: " in ran.stdout


def test_a_record_without_its_seats_is_found(filled: Database) -> None:
    filled.sql("DELETE FROM hand_seats WHERE match_id = 'old' AND hand_index = 3")
    assert findings(filled.url, status=1)["seats"]["told"] == "1 records have none"


def test_an_old_schema_is_found_and_what_brings_it_up_is_told(filled: Database) -> None:
    asyncio.run(downgrade(filled.url, to="0004"))
    found = findings(filled.url, status=1)
    assert not found["schema"]["ok"]
    assert "wakeng db upgrade" in found["schema"]["advice"]
    assert all(one["ok"] for name, one in found.items() if name != "schema")


def test_a_store_of_a_newer_version_is_found(filled: Database) -> None:
    filled.sql("UPDATE alembic_version SET version_num = '9999'")
    assert "9999, which is newer" in findings(filled.url, status=1)["schema"]["told"]


def test_rows_that_belong_to_nothing_are_found(tmp_path: Path) -> None:
    database = SQLiteFile(tmp_path / "w.db")
    asyncio.run(fill(database.url))
    database.sql("PRAGMA foreign_keys = OFF", "DELETE FROM matches WHERE match_id = 'old'")
    found = findings(database.url, status=1)["references"]
    rows = HANDS + 3  # Each hand's record, and each seat's figures of them all.
    assert found["told"] == f"{rows} rows belong to nothing: hand_records to matches, match_figures to matches"


def test_a_damaged_file_is_found(tmp_path: Path) -> None:
    database = SQLiteFile(tmp_path / "w.db")
    asyncio.run(fill(database.url))
    with (tmp_path / "w.db").open("rb+") as file:
        file.seek(4096 * 10)
        file.write(b"\xff" * 4096 * 10)
    found = findings(database.url, status=1)
    assert not found["integrity"]["ok"]
    assert "last backup" in found["integrity"]["advice"]


def test_what_is_not_there_is_not_made(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'w.db'}"
    for arguments in (("check",), ("backup", str(tmp_path / "b.db")), ("prune", "--keep", "1")):
        refused = db(*arguments, url=url)
        assert (refused.returncode, "there is no store at" in refused.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_lets_nobody_in_is_told_without_the_password(postgres: Server) -> None:
    url = postgres.url("nowhere").replace("wakeng@", "wakeng:secret@")
    refused = db("check", url=url)
    assert refused.returncode == 2
    assert "does not exist" in refused.stderr
    assert "secret" not in refused.stderr


# backup -------------------------------------------------------------------------------------------


def restored(backup: Path, database: Database, other: Database) -> str:
    """The URL of a store made from a backup, in another database."""
    if isinstance(database, SQLiteFile):
        return f"sqlite:///{backup}"
    assert isinstance(other, PostgresDatabase)
    other.server.run("pg_restore", "--no-owner", f"--dbname={other.url}", stdin=backup.read_bytes())
    return other.url


def test_a_backup_is_the_store_of_that_moment(filled: Database, twin: Database, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    before = asyncio.run(lines(filled.url))
    size = told("backup", str(backup), url=filled.url)["bytes"]
    assert size == backup.stat().st_size
    asyncio.run(change(filled.url))
    assert asyncio.run(lines(filled.url, "later"))
    url = restored(backup, filled, twin)
    assert asyncio.run(lines(url)) == before == [encode(played("old", index)) for index in range(HANDS)]
    assert asyncio.run(lines(url, "later")) == []
    assert all(one["ok"] for one in findings(url, "--records", "all").values())


async def change(url: str) -> None:
    async with await Store.open(url) as store:
        await store.create_match(match_id="later", spec={}, seed="0", commitment="0", hands=1)
        await store.add_records([played("later")])


def test_a_file_that_is_there_is_replaced_by_force_alone(filled: Database, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    backup.write_text("precious")
    refused = db("backup", str(backup), url=filled.url)
    assert refused.returncode == 2
    assert "--force" in refused.stderr
    assert backup.read_text() == "precious"
    assert db("backup", str(backup), "--force", url=filled.url).returncode == 0
    assert backup.stat().st_size > 1000


def test_a_backup_that_fails_leaves_nothing_behind(filled: Database, tmp_path: Path) -> None:
    refused = db("backup", str(tmp_path / "nowhere" / "backup"), url=filled.url)
    assert refused.returncode == 2
    assert not list(tmp_path.glob("*backup*"))


def test_a_backup_is_of_one_moment_while_an_arena_writes(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'w.db'}"
    asyncio.run(fill(url))
    # Every step of the copy is met by a write of another connection, as by an arena's.
    with closing(sqlite3.connect(tmp_path / "w.db", isolation_level=None)) as arena:
        steps: list[int] = []

        def write(done: int, _: int) -> None:
            steps.append(done)
            arena.execute("UPDATE matches SET reason = ?", [str(len(steps))])

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("wakeng.services.store.backup._PAGES_AT_ONCE", 1)
            back_up(database_url(url), tmp_path / "backup", force=False, progress=write)
    assert steps == sorted(steps), "it never began anew"
    assert len(steps) > 20
    assert SQLiteFile(tmp_path / "backup").sql("SELECT DISTINCT reason FROM matches") == [("None",)]


def test_without_pg_dump_it_is_told_what_is_missing(postgres_only: Database, tmp_path: Path) -> None:
    refused = db("backup", str(tmp_path / "backup"), url=postgres_only.url, PATH=str(tmp_path))
    assert refused.returncode == 2
    assert "pg_dump is not on PATH" in refused.stderr


# prune --------------------------------------------------------------------------------------------


def test_old_matches_are_pruned_after_one_has_seen_which(filled: Database) -> None:
    would = told("prune", "--older-than", "90d", "--dry-run", url=filled.url)
    assert would == {"dry_run": True, "hands": HANDS, "pruned": [{"id": "old", "kind": "match", "hands": HANDS}]}
    assert "match old: 30 hands\nwould go: 1 " in db("prune", "--keep", "0", "--dry-run", url=filled.url).stdout
    assert len(asyncio.run(lines(filled.url))) == HANDS
    assert told("prune", "--older-than", "90d", "--vacuum", url=filled.url)["hands"] == HANDS
    assert asyncio.run(lines(filled.url)) == []
    assert len(asyncio.run(lines(filled.url, "running"))) == HANDS
    assert db("prune", "--keep", "1", url=filled.url).stdout == "gone: 0 matches and tournaments, 0 hands\n"


def test_vacuum_makes_a_file_smaller(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'w.db'}"
    asyncio.run(fill(url))
    before = (tmp_path / "w.db").stat().st_size
    assert db("prune", "--keep", "0", "--vacuum", url=url).returncode == 0
    assert (tmp_path / "w.db").stat().st_size < before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "--older-than AGE, --keep N, or both"),
        (("--older-than", "soon"), "write it as 90d"),
        (("--older-than", "-1d"), "write it as 90d"),
        (("--keep", "-1"), "--keep"),
    ],
)
def test_what_cannot_be_asked_is_refused(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    refused = db("prune", *options, url=f"sqlite:///{tmp_path / 'w.db'}")
    assert refused.returncode == 2
    assert said in refused.stderr
