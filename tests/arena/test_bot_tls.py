"""Bots that listen on other machines do so by TLS, and the arena believes only those whose authority it trusts."""

import json
import re
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.arena.certificates import Authority, Pair
from tests.arena.network import faults
from tests.arena.process import WAKENG, serve, wakeng
from wakeng.bots import create
from wakeng.engine import PRESETS, verify
from wakeng.sdk import Bot, BotServer, Decision, ListenError, start
from wakeng.sdk import serve as serve_bot
from wakeng.services.arena import Arena, MatchRun
from wakeng.services.journal import Journal
from wakeng.services.metrics import Metrics
from wakeng.services.seating import BotTls
from wakeng.services.spec import MatchSpec, SeatSpec, TimeControl
from wakeng.services.store import Store

HANDS = 3
ABROAD = "0.0.0.0:0"
NOT_READY = (0, "NOT_READY")


@pytest.fixture(scope="module")
def club(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("club"), "club")


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("stranger"), "stranger")


@pytest.fixture(scope="module")
def bots_own(club: Authority) -> Pair:
    return club.sign("bot")


@pytest.fixture(scope="module")
def arenas_own(club: Authority) -> Pair:
    return club.sign("arena")


class First(Bot):
    """The first legal token, always."""

    def choose(self, decision: Decision) -> str:
        return decision.legal[0]


# Listening -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("listen", [ABROAD, "[::]:0", "arena.example:0"])
async def test_a_bot_that_other_machines_reach_needs_tls(listen: str) -> None:
    for bot in (First(), create("faulty:garbage")):
        with pytest.raises(ListenError, match="without TLS"):
            await start(bot, listen)


def test_nor_does_serve_listen_there() -> None:
    with pytest.raises(ListenError, match="without TLS"):
        serve_bot(First(), ABROAD)


async def test_unless_somebody_insists() -> None:
    for bot in (First(), create("faulty:garbage")):
        async with await start(bot, ABROAD, insecure=True) as server:
            assert server.address.startswith("0.0.0.0:")


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "localhost:0", "[::1]:0", "unix:{folder}/bot"])
async def test_on_this_machine_it_needs_none(tmp_path: Path, listen: str) -> None:
    async with await start(First(), listen.format(folder=tmp_path)):
        pass


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"tls_cert": "x"}, "go together"),
        ({"tls_key": "x"}, "go together"),
        ({"client_ca": "x"}, "client_ca goes with"),
        ({"tls_cert": "x", "tls_key": "x", "insecure": True}, "insecure means no TLS"),
    ],
)
async def test_what_does_not_fit_together_is_an_error(options: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        await start(First(), **options)


async def test_a_file_that_is_no_certificate_is_named(tmp_path: Path, bots_own: Pair, stranger: Authority) -> None:
    nonsense = tmp_path / "nonsense.pem"
    nonsense.write_text("certainly", "utf-8")
    for cert, key, ca in (
        (nonsense, bots_own.key, None),
        (bots_own.cert, stranger.pair.key, None),
        (bots_own.cert, bots_own.key, nonsense),
    ):
        with pytest.raises(ValueError, match=r"\.pem"):
            await start(First(), ABROAD, tls_cert=cert, tls_key=key, client_ca=ca)
    with pytest.raises(FileNotFoundError, match="nothing"):
        await start(First(), tls_cert=tmp_path / "nothing", tls_key=bots_own.key)


async def test_a_bot_with_a_server_of_its_own_has_no_tls(bots_own: Pair) -> None:
    with pytest.raises(ValueError, match="server of its own"):
        await start(create("faulty:garbage"), tls_cert=bots_own.cert, tls_key=bots_own.key)


# Playing -------------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def an_arena(folder: Path, tls: BotTls | None) -> AsyncIterator[Arena]:
    async with await Store.open(f"sqlite:///{folder / 'wakeng.db'}") as store:
        with Journal.open(folder / "journal.jsonl") as journal:
            arena = Arena(store=store, journal=journal, metrics=Metrics(), tls=tls)
            yield arena
            arena.close()


async def played(folder: Path, seat: str, tls: BotTls | None, *, ready_ms: int = 20_000) -> set[tuple[int, str]]:
    """The faults of a match with a bot at an address in its first seat."""
    async with an_arena(folder, tls) as arena:
        spec = MatchSpec(
            match_id="m1",
            rules=PRESETS["xian"],
            seats=tuple(map(SeatSpec.parse, (seat, "lowest", "greedy"))),
            hands=HANDS,
            seed=bytes(32),
            time_control=TimeControl(move_ms=20_000, ready_ms=ready_ms),
        )
        await arena.store.create_match(
            match_id="m1", spec=spec.to_dict(), seed=spec.seed.hex(), commitment=spec.commitment, hands=HANDS
        )
        await MatchRun(arena, spec, in_process=True).play()
        records = [verify(line) async for line in arena.store.records("m1")]
        assert len(records) == HANDS
        return set(faults(records))


def by(server: BotServer, host: str) -> str:
    """Where a server is that listens everywhere, dialled by that name of this machine."""
    return f"{host}:{server.address.rpartition(':')[2]}"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
async def test_a_bot_with_a_certificate_plays_by_tls(
    tmp_path: Path, club: Authority, bots_own: Pair, host: str
) -> None:
    async with await start(First(), ABROAD, tls_cert=bots_own.cert, tls_key=bots_own.key) as server:
        assert await played(tmp_path, by(server, host), BotTls(ca=club.pair.cert)) == set()


async def test_a_bot_may_demand_the_arenas_certificate(
    tmp_path: Path, club: Authority, stranger: Authority, bots_own: Pair, arenas_own: Pair
) -> None:
    mutual: dict[str, Any] = {"tls_cert": bots_own.cert, "tls_key": bots_own.key, "client_ca": club.pair.cert}
    strange = stranger.sign("arena")
    async with await start(First(), ABROAD, **mutual) as server:
        for place, (own, kept_out) in enumerate(((arenas_own, False), (strange, True), (None, True))):
            folder = tmp_path / str(place)
            folder.mkdir()
            tls = BotTls(ca=club.pair.cert, cert=own.cert if own else None, key=own.key if own else None)
            came = await played(folder, by(server, "localhost"), tls, ready_ms=300 if kept_out else 20_000)
            assert came == ({NOT_READY} if kept_out else set())


async def test_who_is_not_believed_is_not_played_with(
    tmp_path: Path, club: Authority, stranger: Authority, bots_own: Pair
) -> None:
    elsewhere = club.sign("elsewhere", hosts="DNS:elsewhere.example")
    for name, own, tls in (
        ("signed by somebody else", stranger.sign("bot"), BotTls(ca=club.pair.cert)),
        ("for another host", elsewhere, BotTls(ca=club.pair.cert)),
        ("by none that the system trusts", bots_own, BotTls(cert=bots_own.cert, key=bots_own.key)),
        ("without TLS", bots_own, BotTls(insecure=True)),
    ):
        folder = tmp_path / name
        folder.mkdir()
        async with await start(First(), ABROAD, tls_cert=own.cert, tls_key=own.key) as server:
            assert await played(folder, by(server, "localhost"), tls, ready_ms=300) == {NOT_READY}, name


async def test_a_bot_without_tls_is_not_played_with_where_that_is_asked_for(tmp_path: Path, club: Authority) -> None:
    async with await start(First(), "127.0.0.1:0") as server:
        assert await played(tmp_path, server.address, BotTls(ca=club.pair.cert), ready_ms=300) == {NOT_READY}


async def test_a_pipe_of_this_machine_needs_none(tmp_path: Path, club: Authority) -> None:
    async with await start(First(), f"unix:{tmp_path}/bot") as server:
        assert await played(tmp_path, server.address, BotTls(ca=club.pair.cert)) == set()


def test_what_the_arena_cannot_mean_is_an_error() -> None:
    for wrong in ({"cert": "x"}, {"key": "x"}, {"insecure": True, "ca": "x"}):
        with pytest.raises(ValueError, match=r"go together|no TLS"):
            BotTls(**wrong)


# By commands ---------------------------------------------------------------------------------------------------------


@contextmanager
def served(*options: str) -> Iterator[str]:
    """`wakeng serve-bot greedy`, reachable from everywhere; where, by a name of this machine."""
    command = [*WAKENG, "serve-bot", "greedy", "--listen", ABROAD, *options]
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1, text=True) as process:
        try:
            assert process.stdout is not None
            found = re.fullmatch(r"listening on 0\.0\.0\.0:(\d+)\n", process.stdout.readline())
            assert found
            yield f"localhost:{found[1]}"
        finally:
            process.kill()


def test_bots_and_arenas_know_each_other_by_their_certificates(
    tmp_path: Path, club: Authority, bots_own: Pair, arenas_own: Pair
) -> None:
    ca = str(club.pair.cert)
    bots_side = ("--tls-cert", str(bots_own.cert), "--tls-key", str(bots_own.key), "--client-ca", ca)
    arenas_side = ("--bots-ca", ca, "--bots-cert", str(arenas_own.cert), "--bots-key", str(arenas_own.key))
    with served(*bots_side) as bot:
        play = ("match", "--rules", "xian", "--seats", f"{bot},{bot},{bot}", "--hands", str(HANDS), "--json")
        here = wakeng(*play, *arenas_side, "--db", f"sqlite:///{tmp_path / 'here.db'}")
        with serve(tmp_path, *arenas_side) as arena:
            there = wakeng(*play, "--arena", arena.address)
    for ran in (here, there):
        assert ran.returncode == 0, ran.stderr
        assert [seat["faults"] for seat in json.loads(ran.stdout)["seats"]] == [{}] * 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("serve-bot", "greedy", "--listen", ABROAD), "without TLS"),
        (("serve-bot", "greedy", "--listen", ABROAD, "--tls-cert", "{file}"), "go together"),
        (("serve-bot", "greedy", "--listen", ABROAD, "--tls-cert", "{file}", "--tls-key", "{file}"), "{file}"),
        (("serve-bot", "faulty:flood", "--listen", ABROAD), "without TLS"),
        (("serve", "--bots-cert", "{file}"), "--bots-cert and --bots-key go together"),
        (("serve", "--insecure-bots", "--bots-ca", "{file}"), "no --bots-ca"),
        (("match", "--rules", "xian", "--seats", "a,b,c", "--bots-key", "{file}"), "go together"),
        (("match", "--rules", "xian", "--seats", "a,b,c", "--insecure-bots", "--arena", "x:1"), "--arena"),
    ],
)
def test_what_a_command_cannot_mean_is_said_in_one_line(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    file = tmp_path / "file"
    file.write_text("nothing", "utf-8")
    command = [argument.format(file=file) for argument in arguments]
    result = subprocess.run([*WAKENG, *command], capture_output=True, text=True, timeout=60, check=False)
    assert (result.returncode, result.stdout) == (2, "")
    assert said.format(file=file) in result.stderr
    assert result.stderr.count("\n") == 1, result.stderr
