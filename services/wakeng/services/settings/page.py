"""docs/configuration.md, made from the table of settings."""

import inspect
from typing import Any, Final, Literal, get_args, get_origin

import click
import orjson

from wakeng.services.settings.table import CONFIG_VARIABLE, Setting, sections, settings_by_key

_HEAD: Final = f"""\
# Configuration

Every setting may stand in a file, in the environment or in a flag of a command; a flag goes before the environment,
that before the file. This page is made from the code (`make goldens`), and a test holds the two together.

    wakeng serve --config arena.toml
    {CONFIG_VARIABLE}=arena.toml wakeng serve
    wakeng config check arena.toml     # all that is wrong with it, at once
    wakeng config show                 # every value, and where it came from; passwords are masked

The file is TOML, with a table for each section below:

    [store]
    url = "postgresql://wakeng@127.0.0.1/wakeng"

    [serve]
    listen = "127.0.0.1:50050"

    [access]
    allow_net = ["10.0.0.0/8", "192.168.0.0/16"]

Paths in a file are relative to its folder. A key that there is not is refused, with the nearest that there is. In the
environment a list is separated by commas, and what is on or off is `true` or `false`; an empty variable is none. A
setting that may hold a password can be handed over in a file, as container platforms hand over secrets: its variable
with `_FILE` names that file. Commands that have no flag for a setting take it from the file and the environment all
the same.
"""


def configuration_page() -> str:
    """The whole page."""
    return _HEAD + "".join(_section(name) for name in sections())


def _section(name: str) -> str:
    rows = [_row(setting) for setting in settings_by_key().values() if setting.section == name]
    head = "| key | flag | variable | default | what |\n|---|---|---|---|---|\n"
    return f"\n## [{name}]\n\n{inspect.getdoc(sections()[name])}\n\n{head}{''.join(rows)}"


def _row(setting: Setting) -> str:
    variable = f"`{setting.variable}`" + (f", `{setting.file_variable}`" if setting.file_variable else "")
    cells = (f"`{setting.name}`", f"`{setting.about.flag}`", variable, _default(setting), _what(setting))
    return f"| {' | '.join(cells)} |\n"


def _default(setting: Setting) -> str:
    return "none" if setting.default in (None, ()) else f"`{toml_value(setting.default)}`"


def _what(setting: Setting) -> str:
    choices = get_args(setting.type) if get_origin(setting.type) is Literal else ()
    more = f" One of {', '.join(f'`{choice}`' for choice in choices)}." if choices else ""
    path = " A path." if isinstance(setting.about.reads, click.Path) else ""
    return setting.about.help + more + path + (" A list." if setting.many else "")


def toml_value(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"{value:g}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    return orjson.dumps(str(value)).decode()  # A string of JSON's is one of TOML's.
