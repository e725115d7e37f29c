"""The settings one by one, as the structs declare them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, get_args, get_origin, get_type_hints

import msgspec

from wakeng.services.settings.kinds import URL, masked
from wakeng.services.settings.structs import About, Section, Settings

PREFIX: Final = "WAKENG_"
CONFIG_VARIABLE: Final = f"{PREFIX}CONFIG"
"""Names the file."""
HIDDEN: Final = "***"


@dataclass(frozen=True, slots=True)
class Setting:
    """One field of one section."""

    section: str
    name: str
    type: Any
    """Its Python type, as the struct has it."""
    default: Any
    about: About

    @property
    def key(self) -> str:
        """How a file names it."""
        return f"{self.section}.{self.name}"

    @property
    def parameter(self) -> str:
        """The argument of a command."""
        return f"{self.section}_{self.name}"

    @property
    def variable(self) -> str:
        """Its variable in the environment."""
        return self.about.variable or f"{PREFIX}{self.parameter.upper()}"

    @property
    def file_variable(self) -> str | None:
        """The variable that names a file with the value in it, as secrets are handed to containers."""
        return f"{self.variable}_FILE" if self.about.secret else None

    @property
    def is_flag(self) -> bool:
        """Whether it is on or off."""
        return bool in (self.type, *get_args(self.type))

    @property
    def many(self) -> bool:
        """Whether it takes any number of values."""
        return get_origin(self.type) is tuple

    def shown(self, value: Any) -> Any:
        """The value as anybody may see it."""
        if value is None or not self.about.secret:
            return value
        return masked(value) if self.about.reads is URL else HIDDEN


@cache
def settings_by_key() -> Mapping[str, Setting]:
    """Every setting, in the order of the structs."""
    return {setting.key: setting for section in sections() for setting in _settings_of(section)}


@cache
def sections() -> Mapping[str, type[Section]]:
    """The sections by name."""
    return dict(get_type_hints(Settings))


def _settings_of(section: str) -> Iterator[Setting]:
    struct = sections()[section]
    hints = get_type_hints(struct, include_extras=True)
    for field in msgspec.structs.fields(struct):
        type_, about = get_args(hints[field.name])
        yield Setting(section, field.name, type_, field.default, about)
