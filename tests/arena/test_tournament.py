"""`wakeng tournament` with real bots and a real store: standings that can be recomputed, kills, refusals, JSON."""

import asyncio
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.arena.hosts import Host
from tests.arena.playing import playing
from tests.arena.process import serve, wakeng
from tests.arena.tournaments import CALM, FIELD, HERE, SEED, Place, Standings, rows, spec, tells_time, timeless
from wakeng.sdk import Decision, start
from wakeng.services.store import Store
from wakeng.services.tournament import tables as tournament_tables
from wakeng.services.tournament.run import TournamentRun, create
from wakeng.services.tournament.spec_file import parse_spec


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


# A round-robin -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def round_robin(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, Standings]:
    """Five built-in bots, each a process, over 200 blocks."""
    place = Place(tmp_path_factory.mktemp("round-robin"))
    path = place.write(spec(*FIELD, '{ name = "greedy 2", builtin = "greedy" }', lines=(CALM,), blocks=200))
    played = place.told("run", str(path), "--id", "t")
    assert played["complete"]
    assert played["hands_recorded"] == 600
    return place, played["standings"]


def test_standings_follow_from_the_exported_records_by_other_arithmetic(
    round_robin: tuple[Place, Standings],
) -> None:
    place, standings = round_robin
    records = place.folder / "records.jsonl"
    assert place.told("export", "t", "--records", str(records)) == {
        "tournament_id": "t",
        "hands": 600,
        "records": str(records),
    }
    again = recomputed(records)
    check_same(rows(standings), again)
    ranked = [row["bot"] for row in standings["groups"][0]]
    assert ranked == sorted(again, key=lambda bot: -again[bot]["f"])
    assert wakeng("verify", str(records)).returncode == 0


def check_same(published: dict[str, Any], again: dict[str, Any]) -> None:
    """The rows that were published are those that were recomputed."""
    assert published.keys() == again.keys()
    for bot, row in again.items():
        assert published[bot]["faults"] == row.pop("faults")
        assert {name: published[bot][name] for name in row} == pytest.approx(row, abs=1e-6), bot


def recomputed(records: Path) -> dict[str, dict[str, Any]]:
    """What the separate script makes of a file."""
    script = [sys.executable, "-I", str(HERE / "recompute.py"), str(records)]
    ran = subprocess.run(script, check=True, capture_output=True, text=True)
    found: dict[str, dict[str, Any]] = json.loads(ran.stdout)
    return found


def test_standings_have_intervals_and_are_told_to_people(round_robin: tuple[Place, Standings]) -> None:
    place, standings = round_robin
    assert all(row["low"] < row["f"] < row["high"] for row in rows(standings).values())
    assert place.standings() == standings
    said = place.tournament("standings", "t").stdout
    for row in rows(standings).values():
        assert f"{row['f']:+.3f}" in said
        assert f"{row['low']:+.3f} to {row['high']:+.3f}" in said
    assert "200 of 200 blocks" in said
    assert "k = 200 blocks" in said
    assert "options: all at their defaults" in said
    assert standings["seed_commitment"] in said


def test_the_table_of_hands_adds_up_to_the_scores(round_robin: tuple[Place, Standings]) -> None:
    place, standings = round_robin
    path = place.folder / "hands.csv"
    place.tournament("export", "t", "--csv", str(path))
    head, *lines = [line.split(",") for line in path.read_text("utf-8").splitlines()]
    table = [dict(zip(head, line, strict=True)) for line in lines]
    assert len(table) == 600 * 3
    for bot, row in rows(standings).items():
        mine = [line for line in table if line["bot"] == bot and line["counted"] == "1"]
        assert len(mine) == row["hands"]
        assert sum(int(line["score"]) for line in mine) / len(mine) == pytest.approx(row["mean"])


def test_a_tournament_that_is_over_is_told_again_and_not_played(round_robin: tuple[Place, Standings]) -> None:
    place, standings = round_robin
    assert place.told("resume", "t")["standings"] == standings
    again = place.told("run", str(place.folder / "spec.toml"), "--id", "t")
    assert again["standings"] == standings
    other = place.write(spec(*FIELD, lines=(CALM,), blocks=199), "other.toml")
    refused = place.tournament("run", str(other), "--id", "t")
    assert refused.returncode == 2
    assert "bots, blocks differ" in refused.stderr or "blocks, bots differ" in refused.stderr


# Kills ---------------------------------------------------------------------------------------------------------------

BLOCKS = 60


def few_tables(blocks: int = BLOCKS) -> str:
    """With few tables hands end one after another, and a kill finds some recorded, some in play and some not begun."""
    return spec(*FIELD, lines=(CALM,), blocks=blocks, tables=4)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Standings, int]:
    """The standings of `few_tables` where nothing happens to it, and its decisions."""
    return played_through(Place(tmp_path_factory.mktemp("undisturbed")), few_tables())


def played_through(place: Place, text: str) -> tuple[Standings, int]:
    standings = place.play(text)
    return standings, asyncio.run(decisions(place))


async def decisions(place: Place) -> int:
    async with await Store.open(place.db) as store:
        return sum([len(json.loads(line)["decisions"]) async for line in store.records("t")])


async def recorded(place: Place) -> int:
    async with await Store.open(place.db) as store:
        return await store.count_hands("t")


def test_killed_at_any_moment_and_resumed_it_ends_as_if_nothing_had_happened(
    place: Place, undisturbed: tuple[Standings, int]
) -> None:
    standings, in_all = undisturbed
    kill_often(place, few_tables(), "--in-process", kills=5, decisions=in_all)
    assert place.told("resume", "t", "--in-process")["standings"] == standings
    assert asyncio.run(recorded(place)) == 3 * BLOCKS


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--in-process",)], ids=["processes", "in-process"])
def test_killed_twenty_times(place: Place, tmp_path_factory: pytest.TempPathFactory, options: tuple[str, ...]) -> None:
    blocks = 200
    standings, in_all = played_through(Place(tmp_path_factory.mktemp("undisturbed")), few_tables(blocks))
    kill_often(place, few_tables(blocks), *options, kills=20, decisions=in_all)
    assert place.told("resume", "t", *options)["standings"] == standings
    assert asyncio.run(recorded(place)) == 3 * blocks


def kill_often(place: Place, text: str, *options: str, kills: int, decisions: int) -> None:
    """Play a tournament of so many decisions in processes that are each killed at a random one of their own."""
    draw = random.Random(kills)
    start: tuple[str, ...] = ("run", str(place.write(text)), "--id", "t")
    done = []
    for _ in range(kills):
        # All of these together cannot reach the end, the less so as hands in play are played again.
        moment = draw.randrange(1, decisions // kills)
        place.killed(f"decision:{moment}", *start, *options)
        done.append(asyncio.run(recorded(place)))
        start = ("resume", "t")
    assert done == sorted(done)
    assert done[-1] > 0, "nothing was there to go on with"


@pytest.mark.parametrize("moment", ["committed:2", "record:9"])
def test_killed_between_a_record_and_its_acknowledgement(
    place: Place, undisturbed: tuple[Standings, int], moment: str
) -> None:
    place.killed(moment, "run", str(place.write(few_tables())), "--id", "t", "--in-process")
    left = asyncio.run(recorded(place))
    assert left < 3 * BLOCKS
    assert left > 0 or moment.startswith("record")
    halfway = place.standings()
    assert halfway["prefix"] <= left // 3
    assert halfway["interval"]["watched"]
    assert place.told("resume", "t", "--in-process")["standings"] == undisturbed[0]
    assert asyncio.run(recorded(place)) == 3 * BLOCKS


@pytest.mark.parametrize("signals", ["decision:700:INT", "decision:700:INT,decision:720:INT"], ids=["once", "twice"])
def test_ctrl_c_keeps_what_was_played_and_says_how_to_go_on(
    place: Place, undisturbed: tuple[Standings, int], signals: str
) -> None:
    ran = place.signalled(signals, "run", str(place.write(few_tables())), "--id", "t", "--in-process", "--json")
    assert ran.returncode == 130, ran.stderr
    assert f"wakeng tournament resume t --db {place.db}" in ran.stderr
    told = json.loads(ran.stdout)
    assert (told["complete"], told["state"], told["seed"]) == (False, "RUNNING", None)
    left = asyncio.run(recorded(place))
    assert 0 < told["hands_recorded"] == left < 3 * BLOCKS
    assert told["standings"]["interval"]["watched"]
    assert place.told("resume", "t", "--in-process")["standings"] == undisturbed[0]


def test_a_tournament_is_in_the_store_before_any_bot_is_started(place: Place) -> None:
    place.killed("decision:1", "run", str(place.write(few_tables())), "--id", "t")
    (listed,) = place.told("list")
    assert (listed["tournament_id"], listed["state"], listed["hands_recorded"]) == ("t", "RUNNING", 0)


# What changes nothing ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form", [{"format": "all", "blocks": 16}, {"format": "swiss"}], ids=lambda form: form["format"]
)
def test_how_many_tables_play_at_once_changes_nothing(place: Place, form: dict[str, Any]) -> None:
    told = [place.play(spec(*FIELD, lines=(CALM,), tables=tables, **form), f"by{tables}") for tables in (1, 64)]
    assert told[0] == told[1]


def test_what_differs_from_run_to_run_is_told_by_its_key(place: Place) -> None:
    path = place.write(spec(*FIELD[:3], lines=(CALM,), blocks=3))
    other = Place(place.folder / "other")
    other.folder.mkdir()
    runs = [where.told("run", str(path), "--id", "t", "--in-process") for where in (place, other)]
    assert timeless(runs[0]) == timeless(runs[1])
    assert any(tells_time(key) for key in runs[0])
    shown = [where.told("show", "t") for where in (place, other)]
    assert timeless(shown[0]) == timeless(shown[1])
    assert timeless(place.told("list")) == timeless(other.told("list"))
    assert place.told("standings", "t") == other.told("standings", "t")


# A bot that fails ----------------------------------------------------------------------------------------------------


def test_a_faulty_bots_hands_escape_and_the_others_are_ranked_by_the_rule(place: Place) -> None:
    text = spec(
        *FIELD[:3],
        '{ name = "broken", builtin = "faulty:illegal" }',
        # One hand that is played out closes the circuit again; so it never comes to a quarantine, which takes time.
        lines=(CALM, "fault_policy = { max_escapes = 1000 }"),
        blocks=48,
    )
    standings = place.play(text)
    published = rows(standings)
    broken = published["broken"]
    assert broken["escapes"] == 36 * 3
    assert broken["points_lost_by_escapes"] > 0
    assert broken["faults"]["ILLEGAL_ACTION"] >= 36 * 3
    assert (broken["blocks"], broken["dirty_blocks"]) == (0, 36)
    assert {published[bot]["blocks"] for bot in ("greedy", "lowest", "random")} == {12}
    assert all(not published[bot]["escapes"] for bot in ("greedy", "lowest", "random"))
    records = place.folder / "records.jsonl"
    place.told("export", "t", "--records", str(records))
    clean = [line for line in records.read_text("utf-8").splitlines() if '"broken"' not in line]
    alone = place.folder / "clean.jsonl"
    alone.write_text("\n".join(renumbered(clean)), "utf-8")
    for bot, row in recomputed(alone).items():
        assert [published[bot][name] for name in ("f", "low", "high")] == pytest.approx(
            [row[name] for name in ("f", "low", "high")], abs=1e-6
        ), "the broken bot's blocks are no affair of the others"


def renumbered(lines: list[str]) -> list[str]:
    """Records as if their blocks were all that there are."""
    records = [json.loads(line) for line in lines]
    numbers = {block: i for i, block in enumerate(sorted({record["schedule"]["block"] for record in records}))}
    for record in records:
        record["schedule"]["block"] = numbers[record["schedule"]["block"]]
    return [json.dumps(record) for record in records]


class Moody(Host):
    """Leaves the hands that it sits in of every fifth number."""

    async def choose(self, decision: Decision) -> str:
        return "nothing" if decision.message.hand_index % 5 == 1 else await super().choose(decision)


async def test_a_bot_that_leaves_now_and_then_pays_for_it_by_the_rule(tmp_path: Path) -> None:
    async with await start(Moody()) as bot, playing(tmp_path) as here:
        text = spec(*FIELD[:3], f'{{ name = "moody", address = "{bot.address}" }}', lines=(CALM,), blocks=60)
        store = here.arena.store
        tournament, _ = await create(store, "t", parse_spec(text, drawn_seed=bytes(32)))
        standings = await TournamentRun(here.arena, tournament, in_process=True).play()
        lines = [line async for line in store.records("t")]
    (tmp_path / "records.jsonl").write_bytes(b"\n".join(lines))
    published = rows(standings.to_dict())
    assert 0 < published["moody"]["dirty_blocks"] < 45
    assert published["moody"]["blocks"] >= 10
    assert published["moody"]["escapes"] > 0
    check_same(published, await asyncio.to_thread(recomputed, tmp_path / "records.jsonl"))


def test_an_absent_bots_hands_wait_and_are_then_forfeited(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tournament_tables, "PATIENCE_S", 0.05)
    text = spec(*FIELD[:3], f'{{ name = "gone", address = "unix:{place.folder}/nobody" }}', blocks=4)
    path = place.write(text.replace("bots =", "time_control = { ready_ms = 1 }\nbots ="))
    played = place.told("run", str(path), "--id", "t", "--in-process")
    assert played["complete"]
    assert list(played["not_ready"]) == ["gone"]
    gone = rows(played["standings"])["gone"]
    assert (gone["escapes"], gone["dirty_blocks"]) == (9, 3)
    assert set(gone["faults"]) <= {"NOT_READY", "UNREACHABLE"}


# Refusals ------------------------------------------------------------------------------------------------------------

GOOD = spec('"greedy"', '"lowest"', '"random"', blocks=3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD.replace('"lowest"', '"lowset"'), r"bots\[1\] (line 5): there is no built-in bot 'lowset'"),
        (spec('"greedy"', '"lowest"', blocks=3), "bots (line 5): must be 3"),
        (GOOD.replace("blocks = 3", "blocks = 0"), "blocks (line 4): must be 1"),
        (GOOD.replace('"lowest"', '"greedy"'), r"bots\[1\].name (line 5): 'greedy' is the name of bots\[0\]"),
        (GOOD.replace("blocks = 3", 'blocks = 3\nformat = "swiss"'), "blocks (line 4): swiss has a length of its own"),
        (GOOD + "[options]\nalpha = 0.01\n", "options.alpha (line 7): is for format = 'sprt'"),
        (GOOD + "[options]\nlambda_rolls = 1\n", "options.lambda_rolls (line 7): is unknown; did you mean"),
        (GOOD.replace('"xian"', '"shanghai"'), "rules (line 2):"),
        (GOOD.replace("blocks = 3", "blocks = "), "file (line 4): is no TOML"),
        (
            spec('"greedy"', '"random"', '{ name = "m", registered = "m" }', blocks=1),
            r"bots\[2\].registered (line 5): no bot 'm' is registered",
        ),
        (
            spec('"greedy"', '"random"', '{ address = "nowhere" }', blocks=1),
            r"bots\[2\].address (line 5): 'nowhere' is no address",
        ),
    ],
)
def test_a_bad_spec_is_refused_before_anything_starts(place: Place, text: str, said: str) -> None:
    refused = place.tournament("run", str(place.write(text)), "--id", "t")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"spec.toml: {said}".replace("\\", "") in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert place.told("list") == []
    assert not list(place.folder.glob("journal/t*"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "{good}", "--id", "a/b"), "must be 1 to 64 of the characters"),
        (("run", "{good}", "--seed", "8" * 64), "the file has another than --seed"),
        (("run", "{nowhere}"), "does not exist"),
        (("resume", "nobody"), "there is no"),
        (("standings", "nobody"), "there is no"),
        (("export", "nobody"), "--records FILE or --csv FILE"),
        (("pause", "nobody"), "--arena"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(place: Place, arguments: tuple[str, ...], said: str) -> None:
    good = place.write(GOOD)
    given = [argument.format(good=good, nowhere=place.folder / "nowhere") for argument in arguments]
    refused = wakeng("tournament", *given, env=place.env)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert said in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_a_match_is_no_tournament(place: Place) -> None:
    played = wakeng(
        "match", "--rules", "xian", "--seats", "lowest,lowest,lowest", "--hands", "1", "--in-process", "--json",
        "--db", place.db, env=place.env,
    )  # fmt: skip
    match_id = json.loads(played.stdout)["match_id"]
    for arguments in (("standings", match_id), ("run", str(place.write(GOOD)), "--id", match_id)):
        refused = place.tournament(*arguments)
        assert refused.returncode == 2
        assert "is a match" in refused.stderr
    assert place.told("list") == []


def test_a_cancelled_tournament_keeps_its_hands_and_does_not_go_on(place: Place) -> None:
    place.killed("committed:2", "run", str(place.write(few_tables())), "--id", "t", "--in-process")
    left = asyncio.run(recorded(place))
    cancelled = place.told("cancel", "t", "--reason", "rain")
    assert (cancelled["state"], cancelled["reason"], cancelled["hands_recorded"]) == ("CANCELLED", "rain", left)
    assert cancelled["seed"] == SEED
    refused = place.tournament("resume", "t", "--in-process")
    assert refused.returncode == 2
    assert "rain" in refused.stderr


# On a running arena --------------------------------------------------------------------------------------------------


def test_an_arena_plays_what_the_command_asks_for(place: Place) -> None:
    path = place.write(spec(*FIELD[:3], lines=(CALM,), blocks=4))
    with serve(place.folder) as arena:
        at = ("--arena", arena.address)

        def told(*arguments: str) -> Any:
            ran = wakeng("tournament", *arguments, *at, "--json", env=place.env)
            assert ran.returncode == 0, ran.stderr
            return json.loads(ran.stdout)

        played = told("run", str(path), "--id", "t")
        assert (played["complete"], played["hands_recorded"], played["seed"]) == (True, 12, SEED)
        assert told("run", str(path), "--id", "t")["standings"] == played["standings"]
        assert told("resume", "t")["standings"] == played["standings"]
        shown = told("standings", "t")
        assert {name: shown[name] for name in played["standings"]} == played["standings"]
        assert [one["tournament_id"] for one in told("list")] == ["t"]
        assert told("pause", "t")["state"] == told("cancel", "t")["state"] == told("show", "t")["state"] == "FINISHED"
        records = place.folder / "there.jsonl"
        assert told("export", "t", "--records", str(records))["hands"] == 12
        assert "4 of 4 blocks" in wakeng("tournament", "standings", "t", *at).stdout
        other = place.write(path.read_text("utf-8").replace("blocks = 4", "blocks = 5"), "other.toml")
        taken = wakeng("tournament", "run", str(other), "--id", "t", *at)
        assert (taken.returncode, taken.stderr.count("\n")) == (2, 1)
        assert "t is another tournament there" in taken.stderr
        bad = place.write(path.read_text("utf-8").replace("greedy", "gredy"), "bad.toml")
        refused = wakeng("tournament", "run", str(bad), *at)
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
        assert "bots[0] (line 5): there is no built-in bot 'gredy'" in refused.stderr
        theirs = place.tournament("resume", "t")
        assert theirs.returncode == 2
        assert "--arena" in theirs.stderr
    alone = Place(place.folder / "alone")
    alone.folder.mkdir()
    assert alone.play(path.read_text("utf-8")) == played["standings"], "wherever it is played"


# Compare -------------------------------------------------------------------------------------------------------------


def compare(place: Place, *arguments: str) -> Any:
    ran = wakeng("compare", *arguments, "--db", place.db, "--in-process", "--seed", SEED, env=place.env)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("bot", ["greedy", "random"])
def test_a_bot_against_itself_shows_no_difference_at_all(place: Place, bot: str) -> None:
    short = (bot, bot, "--max-blocks", "50")
    said = compare(place, *short)
    assert said == f"{bot} A against {bot} B: no difference in 50 deals, d = 0 throughout\n"
    told = json.loads(compare(place, *short, "--json"))
    assert told["sprt"]["alike"]
    assert (told["sprt"]["mean"], told["sprt"]["blocks"], told["complete"]) == (0, 50, True)


@pytest.mark.slow
def test_a_bot_against_itself_takes_a_thousand_deals_to_be_sure(place: Place) -> None:
    assert compare(place, "greedy", "greedy") == (
        "greedy A against greedy B: no difference in 1,000 deals, d = 0 throughout\n"
    )


def test_greedy_is_stronger_than_lowest(place: Place) -> None:
    said = compare(place, "greedy", "lowest")
    assert said.startswith("greedy is stronger than lowest: +")
    assert said.count("\n") == 1
    told = json.loads(compare(place, "lowest", "greedy", "--two-sided", "--margin", "1", "--json"))
    assert told["sprt"]["verdict"] == "B stronger"
    assert told["answer"].startswith("greedy is stronger than lowest")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("greedy", "gredy"), "B: there is no built-in bot 'gredy'; did you mean greedy?"),
        (("greedy", "lowest", "--margin", "0"), "--margin"),
        (("greedy", "lowest", "--max-blocks", "10"), "--max-blocks: is 10, but before 50"),
        (("greedy", "lowest", "--set", "players=5"), "players"),
    ],
)
def test_a_comparison_that_cannot_be_is_refused_in_one_line(
    place: Place, arguments: tuple[str, ...], said: str
) -> None:
    refused = wakeng("compare", *arguments, "--db", place.db, env=place.env)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert said in refused.stderr
    assert refused.stderr.count("\n") == 1
