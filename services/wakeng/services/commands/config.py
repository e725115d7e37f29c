"""`wakeng config`: what is wrong with the settings, and what they come to."""

from pathlib import Path
from typing import Any, Final

import click
import orjson

from wakeng.services.commands.common import guarded
from wakeng.services.commands.settings_options import CONFIG_OPTION, ambient
from wakeng.services.settings import Loaded, SettingsError, load, settings_by_key
from wakeng.services.settings.page import toml_value

WRONG: Final = 1
_JSON: Final = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group("config")
def command() -> None:
    """Settings from a file and the environment: checked, and shown with where each came from.

    \b
    wakeng config check arena.toml
    wakeng config show --config arena.toml

    What there is to set is told in docs/configuration.md.
    """


@command.command("check")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False)
@_JSON
def check(*, file: Path | None, as_json: bool) -> int:
    """Say all that is wrong with a file ($WAKENG_CONFIG if absent) and the environment.

    The exit status is 1 if anything is.
    """
    try:
        loaded = load(file)
    except SettingsError as error:
        _say_checked(error.problems, (), as_json=as_json, good="")
        return WRONG
    given = sum(source != "default" for source in loaded.sources.values())
    _say_checked([], loaded.warnings, as_json=as_json, good=f"nothing is wrong; {given} settings are not the default")
    return 0


def _say_checked(problems: list[str], warnings: tuple[str, ...], *, as_json: bool, good: str) -> None:
    if as_json:
        click.echo(orjson.dumps({"good": not problems, "problems": problems, "warnings": list(warnings)}).decode())
        return
    for line in (*problems, *warnings):
        click.echo(line, err=True)
    if good:
        click.echo(good)


@command.command("show")
@CONFIG_OPTION
@_JSON
@guarded
def show(*, as_json: bool) -> None:
    """Every setting in the form of a file, with where each came from; passwords are masked."""
    loaded = ambient()
    if as_json:
        click.echo(orjson.dumps(as_dict(loaded), option=orjson.OPT_INDENT_2).decode())
    else:
        click.echo(_as_toml(loaded))


def as_dict(loaded: Loaded) -> dict[str, dict[str, Any]]:
    """By key: what may be seen of the value, and its source."""
    return {
        key: {"value": _plain(setting.shown(loaded.value(setting))), "source": loaded.sources[key]}
        for key, setting in settings_by_key().items()
    }


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


def _as_toml(loaded: Loaded) -> str:
    lines: list[str] = []
    section = ""
    for key, setting in settings_by_key().items():
        if setting.section != section:
            section = setting.section
            lines.append(f"\n[{section}]" if lines else f"[{section}]")
        value = setting.shown(loaded.value(setting))
        # TOML has no word for a value that is absent.
        told = f"# {setting.name} is not set" if value is None else f"{setting.name} = {toml_value(value)}"
        lines.append(told if value is None else f"{told:<48} # {loaded.sources[key]}")
    return "\n".join(lines)
