"""`wakeng config`, `wakeng health` and `wakeng doctor`, as an operator calls them."""

import json
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.arena.certificates import Authority
from tests.arena.process import serve, wakeng
from wakeng.services.doctor import CHECKS

NOBODY = "127.0.0.1:1"
"""Where nobody listens."""


def written(folder: Path, text: str) -> str:
    """A file of settings."""
    file = folder / "arena.toml"
    file.write_text(text, "utf-8")
    return str(file)


# wakeng config ----------------------------------------------------------------------------------------------------


def test_a_good_file_is_said_to_be_good(tmp_path: Path) -> None:
    ran = wakeng("config", "check", written(tmp_path, "[serve]\ngrace = 5\n"))
    assert (ran.returncode, ran.stdout) == (0, "nothing is wrong; 1 settings are not the default\n")


def test_every_fault_of_a_bad_file_has_a_line(tmp_path: Path) -> None:
    file = written(tmp_path, "[serve]\ngrase = 5\nlisten = 3\n")
    ran = wakeng("config", "check", file)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert [line.rpartition(": ")[2] for line in ran.stderr.splitlines()] == [
        "there is no serve.grase; did you mean serve.grace?",
        "Expected `str`, got `int`",
    ]
    told = json.loads(wakeng("config", "check", "--json", file).stdout)
    assert (told["good"], len(told["problems"])) == (False, 2)


def test_settings_are_shown_with_their_sources_and_without_passwords(tmp_path: Path) -> None:
    file = written(tmp_path, '[store]\nurl = "postgresql://wakeng:hunter2@db/wakeng"\n')
    env = {"WAKENG_SERVE_GRACE": "7"}
    ran = wakeng("config", "show", "--config", file, env=env)
    assert 'url = "postgresql://wakeng:***@db/wakeng"' in ran.stdout
    assert f"# {file}, line 2\n" in ran.stdout
    told = json.loads(wakeng("config", "show", "--json", "--config", file, env=env).stdout)
    assert told["serve.grace"] == {"value": 7.0, "source": "$WAKENG_SERVE_GRACE"}
    assert told["serve.listen"]["source"] == "default"
    assert "hunter2" not in ran.stdout + json.dumps(told)


def test_what_is_shown_is_a_file_that_can_be_read(tmp_path: Path) -> None:
    shown = wakeng("config", "show").stdout
    assert wakeng("config", "check", written(tmp_path, shown)).returncode == 0


def test_a_command_without_the_flag_takes_the_store_of_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, f'[store]\nurl = "sqlite:///{tmp_path}/club.db"\n')
    assert wakeng("token", "add", "admin", "--config", file).returncode == 0
    assert (tmp_path / "club.db").is_file()
    assert "admin" in wakeng("token", "list", env={"WAKENG_CONFIG": file}).stdout


def test_serve_is_told_by_a_file_and_refuses_a_bad_one(tmp_path: Path) -> None:
    ran = wakeng("serve", "--config", written(tmp_path, "[serve]\nlisen = 1\n"))
    assert ran.returncode == 2
    assert "did you mean serve.listen?" in ran.stderr


# wakeng health ----------------------------------------------------------------------------------------------------


def test_health_is_the_exit_status(tmp_path: Path) -> None:
    with serve(tmp_path) as arena:
        good = wakeng("health", arena.address)
        assert (good.returncode, good.stdout) == (0, "SERVING\n")
        assert wakeng("health", arena.address, "--service", "wakeng.v1.MatchService").returncode == 0
        unknown = wakeng("health", arena.address, "--service", "nobody")
        assert unknown.returncode == 1
        assert "NOT_FOUND" in unknown.stderr
    gone = wakeng("health", arena.address, "--timeout", "2")
    assert gone.returncode == 1
    assert gone.stderr.count("\n") == 1


def test_health_can_be_asked_by_tls(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "club")
    pair = authority.sign("arena")
    with serve(tmp_path, "--tls-cert", str(pair.cert), "--tls-key", str(pair.key)) as arena:
        assert wakeng("health", arena.address, "--ca", str(authority.pair.cert)).returncode == 0
        assert wakeng("health", arena.address, "--timeout", "1").returncode == 1


# wakeng doctor ----------------------------------------------------------------------------------------------------


def examined(folder: Path, text: str = "", **env: str) -> tuple[int, dict[str, list[dict[str, str]]]]:
    """The exit status, and findings by check, with a data folder and a port of the test's own."""
    file = written(folder, text)
    own = {"WAKENG_DATA": str(folder / "data"), "WAKENG_SERVE_LISTEN": "127.0.0.1:0"}
    ran = wakeng("doctor", "--json", "--config", file, env={**own, **env})
    found: dict[str, list[dict[str, str]]] = {}
    for finding in json.loads(ran.stdout)["findings"]:
        found.setdefault(finding["check"], []).append(finding)
    return ran.returncode, found


def test_a_fresh_installation_is_well(tmp_path: Path) -> None:
    status, found = examined(tmp_path)
    assert status == 0
    assert {"configuration", "versions", "data", "files", "clock", "database", "ports"} == set(found)
    assert set(found) - {"configuration"} <= set(CHECKS)
    assert not (tmp_path / "data").exists(), "a doctor changes nothing"


def test_whatever_is_not_good_comes_with_what_to_do(tmp_path: Path) -> None:
    text = f'[store]\nurl = "nonsense:x"\n[nats]\nurl = "nats://{NOBODY}"\n[traces]\nendpoint = "http://{NOBODY}"\n'
    status, found = examined(tmp_path, text)
    assert status == 1
    for check in ("database", "nats", "traces"):
        assert [finding["grade"] for finding in found[check]] == ["wrong"], found[check]
    assert all(finding["advice"] or finding["grade"] == "good" for findings in found.values() for finding in findings)


def test_settings_that_are_wrong_do_not_end_the_examination(tmp_path: Path) -> None:
    status, found = examined(tmp_path, "[serve]\nlisen = 1\n")
    assert status == 1
    assert "did you mean serve.listen?" in found["configuration"][0]["found"]
    assert "versions" in found


def test_a_store_of_another_schema_is_told_apart_from_none(tmp_path: Path) -> None:
    db = tmp_path / "old.db"
    db.write_bytes(b"")
    _, found = examined(tmp_path, WAKENG_STORE_URL=f"sqlite:///{db}")
    assert "no schema yet" in found["database"][0]["found"]
    assert "wakeng db upgrade" in found["database"][0]["advice"]


def test_a_port_is_free_or_an_arenas_or_taken(tmp_path: Path) -> None:
    with serve(tmp_path) as arena:
        _, found = examined(tmp_path, WAKENG_SERVE_LISTEN=arena.address)
        assert "an arena serves" in found["ports"][0]["found"]
    with answering(b"") as stranger:
        status, found = examined(tmp_path, WAKENG_METRICS_LISTEN=stranger)
        assert status == 1
        assert "something else listens" in found["ports"][1]["found"]
    _, found = examined(tmp_path, WAKENG_SERVE_LISTEN="192.0.2.1:50050", WAKENG_ACCESS_AUTH="false")
    assert [finding["grade"] for finding in found["ports"]] == ["wrong"] * 3


@pytest.mark.parametrize(
    ("info", "grade", "said"),
    [
        ({"version": "2.10.4", "jetstream": True}, "good", "NATS 2.10.4 with JetStream"),
        ({"version": "2.10.4"}, "wrong", "without JetStream"),
        ({"version": "2.2.0", "jetstream": True}, "wrong", "NATS 2.2.0"),
        (None, "wrong", "no NATS server"),
    ],
)
def test_nats_is_one_that_keeps_what_it_is_given(
    tmp_path: Path, info: dict[str, Any] | None, grade: str, said: str
) -> None:
    line = b"HTTP/1.1 400\r\n" if info is None else b"INFO " + json.dumps(info).encode() + b" \r\n"
    with answering(line) as address:
        _, found = examined(tmp_path, WAKENG_NATS_URL=f"nats://token@{address}")
    (finding,) = found["nats"]
    assert finding["grade"] == grade
    assert said in finding["found"]
    assert "token" not in finding["found"]


@contextmanager
def answering(line: bytes) -> Iterator[str]:
    """A server that says one line to whoever comes; its backlog is enough for those of a test."""
    from threading import Thread

    with closing(socket.create_server(("127.0.0.1", 0))) as server:

        def answer() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.sendall(line)

        thread = Thread(target=answer)
        thread.start()
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}"
        finally:
            server.shutdown(socket.SHUT_RDWR)
            server.close()
            thread.join()
