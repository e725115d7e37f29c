"""Settings as options of commands: flags made from the table, `--config FILE`, and what stands in neither."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource

from wakeng.services.settings import Loaded, Setting, SettingsError, load, settings_by_key
from wakeng.services.settings.table import CONFIG_VARIABLE

Command = Callable[..., Any]
_META: Final = "wakeng.config"


def _keep(ctx: click.Context, param: click.Parameter, path: Path | None) -> None:
    if path is not None:
        ctx.meta[_META] = path


CONFIG_OPTION: Final = click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    callback=_keep,
    expose_value=False,
    help=f"A TOML file of settings (docs/configuration.md); ${CONFIG_VARIABLE} if absent.",
)
"""`--config FILE`, which `ambient` finds."""


def config_file() -> Path | None:
    """What --config was given."""
    ctx = click.get_current_context(silent=True)
    return ctx.meta.get(_META) if ctx else None


def ambient() -> Loaded:
    """The settings of the file and of the environment, for what the command at work was not told by a flag."""
    return load(config_file())


def settings_options(*sections: str) -> Callable[[Command], Command]:
    """The flags of these sections and --config, given to the command as one argument `loaded`."""
    chosen = [setting for setting in settings_by_key().values() if setting.section in sections]

    def decorate(command: Command) -> Command:
        @wraps(command)
        def with_settings(**given: Any) -> Any:
            ctx = click.get_current_context()
            told = {setting: given.pop(setting.parameter) for setting in chosen}
            flags = {
                setting.key: value
                for setting, value in told.items()
                if ctx.get_parameter_source(setting.parameter) is ParameterSource.COMMANDLINE
            }
            try:
                loaded = load(config_file(), flags=flags)
            except SettingsError as problem:
                raise click.UsageError(str(problem)) from None
            return command(loaded=loaded, **given)

        optioned: Command = with_settings
        for setting in reversed(chosen):
            optioned = flag(setting)(optioned)
        return CONFIG_OPTION(optioned)

    return decorate


def flag(setting: Setting) -> Callable[[Command], Command]:
    """The setting as an option. Its default is only told: file and environment have their say before it."""
    about = setting.about
    options: dict[str, Any] = {"default": None, "help": _help(setting)}
    if setting.is_flag:
        options["is_flag"] = True
    else:
        options |= {"type": about.reads, "metavar": about.metavar, "multiple": setting.many}
    return click.option(about.flag, setting.parameter, **options)


def _help(setting: Setting) -> str:
    untold = setting.is_flag or setting.default in (None, ())
    return setting.about.help if untold else f"{setting.about.help}  [default: {setting.default}]"
