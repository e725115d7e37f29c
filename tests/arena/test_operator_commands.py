"""`wakeng bot`, `wakeng token` and `wakeng match --arena`, against an arena that runs."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.arena.certificates import Authority
from tests.arena.process import ServedProcess, serve, wakeng

TOKEN = re.compile(r"wk_[A-Za-z0-9_-]{43}")


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedProcess]:
    """One that takes its own machine's callers for admins."""
    with serve(tmp_path_factory.mktemp("arena")) as served:
        yield served


def test_bots_are_added_listed_shown_and_removed(arena: ServedProcess) -> None:
    at = ("--arena", arena.address)
    added = wakeng("bot", "add", "mine", "--dial-in", "--owner", "wei", "--max-tables", "4", *at)
    assert added.returncode == 0, added.stderr
    assert [line.partition(": ")[0] for line in added.stdout.splitlines() if "wk_" in line] == ["token", "owner token"]
    near = wakeng("bot", "add", "near", "--address", "127.0.0.1:5055", "--json", *at)
    assert json.loads(near.stdout)["bot"]["address"] == "127.0.0.1:5055"
    assert "token" not in json.loads(near.stdout)
    listed = wakeng("bot", "list", *at).stdout
    assert re.search(r"mine +dials in, not connected +wei", listed)
    assert re.search(r"near +127\.0\.0\.1:5055 +- ", listed)
    shown = json.loads(wakeng("bot", "show", "mine", "--json", *at).stdout)
    assert (shown["max_tables"], shown["status"], shown["connected"]) == (4, "BOT_STATUS_ACTIVE", False)
    assert not TOKEN.search(listed + json.dumps(shown))
    by_the_store = json.loads(wakeng("bot", "list", "--json", "--db", arena.db).stdout)
    assert [bot["name"] for bot in by_the_store] == ["mine", "near"]
    for name in ("mine", "near"):
        assert wakeng("bot", "remove", name, *at).returncode == 0
    assert wakeng("bot", "list", *at).stdout == ""


def test_an_operator_at_the_machine_needs_no_arena(arena: ServedProcess) -> None:
    at = ("--db", arena.db)
    added = wakeng("bot", "add", "pipe", "--address", "unix:/run/bot.sock", *at)
    assert added.returncode == 0, added.stderr
    assert "unix:/run/bot.sock" in wakeng("bot", "show", "pipe", "--arena", arena.address).stdout
    assert wakeng("bot", "remove", "pipe", *at).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("bot", "add", "x"), "either --address or --dial-in"),
        (("bot", "add", "x", "--dial-in", "--address", "h:1"), "either --address or --dial-in"),
        (("bot", "add", "a b", "--dial-in"), "name: must be"),
        (("bot", "add", "greedy", "--dial-in"), "built-in"),
        (("bot", "add", "x", "--address", "8.8.8.8:1"), "--allow-net"),
        (("bot", "show", "nobody"), "no bot 'nobody'"),
        (("bot", "remove", "nobody"), "no bot 'nobody'"),
        (("bot", "list", "--db", "sqlite:///x"), "either --arena or --db"),
        (("bot", "list", "--cert", "{file}"), "--cert and --key go together"),
        (("bot", "list", "--insecure", "--ca", "{file}"), "no --ca"),
        (("match", "--rules", "xian", "--seats", "greedy,greedy,greedy", "--db", "sqlite:///x"), "--arena"),
        (("match", "--rules", "xian", "--seats", "nobody,greedy,greedy", "--hands", "1"), ""),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    arena: ServedProcess, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    file = tmp_path / "file"
    file.touch()
    given = [argument.format(file=file) for argument in arguments]
    result = wakeng(*given, "--arena", arena.address)
    assert (result.returncode, result.stdout) == (2, "")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1, result.stderr


def test_a_match_is_played_there_and_told_here(arena: ServedProcess, tmp_path: Path) -> None:
    records, seed = tmp_path / "r.jsonl", "5" * 64
    play = ("match", "--rules", "xian", "--seats", "greedy,lowest,random", "--hands", "6", "--seed", seed)
    result = wakeng(*play, "--arena", arena.address, "--records", str(records))
    assert result.returncode == 0, result.stderr
    assert re.search(r"^xian: 6 hands$", result.stdout, re.MULTILINE)
    assert all(bot in result.stdout for bot in ("greedy", "lowest", "random"))
    assert seed in result.stdout
    assert "store" not in result.stdout
    assert wakeng("verify", str(records)).returncode == 0
    assert len(records.read_text().splitlines()) == 6
    as_json = json.loads(wakeng(*play, "--arena", arena.address, "--json").stdout)
    here = json.loads(wakeng(*play, "--json", "--db", f"sqlite:///{tmp_path / 'here.db'}").stdout)
    assert as_json["complete"] is True
    assert as_json["seed"] == seed
    scores = [[seat["score"] for seat in outcome["seats"]] for outcome in (as_json, here)]
    assert scores[0] == scores[1], "the same seed and bots, wherever they play"


def test_the_seed_is_the_arenas_to_draw(arena: ServedProcess) -> None:
    play = ("match", "--rules", "xian", "--seats", "lowest,lowest,lowest", "--hands", "1", "--json")
    seeds = {json.loads(wakeng(*play, "--arena", arena.address).stdout)["seed"] for _ in range(2)}
    assert len(seeds) == 2


def test_where_no_arena_is_that_is_said(tmp_path: Path) -> None:
    nobody = wakeng("bot", "list", "--arena", f"unix:{tmp_path / 'nobody'}")
    assert nobody.returncode == 2
    assert "no arena answers" in nobody.stderr


# Trust --------------------------------------------------------------------------------------------


def test_from_an_admins_first_token_to_an_author_over_tls(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "club")
    pair = authority.sign("arena")
    tls = ("--tls-cert", str(pair.cert), "--tls-key", str(pair.key))
    with serve(tmp_path, "--listen", "0.0.0.0:0", *tls) as arena:
        at = ("--arena", f"localhost:{arena.address.rpartition(':')[2]}", "--ca", str(authority.pair.cert))
        refused = wakeng("bot", "list", *at)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "WAKENG_TOKEN" in refused.stderr

        admin = wakeng("token", "add", "admin", "--db", arena.db)
        assert TOKEN.fullmatch(admin.stdout.strip())
        file = tmp_path / "admin.token"
        file.write_text(admin.stdout)
        added = wakeng("bot", "add", "mine", "--dial-in", "--owner", "wei", "--json", *at, "--token-file", str(file))
        wei = {"WAKENG_TOKEN": json.loads(added.stdout)["owner_token"]}
        assert "mine" in wakeng("bot", "list", *at, env=wei).stdout
        of_a_bot = {"WAKENG_TOKEN": json.loads(added.stdout)["token"]}
        assert "not for the role bot" in wakeng("bot", "list", *at, env=of_a_bot).stderr

        listed = json.loads(wakeng("token", "list", "--json", "--db", arena.db).stdout)
        assert [(token["role"], token["owner"], token.get("bot")) for token in listed[:1]] == [("admin", "", None)]
        assert {(token["role"], token["owner"], token.get("bot")) for token in listed[1:]} == {
            ("bot", "wei", "mine"),
            ("author", "wei", None),
        }
        (of_wei,) = [token["id"] for token in listed if token["role"] == "author"]
        assert wakeng("token", "remove", of_wei, "--db", arena.db).returncode == 0
        assert "not known" in wakeng("bot", "list", *at, env=wei).stderr
        # Without TLS, or believing another authority, nothing is said to the arena at all.
        assert wakeng("bot", "list", *at[:2], env=wei).returncode == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--listen", "0.0.0.0:0"), "needs TLS"),
        (("--listen", "[::]:0", "--no-auth", "--insecure"), "every caller is an admin"),
        (("--tls-cert", "{file}"), "go together"),
        (("--client-ca", "{file}"), "goes with"),
        (("--tls-cert", "{file}", "--tls-key", "{file}"), "file"),
        (("--allow-net", "10.0.0.1/8"), "no network"),
    ],
)
def test_an_arena_that_nobody_could_trust_does_not_start(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    file = tmp_path / "file"
    file.touch()
    places = ("--db", f"sqlite:///{tmp_path / 'wakeng.db'}", "--journal", str(tmp_path / "journal"))
    result = wakeng("serve", *places, *(option.format(file=file) for option in options))
    assert (result.returncode, result.stdout) == (2, "")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1, result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("add", "author"), "--owner"),
        (("add", "bot"), "--bot"),
        (("add", "admin", "--bot", "x"), "--bot"),
        (("add", "bot", "--bot", "nobody"), "no bot 'nobody'"),
        (("add", "author", "--owner", "a b"), "owner: must be"),
        (("remove", "abc"), "no token"),
    ],
)
def test_a_token_that_cannot_be_is_said_to(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    result = wakeng("token", *arguments, "--db", f"sqlite:///{tmp_path / 'wakeng.db'}")
    assert (result.returncode, result.stdout) == (2, "")
    assert said in result.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("hands", [5, 1000])
def test_a_journal_on_a_full_disk_ends_the_match_and_says_so(tmp_path: Path, hands: int) -> None:
    """Whether the journal first writes at the end, or when its buffer is full and hands are in play."""
    seats = ("--rules", "xian", "--seats", "greedy,greedy,lowest", "--in-process", "--hands", str(hands))
    played = wakeng("match", *seats, "--journal", "/dev/full", "--db", f"sqlite:///{tmp_path / 'w.db'}")
    assert played.returncode == 2
    assert played.stderr.splitlines()[-1] == "wakeng: cannot write to /dev/full: No space left on device"
