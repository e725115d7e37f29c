"""`wakeng web`: the pages of a store, without an arena."""

import click

from wakeng.services.commands.common import data_places, guarded, run_loop
from wakeng.services.commands.serve import stop_signal
from wakeng.services.commands.settings_options import settings_options
from wakeng.services.settings import Loaded
from wakeng.services.settings.structs import Tls, Web

DEFAULT = "127.0.0.1:8080"


@click.command("web")
@settings_options("web", "tls", "store", "data")
@guarded
def command(*, loaded: Loaded) -> int:
    """Show the pages of a store: its tournaments, matches, bots and replays.

    \b
    wakeng web
    wakeng web --db sqlite:///club.db --web 127.0.0.1:8081

    At http://127.0.0.1:8080/ unless --web says otherwise. Nothing is played; a tournament that a command plays on the
    same store meanwhile is seen as it goes on. On this machine alone whoever looks is an admin, unless --web-private
    demands tokens; elsewhere who shows no token sees what is public. A running arena shows its own pages, with live
    tables: `wakeng serve --web`. Ctrl-C or SIGTERM ends it.
    """
    import msgspec

    settings = loaded.settings
    web = msgspec.structs.replace(settings.web, listen=settings.web.listen or DEFAULT)
    return run_loop(show_store(data_places(settings).db, web, settings.tls))


async def show_store(db: str, web: Web, tls: Tls) -> int:
    """Show the pages of a store until a signal ends it."""
    from wakeng.services.store import Store
    from wakeng.services.web.serving import open_site

    stop = stop_signal()
    async with await Store.open(db) as store:
        pages = await open_site(store, web, tls=tls, trusting=True)
        click.echo(f"pages on {pages.url}")
        await stop.wait()
        await pages.stop()
    return 0
