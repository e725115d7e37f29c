"""No token reaches a log, a record, a metric or the store: a busy session, and then a look into everything it left."""

import asyncio
import json
import urllib.request
from pathlib import Path
from typing import Any

import grpc.aio

from tests.arena.process import ServedProcess, serve, wakeng
from tests.arena.serving import Client, bearer
from wakeng.services.tokens import new_token
from wakeng.v1 import bot_pb2, gateway_pb2, match_pb2, registry_pb2


def test_no_token_is_left_anywhere(tmp_path: Path) -> None:
    with serve(tmp_path, "--auth") as arena:
        tokens = [wakeng("token", "add", "admin", "--db", arena.db).stdout.strip()]
        env = {"WAKENG_TOKEN": tokens[0]}
        at = ("--arena", arena.address)
        added = json.loads(wakeng("bot", "add", "mine", "--dial-in", "--owner", "wei", "--json", *at, env=env).stdout)
        tokens += [added["token"], added["owner_token"], new_token()]
        play = wakeng("match", "--rules", "xian", "--seats", "greedy,lowest,random", "--hands", "5", *at, env=env)
        assert play.returncode == 0, play.stderr
        listed = wakeng("token", "list", "--db", arena.db).stdout + wakeng("bot", "list", *at, env=env).stdout
        said = asyncio.run(misused(arena, tokens))
        with urllib.request.urlopen(arena.metrics) as page:
            metrics = page.read().decode()
        left = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    left |= {f"{path.name} in the end": path.read_bytes() for path in tmp_path.iterdir()}
    assert {"wakeng.db", "journal.jsonl", "stderr", "stdout"} <= set(left)
    assert left["journal.jsonl"].count(b'"PLAY"') > 100, "the session was a busy one"
    left |= {"metrics": metrics.encode(), "lists": listed.encode(), "answers": said.encode()}
    left |= {"match": (play.stdout + play.stderr).encode()}
    for name, content in left.items():
        for token in tokens:
            assert token.encode() not in content, name
            assert token.removeprefix("wk_").encode() not in content, name


async def misused(arena: ServedProcess, tokens: list[str]) -> str:
    """Tokens where they do not belong, and all that is answered."""
    heard: list[str] = []
    for token in tokens:
        async with Client(arena.address, token) as client:
            for method, request in (
                (client.bots.GetBot, registry_pb2.GetBotRequest(name="nobody")),
                (client.bots.ListBots, registry_pb2.ListBotsRequest(page_token="?")),
                (client.matches.GetMatch, match_pb2.GetMatchRequest(match_id="nothing")),
                (client.bots.RegisterBot, registry_pb2.RegisterBotRequest(name="a b", dial_in=True)),
            ):
                heard.append(await outcome(client(method, request)))
            join = client.channel.stream_stream("/wakeng.v1.BotGatewayService/Join")(metadata=bearer(token))
            hello = bot_pb2.DescribeResponse(protocol_version=1, name="mine", version="1")
            # A refusal may be here before the message is written: it then comes out of the writing.
            heard.append(await outcome(join.write(gateway_pb2.JoinRequest(hello=hello).SerializeToString())))
            heard.append(await outcome(join.read()))
            # A message that is none, from a bot that has joined, and the end of the connection in the middle.
            heard.append(await outcome(join.write(b"\xff" * 100)))
    return "\n".join(heard)


async def outcome(call: Any) -> str:
    try:
        return repr(await call)
    except grpc.aio.AioRpcError as error:
        return f"{error.code()} {error.details()} {error.trailing_metadata()} {error.debug_error_string()}"
    except (grpc.aio.UsageError, asyncio.InvalidStateError) as error:
        return str(error)
