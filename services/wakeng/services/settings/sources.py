"""Settings put together from where they may stand: a flag before the environment, that before the file, then defaults.

Each value is read by its setting's own reader, whatever its source, and keeps a word on where it came from. Everything
that is wrong is found at once; a key that nobody knows is refused, with the nearest that there is.
"""

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from wakeng.services.errors import ServiceError
from wakeng.services.settings.structs import Settings
from wakeng.services.settings.table import CONFIG_VARIABLE, PREFIX, Setting, sections, settings_by_key
from wakeng.services.tournament.toml_lines import key_lines

MOST_BYTES: Final = 1 << 20
OTHER_VARIABLES: Final = frozenset({CONFIG_VARIABLE, f"{PREFIX}TOKEN", f"{PREFIX}SOAK_SECONDS"})
"""Those of ours that are no settings."""


class SettingsError(ServiceError):
    """The settings are not to be used; `problems` has every reason, each in one line."""

    def __init__(self, problems: list[str]) -> None:
        more = f" (and {len(problems) - 1} more; `wakeng config check` tells all)" if len(problems) > 1 else ""
        super().__init__(problems[0] + more)
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings, and for each key where its value came from."""

    settings: Settings
    sources: Mapping[str, str]
    file: Path | None
    warnings: tuple[str, ...] = ()

    def value(self, setting: Setting) -> Any:
        """Its value."""
        return getattr(getattr(self.settings, setting.section), setting.name)


def load(
    file: Path | None = None,
    *,
    environment: Mapping[str, str] = os.environ,
    flags: Mapping[str, Any] | None = None,
) -> Loaded:
    """The settings of a file ($WAKENG_CONFIG if none is given), of the environment, and of flags by key.

    SettingsError if anything is wrong.
    """
    told = environment.get(CONFIG_VARIABLE)
    file = file or (Path(told) if told else None)
    reading = _Reading()
    if file is not None:
        reading.file(file)
    reading.environment(environment)
    for key, value in (flags or {}).items():
        reading.values[key] = value, settings_by_key()[key].about.flag
    return reading.loaded(file, tuple(_near_misses(environment)))


class _Reading:
    def __init__(self) -> None:
        self.values: dict[str, tuple[Any, str]] = {}
        """By key: the value, and where it came from."""
        self.problems: list[str] = []

    def file(self, path: Path) -> None:
        try:
            text = _text(path)
            document = tomllib.loads(text)
        except (OSError, ValueError) as problem:
            reason = problem.strerror if isinstance(problem, OSError) else problem
            self.problems.append(f"{path}: {reason}")
            return
        lines = key_lines(text)
        for section, table in document.items():
            if section not in sections():
                hint = _nearest(section, [*sections(), *settings_by_key()])
                self.problems.append(f"{path}: line {lines[(section,)]}: there is no section {section!r}; {hint}")
            elif not isinstance(table, dict):
                self.problems.append(f"{path}: line {lines[(section,)]}: {section} is a table, [{section}]")
            else:
                for name, value in table.items():
                    self._of_file(path, lines[(section, name)], f"{section}.{name}", value)

    def _of_file(self, path: Path, line: int, key: str, value: Any) -> None:
        setting = settings_by_key().get(key)
        if setting is None:
            self.problems.append(f"{path}: line {line}: there is no {key}; {_nearest(key, settings_by_key())}")
            return
        try:
            value = msgspec.convert(value, setting.type, dec_hook=lambda kind, text: kind(_string(text)))
            self.values[key] = self._read(setting, value, path.parent), f"{path}, line {line}"
        except (msgspec.ValidationError, ValueError) as problem:
            self.problems.append(f"{path}: line {line}: {key}: {problem}")

    def environment(self, environment: Mapping[str, str]) -> None:
        for key, setting in settings_by_key().items():
            variable, text = setting.variable, environment.get(setting.variable)
            try:
                if setting.file_variable is not None and setting.file_variable in environment:
                    variable = setting.file_variable
                    text = _text(Path(environment[variable])).strip()
                if text:
                    value = [part.strip() for part in text.split(",")] if setting.many else text
                    self.values[key] = self._read(setting, value, Path()), f"${variable}"
            except (OSError, ValueError) as problem:
                reason = problem.strerror if isinstance(problem, OSError) else problem
                self.problems.append(f"${variable}: {reason}")

    def _read(self, setting: Setting, value: Any, folder: Path) -> Any:
        """The value by its setting's reader, a path relative to the folder; ValueError says what is wrong."""
        if setting.many:
            return tuple(_converted(setting, each) for each in value)
        if isinstance(setting.about.reads, click.Path):
            return _converted(setting, folder / Path(value).expanduser())
        return _converted(setting, value)

    def loaded(self, file: Path | None, warnings: tuple[str, ...]) -> Loaded:
        if self.problems:
            raise SettingsError(self.problems)
        told: dict[str, Any] = {section: struct(**self._of(section)) for section, struct in sections().items()}
        settings = Settings(**told)
        if contradictions := list(settings.contradictions()):
            raise SettingsError(contradictions)
        sources = {key: self.values[key][1] if key in self.values else "default" for key in settings_by_key()}
        return Loaded(settings, sources, file, warnings)

    def _of(self, section: str) -> dict[str, Any]:
        own = [setting for setting in settings_by_key().values() if setting.section == section]
        return {setting.name: self.values[setting.key][0] for setting in own if setting.key in self.values}


def _converted(setting: Setting, value: Any) -> Any:
    try:
        return setting.about.reads.convert(value, None, None)
    except click.BadParameter as problem:
        raise ValueError(problem.message) from None


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"Expected `str`, got `{type(value).__name__}`")
    return value


def _text(path: Path) -> str:
    """The file's text; ValueError if it is too long or no UTF-8."""
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ValueError("the file is over 1 MiB, which no settings are")
    return data.decode()


def _nearest(word: str, known: Any) -> str:
    near = get_close_matches(word, list(known), 1)
    return f"did you mean {near[0]}?" if near else "`wakeng config show` lists what there is"


def _near_misses(environment: Mapping[str, str]) -> Iterator[str]:
    """Variables that look like ours. Others may set some in our name, as Kubernetes does, so they are no errors."""
    known = {setting.variable for setting in settings_by_key().values()} | OTHER_VARIABLES
    known |= {setting.file_variable for setting in settings_by_key().values() if setting.file_variable}
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in known and (near := get_close_matches(name, known, 1, 0.8)):
            yield f"${name} is not read; did you mean ${near[0]}?"
