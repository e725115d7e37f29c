"""`wakeng bot`: registered bots, by name."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

import click
import orjson

from wakeng.services.commands.arena_client import ArenaOptions, arena_options
from wakeng.services.commands.common import DB_OPTION, Command, database, guarded

if TYPE_CHECKING:
    from wakeng.services.commands.bots import Bots
    from wakeng.v1 import registry_pb2

_JSON: Final = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_NAME: Final = click.argument("name")


@click.group("bot")
def command() -> None:
    """Register bots under names that seats can ask for.

    \b
    wakeng bot add mine --dial-in --arena arena.example:50050 --token-file admin.token
    wakeng bot add yours --address bots.example:50051 --owner wei --db sqlite:///club.db
    wakeng bot list

    With --arena they are those of a running arena: an author's own, or with an admin's token all. Without it they are
    those of the store on this machine (--db), which a running arena notices at once.
    """


def _where(act: Command) -> Command:
    """`--arena` or `--db`, as the arguments `arena` and `db`."""
    return arena_options(without="the store of --db")(DB_OPTION(act))


@command.command("add")
@_NAME
@click.option("--address", metavar="ADDR", help="Where the bot listens, HOST:PORT.")
@click.option("--dial-in", is_flag=True, help="The bot calls the arena (`wakeng join-bot`); its token is printed.")
@click.option("--owner", default="", metavar="NAME", help="Whose it is; yours if absent. Only an admin names others.")
@click.option("--max-tables", type=click.IntRange(1, 1_000_000), metavar="N", help="Hands it gets at once at most.")
@click.option("--max-decisions", type=click.IntRange(1, 1_000_000), metavar="N", help="Questions open at most.")
@_where
@_JSON
@guarded
def add(
    *,
    name: str,
    address: str | None,
    dial_in: bool,
    owner: str,
    max_tables: int | None,
    max_decisions: int | None,
    arena: ArenaOptions | None,
    db: str | None,
    as_json: bool,
) -> None:
    """Register a bot that listens (--address) or calls (--dial-in).

    A token that is made for the bot, or for an owner who had none, is printed once and kept nowhere.
    """
    if (address is not None) == dial_in:
        raise click.UsageError("give either --address or --dial-in")
    from wakeng.services.registration import Registration

    asked = Registration(
        name=name,
        address=address,
        owner=owner,
        by_admin=arena is None,
        max_tables=max_tables,
        max_decisions=max_decisions,
        owner_is_new=True,
        unix=arena is None,
    )
    answer = _act(arena, db, lambda bots: bots.add(asked))
    if as_json:
        _print_json({"bot": _to_dict(answer.bot), **_tokens(answer)})
        return
    _tell(answer.bot)
    for what, token in _tokens(answer).items():
        click.echo(f"{what.replace('_', ' ')}: {token}")
    if _tokens(answer):
        click.echo("keep what is told here: it is not told again", err=True)


@command.command("list")
@_where
@_JSON
@guarded
def list_(*, arena: ArenaOptions | None, db: str | None, as_json: bool) -> None:
    """The registered bots."""

    async def all_of(bots: "Bots") -> "list[registry_pb2.Bot]":
        return [bot async for bot in bots.list()]

    found = _act(arena, db, all_of)
    if as_json:
        _print_json([_to_dict(bot) for bot in found])
    elif not found:
        click.echo("no bots are registered (wakeng bot add)", err=True)
    else:
        _table(found)


@command.command("show")
@_NAME
@_where
@_JSON
@guarded
def show(*, name: str, arena: ArenaOptions | None, db: str | None, as_json: bool) -> None:
    """One bot as it stands."""
    bot = _act(arena, db, lambda bots: bots.get(name))
    _print_json(_to_dict(bot)) if as_json else _tell(bot)


@command.command("remove")
@_NAME
@_where
@guarded
def remove(*, name: str, arena: ArenaOptions | None, db: str | None) -> None:
    """Forget a bot and its token; its records stay."""
    _act(arena, db, lambda bots: bots.remove(name))
    click.echo(f"{name} is registered no more")


def _act(arena: ArenaOptions | None, db: str | None, act: "Callable[[Bots], Awaitable[Any]]") -> Any:
    if arena is not None and db is not None:
        raise click.UsageError("give either --arena or --db")
    from wakeng.services.commands.bots import open_bots

    async def acting() -> Any:
        async with open_bots(arena, "" if arena else database(db)) as bots:
            return await act(bots)

    return asyncio.run(acting())


def _tokens(answer: "registry_pb2.RegisterBotResponse") -> dict[str, str]:
    return {name: getattr(answer, name) for name in ("token", "owner_token") if answer.HasField(name)}


def _to_dict(bot: "registry_pb2.Bot") -> dict[str, Any]:
    from google.protobuf.json_format import MessageToDict

    return MessageToDict(bot, preserving_proto_field_name=True)


def _print_json(value: Any) -> None:
    click.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())


def _tell(bot: "registry_pb2.Bot") -> None:
    for name, value in _to_dict(bot).items():
        click.echo(f"{name.replace('_', ' '):14} {value if name != 'status' else _status(bot)}")


def _table(bots: "list[registry_pb2.Bot]") -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for header in ("bot", "where", "owner", "version", "status"):
        table.add_column(header, overflow="fold")
    for bot in bots:
        table.add_row(bot.name, _place(bot), bot.owner or "-", bot.version or "-", _status(bot))
    Console(markup=False, highlight=False, emoji=False).print(table)


def _place(bot: "registry_pb2.Bot") -> str:
    if not bot.dial_in:
        return bot.address
    return (
        {True: "dials in, connected", False: "dials in, not connected"}[bot.connected]
        if bot.HasField("connected")
        else "dials in"
    )


def _status(bot: "registry_pb2.Bot") -> str:
    from wakeng.v1 import registry_pb2

    return registry_pb2.BotStatus.Name(bot.status).removeprefix("BOT_STATUS_").lower()
