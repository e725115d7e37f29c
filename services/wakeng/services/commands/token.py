"""`wakeng token`: who may call an arena, on the machine where its store is."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import click
import orjson

from wakeng.services.commands.common import DB_OPTION, database, guarded

if TYPE_CHECKING:
    from wakeng.services.store import Store, StoredToken

_ROLES: Final = ("admin", "author", "viewer", "bot")


@click.group("token")
def command() -> None:
    """Make and take back the tokens that callers show an arena (`wakeng serve --auth`).

    \b
    wakeng token add admin --db sqlite:///club.db > admin.token
    wakeng token add author --owner wei --db sqlite:///club.db
    wakeng token list --db sqlite:///club.db

    The store keeps hashes only: a token is printed once. What is changed here holds for a running arena at once.
    """


@command.command("add")
@click.argument("role", type=click.Choice(_ROLES))
@click.option("--owner", default="", metavar="NAME", help="Whom it is for. An author manages the bots of that owner.")
@click.option("--bot", metavar="NAME", help="With the role bot: the registered bot whose own it is.")
@DB_OPTION
@guarded
def add(*, role: str, owner: str, bot: str | None, db: str | None) -> None:
    """Print a new token, once."""
    if (role == "bot") != (bot is not None):
        raise click.UsageError("the role bot takes --bot NAME, and no other role does")
    if role == "author" and not owner:
        raise click.UsageError("an author's token takes --owner NAME")
    from wakeng.services.registration import check_owner
    from wakeng.services.store import Role
    from wakeng.services.tokens import hash_token, new_token

    check_owner(owner)
    token = new_token()
    kept = _act(db, lambda store: store.tokens.add(hash_token(token) or "", Role(role), owner=owner, bot=bot))
    click.echo(token)
    click.echo(f"keep it: it is not told again (id {kept.token_id})", err=True)


@command.command("list")
@DB_OPTION
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@guarded
def list_(*, db: str | None, as_json: bool) -> None:
    """The tokens by their ids, which give nothing away."""
    found = [_to_dict(token) for token in _act(db, lambda store: store.tokens.list())]
    if as_json:
        click.echo(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
    elif not found:
        click.echo("there are no tokens (wakeng token add)", err=True)
    else:
        _table(found)


@command.command("remove")
@click.argument("token_id", metavar="ID")
@DB_OPTION
@guarded
def remove(*, token_id: str, db: str | None) -> None:
    """Take a token back; ID as `wakeng token list` shows it, or its beginning."""
    gone = _act(db, lambda store: store.tokens.remove(token_id))
    click.echo(f"{gone.token_id} ({gone.role.value}) is good no more")


def _act(db: str | None, act: "Callable[[Store], Awaitable[Any]]") -> Any:
    from wakeng.services.store import Store

    async def acting() -> Any:
        async with await Store.open(database(db)) as store:
            return await act(store)

    return asyncio.run(acting())


def _to_dict(token: "StoredToken") -> dict[str, Any]:
    made = datetime.fromtimestamp(token.created_us / 1e6, UTC).isoformat(timespec="seconds")
    told = {"id": token.token_id, "role": token.role.value, "owner": token.owner, "created": made}
    return told if token.bot is None else told | {"bot": token.bot}


def _table(tokens: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for header in ("id", "role", "owner", "bot", "created"):
        table.add_column(header, overflow="fold")
    for token in tokens:
        table.add_row(*(token.get(header) or "-" for header in ("id", "role", "owner", "bot", "created")))
    Console(markup=False, highlight=False, emoji=False).print(table)
