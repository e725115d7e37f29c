"""Checks of the store: is it there, may we in, has it the schema that this version works with."""

import asyncio
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Final

from wakeng.services.data import DataFolder
from wakeng.services.doctor.finding import Finding, good, warning, wrong
from wakeng.services.errors import SchemaError, ServiceError
from wakeng.services.settings import Settings
from wakeng.services.settings.kinds import masked

_SQLITE: Final = "sqlite:///"
_SLOW_MS: Final = 50


async def database(settings: Settings) -> AsyncGenerator[Finding, None]:
    """The store as it is; it is neither made nor changed."""
    url = (
        settings.store.url
        or (DataFolder(settings.data.folder) if settings.data.folder else DataFolder.default()).database_url
    )
    shown = masked(url)
    if url.startswith(_SQLITE) and not await asyncio.to_thread(Path(url.removeprefix(_SQLITE)).exists):
        yield good("database", f"{shown}, which the first start makes")
        return
    from wakeng.services.store import Store

    began = time.monotonic()
    try:
        async with await Store.open(url, migrate=False) as store:
            await store.list_matches(page_size=1)
    except SchemaError as problem:
        advice = "`wakeng db upgrade` brings it up; where there is anything in it, take a `wakeng db backup` first"
        yield wrong("database", f"{shown}: {problem}", advice)
    except ServiceError as problem:
        yield wrong("database", f"{shown}: {problem}", "see that the server runs, and store.url ($WAKENG_STORE_URL)")
    else:
        took = 1000 * (time.monotonic() - began)
        said = f"{shown}, opened and asked in {took:.0f} ms"
        slow = took > 20 * _SLOW_MS
        yield (
            warning("database", said, "keep it nearer to the arena, or give it more")
            if slow
            else good("database", said)
        )
